"""How fast fairq is beside ns-2, as it comes and tuned, on the same scenarios, in alternation.

    python tests/peers/speed.py --scenarios dumbbell,legout --rounds 3

Time is user time of the whole process, its start included. Tuned is ns-2 without queue monitors and
without the packet headers that no run uses; its hops are those of the same run with monitors.
README.md says how to read it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import legout
from markdown import markdown
from programs import HERE, Fault, Finished, Ns2, ended, find_fairq, run, run_fairq
from quantities import SCENARIOS, draw_starts

SAME_WORK = 0.05
"""Hops that differ by more than this part are not the same work, and their ratio says nothing."""

TRANSPORT = "reno"


@dataclass(frozen=True)
class Work:
    """One scenario for both programs."""

    name: str
    script: str
    arguments: Mapping[str, str]
    scenario: Path
    set: Mapping[str, str]


def main() -> int:
    """Measure as the command line says."""
    arguments = _parser().parse_args()
    return ended("speed", lambda: _measure(arguments))


def _measure(arguments: argparse.Namespace) -> None:
    if arguments.rounds < 1:
        raise Fault(f"--rounds {arguments.rounds}: at least 1")
    with tempfile.TemporaryDirectory() as folder:
        rows = _measured(arguments, Ns2(), find_fairq(), Path(folder))
    print(json.dumps(rows, indent=1) if arguments.json else table(rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", default="dumbbell,legout", help="dumbbell (600 s), legout (1600 connections)")
    parser.add_argument("--queues", default="DropTail,DRR", help="DropTail, DRR")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program has its turn; 3 by default")
    parser.add_argument("--connections", type=int, default=1600, help="of legout; 1600 by default")
    parser.add_argument("--duration", type=int, help="simulated seconds; 600 of dumbbell, 50 of legout by default")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser


def _measured(arguments: argparse.Namespace, ns2: Ns2, fairq: str, folder: Path) -> list[dict[str, Any]]:
    rows = []
    for work in _works(arguments, folder):
        counted = {**work.arguments, "counters": "1", "slim": "0"}
        commands = {"ns-2": counted, "ns-2 tuned": {**work.arguments, "counters": "0", "slim": "1"}}
        times: dict[str, list[float]] = {"fairq": [], **{name: [] for name in commands}}
        hops: dict[str, int] = {}
        for turn in range(arguments.rounds):
            print(f"{work.name}: round {turn + 1} of {arguments.rounds}", file=sys.stderr)
            ours = run_fairq(fairq, work.scenario, work.set)
            times["fairq"].append(ours.cpu_s)
            hops["fairq"] = ours.document["run_info"]["packet_hops"]
            for name, given in commands.items():
                theirs = run(ns2.command(work.script, given))
                times[name].append(theirs.cpu_s)
                hops |= _hops_of(theirs)
        rows += _rows(work.name, times, hops)
    return rows


def _hops_of(run: Finished) -> dict[str, int]:
    """The tuned run is the same packet for packet, and does not count."""
    counted = run.document.get("hops")
    return {} if counted is None else {"ns-2": counted, "ns-2 tuned": counted}


def _rows(work: str, times: Mapping[str, Sequence[float]], hops: Mapping[str, int]) -> list[dict[str, Any]]:
    rows = []
    for name, seconds in times.items():
        pairs = [theirs / ours for theirs, ours in zip(seconds, times["fairq"], strict=True)]
        rows.append(
            {
                "scenario": work,
                "program": name,
                "hops": hops[name],
                "cpu_s": median(seconds),
                "cpu_s_min": min(seconds),
                "cpu_s_max": max(seconds),
                "hops_per_cpu_s": hops[name] / median(seconds),
                "ratio": median(pairs),
                "same_work": abs(hops[name] / hops["fairq"] - 1) <= SAME_WORK,
            }
        )
    return rows


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows for a reader."""
    lines = [["scenario", "program", "M hops", "CPU s (least, most)", "M hops/CPU s", "time over fairq's", "same work"]]
    for row in rows:
        cpu = f"{row['cpu_s']:.2f} ({row['cpu_s_min']:.2f}, {row['cpu_s_max']:.2f})"
        rate = row["hops_per_cpu_s"] / 1e6
        lines.append([row["scenario"], row["program"], f"{row['hops'] / 1e6:.3f}", cpu, f"{rate:.2f}",
                      f"{row['ratio']:.2f}", "yes" if row["same_work"] else "NO"])  # fmt: skip
    return markdown(lines)


# --- the scenarios


def _works(arguments: argparse.Namespace, folder: Path) -> Iterator[Work]:
    for name in arguments.scenarios.split(","):
        for queue in arguments.queues.split(","):
            if queue not in legout.QUEUES:
                raise Fault(f"{queue}: there is no such queue; there are {', '.join(legout.QUEUES)}")
            if name == "dumbbell":
                yield _dumbbell(queue, arguments.duration or 600)
            elif name == "legout":
                yield _legout(queue, arguments.connections, arguments.duration or 50, folder)
            else:
                raise Fault(f"{name}: there is no such scenario; there are dumbbell, legout")


def _dumbbell(queue: str, duration: int) -> Work:
    """The dumbbell of the comparison, one point of it."""
    scenario = next(one for one in SCENARIOS if one.name == "dumbbell" and one.peer == "ns2")
    starts = draw_starts(scenario, 1)
    values = next(axis["values"] for axis in scenario.read()["axes"] if axis["name"] == "queue")
    chosen = next(value["set"] for value in values if value["name"] == queue)
    given = {"queue": queue, "duration": str(duration), "starts": ",".join(map(str, starts))}
    ours = {
        **chosen,
        **{f"flows[{i}].start": f"{start} s" for i, start in enumerate(starts)},
        "defaults.transport": TRANSPORT,
        "measure.duration": f"{duration} s",
        "axes": "[]",
    }
    path = HERE / "scenarios" / scenario.file
    return Work(f"dumbbell {queue} {duration} s", "dumbbell", given, path, ours)


def _legout(queue: str, connections: int, duration: int, folder: Path) -> Work:
    """The large network, one queue of it."""
    path = folder / f"legout-{queue}.json"
    path.write_text(json.dumps(legout.scenario(connections, duration, [queue])), encoding="utf-8")
    given = {"data": str(legout.DATA), "queue": queue, "connections": str(connections), "duration": str(duration)}
    return Work(f"legout {queue} {connections} connections {duration} s", "legout", given, path, {})


if __name__ == "__main__":
    sys.exit(main())
