"""The same scenarios in ns-2 or ns-3 and in fairq, run by run with the same start times, in one table.

    python tests/peers/compare.py --scenarios dumbbell,vwfq,buffers,legout --peer ns2 --seeds 10 --cache out/peers

README.md says what must be installed and how the table is read.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from markdown import markdown
from programs import Cache, Fault, Ns2, Ns3, Peer, ended, find_fairq, run_fairq
from quantities import (
    REASONS,
    SCENARIOS,
    Scenario,
    draw_access_delay,
    draw_starts,
    measured,
    of_fairq,
    of_peer,
)
from welch import compare

NAMES = list(dict.fromkeys(name for scenario in SCENARIOS for name in scenario.names))
DEFAULT = ",".join(dict.fromkeys(scenario.name for scenario in SCENARIOS if scenario.name != "legout_1600"))
COLUMNS = {
    "scenario": "scenario", "quantity": "quantity", "peer": "peer", "peer_mean": "mean", "peer_std": "±",
    "fairq_mean": "fairq", "fairq_std": "±", "difference": "difference", "interval": "joint 95 %",
    "verdict": "verdict", "reason": "reason",
}  # fmt: skip
"""The columns of a row and their headings; difference and interval are relative to the peer's mean."""

PEERS_NAMES = {"room": "packets"}
"""Axes that the peers' scripts call otherwise, because fairq has columns of that name."""

Point = Mapping[str, str]
"""A value for each axis; its first word is the peer's name: "RED as in ns-2" is fairq's RED with what ns-2 adds."""

Quantities = Mapping[str, float]
"""What a run showed."""


