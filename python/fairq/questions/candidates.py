"""What `fairq advise` ranks: queues and buffers of Linux, and the tc commands of one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from fairq import tc
from fairq._native import UsageError
from fairq.questions import words

USUAL = ("codel", "pie", "red", "linux_sfq", "linux_fq", "fq_codel", "fq_pie", "cake")
"""Queues with the limit that they have in Linux."""

LINUX_FIFO = "1000packets"
"""The room of a FIFO in Linux: the queue of a device, `txqueuelen`."""

FIFO_ROUND_TRIPS = (0.5, 1.0, 2.0)
"""The rooms of other FIFOs, in the longest round trip at the line's rate."""


class Candidate(NamedTuple):
    """A queue, and how much may wait; `None` is its limit in Linux."""

    queue: str
    buffer: str | None

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.queue if self.buffer is None else f"{self.queue} of {self.buffer}"


class Grid(NamedTuple):
    """Candidates that one question has: each queue with each buffer."""

    queues: tuple[str, ...]
    buffers: tuple[str, ...]


def grids(rtts: Sequence[str], queue: str | Sequence[str] | None, buffer: str | Sequence[str] | None) -> list[Grid]:
    """The candidates of a line with these round trips: those that are named, or the usual ones."""
    queues, buffers = words.values("--queue", queue), words.values("--buffer", buffer)
    for text in queues:
        try:
            tc.write(text)
        except UsageError as error:
            raise UsageError(f"--queue {text}: {str(error).removeprefix('tc: ')}") from None
    if queues:
        return [Grid(tuple(queues), tuple(buffers))]
    if buffers:
        return [Grid(("fifo",), tuple(buffers)), Grid(USUAL, ())]
    longest = max(words.quantity("--rtt", "time", rtt) for rtt in rtts)
    rooms = [f"{longest * part * 1000:.6g}ms" for part in FIFO_ROUND_TRIPS]
    return [Grid(("fifo",), (LINUX_FIFO, *reversed(rooms))), Grid(USUAL, ())]


def commands(
    candidate: Candidate, rates: Sequence[str], limits: Mapping[str, str], *, dev: str, lan: str, below: float
) -> list[str]:
    """The tc commands of a candidate in both directions, each after a comment on its device.

    `limits` has how much may wait by direction, `rates` the rates down and up; the shaped rate is
    this part below.
    """
    said = [
        f"# Shaped {100 * below:.3g} % below the line: else packets wait in the modem or at the provider, not here."
        if below
        else "# Shaped at the line's rate: packets wait here only if the device is the line itself."
    ]
    devices = {"down": (lan, "to your network"), "up": (dev, "to the line")}
    for way, rate in zip(words.DIRECTIONS, rates, strict=True):
        device, where = devices[way]
        bits = words.quantity("--rate", "rate", rate) * (1 - below)
        text = candidate.queue if candidate.buffer is None else f"{candidate.queue} + {limits[way]}"
        written = tc.write(text, device, rate_bit_per_s=bits)
        # Where no limit was said, it was Linux's here as well.
        differs = [row for row in written.differs if row["setting"] != "limit" or row["here"] != "not said"]
        said += [f"# {way}, {rate}: {device} is the device {where}", *replace(written, differs=differs).as_lines()]
    return said
