"""Reproducing a paper: its scenarios run for all seeds, a verdict on each published number.

It is all said in tables, figures and a report. What is compared is the paper's own affair (papers/<name>/compare.py);
how it is judged is in verdicts.py.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairq import _native, tables
from fairq.api import Reproduction, Tell
from fairq.output import check, folder
from fairq.papers import Paper, load
from fairq.verdicts import (
    COLUMNS,
    Interval,
    Line,
    Published,
    Run,
    interval,
    judge,
    judge_claim,
    ranked,
    read_published,
)

SEEDS = "measure.replications"
"""The path of a scenario's number of seeds."""

START = ("defaults.start", "drawn")
"""The path and value that let sources start at times drawn in the first second."""


@dataclass(frozen=True)
class Setup:
    """How the scenarios are run."""

    seeds: int
    start: str
    workers: int


def reproduce(
    paper: str,
    *,
    seeds: int,
    start: str,
    workers: int,
    out: str | os.PathLike[str] | None = None,
    progress: Tell | None = None,
) -> Reproduction:
    """Run the paper's scenarios and judge each of its numbers; see `fairq.reproduce`.

    With `start` "drawn" the scenarios are run twice, and the report says which verdicts the start phase moved.
    """
    if seeds < 2:
        raise _native.UsageError(f"--seeds {seeds}: an interval needs at least 2 seeds")
    if out is not None:
        check(out)
    found = load(paper)
    setups = [Setup(seeds, "together", workers)]
    if start == "drawn":
        setups.append(Setup(seeds, "drawn", workers))
    jobs = len(setups) * len(found.compare.SCENARIOS) + has_figure(found)
    tell = Steps(jobs, progress)
    by_start = [verdicts(found, setup, tell) for setup in setups]
    lines = by_start[-1]
    if len(by_start) == 2:
        lines = _with_moves(by_start[0], lines)
    if has_figure(found):
        lines = lines + figure_lines(found, setups[0], tell)
    text = report(found, lines, setups[-1])
    rows = tuple(line.row() for line in lines)
    if out is not None:
        with folder(out, wrote=f"fairq reproduce {paper}") as inside:
            write(found, rows, text, inside)
    return Reproduction(rows, text)


def has_figure(paper: Paper) -> bool:
    """Whether the paper has a scenario for its delay curve."""
    return (paper.folder / "figure1.toml").is_file()


def verdicts(paper: Paper, setup: Setup, tell: Steps) -> list[Line]:
    """One line for each published cell, then one for each claim."""
    compare = paper.compare
    published = read_published(paper.folder / "published.csv")
    cells: list[Line] = []
    claims: list[Line] = []
    for scenario in compare.SCENARIOS:
        printed = [cell for cell in published if cell.scenario == scenario]
        points = run_scenario(paper, scenario, setup, tell)
        printed_run = as_run(printed)
        runs = [ranked(printed_run, run, compare.INTERCHANGEABLE[scenario]) for run in per_seed(compare, points)]
        for cell in printed:
            cells.append(_line(paper, cell, runs))
        for claim in compare.CLAIMS:
            if claim.scenario == scenario:
                claims.append(judge_claim(paper.name, claim, printed_run, runs))
    return cells + claims


def run_scenario(paper: Paper, scenario: str, setup: Setup, tell: Steps) -> list[Mapping[str, Any]]:
    """The points of one scenario of the paper, with the cells of every seed."""
    once = scenario in paper.compare.RUNS_ARE_EQUAL and setup.start == "together"
    sets = [(SEEDS, str(1 if once else setup.seeds))]
    if setup.start == "drawn":
        sets.append(START)
    return _run(paper.folder / f"scenario{scenario}.toml", sets, setup.workers, tell)


def figure_lines(paper: Paper, setup: Setup, tell: Steps) -> list[Line]:
    """The lines of the paper's delay curve."""
    points = _run(paper.folder / "figure1.toml", [(SEEDS, str(setup.seeds))], setup.workers, tell)
    lines: list[Line] = paper.compare.figure1(points)
    return lines


