"""The kernel's qfq: QFQ+ in its arithmetic."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from linux.rules.classes import Turn
from linux.rules.flows import MTU, Discipline
from linux.rules.tc import Commands
from linux.truth import Packet

ONE = 1 << 30
"""ONE_FP: virtual time has 30 binary places."""

MIN_SLOT_SHIFT = 25
"""qfq_init_qdisc: FRAC_BITS + QFQ_MTU_SHIFT + log2(QFQ_MAX_AGG_CLASSES) - QFQ_MAX_INDEX."""

CLASSES_MAX = 8
"""QFQ_MAX_AGG_CLASSES."""

LAST_SLOT = 30
"""QFQ_MAX_SLOTS - 2."""

GROUPS = 25
"""QFQ_MAX_INDEX + 1."""


@dataclass(eq=False)
class Aggregate:
    """Classes of one weight and one largest packet, at most eight, which take turns."""

    weight: int
    longest: int
    classes: int = 0
    group: int = -1
    start: int = 0
    finish: int = 0
    budget: int = 0
    first_budget: int = 0
    active: deque[Turn] = field(default_factory=deque)

    @property
    def full_budget(self) -> int:
        """qfq_update_agg: budgetmax."""
        return self.classes * self.longest

    @property
    def inverse(self) -> int:
        """qfq_update_agg: inv_w."""
        return ONE // (self.weight * self.classes)

    def refill(self) -> None:
        """Give it a whole budget."""
        self.budget = self.first_budget = self.full_budget


@dataclass(eq=False)
class Group:
    """Aggregates of about the same budget over weight, in slots by their rounded start."""

    index: int
    start: int = 0
    finish: int = 0
    slots: dict[int, list[Aggregate]] = field(default_factory=dict)
    """By rounded start; the last one of a slot is served first."""

    @property
    def shift(self) -> int:
        """Binary places that a start is rounded down by."""
        return MIN_SLOT_SHIFT + self.index

    def rounded(self, time: int) -> int:
        """qfq_round_down."""
        return time >> self.shift << self.shift

    def move(self, start: int) -> None:
        """Give it the start of its first slot."""
        self.start, self.finish = start, start + (2 << self.shift)


class Qfq(Discipline):
    """sch_qfq.c."""

    def __init__(self, given: Commands) -> None:
        super().__init__()
        self.given, self.queues, self.of = given, dict[int, Turn](), dict[int, Aggregate]()
        self.time = self.time_before = 0
        self.serving: Aggregate | None = None
        self.groups = [Group(index) for index in range(GROUPS)]
        self.states: dict[tuple[bool, bool], set[int]] = {
            (is_late, is_blocked): set() for is_late in (False, True) for is_blocked in (False, True)
        }
        """Groups by whether their start is to come, and whether a later group with an earlier finish blocks them."""
        aggregates: list[Aggregate] = []
        for one in given.classes:  # qfq_change_class
            weight, longest = one.options.number("weight", 1), one.options.number("maxpkt", MTU)
            fits = [a for a in aggregates if (a.weight, a.longest) == (weight, longest) and a.classes < CLASSES_MAX]
            aggregate = fits[0] if fits else Aggregate(weight, longest)
            if not fits:
                aggregates.append(aggregate)
            aggregate.classes += 1
            if aggregate.group < 0:
                aggregate.group = _index(aggregate)
            self.queues[one.name], self.of[one.name] = Turn(longest), aggregate
        self.inverse_sum = ONE // sum(one.weight * one.classes for one in aggregates)

    @property
    def ready(self) -> set[int]:
        """Groups that may be served."""
        return self.states[False, False]

    def enqueue(self, now: int, packet: Packet) -> None:
        """qfq_enqueue."""
        name = self.given.class_of(packet)
        assert name is not None
        queue, aggregate = self.queues[name], self.of[name]
        before = queue.packets
        queue.enqueue(now, packet)
        self.packets += queue.packets - before
        if not queue.packets > before == 0:
            return
        queue.deficit = queue.quantum
        aggregate.active.append(queue)
        if aggregate.active[0] is not queue or aggregate is self.serving:
            return
        aggregate.refill()  # qfq_activate_agg
        self.update_start(aggregate)
        aggregate.finish = aggregate.start + aggregate.full_budget * aggregate.inverse
        if self.serving is None:
            self.serving = aggregate
            self.time = self.time_before = aggregate.start
        else:
            self.schedule(aggregate)

    def dequeue(self, now: int) -> Packet | None:
        """qfq_dequeue: an aggregate is served until its budget does not cover its next packet."""
        serving = self.serving
        if serving is None:
            return None
        head = serving.active[0].head if serving.active else None
        if head is None or serving.budget < head.length:
            # charge_actual_service
            sent = min(serving.full_budget, serving.first_budget - serving.budget)
            serving.finish = serving.start + sent * serving.inverse
            serving.refill()
            if serving.active:
                serving.start = serving.finish
                serving.finish = serving.start + serving.full_budget * serving.inverse
                self.schedule(serving)
            elif not self.packets:
                self.serving = None
                return None
            serving = self.serving = self.choose()
        queue = serving.active[0]
        packet = queue.dequeue(now)
        assert packet is not None
        self.packets -= 1
        # agg_dequeue: a class whose deficit does not cover its next packet takes the last turn at once.
        queue.deficit -= packet.length
        if queue.head is None:
            serving.active.popleft()
        elif queue.deficit < queue.head.length:
            queue.deficit += serving.longest
            serving.active.rotate(-1)
        serving.budget -= packet.length
        self.time += packet.length * self.inverse_sum
        return packet

    def update_start(self, aggregate: Aggregate) -> None:
        """qfq_update_start: an aggregate that wakes starts where it ended, if that is not over, else now."""
        group = self.groups[aggregate.group]
        rounded, limit = group.rounded(aggregate.finish), group.rounded(self.time) + (1 << group.shift)
        if aggregate.finish > self.time and rounded <= limit:
            aggregate.start = aggregate.finish
            return
        blocker = min((index for index in self.ready if index >= group.index), default=None)
        if blocker is not None and rounded > self.groups[blocker].finish:
            aggregate.start = min(self.groups[blocker].finish, limit)
        else:
            aggregate.start = self.time

    def schedule(self, aggregate: Aggregate) -> None:
        """qfq_schedule_agg, qfq_slot_insert."""
        group = self.groups[aggregate.group]
        start = group.rounded(aggregate.start)
        if not group.slots or group.start > aggregate.start:
            if not group.slots and not self.ready and start > self.time and self.serving is None:
                self.time = start
            self.forget(group)
            group.move(start)
            self.states[self.state(group)].add(group.index)
        last = group.start + (LAST_SLOT << group.shift)
        if start > last:
            aggregate.start -= start - last
            aggregate.finish -= start - last
            start = last
        group.slots.setdefault(start, []).append(aggregate)

    def state(self, group: Group) -> tuple[bool, bool]:
        """qfq_calc_state."""
        after = min((index for index in self.ready if index >= group.index), default=None)
        return group.start > self.time, after is not None and group.finish > self.groups[after].finish

    def forget(self, group: Group) -> None:
        """Take a group out of all states."""
        for members in self.states.values():
            members.discard(group.index)

    def choose(self) -> Aggregate:
        """qfq_choose_next_agg: the last of the first slot of the first group that may be served."""
        self.update_eligible()
        self.time_before = self.time
        group = self.groups[min(self.ready)]
        finish = group.finish
        first = min(group.slots)
        chosen = group.slots[first].pop()
        if not group.slots[first]:
            del group.slots[first]
        if group.slots:
            start = min(group.slots)
            if group.start == start:
                return chosen
            group.move(start)
        self.forget(group)
        if group.slots:
            self.states[self.state(group)].add(group.index)
        self.unblock(group.index, finish)
        return chosen

    def update_eligible(self) -> None:
        """qfq_update_eligible, qfq_make_eligible: groups whose start is reached become eligible."""
        late = self.states[True, False] | self.states[True, True]
        if not late:
            return
        if not self.ready:
            self.time = max(self.time, self.groups[min(late)].start)
        flips = ((self.time >> MIN_SLOT_SHIFT) ^ (self.time_before >> MIN_SLOT_SHIFT)).bit_length()
        for is_blocked in (False, True):
            self.move({index for index in self.states[True, is_blocked] if index < flips}, True, is_blocked, False)

    def unblock(self, index: int, finish: int) -> None:
        """qfq_unblock_groups: groups before one that was served are free, unless the next one blocks them too."""
        after = min((other for other in self.ready if other > index), default=None)
        if after is not None and self.groups[after].finish <= finish:
            return
        for is_late in (False, True):
            free = {other for other in self.states[is_late, True] if other < index}
            self.states[is_late, True] -= free
            self.states[is_late, False] |= free

    def move(self, groups: set[int], was_late: bool, is_blocked: bool, is_late: bool) -> None:
        """qfq_move_groups."""
        self.states[was_late, is_blocked] -= groups
        self.states[is_late, is_blocked] |= groups


def _index(aggregate: Aggregate) -> int:
    # qfq_calc_index: of an aggregate that has its first class.
    size = aggregate.full_budget * aggregate.inverse
    if not size >> MIN_SLOT_SHIFT:
        return 0
    index = (size >> MIN_SLOT_SHIFT).bit_length()
    return index - (size == 1 << (index + MIN_SLOT_SHIFT - 1))
