"""What a Linux kernel did: `order/cells.csv`, `order/CASE.csv.gz`, `tcp.csv`, `connections.csv`.

A case of order is one queueing discipline and packets that arrived at given times; its file says
when each packet left or that it was dropped. A cell of `tcp.csv` is a line, a discipline and
connections; a row is one run in one window.
`connections.csv` has the same of the cells of connections.py.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from linux import connections
from programs import Fault

HERE = Path(__file__).resolve().parent
OWN = HERE / "truth"
"""The project's record."""
SECOND = {
    "slow", "dctcp10", "pairs", "short", "tails", "rtt10", "ce", "asym", "rate2", "eight", "mixed", "big", "leaf",
}  # fmt: skip
"""Kinds of cells that came with the second record."""
SAME = 0.999
"""The part of packets in place, and of drops the same, from which on an order is the same."""

CASE_COLUMNS = ["case", "tc", "fairq", "rate", "buffer", "draws", "again", "record"]
PACKET_COLUMNS = ["packet", "flow", "bytes", "tos", "source", "sink", "arrival_ns", "departure_ns"]
SEEN_COLUMNS = [
    "cell", "run", "window", "goodput_mbit", "queue_ms", "sent", "dropped", "marked", "up_queue_ms", "up_sent",
    "up_dropped", "transfers", "completion_ms",
]  # fmt: skip
CELL_COLUMNS = [
    "cell", "window", "group", "rate_mbit", "rtt_ms", "queue", "flows", "ecn", "goodput_mbit", "sent", "marked",
    "queue_ms_mean", "loss", "starts_s",
]  # fmt: skip


@dataclass(frozen=True)
class Packet:
    """A packet of a case and what became of it; times in nanoseconds."""

    number: int
    flow: int
    length: int
    tos: int
    source: int
    sink: int
    arrival: int
    departure: int | None
    """The start of its transmission; None: it was dropped."""
    marked: bool | None
    """Whether it left with CE; None: not recorded."""


@dataclass(frozen=True)
class Case:
    """A discipline under given arrivals."""

    name: str
    tc: str
    """The tc commands of the kernel's side, separated by semicolons."""
    text: str
    """fairq's text form that stood beside them when the truth was recorded."""
    rate: str
    buffer: str
    draws: bool
    """Whether the discipline draws random numbers: only counts can be compared."""
    packets: Sequence[Packet]
    again: float = 1.0
    """How far other boots did the same: the least of packets in place and of drops the same."""
    record: int = 1
    """Which record it came with: 1, or 2 (the newer cases)."""

    @property
    def sort(self) -> Literal["exact", "boots", "random"]:
        """What can be compared: the order, or counts where the kernel's own differs by boot."""
        return "random" if self.draws else "boots" if self.again < SAME else "exact"

    @property
    def queue(self) -> str:
        """Name the discipline as tc does."""
        found = re.search(r"handle 10: (\w+)", self.tc)
        return found[1] if found else ""

    @property
    def has_leaves(self) -> bool:
        """Whether a class has a discipline of its own, of which the rules in rules/ tell nothing."""
        return len(re.findall(r"qdisc add dev \w+ parent (?!1:1 )", self.tc)) > 0


@dataclass(frozen=True)
class Run:
    """What the kernel did in one run of a cell, in one window of time."""

    starts_s: Sequence[float]
    """When each flow began, in the order of the flows."""
    goodput_mbit: Mapping[str, float]
    """By congestion control, or by the flows' name: the sum over its flows."""
    queue_ms: float
    loss: float
    marks: float
    """Marked packets over sent ones."""
    up_queue_ms: float | None = None
    up_loss: float | None = None
    completion_ms: float | None = None


@dataclass(frozen=True)
class Cell:
    """Connections over a discipline, in one window of time, and the kernel's runs of it."""

    name: str
    window: str
    group: str
    rate_mbit: float
    rtt_ms: float
    queue: str
    flows: Sequence[str]
    ecn: bool
    runs: Sequence[Run]

    @property
    def controls(self) -> Mapping[str, int]:
        """The congestion controls, each with its number of flows."""
        return Counter(self.flows)

    @property
    def record(self) -> int:
        """Which record it came with."""
        return 2 if self.group in SECOND else 1

    @property
    def is_plain(self) -> bool:
        """Whether it has greedy flows of one round trip, one direction, no loss beside."""
        return True


