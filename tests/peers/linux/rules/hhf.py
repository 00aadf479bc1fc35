"""Heavy hitters (sch_hhf.c): flows that send much in a short time wait apart from all others."""

from __future__ import annotations

from collections import deque

from linux.rules.flows import MTU, TICK, Discipline, Flow
from linux.rules.tc import Options
from linux.truth import Packet


class Hhf(Discipline):
    """Flows are told apart exactly: each has a counter and a place of its own.

    Ticks begin with the first packet.
    """

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.limit = options.number("limit", 1000)
        self.quanta = {True: max(256, options.number("quantum", MTU))}
        self.quanta[False] = self.quanta[True] * options.number("non_hh_weight", 2)
        self.admit_bytes, self.most = options.number("admit_bytes", 128 << 10), options.number("hh_limit", 2048)
        self.reset_ticks = -(-options.number("reset_timeout", 40_000_000) // TICK)
        self.evict_ticks = -(-options.number("evict_timeout", 1_000_000_000) // TICK)
        self.counters: dict[int, int] = {}
        self.cleared = 0
        self.seen: dict[int, int] = {}
        """The tick of the last packet of each heavy hitter, also of those that have expired."""
        self.queues = {True: Flow(), False: Flow()}
        """That of the heavy hitters, and that of the others."""
        self.new, self.old = deque[bool](), deque[bool]()

    def is_heavy(self, now: int, packet: Packet) -> bool:
        """hhf_classify: counters are cleared after their time; a heavy hitter has none."""
        tick, name = now // TICK, packet.flow
        if self.cleared + self.reset_ticks < tick:
            self.counters.clear()
            self.cleared = tick
        if name in self.seen and self.seen[name] + self.evict_ticks >= tick:
            self.seen[name] = tick
            return True
        counted = self.counters.get(name, 0) + packet.length
        if counted <= self.admit_bytes:
            self.counters[name] = counted
            return False
        # seek_list keeps the one expired entry of a place: it counts until used (alloc_new_hh).
        if name not in self.seen and len(self.seen) >= self.most:
            return False
        self.seen[name] = tick
        return True

    def enqueue(self, now: int, packet: Packet) -> None:
        """hhf_enqueue: the heavy hitters' queue is never among the new ones."""
        is_heavy = self.is_heavy(now, packet)
        self.queues[is_heavy].add(packet)
        self.count(packet, 1)
        if is_heavy not in self.new and is_heavy not in self.old:
            (self.old if is_heavy else self.new).append(is_heavy)
            self.queues[is_heavy].credit = self.quanta[is_heavy]
        if self.packets > self.limit:
            # hhf_drop: the first packet of the heavy hitters.
            self.count(self.queues[bool(self.queues[True].held)].take(), -1)

    def dequeue(self, now: int) -> Packet | None:
        """hhf_dequeue."""
        while turns := self.new or self.old:
            name = turns[0]
            queue = self.queues[name]
            if queue.credit <= 0:
                queue.credit += self.quanta[name]
                self.old.append(turns.popleft())
            elif queue.held:
                packet = queue.take()
                self.count(packet, -1)
                queue.credit -= packet.length
                return packet
            else:
                turns.popleft()
                if turns is self.new and self.old:
                    self.old.append(name)
        return None