def per_seed(compare: Any, points: Sequence[Mapping[str, Any]]) -> list[Run]:
    """The runs of a scenario: for each seed all policies, quantities and sources."""
    seeds = [seed["seed"] for seed in points[0]["seeds"]]
    return [
        {
            str(point["axes"]["policy"]): {
                quantity: {str(flow["flow"]): flow[column] for flow in point["seeds"][index]["flows"]}
                for quantity, column in compare.COLUMNS.items()
            }
            for point in points
        }
        for index in range(len(seeds))
    ]


def as_run(published: Sequence[Published]) -> Run:
    """The published cells of one scenario in the form of a run."""
    run: dict[str, dict[str, dict[str, float | None]]] = {}
    for cell in published:
        run.setdefault(cell.policy, {}).setdefault(cell.quantity, {})[cell.source] = cell.value
    return run


def _line(paper: Paper, cell: Published, runs: Sequence[Run]) -> Line:
    compare = paper.compare
    values = [run[cell.policy][cell.quantity][cell.source] for run in runs]
    measured = interval(values)
    telnet = cell.source in compare.TELNETS[cell.scenario]
    verdict = judge(cell, measured, by_hand=compare.is_undecided(cell), is_telnet=telnet)
    return Line(
        paper.name, f"scenario {cell.scenario}", cell.policy, cell.quantity, cell.source, cell.value,
        measured.mean, measured.low, measured.high, verdict, _note(paper, cell, measured, verdict, len(runs)),
    )  # fmt: skip


def _note(paper: Paper, cell: Published, measured: Interval, verdict: str, runs: int) -> str:
    notes = []
    if cell.flag == "repaired":
        notes.append("a digit of the scan is repaired")
    if cell.flag == "printed" and cell.value is None:
        notes.append("printed as a dash: no packet delivered")
    if verdict == "undecided":
        by_hand = paper.compare.is_undecided(cell)
        notes.append("depends on start phase, chance or ties" if by_hand else "the interval would accept anything")
    if verdict == "differs":
        notes.append(paper.compare.REASONS.get((cell.scenario, cell.policy), "reason not known"))
    if runs == 1:
        notes.append("nothing is random: one run")
    return "; ".join(notes)


def _with_moves(together: Sequence[Line], drawn: Sequence[Line]) -> list[Line]:
    """The lines of drawn starts, each noting where the verdict is another with a common start."""
    return [
        line
        if line.verdict == before.verdict
        else replace(line, note="; ".join(filter(None, [line.note, f"with a common start: {before.verdict}"])))
        for before, line in zip(together, drawn, strict=True)
    ]


def report(paper: Paper, lines: Sequence[Line], setup: Setup) -> str:
    """What is printed: per scenario the numbers side by side, the claims, the curve, and the totals."""
    compare = paper.compare
    started = "together at 0" if setup.start == "together" else "at times drawn in the first second"
    parts = [f"{compare.TITLE}\n{setup.seeds} seeds, sources start {started}. Published / measured, then the verdict:",
             "= agrees, # differs, ~ undecided, ? unreadable."]  # fmt: skip
    for scenario in compare.SCENARIOS:
        mine = [line for line in lines if line.item == f"scenario {scenario}"]
        head = f"Scenario {scenario}: {compare.CAPTIONS[scenario]}"
        if scenario in compare.RUNS_ARE_EQUAL and setup.start == "together":
            head += " - nothing is random, so one run"
        parts += ["", head, _side_by_side(mine)]
    claims = [line for line in lines if line.item == "claim"]
    parts += ["", "Claims", tables.text([_claim_row(line) for line in claims])]
    curve = [line for line in lines if line.item == "figure 1"]
    if curve:
        parts += ["", "Figure 1: queueing delay in packets", tables.text([_curve_row(line) for line in curve])]
    differing = [line for line in lines if line.verdict == "differs" and line.item.startswith("scenario")]
    if differing:
        parts += ["", "Cells that differ", tables.text([_cell_row(line) for line in differing])]
    moved = [line for line in lines if "with a common start" in line.note]
    if setup.start == "drawn":
        parts += ["", f"Verdicts moved by drawn starts: {len(moved)}"]
        if moved:
            parts.append(tables.text([_cell_row(line) for line in moved]))
    parts += ["", totals(lines)]
    return "\n".join(parts) + "\n"


