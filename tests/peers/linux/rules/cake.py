"""The kernel's cake: a shaper, tins, fairness among hosts and flows, COBALT for each flow.

Where the kernel rounds a quantum to a byte at random (cake_get_flow_quantum), the mean is taken, in units of 1/65536 B,
unless a generator is given. BLUE, which starts when memory is full, is not told, because it draws. Nor are the filter
of acknowledgements, `ingress` and `autorate`.
"""

from __future__ import annotations

from collections import Counter, deque
from enum import Enum
from random import Random
from typing import Literal

from linux.rules.flows import MTU, Discipline, Flow
from linux.rules.tc import Options
from linux.truth import Packet

ONE = 1 << 16
"""A byte of a quantum."""

RATE_MIN = 64
"""cake_set_rate: bytes per second."""

UINT32 = (1 << 32) - 1


class State(Enum):
    """enum CAKE_SET: in which list a flow is, and how it counts."""

    NONE, SPARSE, SPARSE_WAIT, BULK, DECAYING = range(5)


def _steps(root: int, signals: int, steps: int) -> int:
    # cobalt_newton_step
    for _ in range(steps):
        root = ((3 << 32) - signals * (root * root >> 32) >> 2) * root >> 31
    return root


def _cache() -> list[int]:
    # cobalt_cache_init: four steps from the root before
    roots = [UINT32]
    for signals in range(1, 16):
        roots.append(_steps(roots[-1], signals, 4))
    return roots


CACHE = _cache()
"""cobalt_invsqrt: the first inverse square roots are nearly exact, later ones take one step each."""


class Cobalt:
    """sch_cake.c struct cobalt_vars, without BLUE."""

    def __init__(self) -> None:
        self.signals = self.root = self.next = self.passed = 0
        self.is_dropping = False

    def set_signals(self, signals: int) -> None:
        """cobalt_invsqrt."""
        self.signals = signals
        self.root = CACHE[signals] if signals < len(CACHE) else _steps(self.root, signals, 1)

    def after(self, time: int, interval: int) -> int:
        """cobalt_control."""
        return time + ((interval & UINT32) * self.root >> 32)

    def found_empty(self, now: int, interval: int) -> None:
        """cobalt_queue_empty."""
        self.is_dropping = False
        if self.signals and now >= self.next:
            self.set_signals(self.signals - 1)
            self.next = self.after(self.next, interval)

    def signal(self, now: int, wait: int, tin: Tin) -> bool:
        """cobalt_should_drop: whether a packet is to be marked or dropped."""
        is_due = self.signals > 0 and now >= self.next
        passed = now - self.next
        if wait > tin.target and wait > 4 * tin.mtu_time:
            if not self.is_dropping:
                self.is_dropping = True
                self.next = self.after(now, tin.interval)
            self.signals = self.signals or 1
        else:
            self.is_dropping = False
        signals = is_due and self.is_dropping
        while is_due:
            self.set_signals(self.signals + (1 if signals else -1))
            self.next = self.after(self.next, tin.interval)
            passed = now - self.next
            is_due = not signals and self.signals > 0 and passed >= 0
        self.passed = passed
        return signals

    def settle(self, now: int, interval: int, is_dropped: bool) -> None:
        """cobalt_should_drop, its end: what is next is also when the flow is forgotten."""
        if not self.signals:
            self.next = now + interval
        elif self.passed > 0 and not is_dropped:
            self.next = now


class CakeFlow(Flow):
    """A queue; credit is in units of 1/65536 B."""

    def __init__(self) -> None:
        super().__init__()
        self.state, self.cobalt, self.source, self.sink = State.NONE, Cobalt(), 0, 0


