"""A token bucket (sch_tbf.c): what waits goes when there are tokens for it, of the rate and of a peak rate."""

from __future__ import annotations

from linux.rules.flows import Discipline, Queue
from linux.rules.tc import Options
from linux.truth import Packet

NS_PER_S = 10**9


class Tbf(Discipline):
    """Tokens are nanoseconds of each rate; the buckets are full at first (tbf_reset)."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.rate, self.peak = options.number("rate"), options.number("peakrate")
        burst, mtu = options.number("burst"), options.number("mtu")
        self.overhead, self.mpu, self.is_atm = options.number("overhead"), options.number("mpu"), "atm" in options
        self.longest = min(burst, mtu) if self.peak else burst  # tbf_change: max_size
        self.queue = Queue(float("inf"), self._limit(options, burst, mtu))
        self.full, self.peak_full = self.time(burst, self.rate), self.time(mtu, self.peak)
        self.tokens, self.peak_tokens, self.since = self.full, self.peak_full, 0

    def _limit(self, options: Options, burst: int, mtu: int) -> int:
        """q_tbf.c tbf_parse_opt: what the rate sends in the latency, and the burst; at the peak rate likewise."""
        if "limit" in options:
            return options.number("limit")
        latency = options.number("latency")
        limits = [self.rate * latency // NS_PER_S + burst]
        return min([*limits, self.peak * latency // NS_PER_S + mtu] if self.peak else limits)

    def time(self, length: int, rate: int) -> int:
        """sch_generic.h psched_l2t_ns, also of what a bucket holds (tbf_change); 0 without a rate."""
        length = max(length + self.overhead, self.mpu)
        if self.is_atm:
            length = -(-length // 48) * 53
        return length * NS_PER_S // rate if rate else 0

    def enqueue(self, now: int, packet: Packet) -> None:
        """tbf_enqueue: what is longer than the bucket is dropped."""
        if packet.length <= self.longest:
            self.queue.enqueue(now, packet)
            self.packets = self.queue.packets

    def dequeue(self, now: int) -> Packet | None:
        """tbf_dequeue: the head goes if neither bucket falls below zero by it; the timer is set for the later one."""
        packet = self.queue.head
        if packet is None:
            return None
        saved = min(now - self.since, self.full)
        tokens = min(self.tokens + saved, self.full) - self.time(packet.length, self.rate)
        peak_tokens = 0
        if self.peak:
            peak_tokens = min(self.peak_tokens + saved, self.peak_full) - self.time(packet.length, self.peak)
        if min(tokens, peak_tokens) < 0:
            self.wake = now + max(-tokens, -peak_tokens)
            return None
        self.since, self.tokens, self.peak_tokens = now, tokens, peak_tokens
        self.queue.dequeue(now)
        self.packets = self.queue.packets
        return packet