@dataclass(frozen=True)
class Seen:
    """A cell of connections.py in one window of time, and the kernel's runs of it."""

    cell: connections.Cell
    window: str
    runs: Sequence[Run]

    @property
    def name(self) -> str:
        """The cell's."""
        return self.cell.name

    @property
    def group(self) -> str:
        """The kind of the cell."""
        return self.cell.group

    @property
    def rate_mbit(self) -> float:
        """Of the line."""
        return self.cell.rate_mbit

    @property
    def rtt_ms(self) -> float:
        """Of a packet alone."""
        return self.cell.rtt_ms

    @property
    def queue(self) -> str:
        """The discipline, as tc has it."""
        return self.cell.queue

    @property
    def ecn(self) -> bool:
        """Whether the connections ask for ECN."""
        return self.cell.ecn

    @property
    def controls(self) -> Mapping[str, int]:
        """The congestion controls, each with its number of flows."""
        return Counter(flow.law for flow in self.cell.each)

    @property
    def record(self) -> int:
        """Which record it came with."""
        return 2 if self.group in SECOND else 1

    @property
    def is_plain(self) -> bool:
        """Whether it has greedy flows of one round trip, one direction, no loss beside."""
        plain = connections.Flow("")
        return (
            not self.cell.loss
            and not self.cell.up_mbit
            and all(
                (flow.traffic, flow.rtt_ms, flow.window, flow.tos) == (plain.traffic, None, None, 0)
                for flow in self.cell.flows
            )
        )


def names(folder: Path) -> list[str]:
    """The names of the cases, in the order of the table."""
    return [row["case"] for row in _cases(folder)]


def cases(folder: Path, wanted: Sequence[str] | None = None) -> Iterator[Case]:
    """The cases in the order of the table, or of those the wanted."""
    for row in _cases(folder):
        if wanted is None or row["case"] in wanted:
            packets = _packets(folder / "order" / f"{row['case']}.csv.gz")
            draws, again, record = row["draws"] != "0", float(row["again"] or 1), int(row["record"])
            yield Case(
                row["case"], row["tc"], row["fairq"], row["rate"], row["buffer"], draws, packets, again, record
            )  # fmt: skip


def _cases(folder: Path) -> list[dict[str, str]]:
    path = folder / "order" / "cells.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(_rows(path, file, CASE_COLUMNS))
    except OSError as error:
        raise _missing(path, error) from None
    return _some(path, rows, "case")