def totals(lines: Sequence[Line]) -> str:
    """One line for each kind of item: how many agree, differ, are undecided or unreadable."""
    said = []
    kinds: list[tuple[str, Callable[[Line], bool]]] = [
        ("cells", lambda line: line.item.startswith("scenario")),
        ("claims", lambda line: line.item == "claim"),
        ("points of figure 1", lambda line: line.item.startswith("figure")),
    ]
    for kind, belongs in kinds:
        counts = Counter(line.verdict for line in lines if belongs(line))
        if counts:
            parts = [f"{counts[v]} {v}" for v in ("agrees", "differs", "undecided", "unreadable") if counts[v]]
            said.append(f"{sum(counts.values())} {kind}: {', '.join(parts)}")
    return "\n".join(said)


_SIGNS = {"agrees": "=", "differs": "#", "undecided": "~", "unreadable": "?"}


def _side_by_side(lines: Sequence[Line]) -> str:
    sources = list(dict.fromkeys(line.source for line in lines))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        quantity = "rtt (s)" if line.quantity == "rtt" else line.quantity
        row = rows.setdefault((line.policy, quantity), {"policy": line.policy, "quantity": quantity})
        row[line.source] = f"{_short(line.published)} / {_short(line.measured)} {_SIGNS[line.verdict]}"
    return tables.text(list(rows.values()), ["policy", "quantity", *sources])


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _claim_row(line: Line) -> dict[str, Any]:
    return {"item": line.source, "policy": line.policy, "claim": line.quantity, "verdict": line.verdict,
            "holds in": line.note}  # fmt: skip


def _curve_row(line: Line) -> dict[str, Any]:
    return {"policy": line.policy, "share": line.source, "curve": line.quantity, "value": line.published,
            "simulated": line.measured, "low": line.low, "high": line.high, "verdict": line.verdict}  # fmt: skip


def _cell_row(line: Line) -> dict[str, Any]:
    row = line.row()
    return {key: row[key] for key in COLUMNS if key != "paper"}


def write(paper: Paper, rows: Sequence[Mapping[str, Any]], text: str, inside: Path) -> None:
    """Write the report, the table of verdicts as CSV and JSON, and the figures into a folder."""
    from fairq import figures

    (inside / "report.txt").write_text(text, encoding="utf-8")
    tables.write_csv(inside / "verdicts.csv", rows, COLUMNS)
    (inside / "verdicts.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    for scenario in paper.compare.SCENARIOS:
        mine = [row for row in rows if row["item"] == f"scenario {scenario}"]
        tables.write_csv(inside / f"scenario{scenario}.csv", mine, COLUMNS)
        title = f"Scenario {scenario}: {paper.compare.CAPTIONS[scenario]}"
        figures.save(figures.published_beside_measured(mine, title), inside / f"scenario{scenario}")
    curve = [row for row in rows if row["item"] == "figure 1"]
    if curve:
        tables.write_csv(inside / "figure1.csv", curve, COLUMNS)
        figures.save(figures.delay_curve(paper.compare, curve), inside / "figure1")


def _run(path: Path, sets: list[tuple[str, str]], workers: int, tell: Steps) -> list[Mapping[str, Any]]:
    text = path.read_text(encoding="utf-8")
    document = json.loads(_native.run(text, str(path), sets, workers, tell.step()))
    points: list[Mapping[str, Any]] = document["points"]
    return points


class Steps:
    """Progress of several runs told as that of one."""

    def __init__(self, jobs: int, tell: Tell | None) -> None:
        self._jobs = jobs
        self._tell = tell
        self._done = -1
        self._before = (0.0, 0)
        self._last = (0.0, 0)

    def step(self) -> Tell | None:
        """The progress of the next run."""
        if self._tell is None:
            return None
        self._done += 1
        self._before = (self._before[0] + self._last[0], self._before[1] + self._last[1])
        self._last = (0.0, 0)
        return self._inside

    def _inside(self, fraction: float, sim_seconds: float, packet_hops: int) -> None:
        assert self._tell is not None
        self._last = (sim_seconds, packet_hops)
        self._tell((self._done + fraction) / self._jobs, self._before[0] + sim_seconds, self._before[1] + packet_hops)
