"""The Linux kernel's rules of turns and drops, told again in plain Python, independently of fairq.

A discipline of rules/ takes packets by `enqueue` and gives them by `dequeue`; `run` puts it before the line of the
record and gives what left and when. Each rule names the kernel's file and function (Linux 6.1). Times are in
nanoseconds from the first packet, lengths in bytes. Flows are told apart exactly: no hash collides.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf

from linux.rules import cake, classes, flows, hfsc, htb, qfq, tbf
from linux.rules.flows import Discipline
from linux.rules.tc import Commands, commands
from linux.truth import Case

LINE_NS_PER_BYTE = 8_000
"""The line of a case: a class of htb of 1 Mbit/s."""

LINE_SAVES_NS = 1_024
"""The burst of that class (guest.py exact_line)."""

DEVICE_NS_PER_BYTE = 8
"""The line behind a discipline that shapes: 1 Gbit/s."""


MAKERS: dict[str, Callable[[Commands], Discipline]] = {
    "pfifo": lambda given: flows.Queue(given.options.number("limit", 1000)),
    "bfifo": lambda given: flows.Queue(inf, given.options.number("limit")),
    "codel": lambda given: flows.Codel(given.options),
    "fq_codel": lambda given: flows.FqCodel(given.options),
    "fq": lambda given: flows.Fq(given.options),
    "sfq": lambda given: flows.Sfq(given.options),
    "prio": classes.Prio,
    "ets": classes.Ets,
    "drr": classes.Drr,
    "qfq": qfq.Qfq,
    "htb": htb.Htb,
    "hfsc": hfsc.Hfsc,
    "cake": lambda given: cake.Cake(given.options),
    "tbf": lambda given: tbf.Tbf(given.options),
}


def made(case: Case) -> Discipline:
    """The discipline of a case."""
    given = commands(case.tc)
    return MAKERS[given.kind](given)


@dataclass
class Line:
    """sch_htb.c: a class that sends while its tokens are not negative, or a device that sends without a break."""

    ns_per_byte: int
    saves: int
    tokens: int = field(init=False)
    since: int = 0

    def __post_init__(self) -> None:
        self.tokens = self.saves

    def send(self, now: int, length: int) -> int:
        """Take a packet; gives when the next one may go."""
        self.tokens = min(self.tokens + now - self.since, self.saves) - length * self.ns_per_byte
        self.since = now
        return now - self.tokens


def run(
    case: Case, discipline: Discipline | None = None, asked: Iterable[int] | None = None
) -> tuple[dict[int, int], set[int]]:
    """The start of each transmission by number of the packet, in order and in picoseconds, and the marked packets.

    The line asks when it is free, or at the times `asked`.
    """
    discipline = discipline or made(case)
    left = dict(_when_free(case, discipline) if asked is None else _at_times(case, discipline, asked))
    return left, discipline.marked


def _at_times(case: Case, discipline: Discipline, asked: Iterable[int]) -> Iterator[tuple[int, int]]:
    coming = deque(case.packets)
    for now in asked:
        while coming and coming[0].arrival <= now:
            discipline.enqueue(coming[0].arrival, coming.popleft())
        if packet := discipline.dequeue(now):
            yield packet.number, 1000 * now


def _when_free(case: Case, discipline: Discipline) -> Iterator[tuple[int, int]]:
    # A class of htb above does not ask an empty discipline; one that waits is asked when it wants and at an arrival.
    is_class = commands(case.tc).is_under_line
    line = Line(LINE_NS_PER_BYTE, LINE_SAVES_NS) if is_class else Line(DEVICE_NS_PER_BYTE, 0)
    coming, free, wake = deque(case.packets), 0.0, 0.0
    while coming or discipline.packets:
        next_ask = max(free, wake) if discipline.packets else inf
        if coming and coming[0].arrival <= next_ask:
            wake = coming[0].arrival
            discipline.enqueue(coming[0].arrival, coming.popleft())
            continue
        assert next_ask < inf, f"{case.name}: packets wait for nothing"
        now = int(next_ask)
        packet = discipline.dequeue(now)
        if packet is None:
            wake = discipline.wake
            assert not discipline.packets or wake > now, f"{case.name}: asked again at once"
        else:
            yield packet.number, 1000 * now
            free = line.send(now, packet.length)
