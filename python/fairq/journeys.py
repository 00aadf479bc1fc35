"""When the packets of each flow were sent and when they were received: the end hosts' view of a path.

From two captures, one at each end; from a folder that `fairq run --packets` wrote, or `fairq replay` for one
discipline; or from a table in CSV.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairq import captures
from fairq._native import CaptureError, UsageError
from fairq.output import reason

Numbers = np.ndarray[Any, np.dtype[np.float64]]

COLUMNS = ("sent_s", "received_s", "bytes")
"""The columns of a table in CSV; `received_s` is empty of a packet that was lost. A column `flow` may be there, and
others, as the seed of a run: rows that differ in them are not of one flow."""


@dataclass(frozen=True)
class Journey:
    """The packets of one flow in the order in which they were sent.

    Times are in seconds; each end may have a clock of its own if they run at the same speed. `received` is NaN of a
    packet that never came.
    """

    flow: str
    sent: Numbers
    received: Numbers
    size: Numbers


def of(paths: Sequence[str | os.PathLike[str]]) -> list[Journey]:
    """The flows that the files hold, those with most packets first.

    Raises CaptureError or UsageError.
    """
    if len(paths) == 2:
        if _is_same(*paths):
            raise UsageError(f"{paths[1]}: is the same file as {paths[0]}; give the captures of two ends")
        return from_captures(*paths)
    if len(paths) != 1 or not os.fspath(paths[0]):
        raise UsageError("give captures of both ends, a folder, or a .csv table")
    (path,) = paths
    if (Path(path) / "packets.csv").is_file():
        return from_table(Path(path) / "packets.csv")
    if Path(path).is_dir():
        return from_replay(path)
    if Path(path).suffix.lower() == ".csv":
        return from_table(path)
    if not Path(path).exists():
        raise UsageError(f"{path}: no such file or directory; give captures of both ends, a folder, or a .csv table")
    if not captures.is_one(path):
        raise CaptureError(f"{path}: not a capture; give captures of both ends, a folder, or a .csv table")
    raise UsageError(
        f"{path}: one capture has one end's times only; give the capture of the sending and of the receiving end, "
        "a folder of fairq replay, or a .csv table"
    )


def _is_same(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    try:
        return Path(first).samefile(second)
    except (OSError, ValueError):
        return False


def from_captures(sent: str | os.PathLike[str], received: str | os.PathLike[str]) -> list[Journey]:
    """The packets of the first capture that are in the second; flows of which none arrived are left out."""
    waiting: dict[bytes, deque[tuple[str, int]]] = defaultdict(deque)
    flows: dict[str, list[list[float]]] = defaultdict(list)
    first = captures.read(sent)
    if not first:
        raise CaptureError(f"{sent}: holds no IP packet")
    zero = first[0].time
    for packet in first:
        waiting[packet.identity].append((packet.flow, len(flows[packet.flow])))
        flows[packet.flow].append([(packet.time - zero) * 1e-9, np.nan, packet.length])
    seen = set()
    for packet in captures.read(received):
        if waiting.get(packet.identity):
            flow, place = waiting[packet.identity].popleft()
            flows[flow][place][1] = (packet.time - zero) * 1e-9
            seen.add(flow)
    if not seen:
        raise CaptureError(
            f"{received}: no packet of {sent} is in it; are the two of one path, without NAT between them?"
        )
    return _sorted({flow: rows for flow, rows in flows.items() if flow in seen})


def from_replay(folder: str | os.PathLike[str]) -> list[Journey]:
    """What `fairq replay --out` wrote for one discipline."""
    path = Path(folder) / "packets.parquet"
    if not path.is_file():
        inner = sorted(str(found.parent) for found in Path(folder).glob("*/packets.parquet"))
        wants = " or ".join(inner[:3]) or "a folder that fairq replay --out or fairq run --packets FLOW --out wrote"
        raise UsageError(f"{folder}: holds no packets.parquet; give {wants}")
    try:
        import duckdb
    except ImportError:
        raise UsageError(f"{path}: reading Parquet needs duckdb: pip install fairq[parquet]") from None
    columns = "flow, arrival_ps * 1e-12, departure_ps * 1e-12, bytes"
    try:
        with duckdb.connect() as memory:
            # the name goes in as a parameter: it may hold a quote; a folder called fq(delta=0) is no partition
            table = memory.execute(
                f"select {columns} from read_parquet(?, hive_partitioning = false) order by packet", [str(path)]
            ).fetchall()
    except duckdb.Error as error:
        raise CaptureError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    flows: dict[str, list[list[float]]] = defaultdict(list)
    for flow, sent, received, size in table:
        flows[flow].append([sent, np.nan if received is None else received, size])
    return _sorted(flows)


def from_table(path: str | os.PathLike[str]) -> list[Journey]:
    """A table with the columns of COLUMNS."""
    flows: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    runs: set[str] = set()
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            lines = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (lines.fieldnames or ())]
            if missing:
                raise CaptureError(f"{path}:1: no column {missing[0]}; needed are {', '.join(COLUMNS)}")
            others = [column for column in lines.fieldnames or () if column not in (*COLUMNS, "flow")]
            for row in lines:
                try:
                    values = [float(row[column] or "nan") for column in COLUMNS]
                except (TypeError, ValueError):
                    raise CaptureError(f"{path}:{lines.line_num}: a number is needed in each column") from None
                if not (np.isfinite(values[0]) and 0 < values[2] < 1e9):
                    raise CaptureError(f"{path}:{lines.line_num}: sent_s and bytes must be numbers, bytes above 0")
                run = ", ".join(f"{column} {row[column]}" for column in others)
                runs.add(run)
                flows[row.get("flow") or "all", run].append(values)
    except UnicodeDecodeError:
        raise CaptureError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise CaptureError(f"{path}:{lines.line_num + 1}: no table in CSV: {error}") from None
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {reason(error)}") from None
    if not flows:
        raise CaptureError(f"{path}: holds no packet")
    several = len(runs) > 1
    return _sorted({f"{flow} ({run})" if several else flow: rows for (flow, run), rows in flows.items()})


def _sorted(flows: dict[str, list[list[float]]]) -> list[Journey]:
    journeys = []
    for flow, rows in flows.items():
        table = np.array(sorted(rows, key=lambda row: row[0]), dtype=np.float64)
        journeys.append(Journey(flow, table[:, 0], table[:, 1], table[:, 2]))
    return sorted(journeys, key=lambda journey: -len(journey.sent))
