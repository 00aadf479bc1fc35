"""A case of order in fairq: the same packets at the same times, and which of them left when."""

from __future__ import annotations

import re
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import duckdb
from linux.truth import SAME, Case, Packet
from programs import Fault

import fairq
from fairq import traffic_control as tc

COUNTS = 1.1
"""Where its order is random: drops, marks and mean waits within this factor of the kernel's."""

FRAME = struct.Struct("!6s6sHBBHHHBBH4s4sHHHH")
"""The headers of Ethernet, IPv4 and UDP."""


@dataclass(frozen=True)
class Setup:
    """What fairq runs for a case: a queue's text form before a line of a rate."""

    text: str
    rate: str
    under: Literal["device", "class"] = "device"
    """What asks the discipline for packets."""


@dataclass(frozen=True)
class Verdict:
    """How far fairq's packets left as the kernel's did, in one case or in several draws of one."""

    case: str
    queue: str
    """tc's name of the discipline."""
    text: str
    kind: str
    """`exact`; `boots`: the kernel's own boots differ, and only counts can be compared; `random`:
    the discipline draws, likewise."""
    record: int
    again: float
    """How far a second boot of the kernel did the same."""
    in_place: float
    """The part of the packets that both sent whose rank among those is the same."""
    drops_same: float
    """The packets that both dropped over those that one of them did; 1 where neither dropped any."""
    marks_same: float | None
    """The same of marks, where they were recorded."""
    drops: tuple[int, int]
    """Linux's and fairq's."""
    marks: tuple[int, int]
    wait_ms: tuple[float, float]
    """The mean wait of sent packets, likewise."""

    @property
    def agrees(self) -> bool:
        """Whether fairq's order is the kernel's, or where that is random its counts are."""
        if self.kind in ("boots", "random"):
            return all(_near(*pair) for pair in (self.drops, self.marks, self.wait_ms))
        same = min(self.in_place, self.drops_same, 1.0 if self.marks_same is None else self.marks_same)
        return same >= SAME and _near(*self.wait_ms)


LINE_SAVES = "1024 ns"
"""The burst of the class that is the line, which guest.py sets past tc."""

MADE_BEFORE_MS = 210
"""The qdiscs were made so long before the first packet (guest.py: the links come up, and 10 ms)."""

BY_PORT = re.compile(r"match ip sport (\d+) 0xffff")


def by_precedence(case: Case) -> Case:
    """The same case where each flow is known by its precedence, if the kernel's filters go by source port.

    A class here has code points and no ports, and a discipline with classes looks at nothing else of the byte.
    """
    ports = sorted({int(port) for port in BY_PORT.findall(case.tc)})
    if not ports:
        return case
    places = {port: at for at, port in enumerate(ports)}
    if len(places) > 8:
        raise Fault(f"{case.name}: filters of {len(places)} ports; eight have a precedence each")
    tc_text = BY_PORT.sub(lambda found: f"match ip tos {places[int(found[1])] << 5:#x} 0xe0", case.tc)
    packets = [replace(p, tos=places.get(10000 + p.flow, 0) << 5 | p.tos & 3) for p in case.packets]
    return replace(case, tc=tc_text, packets=packets)


def setup(case: Case) -> Setup:
    """What `fairq tc --read` makes of the case's commands."""
    try:
        read = tc.read(case.tc)
    except fairq.FairqError as error:
        raise Fault(f"{case.name}: {error}") from None
    text = made_before(read.text, MADE_BEFORE_MS)
    return Setup(text, read.rate or case.rate, "class" if read.rate else "device")


def made_before(text: str, milliseconds: int) -> str:
    """The text form where time zero is so long after the qdisc was made: PIE counts its periods from then."""
    return re.sub(r"\bpie(=?)\(", rf"pie\1(first={500 - milliseconds}ms, ", text)


def verdict(case: Case, given: Setup | None = None) -> Verdict:
    """Run a case and compare it, by default as its tc commands say."""
    case = by_precedence(case)
    given = given or setup(case)
    with tempfile.TemporaryDirectory() as folder:
        left, marked = _run(case, given, Path(folder))
    return judged(case, given.text, left, marked)


def judged(case: Case, text: str, left: Mapping[int, int], marked: set[int]) -> Verdict:
    """The verdict on packets that `left`: the start of each transmission in picoseconds by number, in order."""
    theirs = sorted((p.departure, p.number) for p in case.packets if p.departure is not None)
    kernel = [number for _, number in theirs if number in left]
    sent = {number for _, number in theirs}
    ours = [number for number in left if number in sent]
    in_place = _part(sum(a == b for a, b in zip(ours, kernel, strict=True)), len(kernel))
    lost = ({p.number for p in case.packets if p.departure is None}, {p.number for p in case.packets} - set(left))
    drops_same = _part(len(lost[0] & lost[1]), len(lost[0] | lost[1]))
    marks = {p.number for p in case.packets if p.marked}
    is_known = any(p.marked is not None for p in case.packets)
    marks_same = _part(len(marks & marked), len(marks | marked)) if is_known else None
    wait = (
        _mean([(p.departure - p.arrival) / 1e6 for p in case.packets if p.departure is not None]),
        _mean([left[p.number] / 1e9 - p.arrival / 1e6 for p in case.packets if p.number in left]),
    )
    return Verdict(
        case.name, case.queue, text, case.sort, case.record, case.again, in_place, drops_same, marks_same,
        (len(lost[0]), len(lost[1])), (len(marks), len(marked)), wait,
    )  # fmt: skip


