"""The kernel's disciplines with bands or one level of classes: prio, skbprio, ets, drr."""

from __future__ import annotations

from collections import deque

from linux.rules.flows import MTU, PRIORITY_BANDS, TOS_PRIORITIES, Discipline, Queue
from linux.rules.tc import Commands
from linux.truth import Packet


class Prio(Discipline):
    """sch_prio.c: the first band that has a packet."""

    def __init__(self, given: Commands) -> None:
        super().__init__()
        self.given, self.bands = given, [Queue() for _ in range(given.options.number("bands", 3))]
        said = given.options.numbers("priomap") if "priomap" in given.options else []
        self.priomap = [*said, *PRIORITY_BANDS[len(said) :]]

    def band_of(self, packet: Packet) -> int:
        """prio_classify: by a filter, else by the priority of ip_forward (rt_tos2priority)."""
        name = self.given.class_of(packet)
        return self.priomap[TOS_PRIORITIES[(packet.tos & 0x1E) >> 1]] if name is None else name - 1

    def enqueue(self, now: int, packet: Packet) -> None:
        """prio_enqueue, pfifo_fast_enqueue."""
        band = self.bands[self.band_of(packet)]
        before = band.packets
        band.enqueue(now, packet)
        self.packets += band.packets - before

    def dequeue(self, now: int) -> Packet | None:
        """prio_dequeue."""
        for band in self.bands:
            if packet := band.dequeue(now):
                self.packets -= 1
                return packet
        return None


class PfifoFast(Prio):
    """sch_generic.c: three bands by priority, each as long as the device's queue."""


class Skbprio(Discipline):
    """sch_skbprio.c: the highest priority leaves first, the last packet of the lowest one makes room."""

    def __init__(self, given: Commands) -> None:
        super().__init__()
        self.limit, self.queues = given.options.number("limit", 64), [deque[Packet]() for _ in range(64)]

    def enqueue(self, now: int, packet: Packet) -> None:
        """skbprio_enqueue."""
        priority = TOS_PRIORITIES[(packet.tos & 0x1E) >> 1]
        if self.packets >= self.limit:
            lowest = next(at for at, queue in enumerate(self.queues) if queue)
            if priority <= lowest:
                return
            self.count(self.queues[lowest].pop(), -1)
        self.count(packet, 1)
        self.queues[priority].append(packet)

    def dequeue(self, now: int) -> Packet | None:
        """skbprio_dequeue."""
        for queue in reversed(self.queues):
            if queue:
                self.count(queue[0], -1)
                return queue.popleft()
        return None


class Turn(Queue):
    """A queue with a quantum."""

    def __init__(self, quantum: int) -> None:
        super().__init__()
        self.quantum, self.deficit = quantum, 0


class Turns(Discipline):
    """Deficit round robin of the kernel's drr and ets: a turn ends when the next packet is more than is left of it."""

    def __init__(self, given: Commands, queues: dict[int, Turn]) -> None:
        super().__init__()
        self.given, self.queues, self.ring = given, queues, deque[Turn]()

    def enqueue(self, now: int, packet: Packet) -> None:
        """sch_drr.c drr_enqueue, sch_ets.c ets_qdisc_enqueue: a queue that wakes takes the last turn, a whole one."""
        name = self.given.class_of(packet)
        assert name is not None
        queue = self.queues[name]
        before = queue.packets
        queue.enqueue(now, packet)
        self.packets += queue.packets - before
        if queue.packets > before == 0 and queue.quantum:
            self.ring.append(queue)
            queue.deficit = queue.quantum

    def dequeue(self, now: int) -> Packet | None:
        """sch_drr.c drr_dequeue."""
        while self.ring:
            queue = self.ring[0]
            assert queue.head is not None
            if queue.head.length > queue.deficit:
                queue.deficit += queue.quantum
                self.ring.rotate(-1)
                continue
            packet = queue.dequeue(now)
            assert packet is not None
            self.packets -= 1
            queue.deficit -= packet.length
            if not queue.packets:
                self.ring.popleft()
            return packet
        return None


class Drr(Turns):
    """sch_drr.c."""

    def __init__(self, given: Commands) -> None:
        super().__init__(given, {one.name: Turn(one.options.number("quantum", MTU)) for one in given.classes})


class Ets(Turns):
    """sch_ets.c: strict bands first, in their order; the others take turns."""

    def __init__(self, given: Commands) -> None:
        strict, bands = given.options.number("strict"), given.options.number("bands")
        quanta = [0] * strict + (given.options.numbers("quanta") if "quanta" in given.options else [])
        quanta += [MTU] * (bands - len(quanta))
        super().__init__(given, {band + 1: Turn(quantum) for band, quantum in enumerate(quanta)})

    def dequeue(self, now: int) -> Packet | None:
        """ets_qdisc_dequeue."""
        for queue in self.queues.values():
            if not queue.quantum and (packet := queue.dequeue(now)):
                self.packets -= 1
                return packet
        return super().dequeue(now)
