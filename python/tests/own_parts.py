"""Own parts that are known ones, written again in Python, for tests and pages."""

from __future__ import annotations

import math
from collections import deque

import fairq


class Shortest(fairq.Rank):
    """The shortest packet leaves first."""

    def __init__(self, k: float = 1.0) -> None:
        self.k = k

    def rank(self, now, flow, packet):
        return packet.bytes * self.k


class OwnDrr(fairq.Scheduler):
    """Deficit round robin, as `drr`."""

    def __init__(self, quantum: int = 1514) -> None:
        self.quantum, self.turns, self.deficit, self.head = quantum, deque(), {}, {}

    def backlogged(self, queue, tag):
        self.turns.append(queue)
        self.deficit[queue], self.head[queue] = self.quantum, tag

    def next(self, now):
        while self.turns:
            queue = self.turns[0]
            if self.head[queue] <= self.deficit[queue]:
                return queue
            self.deficit[queue] += self.quantum
            self.turns.rotate(-1)
        return None

    def sent(self, now, queue, packet, tag, next_tag):
        self.deficit[queue] -= tag
        self._behind(queue, next_tag)

    def removed(self, now, queue, packet, tag, next_tag):
        self._behind(queue, next_tag)

    def _behind(self, queue, next_tag):
        self.head[queue] = next_tag
        if next_tag is None:
            self.turns.remove(queue)


class OwnCodel(fairq.Policy):
    """CoDel, as `codel(rfc=true)`: RFC 8289, in whole picoseconds."""

    def __init__(self, target: float = 0.005, interval: float = 0.1) -> None:
        self.target, self.interval = round(target * 1e12), round(interval * 1e12)
        self.queues = {}

    def depart(self, now, queue, packet):
        state = self.queues.setdefault(queue.number, Dropping())
        now = round(now * 1e12)
        waited = now - round(packet.arrival * 1e12)
        is_above = state.is_above(now, waited >= self.target and queue.bytes - packet.bytes > 1514, self.interval)
        return "drop" if state.judge(now, is_above, self.interval) else "send"

    def left(self, now, queue, packet, sent):
        if not sent and queue.packets == 0:
            state = self.queues[queue.number]
            state.first_above, state.dropping, state.owes, state.spares = None, False, False, False


class Dropping:
    """CoDel's state of one queue."""

    def __init__(self):
        self.first_above, self.dropping, self.owes, self.spares = None, False, False, False
        self.next, self.count, self.last_count = 0, 0, 0

    def is_above(self, now, is_late, interval):
        if not is_late:
            self.first_above = None
        elif self.first_above is None:
            self.first_above = now + interval
        else:
            return now >= self.first_above
        return False

    def judge(self, now, is_above, interval):
        if not self.dropping:
            if is_above:
                goes_on = self.next > 0 and self.count - self.last_count > 1 and now < self.next + 16 * interval
                self.count = self.count - self.last_count if goes_on else 1
                self.dropping, self.spares, self.last_count = True, True, self.count
                self.next = now + self.step(interval)
            return is_above
        if self.spares:
            self.spares, self.dropping = False, is_above
            return False
        owed, self.owes = self.owes, False
        if not is_above:
            self.dropping = False
            return False
        if owed:
            self.next += self.step(interval)
        if now < self.next:
            return False
        self.count += 1
        self.owes = True
        return True

    def step(self, interval):
        return math.isqrt(interval * interval // max(self.count, 1))


class OwnFifo(fairq.Discipline):
    """First in, first out, as `fifo`."""

    def __init__(self) -> None:
        self.packets = deque()

    def enqueue(self, now, packet, header):
        self.packets.append(packet)
        return True

    def dequeue(self, now):
        return self.packets.popleft() if self.packets else None


class OwnNewreno(fairq.Control):
    """NewReno's window, as `newreno`: RFC 5681 and RFC 6582."""

    def begin(self, beginning):
        self.window = self.first = beginning.window
        self.threshold = math.inf

    def acknowledged(self, acked):
        if not acked.may_grow:
            return
        if self.window < self.threshold:
            self.window += 1
        else:
            self.window += min(acked.newly / self.window, 1.0)

    def lost(self, congested):
        self.window = self.threshold = max(congested.flight * 0.5, 2.0)

    def rested(self, now):
        self.window = min(self.window, self.first)


class Ticks(fairq.Source):
    """A packet of 1000 B each 10 ms, as `constant_rate(rate=800kbit/s, packet=1000B)`."""

    packet = 1000
    gap = 0.0

    def next(self):
        gap, self.gap = self.gap, 0.01
        return gap, 1000
