"""The kernel's htb: a tree of token buckets."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from linux.rules.flows import Discipline, Queue
from linux.rules.tc import Class, Commands
from linux.truth import Packet

CANNOT, MAY_BORROW, CAN = range(3)
"""sch_htb.c enum htb_cmode: what a class may do."""

LONGEST_DEBT_NS = 60_000_000_000
"""htb_change_class: mbuffer."""

SECOND = 1_000_000_000

TICK_NS = 64
"""pkt_sched.h PSCHED_TICKS2NS: tc's unit of what is saved."""


class Ring:
    """Classes in the order of their numbers, and the one whose turn it is (struct htb_prio).

    The pointer may stand at a member, at the end (None), or where a member was: then it goes on at the next one.
    """

    def __init__(self) -> None:
        self.members: set[int] = set()
        self.at: int | None = None

    def after(self, name: int) -> int | None:
        """The member that follows."""
        return min((member for member in self.members if member > name), default=None)

    def step(self) -> None:
        """htb_next_rb_node."""
        self.at = self.after(self.at) if self.at is not None else None

    def settle(self) -> None:
        """htb_id_find_next_upper: from where a member was to the next one."""
        if self.at is not None and self.at not in self.members:
            self.step()


class Bucket:
    """A class of htb."""

    def __init__(self, one: Class) -> None:
        def saves(rate: int, burst: int) -> int:
            return burst * SECOND // rate // TICK_NS * TICK_NS

        self.name, self.parent_name = one.name, one.parent
        self.rate = one.options.number("rate")
        self.ceil = one.options.number("ceil", self.rate)
        self.buffers = (saves(self.rate, one.options.number("burst")), saves(self.ceil, one.options.number("cburst")))
        self.tokens, self.ceil_tokens = self.buffers
        self.since, self.mode, self.event = 0, CAN, inf
        self.priority = one.options.number("prio")
        self.quantum = one.options.number("quantum", min(200_000, max(1000, self.rate // 10)))
        self.deficit = dict.fromkeys(range(8), 0)
        self.queue, self.level = Queue(), 0
        self.parent: Bucket | None = None
        self.active: set[int] = set()
        """Priorities at which it or one that borrows from it has packets."""
        self.feeds = {priority: Ring() for priority in range(8)}
        """Classes that borrow from it."""

    def above(self) -> Iterator[Bucket]:
        """The classes above it."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.above()

    def find_mode(self, passed: int) -> tuple[int, int]:
        """htb_class_mode: what it may do, and how long it stays so."""
        if self.ceil_tokens + passed < 0:
            return CANNOT, -(self.ceil_tokens + passed)
        if self.tokens + passed >= 0:
            return CAN, 0
        return MAY_BORROW, -(self.tokens + passed)


class Htb(Discipline):
    """sch_htb.c."""

    def __init__(self, given: Commands) -> None:
        super().__init__()
        self.given, self.default = given, int(given.options[given.options.index("default") + 1], 16)
        self.classes = {one.name: Bucket(one) for one in given.classes}
        for one in self.classes.values():
            one.parent = self.classes.get(one.parent_name)
        for (
            one
        ) in self.classes.values():  # htb_change_class: a leaf is on level 0, an inner class below the one above it
            if one.parent is not None:
                one.parent.level = 7 - sum(1 for _ in one.parent.above())
        self.rows = {(level, priority): Ring() for level in range(8) for priority in range(8)}
        """Classes that can send, by level and priority."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """htb_enqueue."""
        leaf = self.classes[self.given.class_of(packet) or self.default]
        before = leaf.queue.packets
        leaf.queue.enqueue(now, packet)
        self.packets += leaf.queue.packets - before
        if leaf.queue.packets and not leaf.active:
            leaf.active = {leaf.priority}
            self.activate(leaf)

    def activate(self, one: Bucket) -> None:
        """htb_activate_prios: join those that borrow from the class above, or the row of those that can send."""
        wanted = set(one.active)
        while one.mode == MAY_BORROW and one.parent is not None and wanted:
            above = one.parent
            fresh = {priority for priority in wanted if not above.feeds[priority].members}
            for priority in wanted:
                above.feeds[priority].members.add(one.name)
            above.active |= fresh
            one, wanted = above, fresh
        if one.mode == CAN:
            for priority in wanted:
                self.rows[one.level, priority].members.add(one.name)

    def deactivate(self, one: Bucket) -> None:
        """htb_deactivate_prios: the pointer of a row goes on; that of a class remembers where it was."""
        wanted = set(one.active)
        while one.mode == MAY_BORROW and one.parent is not None and wanted:
            above = one.parent
            for priority in wanted:
                above.feeds[priority].members.remove(one.name)
            wanted = {priority for priority in wanted if not above.feeds[priority].members}
            above.active -= wanted
            one = above
        if one.mode == CAN:
            for priority in wanted:
                row = self.rows[one.level, priority]
                if row.at == one.name:
                    row.step()
                row.members.remove(one.name)

    def change_mode(self, now: int, one: Bucket, passed: int) -> None:
        """htb_change_class_mode, htb_add_to_wait_tree."""
        mode, wait = one.find_mode(passed)
        if mode != one.mode:
            if one.active and one.mode != CANNOT:
                self.deactivate(one)
            one.mode = mode
            if one.active and mode != CANNOT:
                self.activate(one)
        one.event = now + max(1, wait) if mode != CAN else inf

    def dequeue(self, now: int) -> Packet | None:
        """htb_dequeue: the lowest level, then the lowest priority."""
        for level in range(8):
            self.do_events(now, level)
            for priority in range(8):
                if self.rows[level, priority].members:
                    return self.send(now, level, priority)
        self.wake = min(now + 5 * SECOND, *(one.event for one in self.classes.values()))
        return None

    def do_events(self, now: int, level: int) -> None:
        """htb_do_events."""
        while due := [one for one in self.classes.values() if one.level == level and one.event <= now]:
            one = min(due, key=lambda one: one.event)
            self.change_mode(now, one, min(now - one.since, LONGEST_DEBT_NS))

    def send(self, now: int, level: int, priority: int) -> Packet:
        """htb_dequeue_tree: a leaf that has sent its quantum at a level lets the next one have its turn."""
        leaf = self.find(level, priority)
        packet = leaf.queue.dequeue(now)
        assert packet is not None
        self.packets -= 1
        leaf.deficit[level] -= packet.length
        if leaf.deficit[level] < 0:
            leaf.deficit[level] += leaf.quantum
            ring = self.rows[0, priority] if level == 0 else leaf.parent.feeds[priority] if leaf.parent else Ring()
            ring.step()
        if not leaf.queue.packets:
            self.deactivate(leaf)
            leaf.active = set()
        self.charge(now, leaf, level, packet.length)
        return packet

    def find(self, level: int, priority: int) -> Bucket:
        """htb_lookup_leaf: down the pointers; one at the end begins anew, and the ring above goes on."""
        path = [self.rows[level, priority]]
        while True:
            ring = path[-1]
            ring.settle()
            if ring.at is None:
                ring.at = min(ring.members)
                if len(path) > 1:
                    path.pop()
                    path[-1].step()
                continue
            one = self.classes[ring.at]
            if one.level == 0:
                return one
            path.append(one.feeds[priority])

    def charge(self, now: int, leaf: Bucket, level: int, length: int) -> None:
        """htb_charge_class: rates from the lender on, ceilings from the leaf on; a debt has its limit."""
        one: Bucket | None = leaf
        while one is not None:
            passed = min(now - one.since, LONGEST_DEBT_NS)
            if one.level >= level:
                one.tokens = _accounted(one.tokens + passed, one.buffers[0], length * SECOND // one.rate)
            else:
                one.tokens += passed
            one.ceil_tokens = _accounted(one.ceil_tokens + passed, one.buffers[1], length * SECOND // one.ceil)
            one.since = now
            if one.find_mode(0)[0] != one.mode:
                self.change_mode(now, one, 0)
            one = one.parent


def _accounted(tokens: int, buffer: int, cost: int) -> int:
    # htb_accnt_tokens, htb_accnt_ctokens
    return max(min(tokens, buffer) - cost, 1 - LONGEST_DEBT_NS)
