"""The kernel's rules of turns and drops told once more, each by itself and without fairq: a yardstick for both.

Times are whole nanoseconds. A discipline has `enqueue(now, packet)`, which answers with the packets that it drops, and
`dequeue(now)`, which answers with a packet, or nothing, and the packets that it drops. Where a rule is Linux's own, the
line names its file and function.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

MTU = 1514


@dataclass(frozen=True)
class Packet:
    """What a discipline sees of a packet."""

    number: int
    flow: int
    length: int
    ect: bool = False


@dataclass
class Sent:
    """What became of the packets: when each began, in order; those that left with a mark; those that were dropped."""

    starts: dict[int, int] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)
    dropped: set[int] = field(default_factory=set)


class Discipline(Protocol):
    """Packets in, packets out."""

    marked: set[int]

    def enqueue(self, now: int, packet: Packet) -> list[Packet]:
        """A packet comes; what is dropped for it."""

    def dequeue(self, now: int) -> tuple[Packet | None, list[Packet]]:
        """The packet that goes next, and what was dropped before it."""


def run(discipline: Discipline, arrivals: Iterable[tuple[int, Packet]], rate: int, by_device: bool) -> Sent:
    """Send `arrivals`, in order of time, over a line of `rate` bit/s.

    A device asks for a packet when it has sent one, whether there is one or not; a class of htb asks no queue that
    holds nothing (sch_htb.c htb_dequeue_tree).
    """
    sent, waiting, free = Sent(), 0, 0
    left, is_busy = deque(arrivals), False
    while left or is_busy or waiting:
        now = min([free] * is_busy + ([left[0][0]] if left else []))
        while left and left[0][0] <= now:
            lost = discipline.enqueue(now, left[0][1])
            waiting += 1 - len(lost)
            sent.dropped |= {packet.number for packet in lost}
            left.popleft()
        if is_busy and now < free:
            continue
        is_busy = False
        if waiting or by_device:
            packet, lost = discipline.dequeue(now)
            waiting -= len(lost) + (packet is not None)
            sent.dropped |= {one.number for one in lost}
            if packet is not None:
                sent.starts[packet.number] = now
                free, is_busy = now + packet.length * 8 * 10**9 // rate, True
    sent.marked = discipline.marked & set(sent.starts)
    return sent


class Drr:
    """sch_drr.c, and with `strict` bands before them sch_ets.c: turns of a quantum, a deficit is kept."""

    def __init__(self, quanta: Mapping[int, int], strict: Sequence[int] = ()) -> None:
        self.quanta, self.strict, self.marked = quanta, strict, set[int]()
        self.queues: dict[int, deque[Packet]] = {}
        self.active: deque[int] = deque()
        self.deficits: dict[int, int] = {}

    def enqueue(self, now: int, packet: Packet) -> list[Packet]:
        """Who was empty comes last, with a quantum (drr_enqueue)."""
        queue = self.queues.setdefault(packet.flow, deque())
        if not queue and packet.flow not in self.strict:
            self.active.append(packet.flow)
            self.deficits[packet.flow] = self.quanta[packet.flow]
        queue.append(packet)
        return []

    def dequeue(self, now: int) -> tuple[Packet | None, list[Packet]]:
        """A head that the deficit does not cover gives its queue another quantum, at the end (drr_dequeue)."""
        for band in self.strict:
            if self.queues.get(band):
                return self.queues[band].popleft(), []
        while self.active:
            flow = self.active[0]
            queue = self.queues[flow]
            if queue[0].length <= self.deficits[flow]:
                self.deficits[flow] -= queue[0].length
                packet = queue.popleft()
                if not queue:
                    self.active.popleft()
                return packet, []
            self.deficits[flow] += self.quanta[flow]
            self.active.rotate(-1)
        return None, []


class Sfq:
    """sch_sfq.c without limits: a slot sends while its allotment is above zero."""

    def __init__(self, quantum: int = MTU) -> None:
        self.quantum, self.marked = quantum, set[int]()
        self.queues: dict[int, deque[Packet]] = {}
        self.ring: deque[int] = deque()
        self.allotments: dict[int, int] = {}

    def enqueue(self, now: int, packet: Packet) -> list[Packet]:
        """A slot that was empty comes last, with a quantum (sfq_enqueue)."""
        queue = self.queues.setdefault(packet.flow, deque())
        if not queue:
            self.ring.append(packet.flow)
            self.allotments[packet.flow] = self.quantum
        queue.append(packet)
        return []

    def dequeue(self, now: int) -> tuple[Packet | None, list[Packet]]:
        """The allotment may go below zero; it is filled up when its turn comes again (sfq_dequeue)."""
        if not self.ring:
            return None, []
        while self.allotments[self.ring[0]] <= 0:
            self.allotments[self.ring[0]] += self.quantum
            self.ring.rotate(-1)
        flow = self.ring[0]
        packet = self.queues[flow].popleft()
        if self.queues[flow]:
            self.allotments[flow] -= packet.length
        else:
            self.ring.popleft()
        return packet, []


class Fq:
    """sch_fq.c without pacing: credits, new flows before old ones, limits, marks by the time waited."""

    def __init__(
        self, quantum: int = 2 * MTU, initial: int = 10 * MTU, limit: int = 10_000, flow_limit: int = 100,
        ce_threshold: int | None = None,
    ) -> None:  # fmt: skip
        self.quantum, self.initial, self.limit, self.flow_limit = quantum, initial, limit, flow_limit
        self.ce_threshold, self.marked, self.held = ce_threshold, set[int](), 0
        self.queues: dict[int, deque[tuple[int, Packet]]] = {}
        self.credits: dict[int, int] = {}
        self.detached: dict[int, int] = {}
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()

    def enqueue(self, now: int, packet: Packet) -> list[Packet]:
        """A detached flow is new; after a rest of more than 40 ticks it has a quantum at least (fq_enqueue)."""
        flow, tick = packet.flow, now // 10**6
        queue = self.queues.setdefault(flow, deque())
        if self.held >= self.limit or len(queue) >= self.flow_limit:
            return [packet]
        if flow not in self.credits:
            self.credits[flow], self.detached[flow] = self.initial, tick
        if flow in self.detached:
            self.new.append(flow)
            if tick > self.detached.pop(flow) + 40:
                self.credits[flow] = max(self.credits[flow], self.quantum)
        queue.append((now, packet))
        self.held += 1
        return []

    def dequeue(self, now: int) -> tuple[Packet | None, list[Packet]]:
        """No list is looked at while nothing is held; an emptied new flow goes through the old ones (fq_dequeue)."""
        while self.held:
            lane = self.new or self.old
            flow = lane[0]
            if self.credits[flow] <= 0:
                self.credits[flow] += self.quantum
                lane.popleft()
                self.old.append(flow)
            elif self.queues[flow]:
                came, packet = self.queues[flow].popleft()
                self.credits[flow] -= packet.length
                self.held -= 1
                if self.ce_threshold is not None and packet.ect and now - came > self.ce_threshold:
                    self.marked.add(packet.number)
                return packet, []
            else:
                lane.popleft()
                if lane is self.new and self.old:
                    self.old.append(flow)
                else:
                    # fq_flow_set_detached takes the next odd tick of the machine's; its phase is not in the record.
                    self.detached[flow] = now // 10**6
        return None, []


class Law:
    """CoDel's law as codel_impl.h has it, in units of 1024 ns, with a root on 16 bits (codel.h)."""

    def __init__(self, target: int, interval: int, is_newton: bool = True) -> None:
        self.target, self.interval, self.is_newton = target >> 10, interval >> 10, is_newton
        self.count = self.last_count = self.root = 0
        self.first_above: int | None = None
        self.drop_next = 0
        self.dropping = False

    def step(self) -> None:
        """One step of Newton's method to the inverse root of the count (codel_Newton_step)."""
        root = self.root << 16
        value = (3 << 32) - self.count * (root * root >> 32)
        self.root = ((value >> 2) * root >> 31) >> 16

    def after(self, time: int) -> int:
        """When the next signal is due (codel_control_law)."""
        if not self.is_newton:
            return time + int(self.interval / self.count**0.5)
        return time + (self.interval * (self.root << 16) >> 32)

    def is_late(self, now: int, head: tuple[int, Packet] | None, left: int) -> bool:
        """Whether the delay has been above the target for an interval (codel_should_drop)."""
        if head is None or now - (head[0] >> 10) < self.target or left <= MTU:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = now + self.interval
            return False
        return now > self.first_above

    def enter(self, now: int) -> None:
        """A series of signals begins; soon after the last it goes on near where that was (codel_dequeue)."""
        self.dropping, more = True, self.count - self.last_count
        if more > 1 and now - self.drop_next < 16 * self.interval:
            self.count = more
            self.step()
        else:
            self.count, self.root = 1, 0xFFFF
        self.last_count, self.drop_next = self.count, self.after(now)


