"""What a Linux kernel did, read from a folder: `order/cells.csv`, `order/CASE.csv.gz` and `tcp.csv`.

A case of order is one queueing discipline and packets that arrived at given times; its file says when each packet left
or that it was dropped. A cell of `tcp.csv` is a line, a discipline and connections; a row is one run in one window.
"""

from __future__ import annotations

import csv
import gzip
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from programs import Fault

HERE = Path(__file__).resolve().parent
OWN = HERE / "truth"
"""The project's record."""


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


@dataclass(frozen=True)
class Cell:
    """Connections over a discipline, in one window of time: the means of the kernel's runs."""

    name: str
    window: str
    group: str
    rate_mbit: float
    rtt_ms: float
    queue: str
    flows: Sequence[str]
    ecn: bool
    goodput_mbit: Mapping[str, float]
    """By congestion control, the sum over its flows."""
    queue_ms: float
    loss: float
    marks: float
    """Marked packets over sent ones."""


def names(folder: Path) -> list[str]:
    """The names of the cases, in the order of the table."""
    return [row["case"] for row in _rows(folder / "order" / "cells.csv")]


def cases(folder: Path, wanted: Sequence[str] | None = None) -> Iterator[Case]:
    """The cases in the order of the table, or of those the wanted."""
    for row in _rows(folder / "order" / "cells.csv"):
        if wanted is None or row["case"] in wanted:
            packets = _packets(folder / "order" / f"{row['case']}.csv.gz")
            yield Case(row["case"], row["tc"], row["fairq"], row["rate"], row["buffer"], row["draws"] != "0", packets)


def cells(folder: Path) -> list[Cell]:
    """A cell for each name and window, in the order of the table."""
    runs: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in _rows(folder / "tcp.csv"):
        runs.setdefault((row["cell"], row["window"]), []).append(row)
    return [_cell(name, window, rows) for (name, window), rows in runs.items()]


def _cell(name: str, window: str, rows: Sequence[Mapping[str, str]]) -> Cell:
    first = rows[0]
    flows = first["flows"].split("+")
    goodput = dict.fromkeys(flows, 0.0)
    for row in rows:
        for flow, value in zip(flows, row["goodput_mbit"].split(";"), strict=True):
            goodput[flow] += float(value) / len(rows)
    sent = sum(int(row["sent"]) for row in rows)
    return Cell(
        name, window, first["group"], float(first["rate_mbit"]), float(first["rtt_ms"]), first["queue"], flows,
        first["ecn"] != "0", goodput, statistics.mean(float(row["queue_ms_mean"]) for row in rows),
        statistics.mean(float(row["loss"]) for row in rows),
        sum(int(row["marked"]) for row in rows) / sent if sent else 0.0,
    )  # fmt: skip


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise Fault(
            f"{path}: {error.strerror}; a folder of truth holds order/cells.csv, order/*.csv.gz and tcp.csv"
        ) from None


def _packets(path: Path) -> list[Packet]:
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            return [_packet(row) for row in csv.DictReader(file)]
    except (OSError, EOFError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else "is not a whole gzip file"
        raise Fault(f"{path}: {said}; each case of order/cells.csv needs one") from None
    except (KeyError, ValueError) as error:
        raise Fault(f"{path}: {error}: not a table of packets") from None


def _packet(row: Mapping[str, str]) -> Packet:
    number, flow, length, tos, source, sink, arrival = (
        int(row[name]) for name in ("packet", "flow", "bytes", "tos", "source", "sink", "arrival_ns")
    )
    departure = int(row["departure_ns"]) if row["departure_ns"] else None
    marked = row.get("marked")
    return Packet(number, flow, length, tos, source, sink, arrival, departure, marked == "1" if marked else None)
