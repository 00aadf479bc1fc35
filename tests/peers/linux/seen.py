"""What the guest saw of a run of connections, as rows of `connections.csv`: one for each window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linux.connections import WINDOWS, Bursts, Cell
from programs import Fault

COLUMNS = [
    "cell", "run", "window", "goodput_mbit", "queue_ms", "sent", "dropped", "marked", "up_queue_ms", "up_sent",
    "up_dropped", "transfers", "completion_ms",
]  # fmt: skip
"""`goodput_mbit` is by flow; times are means; `completion_ms` of a transfer is until the last acknowledgement, of a
burst until its last byte is received."""

LEAST = 100
"""Frames of data are longer than this, and those that only open, close or acknowledge are not."""

Frame = Sequence[int]


def rows(cell: Cell, run: int, seen: Mapping[str, Any]) -> list[list[Any]]:
    """A row for each window."""
    ways = [_way(cell, seen["in"], seen["out"], cell.rate_mbit)]
    if any(flow.up for flow in cell.flows):
        ways.append(_way(cell, seen["up_in"], seen["up_out"], cell.up_mbit))
    found = []
    for window in WINDOWS:
        begin, end = (seen["zero_ns"] + int(word) * 10**9 for word in window.split("-"))
        bits = [0] * len(cell.each)
        for way in ways:
            for connection, time, length in way.new:
                if begin <= time < end:
                    bits[seen["of"][connection]] += 8 * length
        goodput = ";".join(f"{1e3 * got / (end - begin):.4f}" for got in bits)
        down, *up = ([*way.counts(begin, end)] for way in ways)
        up_queue, up_sent, up_dropped, _ = up[0] if up else ["", "", "", ""]
        queue, sent, dropped, marked = down
        done = _completions(cell, seen, begin, end)
        mean = f"{sum(done) / len(done) / 1e6:.4f}" if done else ""
        found.append([
            cell.name, run, window, goodput, queue, sent, dropped, marked, up_queue, up_sent, up_dropped,
            len(done) or "", mean,
        ])  # fmt: skip
    return found


class _Way:
    """The data that went one way: what came to the router, and what left it when."""

    def __init__(self) -> None:
        self.came: list[tuple[int, int | None, bool]] = []
        """Of each frame its arrival, its wait (None: dropped), and whether it was marked, in nanoseconds."""
        self.new: list[tuple[int, int, int]] = []
        """Of each frame that was received and was none before: its connection, when, and its bytes."""

    def counts(self, begin: int, end: int) -> tuple[str, int, int, int]:
        """Mean wait in ms, sent, dropped and marked, of what came from `begin` to `end`."""
        some = [frame for frame in self.came if begin <= frame[0] < end]
        waits = [wait for _, wait, _ in some if wait is not None]
        mean = sum(waits) / max(len(waits), 1) / 1e6
        return f"{mean:.4f}", len(some), len(some) - len(waits), sum(marked for *_, marked in some)


def _way(cell: Cell, came: Sequence[Frame], left: Sequence[Frame], rate_mbit: float | None) -> _Way:
    # A number comes again after 65,536 packets; with the sequence number it is the packet's own.
    way, gone = _Way(), {}
    known: set[tuple[int, int]] = set()
    for time, number, length, port, tos, sequence in left:
        if not _is_data(length, port):
            continue
        gone[port, number, sequence] = (time, tos)
        if (port, sequence) not in known:
            known.add((port, sequence))
            way.new.append((port - 10000, time, length))
    numbers: set[tuple[int, int, int]] = set()
    for time, number, length, port, tos, sequence in came:
        if not _is_data(length, port):
            continue
        if (port, number, sequence) in numbers:
            raise Fault(f"{cell.name}: a connection sent two packets of number {number}; record less time")
        numbers.add((port, number, sequence))
        departure, mark = gone.get((port, number, sequence), (None, 0))
        if departure is None and time > came[-1][0] - 5 * 10**8:
            continue  # at the end it may wait yet
        sending = round(8e3 * length / rate_mbit) if cell.arrives_late and rate_mbit else 0
        wait = None if departure is None else departure - time - sending
        way.came.append((time, wait, mark & 3 == 3 and tos & 3 != 3))
    return way


def _is_data(length: int, port: int) -> bool:
    return length > LEAST and 10000 <= port < 20000


def _completions(cell: Cell, seen: Mapping[str, Any], begin: int, end: int) -> list[int]:
    """How long transfers took that ended from `begin` to `end`."""
    found = []
    for connection, begun, received, acknowledged in seen["transfers"]:
        done = received if isinstance(cell.each[seen["of"][connection]].traffic, Bursts) else acknowledged
        if done is not None and begin <= done < end:
            found.append(done - begun)
    return found