class FqCodel:
    """sch_fq_codel.c, or with `alone` sch_codel.c: one queue."""

    def __init__(
        self, target: int = 5_000_000, interval: int = 100_000_000, quantum: int = MTU, limit: int = 10_240,
        ecn: bool = True, ce_threshold: int | None = None, batch: int = 64, alone: bool = False, is_newton: bool = True,
    ) -> None:  # fmt: skip
        self.settings = (target, interval, is_newton)
        self.quantum, self.limit, self.ecn, self.ce_threshold = quantum, limit, ecn, ce_threshold
        self.batch, self.alone, self.marked = batch, alone, set[int]()
        self.queues: dict[int, deque[tuple[int, Packet]]] = {}
        self.laws: dict[int, Law] = {}
        self.deficits: dict[int, int] = {}
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()
        self.bytes = self.held = 0

    def backlog(self, flow: int) -> int:
        """Bytes of a queue."""
        return sum(packet.length for _, packet in self.queues[flow])

    def pop(self, flow: int) -> tuple[int, Packet] | None:
        """Takes the head of a queue."""
        if not self.queues[flow]:
            return None
        head = self.queues[flow].popleft()
        self.bytes -= head[1].length
        self.held -= 1
        return head

    def enqueue(self, now: int, packet: Packet) -> list[Packet]:
        """A queue that stands in no list is new. One packet too many: half of the fattest queue goes, from its head.

        That is fq_codel_enqueue and fq_codel_drop; alone it is the packet itself (codel_qdisc_enqueue).
        """
        flow = 0 if self.alone else packet.flow
        if self.alone and self.held >= self.limit:
            return [packet]
        self.queues.setdefault(flow, deque()).append((now, packet))
        self.laws.setdefault(flow, Law(*self.settings))
        if flow not in self.new and flow not in self.old:
            self.new.append(flow)
            self.deficits[flow] = self.quantum
        self.bytes += packet.length
        self.held += 1
        if self.held <= self.limit:
            return []
        fattest = max(self.queues, key=self.backlog)
        half, lost = self.backlog(fattest) >> 1, list[Packet]()
        while not lost or (len(lost) < self.batch and sum(one.length for one in lost) < half):
            head = self.pop(fattest)
            assert head is not None
            lost.append(head[1])
        self.laws[fattest].count += len(lost)
        return lost

    def dequeue(self, now: int) -> tuple[Packet | None, list[Packet]]:
        """New queues first (fq_codel_dequeue).

        Who has used its deficit goes to the old ones with another quantum, and a new one that is empty if there are others.
        """
        lost: list[Packet] = []
        while lane := self.new or self.old:
            flow = lane[0]
            if self.deficits[flow] <= 0:
                self.deficits[flow] += self.quantum
                lane.popleft()
                self.old.append(flow)
                continue
            head = self.signal(now >> 10, flow, lost)
            if head is not None:
                self.deficits[flow] -= head[1].length
                if self.ce_threshold is not None and head[1].ect and (now - head[0]) >> 10 > self.ce_threshold >> 10:
                    self.marked.add(head[1].number)
                return head[1], lost
            lane.popleft()
            if lane is self.new and self.old:
                self.old.append(flow)
        return None, lost

    def signal(self, now: int, flow: int, lost: list[Packet]) -> tuple[int, Packet] | None:
        """The head that CoDel leaves (codel_dequeue); what stays behind counts in all queues (sch->qstats.backlog)."""
        law, head = self.laws[flow], self.pop(flow)
        if head is None:
            law.dropping = False
            return None
        is_late = law.is_late(now, head, self.bytes)
        if law.dropping and not is_late:
            law.dropping = False
        elif law.dropping:
            while law.dropping and head is not None and now >= law.drop_next:
                law.count += 1
                law.step()
                if self.is_marked(head[1]):
                    law.drop_next = law.after(law.drop_next)
                    break
                lost.append(head[1])
                head = self.pop(flow)
                if law.is_late(now, head, self.bytes):
                    law.drop_next = law.after(law.drop_next)
                else:
                    law.dropping = False
        elif is_late:
            if not self.is_marked(head[1]):
                lost.append(head[1])
                head = self.pop(flow)
                law.is_late(now, head, self.bytes)
            law.enter(now)
        return head

    def is_marked(self, packet: Packet) -> bool:
        """Marks what accepts it."""
        if self.ecn and packet.ect:
            self.marked.add(packet.number)
        return self.ecn and packet.ect