class Tin:
    """sch_cake.c struct cake_tin_data."""

    def __init__(self, rate: int, weight: int, target: int, interval: int) -> None:
        """cake_set_rate: a slow tin has a small quantum, and a packet's time and a half is never late."""
        self.weight, self.quantum = weight, max(min(rate >> 12, MTU), 300) if rate else MTU
        self.rate_ns, self.shift = shifted(rate)
        self.mtu_time = MTU * self.rate_ns >> self.shift
        self.target = max(self.mtu_time * 3 // 2, target)
        self.interval = max(interval + self.target - target, 2 * self.target)
        self.bytes = self.deficit = self.next = 0
        self.flows: dict[object, CakeFlow] = {}
        self.new, self.old, self.decaying = deque[CakeFlow](), deque[CakeFlow](), deque[CakeFlow]()
        self.bulk_sources, self.bulk_sinks = Counter[int](), Counter[int]()

    @property
    def is_busy(self) -> bool:
        """Whether a flow is sparse or bulk."""
        return any(flow.state not in (State.NONE, State.DECAYING) for flow in self.flows.values())

    def enter(self, flow: CakeFlow, state: State) -> None:
        """A flow changes its state; bulk flows are counted for their hosts."""
        for was, sign in ((flow.state, -1), (state, 1)):
            if was is State.BULK:
                self.bulk_sources[flow.source] += sign
                self.bulk_sinks[flow.sink] += sign
        flow.state = state

    def move(self, flow: CakeFlow, turns: deque[CakeFlow] | None) -> None:
        """A flow goes to the end of a list, or out of all."""
        for other in (self.new, self.old, self.decaying):
            if flow in other:
                other.remove(flow)
        if turns is not None:
            turns.append(flow)


def shifted(rate: int) -> tuple[int, int]:
    """cake_set_rate: nanoseconds per byte as a number of at most 34 bits and its binary places."""
    if not rate:
        return 0, 0
    ns, shift = (10**9 << 34) // max(RATE_MIN, rate), 34
    while ns >> 34:
        ns, shift = ns >> 1, shift - 1
    return ns, shift


PARTS: dict[str, list[tuple[int, int]]] = {
    "besteffort": [(0, 65535)],
    "diffserv3": [(0, 1024), (4, 64), (2, 256)],
    "diffserv4": [(0, 1024), (4, 64), (1, 512), (2, 256)],
}
"""cake_config_diffserv3, cake_config_diffserv4: a tin's rate is shifted down; its weight."""

DSCP: dict[str, str] = {
    "besteffort": "0" * 64,
    "precedence": "".join(str(at) * 8 for at in range(8)),
    "diffserv3": "01002000" "10000000" "00000000" "00000000" "00000000" "00002020" "20000000" "20000000",
    "diffserv4": "01002000" "10000000" "20202020" "20202020" "30202020" "30003030" "30000000" "30000000",
    "diffserv8": "20124222" "12121212" "52424242" "32323232" "62323232" "62226262" "72222222" "72222222",
}  # fmt: skip
"""The tin of each code point."""

Hosts = Literal["source", "sink"]

ISOLATIONS: dict[str, tuple[tuple[str, ...], tuple[Hosts, ...]]] = {
    "flowblind": ((), ()),
    "srchost": (("source",), ()),
    "dsthost": (("sink",), ()),
    "hosts": (("source", "sink"), ()),
    "flows": (("flow", "source", "sink"), ()),
    "dual-srchost": (("flow", "source", "sink"), ("source",)),
    "dual-dsthost": (("flow", "source", "sink"), ("sink",)),
    "triple-isolate": (("flow", "source", "sink"), ("source", "sink")),
}
"""cake_hash: what tells flows apart, and whose bulk flows are counted."""

LINKS: dict[str, tuple[int, int, bool]] = {"docsis": (18, 64, False), "pppoe-llcsnap": (40, 0, True)}
"""tc's names of links: overhead, least length, whether in cells of ATM."""


class Cake(Discipline):
    """sch_cake.c."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        kind = next((word for word in [*PARTS, *DSCP] if word in options), "diffserv3")
        self.rate = options.number("bandwidth") if "bandwidth" in options else 0
        self.link = next((LINKS[word] for word in LINKS if word in options), None)
        self.tells, self.counted = next(
            (ISOLATIONS[word] for word in ISOLATIONS if word in options), ISOLATIONS["triple-isolate"]
        )
        interval = options.number("rtt", 100_000_000)
        self.tins = [Tin(rate, weight, interval // 20, interval) for rate, weight in self.parts(kind)]
        self.tin_of = [int(tin) for tin in DSCP[kind]]
        self.rate_ns, self.shift = shifted(self.rate)
        self.at = self.next = self.next_failsafe = 0
        self.draw: Random | None = None
        """What rounds quanta to bytes."""

    def parts(self, kind: str) -> list[tuple[int, int]]:
        """cake_config_*: the rate and the weight of each tin."""
        if kind in PARTS:
            return [(self.rate >> shift, weight) for shift, weight in PARTS[kind]]
        found, rate, weight = [], self.rate, 256
        for _ in range(8):
            found.append((rate, weight))
            rate, weight = rate * 7 >> 3, weight * 7 >> 3
        return found

    def length(self, packet: Packet) -> int:
        """cake_calc_overhead: what a packet takes of the link behind."""
        if self.link is None:
            return packet.length
        overhead, least, has_cells = self.link
        length = max(packet.length - 14 + overhead, least)
        return -(-length // 48) * 53 if has_cells else length

    def quantum(self, tin: Tin, flow: CakeFlow) -> int:
        """cake_get_flow_quantum: a flow shares its quantum with the bulk flows of its host."""
        load = 1
        if "source" in self.counted:
            load = max(load, tin.bulk_sources[flow.source])
        if "sink" in self.counted:
            load = max(load, tin.bulk_sinks[flow.sink])
        quantum = tin.quantum * (65535 // load)
        return quantum if self.draw is None else quantum + self.draw.randrange(ONE) >> 16 << 16

    def enqueue(self, now: int, packet: Packet) -> None:
        """cake_enqueue: a flow that is in no list, or decays, is sparse; one that waits among the old ones is bulk."""
        tin = self.tins[self.tin_of[packet.tos >> 2]]
        key = tuple(getattr(packet, name) for name in self.tells)
        flow = tin.flows.setdefault(key, CakeFlow())
        if flow.state is State.NONE:
            flow.source, flow.sink = packet.source, packet.sink
        if not tin.bytes:
            tin.next = max(tin.next, now)
            if not self.packets and self.next < now:
                self.next = self.next_failsafe = now
        flow.add(packet)
        tin.bytes += packet.length
        self.count(packet, 1)
        if flow.state in (State.NONE, State.DECAYING):
            tin.move(flow, tin.new)
            tin.enter(flow, State.SPARSE)
            flow.credit = self.quantum(tin, flow)
        elif flow.state is State.SPARSE_WAIT:
            tin.enter(flow, State.BULK)

    def dequeue(self, now: int) -> Packet | None:
        """cake_dequeue."""
        is_first = True
        while self.packets:
            if self.rate and self.next > now and self.next_failsafe > now:
                self.wake = min(self.next, self.next_failsafe)
                return None
            tin = self.choose(now)
            while True:
                turns = tin.decaying if is_first and tin.decaying else tin.new or tin.old or tin.decaying
                is_first = False
                if not turns:
                    break
                flow = turns[0]
                if flow.credit <= 0:
                    if flow.state is State.SPARSE:
                        tin.enter(flow, State.BULK if flow.held else State.SPARSE_WAIT)
                    flow.credit += self.quantum(tin, flow)
                    tin.move(flow, tin.old)
                    continue
                packet = self.take(now, tin, flow)
                if packet is None:
                    self.rest(now, tin, flow)
                    break
                length = self.charge(now, tin, packet)
                flow.credit -= length * ONE
                tin.deficit -= length
                return packet
        return None

    def choose(self, now: int) -> Tin:
        """cake_dequeue: without a shaper by deficits, else the last tin that is in time, or the first to be."""
        if not self.rate:
            while self.tins[self.at].deficit < 0 or not self.tins[self.at].is_busy:
                if self.tins[self.at].deficit <= 0:
                    self.tins[self.at].deficit += self.tins[self.at].weight
                self.at = (self.at + 1) % len(self.tins)
            return self.tins[self.at]
        best = None
        for at, tin in enumerate(self.tins):
            if tin.is_busy and (best is None or tin.next <= now or tin.next <= self.tins[best].next):
                best = at
        assert best is not None
        self.at = best
        return self.tins[best]

    def take(self, now: int, tin: Tin, flow: CakeFlow) -> Packet | None:
        """cake_dequeue: the head after those that COBALT drops; the last one is never dropped."""
        while flow.held:
            packet = flow.take()
            tin.bytes -= packet.length
            self.count(packet, -1)
            signals = flow.cobalt.signal(now, now - packet.arrival, tin)
            is_dropped = signals and not self.mark(packet)
            flow.cobalt.settle(now, tin.interval, is_dropped)
            if not is_dropped or not flow.held:
                return packet
        return None

    def rest(self, now: int, tin: Tin, flow: CakeFlow) -> None:
        """cake_dequeue: an empty flow decays until COBALT has forgotten it."""
        flow.cobalt.found_empty(now, tin.interval)
        decays = flow.cobalt.signals > 0 or now < flow.cobalt.next
        tin.enter(flow, State.DECAYING if decays else State.NONE)
        tin.move(flow, tin.decaying if decays else None)

    def charge(self, now: int, tin: Tin, packet: Packet) -> int:
        """cake_advance_shaper."""
        length = self.length(packet)
        if self.rate:
            own, all_ = length * tin.rate_ns >> tin.shift, length * self.rate_ns >> self.shift
            if tin.next < now:
                tin.next += own
            else:
                tin.next = max(tin.next, now + own)
            self.next += all_
            self.next_failsafe += all_ + (all_ >> 1)
        return length
