"""Records what a Linux kernel does into a folder of truth. Needs no root and no network but Debian's packages.

    python tests/peers/linux/record.py --kernel ~/linux --out tests/peers/linux/own --cases 'htb_*,cake_*'

    python tests/peers/linux/record.py --kernel ~/linux --out tests/peers/linux/truth --connections 'lossy.*'

The kernel is built in its folder when it is first wanted (5 minutes of one CPU, 2 GB). `--again`
records the cases of a folder of truth anew, with its tc commands and arrivals, and says how far the kernel did the
same; the least that was seen stands in the column `again`.
"""

from __future__ import annotations

import argparse
import csv
import fnmatch
import gzip
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from linux import connections, kernel, order, seen, truth
from linux.arrivals import Arrival, Recording, recordings
from programs import Fault, ended

TABLE = ["case", "kind", "arrivals", "draws", "rate", "buffer", "tc", "fairq", "again", "record"]
RECORD = 3
"""The number of the next record: cases that are new come with it."""
RUNS = 3
"""Of a cell of connections, each with other starts."""
PACKETS = ["packet", "flow", "bytes", "tos", "source", "sink", "arrival_ns", "departure_ns", "rank", "marked"]


def main() -> int:
    """Record as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", type=Path, required=True, metavar="DIR", help="where the kernel is, or is built")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder of truth that is written")
    parser.add_argument("--cases", default="*", metavar="PATTERNS", help="only these, as 'htb_*,tbf.*'")
    parser.add_argument("--connections", metavar="PATTERNS", help=f"cells of connections, no cases; {RUNS} runs each")
    parser.add_argument("--again", type=Path, metavar="DIR", help="record the cases of this truth anew and compare")
    arguments = parser.parse_args()
    return ended("record", lambda: _record(arguments))


def _record(arguments: argparse.Namespace) -> int:
    if (arguments.out is None) == (arguments.again is None):
        raise Fault("say either --out or --again")
    if arguments.connections:
        if arguments.out is None:
            raise Fault("--connections goes with --out")
        _connections(arguments.kernel, arguments.out, arguments.connections)
        return 0
    wanted = _recorded(arguments.again) if arguments.again else recordings()
    patterns = [word.strip() for word in arguments.cases.split(",")]
    wanted = [one for one in wanted if any(fnmatch.fnmatch(one.name, pattern) for pattern in patterns)]
    if not wanted:
        raise Fault(f"{arguments.cases}: no case is called so; there are {', '.join(one.name for one in recordings())}")
    program = kernel.built(arguments.kernel)
    with tempfile.TemporaryDirectory() as folder:
        found = kernel.jobs(program, Path(folder), [_job(one) for one in wanted])
    rows = {one.name: _rows(one, found[one.name]) for one in wanted}
    if arguments.again:
        return _compare(arguments.again, rows)
    _write(arguments.out, wanted, rows)
    return 0


def _recorded(folder: Path) -> list[Recording]:
    """The cases of a truth, to be recorded again."""
    found = []
    for case in truth.cases(folder):
        arrivals = [Arrival(p.arrival, p.flow, p.length, p.tos, p.source, p.sink) for p in case.packets]
        tc = [command.strip() for command in case.tc.split(";")]
        # A class 1:1 right under the device is the line.
        exact = next((1_000_000 for command in tc if "classid 1:1 " in command), None)
        found.append(Recording(case.name, tc, arrivals, case.draws, case.rate, exact))
    return found


def _job(one: Recording) -> dict[str, Any]:
    """What the guest does for it."""
    packets = [[p.time, p.length, 10000 + p.flow, p.tos, p.source, p.sink] for p in one.arrivals]
    hosts, sinks = (max(getattr(p, end) for p in one.arrivals) for end in ("source", "sink"))
    return {
        "name": one.name,
        "tc": list(one.tc),
        "packets": packets,
        "hosts": hosts,
        "sinks": sinks,
        "exact": {"r1": one.exact} if one.exact else {},
    }


def _rows(one: Recording, seen: dict[str, Any]) -> list[list[Any]]:
    """The table of its packets: as they arrived at the router, and when and as what each left it."""
    came, left = seen["in"], {frame[1]: (rank, frame) for rank, frame in enumerate(seen["out"])}
    if len(came) != len(one.arrivals):
        raise Fault(f"{one.name}: {len(one.arrivals)} packets were sent and {len(came)} arrived at the router")
    zero, rows = came[0][0], []
    for at, (time, number, length, port, tos) in enumerate(came):
        packet = one.arrivals[number]
        rank, frame = left.get(number, (None, None))
        departure = frame[0] - zero if frame else ""
        marked = int(frame[4] & 3 == 3 and tos & 3 != 3) if frame else ""
        rows.append(
            [
                at,
                port - 10000,
                length,
                tos,
                packet.source,
                packet.sink,
                time - zero,
                departure,
                "" if rank is None else rank,
                marked,
            ]
        )
    return rows


def _write(folder: Path, wanted: Sequence[Recording], rows: dict[str, list[list[Any]]]) -> None:
    """The tables of all that was recorded; what stands in the folder under other names stays."""
    from fairq import traffic_control as tc

    (folder / "order").mkdir(parents=True, exist_ok=True)
    table = folder / "order" / "cells.csv"
    lines = {}
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            lines = {row["case"]: row for row in csv.DictReader(file)}
    for one in wanted:
        with (
            (folder / "order" / f"{one.name}.csv.gz").open("wb") as raw,
            gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as file,
        ):
            text = "\n".join(",".join(map(str, row)) for row in [PACKETS, *rows[one.name]]) + "\n"
            file.write(text.encode())
        kind, shape = one.name.split(".")
        commands = "; ".join(one.tc)
        lines[one.name] = dict(
            zip(
                TABLE,
                [
                    one.name, kind, shape, int(one.draws), one.rate, "unlimited", commands, tc.read(commands).text,
                    "", lines.get(one.name, {}).get("record", RECORD),
                ],
                strict=True,
            )
        )  # fmt: skip
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, TABLE, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines.values())


def _connections(folder: Path, out: Path, patterns: str) -> None:
    """Record cells of connections; what the table has of others stays, in the order of connections.py."""
    known = connections.cells()
    words = [word.strip() for word in patterns.split(",")]
    wanted = [cell for cell in known if any(fnmatch.fnmatch(cell.name, word) for word in words)]
    if not wanted:
        raise Fault(f"{patterns}: no cell is called so; there are {', '.join(cell.name for cell in known)}")
    program, table = kernel.built(folder), out / "connections.csv"
    lines: dict[str, list[list[Any]]] = {}
    if table.exists():
        with table.open(encoding="utf-8", newline="") as file:
            for row in list(csv.reader(file))[1:]:
                lines.setdefault(row[0], []).append(row)
    for cell in wanted:
        jobs = [connections.job(cell, run) for run in range(RUNS)]
        with tempfile.TemporaryDirectory() as scratch:
            found = kernel.jobs(program, Path(scratch), jobs)
        lines[cell.name] = [row for run, job in enumerate(jobs) for row in seen.rows(cell, run, found[job["name"]])]
        print(f"{cell.name}: recorded", file=sys.stderr)
        out.mkdir(parents=True, exist_ok=True)
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(seen.COLUMNS)
            for one in known:
                writer.writerows(lines.get(one.name, []))


def _compare(folder: Path, rows: dict[str, list[list[Any]]]) -> int:
    """Whether the kernel did the same again: what left, in which order."""
    status, table = 0, folder / "order" / "cells.csv"
    with table.open(encoding="utf-8", newline="") as file:
        lines = {row["case"]: row for row in csv.DictReader(file)}
    for case in truth.cases(folder, list(rows)):
        left = {
            row[0]: row[7] * 1000
            for row in sorted((row for row in rows[case.name] if row[8] != ""), key=lambda row: row[8])
        }
        found = order.judged(case, "", left, {row[0] for row in rows[case.name] if row[9] == 1})
        print(
            f"{case.name}: {100 * found.in_place:.2f} % in place, {100 * found.drops_same:.2f} % of the drops the same"
        )
        status |= not found.agrees
        lines[case.name]["again"] = f"{min(found.in_place, found.drops_same, case.again):.4f}"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, TABLE, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines.values())
    return status


if __name__ == "__main__":
    raise SystemExit(main())