def together(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The same, but one for all draws of a case, which are called NAME.0, NAME.1 and so on."""
    sets: dict[str, list[Verdict]] = {}
    for found in verdicts:
        sets.setdefault(re.sub(r"\.\d+$", ".*", found.case), []).append(found)
    return [some[0] if len(some) == 1 else _mean_of(name, some) for name, some in sets.items()]


def _mean_of(name: str, draws: Sequence[Verdict]) -> Verdict:
    """Of several draws: the sums of drops and marks, and the means of all else."""
    same = [found.marks_same for found in draws if found.marks_same is not None]
    return replace(
        draws[0],
        case=name,
        again=_mean([found.again for found in draws]),
        in_place=_mean([found.in_place for found in draws]),
        drops_same=_mean([found.drops_same for found in draws]),
        marks_same=_mean(same) if same else None,
        drops=(sum(found.drops[0] for found in draws), sum(found.drops[1] for found in draws)),
        marks=(sum(found.marks[0] for found in draws), sum(found.marks[1] for found in draws)),
        wait_ms=(_mean([found.wait_ms[0] for found in draws]), _mean([found.wait_ms[1] for found in draws])),
    )


def _near(linux: float, ours: float) -> bool:
    # Of counts of one run: within a tenth, or the noise of a count of that size.
    spread = 3 * max(linux, ours, 1) ** 0.5 if isinstance(linux, int) else 1.0
    return max(linux, ours) <= COUNTS * min(linux, ours) or abs(linux - ours) <= spread


def _part(some: int, all_of_them: int) -> float:
    return some / all_of_them if all_of_them else 1.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def capture(packets: Sequence[Packet]) -> bytes:
    """A capture (pcap, nanoseconds) of Ethernet frames of which the headers were kept."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, FRAME.size, 1)]
    for p in packets:
        out.append(struct.pack("<IIII", p.arrival // 10**9, p.arrival % 10**9, FRAME.size, max(p.length, FRAME.size)))
        out.append(FRAME.pack(
            b"\2\0\0\0\0\2", b"\2\0\0\0\0\1", 0x0800, 0x45, p.tos, p.length - 14, p.number & 0xFFFF, 0x4000, 64, 17, 0,
            bytes([10, 0, 0, p.source]), bytes([10, 1, 0, p.sink]), 10000 + p.flow, 9, p.length - 34, 0,
        ))  # fmt: skip
    return b"".join(out)


def _run(case: Case, given: Setup, folder: Path) -> tuple[dict[int, int], set[int]]:
    """The start of each transmission by number of the packet, in order, and the packets that left with a mark."""
    path, out = folder / "case.pcap", folder / "out"
    path.write_bytes(capture(case.packets))
    try:
        fairq.replay(
            path,
            rate=given.rate,
            buffer="unlimited",
            disciplines=[given.text],
            gap_max="1000 s",
            fluid=False,
            under=given.under,
            class_burst=LINE_SAVES if given.under == "class" else "0 s",
            out=out,
        )
    except fairq.FairqError as error:
        raise Fault(f"{case.name}: {given.text}: {error}") from None
    (table,) = out.glob("*/packets.parquet")
    columns = "select packet, departure_ps, bytes from read_parquet(?) where departure_ps is not null"
    rows = duckdb.execute(f"{columns} order by departure_ps", [str(table)]).fetchall()
    bits_per_s = bit_per_s(given.rate)
    left = {number: ps - round(8e12 * length / bits_per_s) for number, ps, length in rows}
    return left, {
        number
        for number, tos in zip(left, _tos(table.with_name("capture.pcapng")), strict=True)
        if tos & 3 == 3 and case.packets[number].tos & 3 != 3
    }


def bit_per_s(rate: str) -> float:
    """A rate as `1Mbit/s` in bits per second."""
    digits = rate.rstrip("abcdefghijklmnopqrstuvwxyzGMT/ ")
    unit = {"kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "bit/s": 1.0}.get(rate[len(digits) :].strip())
    if unit is None:
        raise Fault(f"{rate!r} is no rate; write a number and a unit, as 1Mbit/s")
    return float(digits) * unit


def _tos(path: Path) -> list[int]:
    """The type-of-service byte of each frame of a pcapng file."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:  # an enhanced packet block: 28 bytes before the frame
            found.append(data[at + 28 + 15])
        at += length
    return found
