"""When the packets of each flow were sent and when they were received: the end hosts' view of a path.

From two captures, one at each end; from a folder that `fairq run --packets` wrote, or `fairq replay` for one
discipline; or from a table in CSV.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

import numpy as np

import fairq._native as _native
from fairq.core import lazy
from fairq.core.errors import CaptureError, UsageError
from fairq.core.remedies import reason
from fairq.detection import pairs
from fairq.detection.pairs import (
    ALIKE,
    CLOCKS_APART,
    OTHER_LENGTH,
    REPEATED,
    REPEATED_FIRST,
    Direction,
    Ends,
    Flags,
    Numbers,
    Sent,
    whole_datagrams,
)

COLUMNS = ("sent_s", "received_s", "bytes")
"""The columns of a table in CSV; `received_s` is empty of a packet that was lost. A column `flow` may be there, and
others, as the seed of a run: rows that differ in them are not of one flow."""
NAMED = (*COLUMNS, "flow")
"""All columns that have a meaning; others tell runs apart."""

RUNS_MAX = 20
"""Rows that differ from all others are runs if they are fewer than this."""


@dataclass(frozen=True)
class Journey:
    """The packets of one flow in the order in which they were sent.

    Times are in seconds; each end may have a clock of its own if they run at the same speed. `received` is NaN of a
    packet that never came. Of packets that are `unknown` it cannot be said whether they came. `strangers` are times at
    which packets of the flow were received that were not seen when they were sent. `notes` are sentences for the user;
    `doubt` says why no verdict can be given, whatever the times are.
    """

    flow: str
    sent: Numbers
    received: Numbers
    size: Numbers
    unknown: Flags | None = None
    strangers: Numbers = field(default_factory=lambda: np.empty(0))
    notes: tuple[str, ...] = ()
    doubt: str = ""


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
    try:
        _native.check_capture(os.fspath(path))
    except CaptureError:
        raise CaptureError(f"{path}: not a capture; give captures of both ends, a folder, or a .csv table") from None
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
    """The packets of the first capture that are in the second; flows of which none arrived are left out.

    A flow that went the other way has its times of sending from the second capture.
    """
    pairing = pairs.read(sent, received)
    first = pairing.counts[0]
    if not first["paired"]:
        hidden = "; ".join(("", *_left_out(os.fspath(sent), first)))
        raise CaptureError(f"{sent}: holds no IP packet{hidden}")
    names = os.fspath(sent), os.fspath(received)
    notes = tuple(note for name, counts in zip(names, pairing.counts, strict=True) for note in _left_out(name, counts))
    directions = pairs.directions(pairing)
    journeys = [
        _journey(flow, direction, names, notes, agree=pairing.agree)
        for flow, direction in zip(pairing.flows, directions, strict=True)
        if flow.is_at_both
    ]
    if not journeys:
        raise CaptureError(
            f"{received}: no packet of {sent} is in it: none has the addresses, ports, numbers and data of one of the "
            f"{first['paired']}; are the two of one path and one time, without NAT between them?"
        )
    return _sorted(journeys)


def _journey(
    flow: Ends, direction: Direction, names: tuple[str, str], notes: tuple[str, ...], *, agree: bool
) -> Journey:
    said = list(notes)
    if not direction.is_forward:
        flow = flow.turned
        said.insert(0, f"sent at the end of {names[1]}, received at that of {names[0]}")
    was_sent, was_received = ~np.isnan(flow.first), ~np.isnan(flow.second)
    # of a packet that was sent twice and came once it is not known which came; if it came twice, the first did
    is_alike = np.isin(flow.kind, (ALIKE, REPEATED_FIRST))
    is_cut = flow.kind == OTHER_LENGTH
    received = np.where(is_alike, np.nan, flow.second)
    unknown: Flags = (is_alike | is_cut)[was_sent]
    packets = Sent(flow.first[was_sent], received[was_sent], flow.size[was_sent], unknown)
    count, pieces = len(packets.sent), flow.here[was_sent]
    alike, cut = int((is_alike & was_sent).sum()), int((is_cut & was_sent).sum())
    merged = int((is_cut & ~was_sent).sum())
    doubts = []
    if alike:
        doubts.append(
            f"{alike} of {count} packets are alike and not as many were received as were sent: which of them were lost "
            "cannot be told"
        )
    if cut:
        doubts.append(
            f"{cut} of {count} packets were received with another length, in pieces or merged, as offload of segments "
            "(TSO, GSO, GRO, LRO) and fragmentation do: capture without it (ethtool -K DEV tso off gso off gro off)"
        )
    elif merged:
        said.append(f"{merged} packets were received with another length than they were sent with")
    said += doubts
    if pieces.any():
        packets = whole_datagrams(packets, pieces)
        said.append(
            f"{int((pieces > 0).sum())} of {count} packets are fragments: those of a datagram are taken as one packet, "
            "received with the last of them"
        )
    packets = packets.ordered()
    lost, count = int((np.isnan(packets.received) & ~packets.unknown).sum()), len(packets.sent)
    if 4 * lost >= count:
        said.append(f"{lost} of {count} packets were not found at the other end: lost, or changed on the way")
    said += _before(packets.sent, packets.received, agree=agree, is_told=direction.is_told)
    # the bottleneck had these too, but it is not known when
    doubt = direction.doubt or ("; ".join(doubts) if 2 * (alike + cut) >= len(pieces) else "")
    is_stranger = was_received & (~was_sent | is_alike) & (flow.kind != REPEATED)
    strangers = np.sort(flow.second[is_stranger])
    return Journey(
        flow.flow, packets.sent, packets.received, packets.size, packets.unknown, strangers, tuple(said), doubt
    )


def _before(sent: Numbers, received: Numbers, *, agree: bool = True, is_told: bool = True) -> list[str]:
    """Notes on packets that were received before they were sent."""
    delays = (received - sent)[~np.isnan(received)]
    if not agree or not len(delays) or (least := float(delays.min())) >= 0:
        return []
    swapped = "" if is_told else ", or the two ends are in the wrong order"
    return [f"by the clocks packets were received {-least:.6g} s before they were sent: the clocks differ{swapped}"]


def _left_out(path: str, counts: Mapping[str, Any]) -> list[str]:
    """What of a capture is of no flow, or of a flow that is not one."""
    said = []
    if counts["fragments"]:
        said.append(
            f"{path}: {counts['fragments']} fragments are left out, as the beginning of their datagram is not in it"
        )
    if carriers := sum(counts["tunnels"].values()):
        names = ", ".join(counts["tunnels"])
        said.append(f"{path}: {carriers} packets carry others ({names}), which were not looked into")
    if doubles := counts.get("doubles", 0):
        said.append(f"{path}: {doubles} packets are there twice within 1 ms; capture on one interface")
    if cut := counts.get("cut"):
        said.append(f"{cut}; the packets before are taken")
    return said


def from_replay(folder: str | os.PathLike[str]) -> list[Journey]:
    """What `fairq replay --out` wrote for one discipline."""
    path = Path(folder) / "packets.parquet"
    if not path.is_file():
        inner = sorted(str(found.parent) for found in Path(folder).glob("*/packets.parquet"))
        wants = " or ".join(inner[:3]) or "a folder that fairq replay --out or fairq run --packets FLOW --out wrote"
        raise UsageError(f"{folder}: holds no packets.parquet; give {wants}")
    columns = "flow, arrival_ps, departure_ps, bytes"
    try:
        with lazy.duckdb.connect() as memory:
            # the name goes in as a parameter: it may hold a quote; a folder called fq(delta=0) is no partition
            table = memory.execute(
                f"select {columns} from read_parquet(?, hive_partitioning = false) order by packet", [str(path)]
            ).fetchall()
    except lazy.duckdb.Error as error:
        raise CaptureError(f"{path}: cannot be read: {' '.join(str(error).split())}") from None
    flows: dict[str, list[_Packet]] = defaultdict(list)
    for flow, sent, received, size in table:
        flows[flow].append((sent, received, size))
    return _sorted([_of_whole(flow, rows) for flow, rows in flows.items()])


def from_table(path: str | os.PathLike[str]) -> list[Journey]:
    """A table with the columns of COLUMNS."""
    flows: dict[tuple[str, str], list[_Packet]] = defaultdict(list)
    runs: set[str] = set()
    others: list[str] = []
    count = 0
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            lines = _lines(file)
            missing = [column for column in COLUMNS if column not in (lines.fieldnames or ())]
            if missing:
                needed = f"needed are {', '.join(COLUMNS)}, with commas, semicolons or tabs between"
                raise CaptureError(f"{path}:1: no column {missing[0]}; {needed}")
            others = [column for column in lines.fieldnames or () if column not in NAMED]
            for row in lines:
                run = ", ".join(f"{column} {row[column]}" for column in others)
                runs.add(run)
                count += 1
                flows[row.get("flow") or "all", run].append(_row(row, f"{path}:{lines.line_num}"))
    except UnicodeDecodeError:
        raise CaptureError(f"{path}: not UTF-8 text") from None
    except csv.Error as error:
        raise CaptureError(f"{path}:{lines.line_num + 1}: no table in CSV: {error}") from None
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {reason(error)}") from None
    if not flows:
        raise CaptureError(f"{path}: holds no packet")
    several = len(runs) > 1
    if count == len(runs) >= RUNS_MAX:
        raise CaptureError(
            f"{path}:1: no two rows have the same {' and '.join(others)}, so that each would be a run of one packet; "
            "leave such columns out"
        )
    return _sorted([_of_whole(f"{flow} ({run})" if several else flow, rows) for (flow, run), rows in flows.items()])


SEPARATORS = ",;\t"
"""What may stand between the columns of a table: RFC 4180, and what spreadsheets write."""


def _lines(file: TextIO) -> csv.DictReader[str]:
    """The rows of a table, by the separator of which its heading has most; in capitals or not."""
    heading = file.readline()
    file.seek(0)
    separator = max(SEPARATORS, key=heading.count)
    lines = csv.DictReader(file, delimiter=separator)
    lines.fieldnames = [
        name.strip().lower() if name.strip().lower() in NAMED else name for name in lines.fieldnames or ()
    ]
    return lines


_Packet = tuple[int, int | None, float]
"""When a packet was sent and received, in whole picoseconds, and its bytes."""


def _row(row: Mapping[str, str | None], place: str) -> _Packet:
    try:
        # between semicolons a comma is the point of a number
        sent, received, size = (Decimal((row[column] or "nan").strip().replace(",", ".")) for column in COLUMNS)
    except (AttributeError, InvalidOperation):
        raise CaptureError(f"{place}: a number is needed in each column") from None
    if not (sent.is_finite() and size.is_finite() and 0 < size < 10**9):
        raise CaptureError(f"{place}: sent_s and bytes must be numbers, bytes above 0")
    if received.is_infinite():
        raise CaptureError(f"{place}: received_s must be a number; leave it empty of a packet that was lost")
    for time in (sent, received):
        if time.is_finite() and abs(time) >= 10**15:
            raise CaptureError(f"{place}: {time} is no time in seconds")
    return _picoseconds(sent), None if received.is_nan() else _picoseconds(received), float(size)


def _picoseconds(seconds: Decimal) -> int:
    return round(seconds.scaleb(12))


def _of_whole(flow: str, rows: Sequence[_Packet]) -> Journey:
    """The journey of packets whose times are whole picoseconds since any time, in any order."""
    zero = min(sent for sent, _, _ in rows)
    came = [received for _, received, _ in rows if received is not None]
    apart = min(came) - zero if came else 0
    # a clock of its own, years apart, would cost digits
    start = zero if abs(apart) <= CLOCKS_APART * 1e12 else min(came)
    table = np.array(
        [
            ((sent - zero) * 1e-12, np.nan if received is None else (received - start) * 1e-12, size)
            for sent, received, size in rows
        ],
        dtype=np.float64,
    )
    sent, received, size = table[np.lexsort((table[:, 1], table[:, 0]))].T
    notes = _before(sent, received, agree=start == zero, is_told=False)
    return Journey(flow, sent, received, size, notes=tuple(notes))


def _sorted(journeys: Sequence[Journey]) -> list[Journey]:
    return sorted(journeys, key=lambda journey: -len(journey.sent))
