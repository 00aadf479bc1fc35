"""The kernel's hfsc: service curves in its arithmetic, with times in ticks of 64 ns."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from linux.rules.flows import Discipline, Queue
from linux.rules.tc import Class, Commands, Options, quantity
from linux.truth import Packet

TICK_NS = 64
"""pkt_sched.h PSCHED_TICKS2NS."""

TICKS_PER_S = 15_625_000
SM_SHIFT = 24
"""Binary places of bytes per tick."""

ISM_SHIFT = 14
"""Binary places of ticks per byte."""


@dataclass(frozen=True)
class Slopes:
    """A service curve as a class has it (internal_sc): two slopes, both ways, and where the first one ends."""

    sm1: int
    ism1: float
    dx: int
    dy: int
    sm2: int
    ism2: float

    @property
    def is_convex(self) -> bool:
        """Whether the second slope is the steeper one."""
        return self.sm1 <= self.sm2


def slopes(m1: int, d_ns: int, m2: int) -> Slopes:
    """sc2isc: m2sm, m2ism, d2dx; all round up."""

    def sm(rate: int) -> int:
        return -(-(rate << SM_SHIFT) // TICKS_PER_S)

    def ism(rate: int) -> float:
        return -(-(TICKS_PER_S << ISM_SHIFT) // rate) if rate else inf

    dx = -(-d_ns * TICKS_PER_S // 10**9)
    return Slopes(sm(m1), ism(m1), dx, dx * sm(m1) >> SM_SHIFT, sm(m2), ism(m2))


class Curve:
    """A service curve that begins at a point (runtime_sc)."""

    def __init__(self, own: Slopes) -> None:
        self.own, self.x, self.y, self.dx, self.dy = own, 0, 0, own.dx, own.dy

    def x_of(self, y: int) -> int:
        """rtsc_y2x."""
        if y < self.y:
            return self.x
        if y <= self.y + self.dy:
            return self.x + (_over(y - self.y, self.own.ism1) if self.dy else self.dx)
        return self.x + self.dx + _over(y - self.y - self.dy, self.own.ism2)

    def y_of(self, x: int) -> int:
        """rtsc_x2y."""
        if x <= self.x:
            return self.y
        if x <= self.x + self.dx:
            return self.y + ((x - self.x) * self.own.sm1 >> SM_SHIFT)
        return self.y + self.dy + ((x - self.x - self.dx) * self.own.sm2 >> SM_SHIFT)

    def lower(self, x: int, y: int) -> None:
        """rtsc_min: the minimum of this and of its slopes from (x, y) on."""
        own = self.own
        here = self.y_of(x)
        if own.is_convex:
            if here >= y:
                self.x, self.y = x, y
            return
        if here <= y:
            return
        if self.y_of(x + own.dx) >= y + own.dy:
            self.x, self.y, self.dx, self.dy = x, y, own.dx, own.dy
            return
        dx = ((here - y) << SM_SHIFT) // (own.sm1 - own.sm2)
        if self.x + self.dx > x:
            dx += self.x + self.dx - x
        self.x, self.y, self.dx, self.dy = x, y, dx, dx * own.sm1 >> SM_SHIFT


def _over(bytes_: int, ism: float) -> int:
    # seg_y2x
    if not bytes_:
        return 0
    assert ism != inf, "a curve that ends is not told here"
    return bytes_ * int(ism) >> ISM_SHIFT


class Share:
    """A class; the root is one without a parent."""

    def __init__(self, one: Class | None, parent: Share | None) -> None:
        words = _curves(one.options if one else Options())
        self.parent, self.queue, self.children = parent, Queue(), list[Share]()
        if parent is not None:
            parent.children.append(self)
        self.real, self.fair, self.upper = (_slopes(words.get(name)) for name in ("rt", "ls", "ul"))
        self.deadline, self.virtual, self.limit = (Curve(one) if one else None for one in self.curves)
        self.eligible: Curve | None = None
        self.total = self.cumulative = 0
        self.e = self.d = 0
        """Eligible time and deadline."""
        self.vt = self.vt_adjusted = self.vt_least = self.vt_reached = 0
        """Virtual time, its adjustment, and of the children the least one served and the greatest one reached."""
        self.f = self.own_f = self.f_least = 0
        """Fit time, that of the own upper limit, and the least one of the children."""
        self.period = self.parent_period = self.active = 0
        self.fit: list[Share] = []
        """Active children by virtual time; of equal ones that which came last is last (vttree_insert)."""

    @property
    def curves(self) -> tuple[Slopes | None, ...]:
        """The three curves."""
        return self.real, self.fair, self.upper


def _curves(words: Options) -> dict[str, dict[str, str]]:
    # rt, ls, ul and sc, each followed by m1, d, m2.
    found: dict[str, dict[str, str]] = {}
    for at, word in enumerate(words):
        if word in ("rt", "ls", "ul"):
            found[word] = {}
            name = word
        elif word in ("m1", "d", "m2"):
            found[name][word] = words[at + 1]
    return found


def _slopes(given: dict[str, str] | None) -> Slopes | None:
    if given is None:
        return None
    return slopes(*(quantity(given.get(name, "0")) for name in ("m1", "d", "m2")))


class Hfsc(Discipline):
    """sch_hfsc.c."""

    def __init__(self, given: Commands) -> None:
        super().__init__()
        self.given, self.default = given, int(given.options[given.options.index("default") + 1], 16)
        self.root = Share(None, None)
        self.classes: dict[int, Share] = {0: self.root}
        for one in given.classes:
            self.classes[one.name] = Share(one, self.classes[one.parent])
        self.waiting: list[Share] = []
        """Leaves with a real-time curve that have packets, by eligible time (eltree_insert)."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """hfsc_enqueue."""
        leaf = self.classes[self.given.class_of(packet) or self.default]
        before = leaf.queue.packets
        leaf.queue.enqueue(now, packet)
        self.packets += leaf.queue.packets - before
        if leaf.queue.packets > before == 0:
            if leaf.deadline is not None:
                self.start_real_time(now // TICK_NS, leaf, packet.length)
            if leaf.virtual is not None:
                self.start_sharing(now // TICK_NS, leaf)

    def start_real_time(self, time: int, leaf: Share, length: int) -> None:
        """init_ed: of a convex curve a leaf is eligible by its second slope."""
        assert leaf.deadline is not None and leaf.real is not None
        leaf.deadline.lower(time, leaf.cumulative)
        leaf.eligible = Curve(leaf.real)
        for name in ("x", "y", "dx", "dy"):
            setattr(leaf.eligible, name, getattr(leaf.deadline, name))
        if leaf.real.is_convex:
            leaf.eligible.dx = leaf.eligible.dy = 0
        self.set_times(leaf, length)

    def set_times(self, leaf: Share, length: int) -> None:
        """update_ed."""
        assert leaf.eligible is not None
        leaf.e = leaf.eligible.x_of(leaf.cumulative)
        self.set_deadline(leaf, length)
        if leaf in self.waiting:
            self.waiting.remove(leaf)
        self.waiting.append(leaf)
        self.waiting.sort(key=lambda one: one.e)

    def set_deadline(self, leaf: Share, length: int) -> None:
        """update_d."""
        assert leaf.deadline is not None
        leaf.d = leaf.deadline.x_of(leaf.cumulative + length)

    def start_sharing(self, time: int, one: Share) -> None:
        """init_vf: a class that wakes starts half way between the least time served and the greatest one."""
        wakes = True
        while (parent := one.parent) is not None:
            if wakes:
                wakes = one.active == 0
                one.active += 1
            if wakes:
                self.wake_up(time, one, parent)
            self.set_fit(one)
            parent.f_least = min((child.f for child in parent.fit), default=0)
            one = parent

    def wake_up(self, time: int, one: Share, parent: Share) -> None:
        """init_vf, of a class that gets active."""
        assert one.virtual is not None
        if parent.fit:
            vt = parent.fit[-1].vt
            if parent.vt_least:
                vt = (parent.vt_least + vt) // 2
            if parent.period != one.parent_period or vt > one.vt:
                one.vt = vt
        else:
            one.vt, parent.vt_least = parent.vt_reached, 0
        one.virtual.lower(one.vt, one.total)
        one.vt_adjusted = 0
        one.period += 1
        one.parent_period = parent.period + (parent.active == 0)
        one.f = 0
        self.place(one, parent)
        if one.limit is not None:
            one.limit.lower(time, one.total)
            one.own_f = one.limit.x_of(one.total)

    def place(self, one: Share, parent: Share) -> None:
        """vttree_update."""
        if one in parent.fit:
            parent.fit.remove(one)
        parent.fit.append(one)
        parent.fit.sort(key=lambda child: child.vt)

    def set_fit(self, one: Share) -> None:
        """The time from which a class fits: its own upper limit's and that of a child at least."""
        one.f = max(one.own_f, one.f_least)

    def dequeue(self, now: int) -> Packet | None:
        """hfsc_dequeue: of the leaves that are eligible that with the first deadline, else down by virtual times."""
        time = now // TICK_NS
        eligible = [leaf for leaf in self.waiting if leaf.e <= time]
        leaf = min(eligible, key=lambda one: one.d) if eligible else self.find(time)
        if leaf is None:
            self.wake = TICK_NS * min(
                [one.e for one in self.waiting[:1]] + ([self.root.f_least] if self.root.f_least else [])
            )
            return None
        packet = leaf.queue.dequeue(now)
        assert packet is not None
        self.packets -= 1
        self.charge(leaf, packet.length)
        if eligible:
            leaf.cumulative += packet.length
        if leaf.deadline is not None:
            if leaf.queue.head is None:
                self.waiting.remove(leaf)
            elif eligible:
                self.set_times(leaf, leaf.queue.head.length)
            else:
                self.set_deadline(leaf, leaf.queue.head.length)
        return packet

    def find(self, time: int) -> Share | None:
        """vttree_get_minvt."""
        one = self.root
        if one.f_least > time:
            return None
        while one.children:
            child = next((child for child in one.fit if child.f <= time), None)
            if child is None:
                return None
            one.vt_least = max(one.vt_least, child.vt)
            one = child
        return one

    def charge(self, one: Share, length: int) -> None:
        """update_vf: a class that was skipped because it did not fit does not catch up."""
        sleeps = one.queue.head is None and one.virtual is not None
        while (parent := one.parent) is not None:
            one.total += length
            if one.virtual is not None and one.active:
                one.active -= sleeps
                sleeps = sleeps and one.active == 0
                one.vt = one.virtual.x_of(one.total) + one.vt_adjusted
                if one.vt < parent.vt_least:
                    one.vt_adjusted += parent.vt_least - one.vt
                    one.vt = parent.vt_least
                if sleeps:
                    parent.vt_reached = max(parent.vt_reached, one.vt)
                    parent.fit.remove(one)
                else:
                    self.place(one, parent)
                    if one.limit is not None:
                        one.own_f = one.limit.x_of(one.total)
                    self.set_fit(one)
                parent.f_least = min((child.f for child in parent.fit), default=0)
            one = parent