def main() -> int:
    """Compare as the command line says."""
    arguments = _parser().parse_args()
    return ended("compare", lambda: _write(arguments, _rows(arguments)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", default=DEFAULT, help=f"of {', '.join(NAMES)}; {DEFAULT} by default")
    parser.add_argument("--peer", choices=["ns2", "ns3", "both"], default="ns2", help="the other side; ns2 by default")
    parser.add_argument("--seeds", type=int, default=10, help="runs on each side; 10 by default")
    parser.add_argument("--cache", metavar="DIR", help="keep what the peers printed, so that it need not be run again")
    parser.add_argument("--out", metavar="FILE", help="write the table there, as Markdown")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser


def _rows(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    wanted = [name.strip() for name in arguments.scenarios.split(",")]
    for name in wanted:
        if name not in NAMES:
            raise Fault(f"{name}: there is no such scenario; there are {', '.join(NAMES)}")
    if arguments.seeds < 2:
        raise Fault(f"--seeds {arguments.seeds}: an interval needs at least 2 runs")
    kinds = ["ns2", "ns3"] if arguments.peer == "both" else [arguments.peer]
    chosen = [one for one in SCENARIOS if set(one.names) & set(wanted) and one.peer in kinds]
    if not chosen:
        raise Fault(f"{arguments.peer} has none of the scenarios {', '.join(wanted)}")
    if arguments.out and not Path(arguments.out).resolve().parent.is_dir():
        raise Fault(f"--out {arguments.out}: there is no such folder")
    program = find_fairq()
    with _folder(arguments.cache) as folder, ThreadPoolExecutor(2) as workers:
        peers: dict[str, Peer] = {kind: Ns2() if kind == "ns2" else Ns3(folder) for kind in kinds}
        rows = []
        for scenario in chosen:
            print(f"{peers[scenario.peer].name} and fairq: {scenario.own_name}", file=sys.stderr)
            rows += _compared(scenario, peers[scenario.peer], program, arguments.seeds, folder, workers)
    return rows


@contextmanager
def _folder(given: str | None) -> Iterator[Path]:
    """The folder of kept results, or one that is forgotten."""
    if given is None:
        with tempfile.TemporaryDirectory() as forgotten:
            yield Path(forgotten)
        return
    folder = Path(given)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Fault(f"--cache {given}: {error.strerror}") from None
    yield folder


def _compared(
    scenario: Scenario, peer: Peer, program: str, seeds: int, folder: Path, workers: ThreadPoolExecutor
) -> list[dict[str, Any]]:
    """The rows of a scenario: for each point of its axes the quantities on both sides."""
    points = points_of(scenario.read())
    numbers = range(1, seeds + 1)
    cache, path = Cache(folder), scenario.path(folder)
    fairq = [workers.submit(_fairq_points, scenario, path, program, seed) for seed in numbers]
    runs = [
        [workers.submit(_peer_run, scenario, peer, cache, point, seed) for seed in numbers] for point in points
    ]  # fmt: skip
    try:
        ours = [one.result() for one in fairq]
        rows = []
        for at, point in enumerate(points):
            theirs = [one.result() for one in runs[at]]
            rows += _point_rows(scenario, peer, point, theirs, [of_seed[at] for of_seed in ours])
    except BaseException:
        workers.shutdown(cancel_futures=True)
        raise
    return rows


def points_of(scenario: Mapping[str, Any]) -> list[Point]:
    """The points of a scenario file in fairq's order: axes are crossed, those of one group go together."""
    groups: dict[str, list[list[tuple[str, str]]]] = {}
    for axis in scenario["axes"]:
        named = [(axis["name"], value["name"]) for value in axis["values"]]
        groups.setdefault(axis.get("group", axis["name"]), []).append(named)
    together = [list(zip(*axes, strict=True)) for axes in groups.values()]
    return [dict(itertools.chain(*chosen)) for chosen in itertools.product(*together)]


def _peer_run(scenario: Scenario, peer: Peer, cache: Cache, point: Point, seed: int) -> dict[str, float]:
    measure = scenario.read()["measure"]
    times = {name: str(measure.get(name, "0 s")).removesuffix(" s") for name in ("warm_up", "duration")}
    peers_own = {PEERS_NAMES.get(axis, axis): value.split()[0] for axis, value in point.items()}
    arguments = {**scenario.arguments, **peers_own, **times}
    arguments |= {"seed": str(seed), "starts": ",".join(map(str, draw_starts(scenario, seed)))}
    if (delay := draw_access_delay(scenario, seed)) is not None:
        arguments["access_delay"] = delay.replace(" ", "")
    document = cache.run(peer, scenario.script, arguments)
    return measured(scenario, of_peer(scenario, document))


def _fairq_points(scenario: Scenario, path: Path, program: str, seed: int) -> list[dict[str, float]]:
    """The quantities at each point, of one run of all of them."""
    starts = {f"flows[{i}].start": f"{start} s" for i, start in enumerate(draw_starts(scenario, seed))}
    delay = draw_access_delay(scenario, seed)
    delays = {f"defaults.{line}.delay": delay for line in ("access", "sink_access") if delay is not None}
    finished = run_fairq(program, path, {**starts, **delays, "measure.seed": str(seed)})
    return [measured(scenario, of_fairq(scenario, point)) for point in finished.document["points"]]


def _point_rows(
    scenario: Scenario, peer: Peer, point: Point, theirs: Sequence[Quantities], ours: Sequence[Quantities]
) -> list[dict[str, Any]]:
    rows = []
    for quantity in theirs[0]:
        found = compare([run.get(quantity, 0.0) for run in theirs], [run.get(quantity, 0.0) for run in ours])
        known = [REASONS[value] for value in point.values() if value in REASONS]
        rows.append(
            {
                "scenario": " ".join([scenario.own_name, *point.values()]),
                "quantity": quantity,
                "peer": peer.name,
                "peer_mean": found.peer,
                "peer_std": found.peer_std,
                "fairq_mean": found.ours,
                "fairq_std": found.ours_std,
                "difference": found.relative,
                "interval": found.relative_half,
                "verdict": found.verdict,
                "reason": ", ".join(known) if found.verdict == "differs" else "",
                "runs": len(theirs),
            }
        )
    return rows


def _write(arguments: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    counts = {kind: sum(row["verdict"] == kind for row in rows) for kind in ("same", "differs", "undecided")}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    text = f"{table(rows)}\n\n{len(rows)} quantities of {arguments.seeds} runs on each side: {summary}.\n"
    if arguments.out:
        try:
            Path(arguments.out).write_text(text, encoding="utf-8")
        except OSError as error:
            raise Fault(f"--out {arguments.out}: {error.strerror}") from None
    print(json.dumps(rows, indent=1) if arguments.json else text.rstrip())


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows for a reader."""
    return markdown([list(COLUMNS.values()), *([_shown(column, row[column]) for column in COLUMNS] for row in rows)])


def _shown(column: str, value: Any) -> str:
    if value is None:
        return "-"
    if column == "difference":
        return f"{100 * value:+.1f} %"
    if column == "interval":
        return f"± {100 * value:.1f} %"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