def cells(folder: Path) -> list[Cell]:
    """A cell for each name and window, in the order of the table."""
    path = folder / "tcp.csv"
    runs: dict[tuple[str, str], list[dict[str, str]]] = {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for row in _some(path, list(_rows(path, file, CELL_COLUMNS)), "cell"):
                runs.setdefault((row["cell"], row["window"]), []).append(row)
    except OSError as error:
        raise _missing(path, error) from None
    found = []
    for (name, window), rows in runs.items():
        try:
            found.append(_cell(name, window, rows))
        except ValueError as error:
            raise Fault(f"{path}: cell {name} from {window} s: {error}") from None
    return found


def seen(folder: Path) -> list[Seen]:
    """One for each cell of connections and window, in the table's order; none without a table."""
    path = folder / "connections.csv"
    if not path.exists():
        return []
    runs: dict[tuple[str, str], list[dict[str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in _rows(path, file, SEEN_COLUMNS):
            runs.setdefault((row["cell"], row["window"]), []).append(row)
    known = connections.of([name for name, _ in runs])
    if unknown := next((name for name, _ in runs if name not in known), None):
        raise Fault(f"{path}: connections.py has no cell {unknown}; record it anew")
    found = []
    for (name, window), rows in runs.items():
        try:
            found.append(Seen(known[name], window, [_seen(known[name], row) for row in rows]))
        except ValueError as error:
            raise Fault(f"{path}: cell {name} from {window} s: {error}") from None
    return found


def _seen(cell: connections.Cell, row: Mapping[str, str]) -> Run:
    names = [flow.name for flow in cell.each]
    has_up = bool(row["up_queue_ms"])
    return Run(
        connections.starts_s(cell, int(row["run"])), _goodput(names, row["goodput_mbit"]), float(row["queue_ms"]),
        int(row["dropped"]) / int(row["sent"]), int(row["marked"]) / int(row["sent"]),
        float(row["up_queue_ms"]) if has_up else None,
        int(row["up_dropped"]) / int(row["up_sent"]) if has_up else None,
        float(row["completion_ms"]) if row["transfers"] else None,
    )  # fmt: skip


def _goodput(names: Sequence[str], values: str) -> dict[str, float]:
    found = dict.fromkeys(names, 0.0)
    for name, value in zip(names, values.split(";"), strict=True):
        found[name] += float(value)
    return found


def _cell(name: str, window: str, rows: Sequence[Mapping[str, str]]) -> Cell:
    first = rows[0]
    begin, dash, end = window.partition("-")
    if not (dash and begin.isdigit() and end.isdigit() and int(begin) < int(end)):
        raise ValueError(f"window {window!r} is no time from and to, as 5-20")
    if not float(first["rate_mbit"]) > 0:
        raise ValueError(f"rate_mbit {first['rate_mbit']} is not above 0")
    flows = first["flows"].split("+")
    return Cell(
        name, window, first["group"], float(first["rate_mbit"]), float(first["rtt_ms"]), first["queue"], flows,
        first["ecn"] != "0", [_run(flows, row) for row in rows],
    )  # fmt: skip


def _run(flows: Sequence[str], row: Mapping[str, str]) -> Run:
    starts = [float(word) for word in row["starts_s"].split(";")]
    if len(starts) != len(flows):
        raise ValueError(f"starts_s {row['starts_s']!r} has not one start for each of {len(flows)} flows")
    sent = int(row["sent"])
    marks = int(row["marked"]) / sent if sent else 0.0
    goodput = _goodput(flows, row["goodput_mbit"])
    return Run(starts, goodput, float(row["queue_ms_mean"]), float(row["loss"]), marks)


def _missing(path: Path, error: OSError) -> Fault:
    return Fault(f"{path}: {error.strerror}; a folder of truth holds order/cells.csv, order/*.csv.gz and tcp.csv")


def _some(path: Path, rows: list[dict[str, str]], what: str) -> list[dict[str, str]]:
    if not rows:
        raise Fault(f"{path}: the table has no {what}")
    return rows


def _rows(path: Path, file: IO[str], columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows of a table, each with all its columns; `path` names it in messages."""
    reader = csv.DictReader(file)
    try:
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise Fault(f"{path}: the table has no column {', '.join(missing)}")
        for row in reader:
            short = [name for name in columns if row[name] is None]
            if short:
                raise Fault(f"{path}:{reader.line_num}: the row ends before {short[0]}")
            yield row
    except (csv.Error, UnicodeDecodeError) as error:
        raise Fault(f"{path}: after line {reader.line_num}: {error}") from None


def _packets(path: Path) -> list[Packet]:
    found: list[Packet] = []
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in _rows(path, file, PACKET_COLUMNS):
                try:
                    found.append(_packet(row, len(found)))
                except ValueError as error:
                    raise Fault(f"{path}: packet {row['packet']}: {error}") from None
    except (OSError, EOFError, zlib.error) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else "is not a whole gzip file"
        raise Fault(f"{path}: {said}; each case of order/cells.csv needs one") from None
    if not found:
        raise Fault(f"{path}: the table has no packet")
    return found


BOUNDS = {
    "packet": (0, 2**32), "flow": (0, 55_535), "bytes": (34, 65_549), "tos": (0, 255), "source": (0, 255),
    "sink": (0, 255), "arrival_ns": (0, 2**62),
}  # fmt: skip
"""What a frame of the case's capture can hold."""


def _packet(row: Mapping[str, str], at: int) -> Packet:
    values = {name: int(row[name]) for name in BOUNDS}
    for name, (least, most) in BOUNDS.items():
        if not least <= values[name] <= most:
            raise ValueError(f"{name} {values[name]}; it is from {least} to {most}")
    number, flow, length, tos, source, sink, arrival = values.values()
    if number != at:
        raise ValueError(f"packets are numbered from 0 on, and this is number {at}")
    departure = int(row["departure_ns"]) if row["departure_ns"] else None
    marked = row.get("marked")
    return Packet(number, flow, length, tos, source, sink, arrival, departure, marked == "1" if marked else None)
