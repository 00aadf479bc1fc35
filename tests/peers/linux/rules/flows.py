"""The kernel's disciplines that tell flows apart, or do not look at them: pfifo, bfifo, codel, fq_codel, fq, sfq."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf

from linux.rules.tc import Options
from linux.truth import Packet

MTU = 1514
"""sch_generic.h psched_mtu: the device's MTU and its link-layer header."""


def truesize(length: int) -> int:
    """skbuff.c __alloc_skb: a frame of packet_snd and skb_shared_info are one block of kmalloc.

    The frame has 16 bytes before it (LL_RESERVED_SPACE), both parts are whole cache lines, and
    sk_buff has 256 bytes.
    """
    data = -(-(length + 16) // 64) * 64
    return (1 << (data + 320 - 1).bit_length()) + 256


class Discipline(ABC):
    """What every discipline counts."""

    def __init__(self) -> None:
        self.packets = 0
        self.bytes = 0
        self.marked: set[int] = set()
        self.wake = inf
        """When a discipline that waits wants to be asked again."""

    @abstractmethod
    def enqueue(self, now: int, packet: Packet) -> None:
        """Hold a packet, or drop it or others."""

    @abstractmethod
    def dequeue(self, now: int) -> Packet | None:
        """The packet that goes now."""

    def mark(self, packet: Packet) -> bool:
        """inet_ecn.h INET_ECN_set_ce: whether the packet could be marked."""
        if packet.tos & 3:
            self.marked.add(packet.number)
        return packet.tos & 3 != 0

    def count(self, packet: Packet, sign: int) -> None:
        """Account for a packet that comes (1) or goes (-1)."""
        self.packets += sign
        self.bytes += sign * packet.length


class Queue(Discipline):
    """sch_fifo.c pfifo_enqueue, bfifo_enqueue: a packet for which there is no room is dropped."""

    def __init__(self, packet_limit: float = 1000, byte_limit: float = inf) -> None:
        super().__init__()
        self.limits, self.held = (packet_limit, byte_limit), deque[Packet]()

    def enqueue(self, now: int, packet: Packet) -> None:
        """Hold a packet at the end."""
        if self.packets < self.limits[0] and self.bytes + packet.length <= self.limits[1]:
            self.count(packet, 1)
            self.held.append(packet)

    def dequeue(self, now: int) -> Packet | None:
        """The first packet."""
        if not self.held:
            return None
        self.count(self.held[0], -1)
        return self.held.popleft()

    @property
    def head(self) -> Packet | None:
        """The packet that is next."""
        return self.held[0] if self.held else None


Take = Callable[[], Packet | None]


class Law:
    """codel_impl.h: CoDel's state of one queue. Its clock counts units of 1024 ns (codel.h CODEL_SHIFT)."""

    def __init__(self, target: int, interval: int, ecn: bool, ce_threshold: float) -> None:
        self.target, self.interval, self.ecn = target >> 10, interval >> 10, ecn
        self.ce_threshold = inf if ce_threshold == inf else int(ce_threshold) >> 10
        self.signals = self.signals_before = self.above_until = self.next_signal = self.root = self.wait = 0
        self.is_dropping = False

    def newton(self) -> None:
        """codel_Newton_step: one step to 1/sqrt(signals), in 32 bits of which 16 are kept."""
        root = self.root << 16
        self.root = (((3 << 32) - self.signals * (root * root >> 32)) >> 2) * root >> 31 >> 16 & 0xFFFF

    def after(self, time: int) -> int:
        """codel_control_law: the next signal comes interval/sqrt(signals) later."""
        return time + (self.interval * (self.root << 16) >> 32)

    def is_late(self, time: int, packet: Packet | None, left: int) -> bool:
        """codel_should_drop: for a whole interval packets waited too long, and more than one is left behind."""
        if packet is None:
            self.above_until = 0
            return False
        self.wait = time - (packet.arrival >> 10)
        if self.wait < self.target or left <= MTU:
            self.above_until = 0
        elif self.above_until == 0:
            self.above_until = time + self.interval
        else:
            return time > self.above_until
        return False

    def dequeue(self, now: int, take: Take, left: Callable[[], int], mark: Callable[[Packet], bool]) -> Packet | None:
        """codel_dequeue: the next packet after those that are dropped."""
        time, packet = now >> 10, take()
        if packet is None:
            self.is_dropping = False
            return None
        is_late = self.is_late(time, packet, left())
        if self.is_dropping and not is_late:
            self.is_dropping = False
        elif self.is_dropping:
            while self.is_dropping and time >= self.next_signal:
                self.signals += 1
                self.newton()
                if self.ecn and packet is not None and mark(packet):
                    self.next_signal = self.after(self.next_signal)
                    break
                packet = take()
                if self.is_late(time, packet, left()):
                    self.next_signal = self.after(self.next_signal)
                else:
                    self.is_dropping = False
        elif is_late:
            if not (self.ecn and mark(packet)):
                packet = take()
                self.is_late(time, packet, left())
            self.is_dropping = True
            recent = self.signals - self.signals_before
            # The next signal of a queue that never had one is that of the kernel's boot, long
            # before.
            if recent > 1 and self.next_signal and time - self.next_signal < 16 * self.interval:
                self.signals = recent
                self.newton()
            else:
                self.signals, self.root = 1, 0xFFFF
            self.signals_before = self.signals
            self.next_signal = self.after(time)
        if packet is not None and self.wait > self.ce_threshold:
            mark(packet)
        return packet


class Codel(Queue):
    """sch_codel.c: one queue under CoDel."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.number("limit", 1000))
        self.law = law(options, "ecn" in options)

    def dequeue(self, now: int) -> Packet | None:
        """codel_qdisc_dequeue."""
        return self.law.dequeue(now, lambda: Queue.dequeue(self, now), lambda: self.bytes, self.mark)


def law(options: Options, ecn: bool) -> Law:
    """CoDel as its options say."""
    return Law(
        options.number("target", 5_000_000),
        options.number("interval", 100_000_000),
        ecn,
        options.number("ce_threshold") if "ce_threshold" in options else inf,
    )


class Flow:
    """A queue of a flow, and what it may still send in its turn."""

    def __init__(self) -> None:
        self.held, self.bytes, self.credit = deque[Packet](), 0, 0

    def add(self, packet: Packet) -> None:
        """Hold a packet at the end."""
        self.held.append(packet)
        self.bytes += packet.length

    def take(self, at: int = 0) -> Packet:
        """The first packet, or the last (-1)."""
        packet = self.held[at]
        del self.held[at]
        self.bytes -= packet.length
        return packet


class FqCodel(Discipline):
    """sch_fq_codel.c: new flows go before old ones, in turns of a quantum; each flow has a CoDel of its own."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.quantum = max(256, options.number("quantum", MTU))
        self.limit, self.batch = options.number("limit", 10240), options.number("drop_batch", 64)
        self.memory = options.number("memory_limit", 32 << 20)
        self.used = 0
        """memory_usage."""
        self.flows: dict[int, Flow] = {}
        self.laws: dict[int, Law] = {}
        self.new, self.old = deque[int](), deque[int]()
        self.ties = 0
        """How often several queues were the fattest."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """fq_codel_enqueue: a flow that is in no list is new and has a whole quantum."""
        name = packet.flow
        if name not in self.flows:
            self.flows[name], self.laws[name] = Flow(), law(self.options, "noecn" not in self.options)
        self.flows[name].add(packet)
        self.count(packet, 1)
        self.used += truesize(packet.length)
        if name not in self.new and name not in self.old:
            self.new.append(name)
            self.flows[name].credit = self.quantum
        if self.packets > self.limit or self.used > self.memory:
            self.overflow()

    def overflow(self) -> None:
        """fq_codel_drop: half of the fattest queue goes from its head, at most a batch, and counts as signals.

        Of equally fat ones that with the lowest hash; here that of which a packet came first.
        """
        name = max(self.flows, key=lambda one: self.flows[one].bytes)
        self.ties += sum(flow.bytes == self.flows[name].bytes for flow in self.flows.values()) > 1
        half, whole, dropped = self.flows[name].bytes >> 1, self.flows[name].bytes, 0
        while dropped == 0 or (dropped < self.batch and whole - self.flows[name].bytes < half):
            self.take(name)
            dropped += 1
        self.laws[name].signals += dropped

    def take(self, name: int) -> Packet | None:
        """sch_fq_codel.c dequeue_func."""
        if not self.flows[name].held:
            return None
        packet = self.flows[name].take()
        self.count(packet, -1)
        self.used -= truesize(packet.length)
        return packet

    def dequeue(self, now: int) -> Packet | None:
        """fq_codel_dequeue: CoDel lets be what leaves no more than an MTU in all queues together."""
        while turns := self.new or self.old:
            name = turns[0]
            flow = self.flows[name]
            if flow.credit <= 0:
                flow.credit += self.quantum
                self.old.append(turns.popleft())
                continue
            packet = self.laws[name].dequeue(now, partial(self.take, name), lambda: self.bytes, self.mark)
            if packet is not None:
                flow.credit -= packet.length
                return packet
            turns.popleft()
            if turns is self.new and self.old:
                self.old.append(name)
        return None


class FqFlow(Flow):
    """A flow of fq: whether it is in no list, and since which tick; its band is that of its last packet."""

    def __init__(self, credit: int, tick: int) -> None:
        super().__init__()
        self.credit, self.is_detached, self.rests_since, self.band = credit, True, tick, 0
        self.next_packet = 0


class Band:
    """Flows of fq that take turns among each other."""

    def __init__(self, weight: float) -> None:
        self.weight, self.packets = weight, 0
        self.credit: float = 0
        self.new, self.old = deque[FqFlow](), deque[FqFlow]()


class Fq(Discipline):
    """sch_fq.c: new flows go before old ones and send while they have credit and time.

    With `weights` the rules are those of Linux 6.7 and later: bands take turns by their weights, the limit is a band's,
    and a new flow that is empty joins the old ones though there are none. Without them there is one band.
    """

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.quantum = options.number("quantum", 2 * MTU)
        self.first_credit = options.number("initial_quantum", 10 * MTU)
        self.limit, self.flow_limit = options.number("limit", 10000), options.number("flow_limit", 100)
        self.ce_threshold = options.number("ce_threshold") if "ce_threshold" in options else inf
        self.refill_ticks = -(-options.number("refill_delay", 40_000_000) // TICK)
        self.has_bands = "weights" in options
        self.bands = [Band(weight) for weight in (options.numbers("weights")[-3:] if self.has_bands else [inf])]
        self.band_of = options.numbers("priomap")[-16:] if "priomap" in options else PRIORITY_BANDS
        self.maxrate, self.slack = options.number("maxrate"), options.number("timer_slack", 10_000)
        self.low_rate = options.number("low_rate_threshold", 550_000 // 8)
        self.held_back: list[FqFlow] = []
        self.at, self.flows = 0, dict[int, FqFlow]()
        self.phase = 1_200_000
        """The time of the first packet since an even tick: not in the record, and this fits all of its cases."""
        self.rests_from_odd_tick = True
        """fq_flow_set_detached writes `jiffies | 1`: a rest that begins at an even tick counts from the next one."""

    def ticks(self, now: int) -> int:
        """The kernel's jiffies."""
        return (now + self.phase) // TICK

    def enqueue(self, now: int, packet: Packet) -> None:
        """fq_enqueue: a flow that wakes after a long rest has a whole quantum at least."""
        place = self.place(packet)
        if self.bands[place].packets >= self.limit:
            return
        flow = self.flows.setdefault(packet.flow, FqFlow(self.first_credit, self.ticks(now)))
        if len(flow.held) >= self.flow_limit:
            return
        if flow.is_detached:
            flow.is_detached = False
            self.bands[flow.band].new.append(flow)
            if self.ticks(now) > flow.rests_since + self.refill_ticks:
                flow.credit = max(flow.credit, self.quantum)
        flow.band = place
        self.bands[place].packets += 1
        flow.add(packet)
        self.count(packet, 1)

    def dequeue(self, now: int) -> Packet | None:
        """fq_dequeue: while nothing waits the lists stay as they are."""
        for flow in sorted(self.held_back, key=lambda one: one.next_packet):  # fq_check_throttled
            if flow.next_packet <= now:
                self.held_back.remove(flow)
                self.bands[flow.band].old.append(flow)
        while self.packets:
            if not any(band.new or band.old for band in self.bands):
                # qdisc_watchdog_schedule_range_ns: the timer may come late by its slack, and does.
                self.wake = min(flow.next_packet for flow in self.held_back) + self.slack
                return None
            band = self.bands[self.at]
            turns = band.new or band.old
            if band.credit <= 0 or not turns:  # fq_pband_head_select
                self.at = (self.at + 1) % len(self.bands)
                band = self.bands[self.at]
                band.credit = min(band.credit + band.weight, band.weight)
                continue
            flow = turns[0]
            if flow.credit <= 0:
                flow.credit += self.quantum
                self.bands[flow.band].old.append(turns.popleft())
            elif flow.held and flow.next_packet > now:
                self.held_back.append(turns.popleft())
            elif flow.held:
                packet = flow.take()
                self.count(packet, -1)
                self.bands[self.place(packet)].packets -= 1
                if now - packet.arrival > self.ce_threshold:
                    self.mark(packet)
                flow.credit -= packet.length
                band.credit -= packet.length
                self.pace(now, flow, packet.length)
                return packet
            else:
                turns.popleft()
                if turns is band.new and (band.old or self.has_bands):
                    self.bands[flow.band].old.append(flow)
                else:
                    flow.is_detached = True
                    flow.rests_since = self.ticks(now) | int(self.rests_from_odd_tick)
        return None

    def pace(self, now: int, flow: FqFlow, length: int) -> None:
        """fq_dequeue: when the flow may send again. Lateness of up to half of the wait is made up."""
        if not self.maxrate:
            return
        if self.maxrate <= self.low_rate:
            flow.credit = 0
        elif flow.credit > 0:
            return
        else:
            length = max(length, self.quantum)
        wait = min(length * 10**9 // self.maxrate, 10**9)
        if flow.next_packet:
            wait -= min(wait // 2, now - flow.next_packet)
        flow.next_packet = now + wait

    def place(self, packet: Packet) -> int:
        """The band whose limit a packet counts for."""
        return self.band_of[TOS_PRIORITIES[(packet.tos & 0x1E) >> 1]] if self.has_bands else 0


TICK = 1_000_000
"""kernel.config: a tick of 1 ms."""

PRIORITY_BANDS = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
"""pkt_sched.h, sch_generic.c sch_default_prio2band."""

TOS_PRIORITIES = [0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4]
"""route.c ip_tos2prio: the priority of a forwarded packet."""


class Sfq(Discipline):
    """sch_sfq.c: queues take turns; without room the longest one loses."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.quantum, self.depth = options.number("quantum", MTU), min(127, options.number("depth", 127))
        self.limit, self.drops_head = options.number("limit", 127), "headdrop" in options
        self.slots = min(options.number("flows", 128), options.number("divisor", 1024), self.limit)
        """sfq_change: no more queues than hashes, nor than packets that may wait."""
        self.flows: dict[int, Flow] = {}
        """Those that have packets, the next one first."""
        self.touched: list[int] = []
        """The same flows; that whose length changed last is last."""

    def enqueue(self, now: int, packet: Packet) -> None:
        """sfq_enqueue: a flow that wakes takes the last turn; a full queue drops the packet or its own head."""
        name = packet.flow
        if name not in self.flows and len(self.flows) >= self.slots:
            return
        flow = self.flows.setdefault(name, Flow())
        if len(flow.held) >= self.depth:
            if self.drops_head:
                self.count(flow.take(), -1)
                self.count(packet, 1)
                flow.add(packet)
            return
        if not flow.held:
            flow.credit = self.quantum
        flow.add(packet)
        self.count(packet, 1)
        self.touch(name)
        if self.packets > self.limit:
            self.overflow()

    def overflow(self) -> None:
        """sfq_drop: of the longest queues that whose length changed last, of single packets that whose turn is next."""
        longest = max(len(flow.held) for flow in self.flows.values())
        alike = [name for name in self.touched if len(self.flows[name].held) == longest]
        name = next(iter(self.flows)) if longest == 1 else alike[-1]
        self.count(self.flows[name].take(0 if self.drops_head else -1), -1)
        self.touch(name)

    def touch(self, name: int) -> None:
        """sfq_inc, sfq_dec: the length of a queue changed; an empty one leaves."""
        if name in self.touched:
            self.touched.remove(name)
        if self.flows[name].held:
            self.touched.append(name)
        else:
            del self.flows[name]

    def dequeue(self, now: int) -> Packet | None:
        """sfq_dequeue: a queue sends while its credit is above zero; the last packet of a queue costs nothing."""
        while self.flows:
            name, flow = next(iter(self.flows.items()))
            if flow.credit <= 0:
                flow.credit += self.quantum
                self.flows[name] = self.flows.pop(name)
                continue
            packet = flow.take()
            self.count(packet, -1)
            self.touch(name)
            flow.credit -= packet.length
            return packet
        return None
