"""Reproducing papers: their scenarios run for all seeds, a verdict on each published number.

It is all said in tables, figures, a report and a page. What is compared is the paper's own affair
(papers/<name>/compare.py, in the form of papers.py); how it is judged is in verdicts.py. Nothing here knows a paper.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairq.core import tables
from fairq.core.errors import UsageError
from fairq.core.inputs import Text
from fairq.core.output import check, folder
from fairq.core.progress import Print, Tell
from fairq.core.runs import Experiment
from fairq.papers.papers import Job, Paper, Plotted, Results, Setup, load, names
from fairq.papers.verdicts import COLUMNS, Line, Reproduction, read_published
from fairq.reports.page_parts import sha

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fairq.figures import Style

ALL = "all"
"""Stands for every paper."""

SOURCES_ACROSS = 8
"""More sources than these stand below each other, with the policies across."""


@dataclass(frozen=True)
class Outcome:
    """What became of one paper."""

    paper: Paper
    setup: Setup
    lines: Sequence[Line]
    results: Results
    made: Callable[[], Sequence[tuple[str, str]]]
    """Gives its seeds, and digests of what it was made from: the page alone needs them."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The lines as rows of a table."""
        return [line.row() for line in self.lines]


def reproduce(
    paper: str,
    *,
    seeds: int | None,
    quick: bool,
    start: str,
    workers: int,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Tell | None = None,
    printed: Print | None = None,
    width: int | None = None,
) -> Reproduction:
    """Run the scenarios of a paper, or of all, and judge each number; see `fairq.reproduce`.

    `printed` is called with the parts of the report, in order, each as soon as its runs are done,
    and of lines of `width` columns if that is said.
    With `start="drawn"` the scenarios are run twice, and the report says which verdicts the start
    phase moved.
    """
    if seeds is not None and seeds < 2:
        raise UsageError(f"--seeds {seeds}: an interval needs at least 2 seeds")
    work = {"paper": paper, "seeds": seeds, "quick": quick, "start": start}
    if out is not None:
        check(out, of=work, replace=replace)
    found = [load(name) for name in (names() if paper == ALL else [paper])]
    plans = [setups(one, seeds, quick, start, workers) for one in found]
    tell = Steps(sum(len(jobs_of(one, plan)) for one, plan in zip(found, plans, strict=True)), progress)
    outcomes: list[Outcome] = []
    for one, plan in zip(found, plans, strict=True):
        if printed is not None and outcomes:
            printed(BETWEEN)
        outcomes.append(outcome(one, plan, tell, printed, width))
    text = BETWEEN.join(report(each) for each in outcomes)
    rows = tuple(row for each in outcomes for row in each.rows)
    if out is not None:
        with folder(out, wrote=f"fairq reproduce {paper}", of=work, replace=replace) as inside:
            write(outcomes, text, inside, _command(work))
    return Reproduction(list(rows), text)._keep({each.paper.name: each.results for each in outcomes})


def _command(work: Mapping[str, Any]) -> str:
    """What is written in a shell for this work."""
    options = [f"--seeds {work['seeds']}"] if work["seeds"] is not None else []
    options += ["--quick"] if work["quick"] else []
    options += [f"--start {work['start']}"] if work["start"] != "together" else []
    return " ".join(["fairq reproduce", work["paper"], *options, "--out DIR"])


def setups(paper: Paper, seeds: int | None, quick: bool, start: str, workers: int) -> list[Setup]:
    """How the paper is run: once with a common start, and again with random ones if that was asked for."""
    compare = paper.compare
    if start not in compare.STARTS:
        known = ", ".join(compare.STARTS)
        raise UsageError(f"--start {start}: {paper.name} does not have it; write one of: {known}")
    count = seeds or (compare.QUICK_SEEDS if quick else compare.SEEDS)
    return [Setup(count, each, workers, quick) for each in dict.fromkeys(("together", start))]


def jobs_of(paper: Paper, plan: Sequence[Setup]) -> list[Job]:
    """The different jobs of all setups."""
    return list(dict.fromkeys(job for setup in plan for job in paper.compare.jobs(setup).values()))


def outcome(
    paper: Paper, plan: Sequence[Setup], tell: Steps, printed: Print | None = None, width: int | None = None
) -> Outcome:
    """Run the jobs of all setups, each once, and judge the last; the one before says which verdicts moved."""
    early = Early(paper, plan[-1], printed, width) if printed is not None else None
    done: dict[Job, Mapping[str, Any]] = {}
    for job in jobs_of(paper, plan):
        done[job] = run_job(paper, job, plan[0].workers, tell)
        if early is not None:
            early.go_on(done)
    by_setup = []
    for setup in plan:
        results = {name: done[job] for name, job in paper.compare.jobs(setup).items()}
        by_setup.append((verdicts(paper, setup, results), results))
    lines, results = by_setup[-1]
    if len(by_setup) == 2:
        lines = _with_moves(by_setup[0][0], lines)
    found = Outcome(paper, plan[-1], lines, results, lambda: made_from(paper, plan))
    if early is not None:
        early.end(report(found, width))
    return found


def run_job(paper: Paper, job: Job, workers: int, tell: Steps) -> Mapping[str, Any]:
    """What one scenario gave."""
    done: Mapping[str, Any] = _experiment(paper, job).run(workers, tell.step()).document
    return job.keep(done) if job.keep else done


def _experiment(paper: Paper, job: Job) -> Experiment:
    path = paper.folder / job.file
    text = path.read_text(encoding="utf-8")
    return Experiment(Text(text, str(path)), list(job.sets), series=job.series or None)


def made_from(paper: Paper, plan: Sequence[Setup]) -> list[tuple[str, str]]:
    """The seeds of each scenario, and digests of the files and runs: what it is, and its value."""
    jobs = jobs_of(paper, plan)
    digests = sorted(run.digest for job in jobs for run in _experiment(paper, job).runs())
    files = sorted({"published.csv", *(job.file for job in jobs)})
    return [
        ("seeds of a scenario", str(plan[-1].seeds)),
        *((f"SHA-256 of {file}", sha((paper.folder / file).read_text(encoding="utf-8"))) for file in files),
        (f"SHA-256 of the digests of all {len(digests)} runs", sha("\n".join(digests))),
    ]


def verdicts(paper: Paper, setup: Setup, results: Results) -> list[Line]:
    """One line for each published cell and for each claim."""
    return paper.compare.lines(setup, read_published(paper.folder / "published.csv"), results)


def _with_moves(together: Sequence[Line], drawn: Sequence[Line]) -> list[Line]:
    """The lines of random starts, each noting where the verdict is another with a common start."""
    return [
        line
        if line.verdict == before.verdict
        else replace(line, note="; ".join(filter(None, [line.note, f"with a common start: {before.verdict}"])))
        for before, line in zip(together, drawn, strict=True)
    ]


@dataclass(frozen=True)
class Section:
    """A titled table of a report; `item` is the paper's own table or figure, if it is one."""

    title: str
    lines: Sequence[Line]
    """What the table is made of."""
    rows: Sequence[Mapping[str, Any]]
    columns: Sequence[str]
    item: str = ""


LEGEND = "Published / measured, then the verdict: = agrees, # differs, ~ undecided, ? unreadable."
"""What stands in the cells of a table."""


SENTENCES = ("policy", "claim", "holds in", "note")
"""Columns whose texts take several lines where there is little room."""


BETWEEN = "\n\n"
"""What stands between the reports of two papers."""


def report(found: Outcome, width: int | None = None) -> str:
    """What is printed: each table and figure with the numbers side by side, the claims, the totals."""
    text = beginning(found.paper, found.setup, width) + "".join(as_text(each, width) for each in sections(found))
    return f"{text}\n{_wrapped(totals(found.lines), width)}\n"


def beginning(paper: Paper, setup: Setup, width: int | None = None) -> str:
    """The lines of a report above its tables."""
    lines = f"{heading(paper, setup)}\n{LEGEND}"
    return f"{_wrapped(lines, width)}\n"


def _wrapped(lines: str, width: int | None) -> str:
    return lines if width is None else "\n".join(tables.prose(line, width) for line in lines.split("\n"))


def as_text(section: Section, width: int | None = None) -> str:
    """A section of a report: an empty line, the title, the table if it has rows, of `width` columns if that is said.

    The numbers are those that the paper prints, in its units.
    """
    title = _wrapped(section.title, width)
    if not section.rows:
        return f"\n{title}\n"
    names = section.columns
    table = tables.text(section.rows, names, keep=names, sentences=SENTENCES, width=width, wide=width is None, si=True)
    return f"\n{title}\n{table}\n"


class Early:
    """The report of a paper whose jobs still run: a table is printed when its jobs are done."""

    def __init__(self, paper: Paper, setup: Setup, printed: Print, width: int | None) -> None:
        self._paper = paper
        self._width = width
        self._setup = setup
        self._printed = printed
        jobs = paper.compare.jobs(setup)
        self._left = [
            (item, caption, {name: jobs[name] for name in paper.compare.needs(setup, item)})
            for item, caption in paper.compare.captions(setup).items()
        ]
        self._text = ""
        self._print(beginning(paper, setup, width))
        self.go_on({})

    def go_on(self, done: Mapping[Job, Mapping[str, Any]]) -> None:
        """Print the tables whose jobs are done, up to the first that waits for another job."""
        while self._left:
            item, caption, needed = self._left[0]
            if not all(job in done for job in needed.values()):
                return
            del self._left[0]
            lines = verdicts(self._paper, self._setup, {name: done[job] for name, job in needed.items()})
            self._print(as_text(section(self._paper, item, caption, lines), self._width))

    def end(self, report: str) -> None:
        """Print what is left of the whole report."""
        assert report.startswith(self._text), f"{self._paper.name}: a table needs more jobs than `needs` says"
        self._print(report[len(self._text) :])

    def _print(self, text: str) -> None:
        self._text += text
        self._printed(text)


def heading(paper: Paper, setup: Setup) -> str:
    """Title, seeds and how the sources start."""
    if len(paper.compare.STARTS) == 1:
        started = "as the scenario files say"
    else:
        started = "at random times in the first second" if setup.start == "drawn" else "together at 0"
    less = ""
    if setup.quick:
        usual = paper.compare.SEEDS
        less = f" (quick; {usual} without --quick)" if usual != setup.seeds else " (quick: fewer scenarios)"
    return f"{paper.compare.TITLE}\n{setup.seeds} seeds{less}, sources start {started}."


def sections(found: Outcome) -> list[Section]:
    """The tables of the report."""
    lines = found.lines
    captions = found.paper.compare.captions(found.setup)
    said = [section(found.paper, item, caption, lines) for item, caption in captions.items()]
    if claims := [line for line in lines if line.item == "claim"]:
        said.append(_listed("Claims", claims, _claim_row))
    if differing := [line for line in lines if line.verdict == "differs" and line.item != "claim"]:
        said.append(_listed("Cells that differ", differing, _cell_row))
    if found.setup.start == "drawn":
        moved = [line for line in lines if "with a common start" in line.note]
        said.append(_listed(f"Verdicts moved by random starts: {len(moved)}", moved, _cell_row))
    return said


def _listed(title: str, lines: Sequence[Line], row: Callable[[Line], dict[str, Any]]) -> Section:
    rows = [row(line) for line in lines]
    return Section(title, lines, rows, list(rows[0]) if rows else [])


def section(paper: Paper, item: str, caption: str, lines: Sequence[Line]) -> Section:
    """The table of one of the paper's tables and figures, from the lines of all."""
    mine = [line for line in lines if line.item == item]
    return Section(f"{_capital(item)}: {caption}", mine, *_side_by_side(mine, paper.compare.QUANTITIES), item)


def totals(lines: Sequence[Line]) -> str:
    """One line for each kind of item: how many agree, differ, are undecided or unreadable."""
    said = []
    kinds: list[tuple[str, Callable[[Line], bool]]] = [
        ("cells", lambda line: line.item != "claim" and not line.item.startswith("figure")),
        ("claims", lambda line: line.item == "claim"),
        ("points of figures", lambda line: line.item.startswith("figure")),
    ]
    for kind, belongs in kinds:
        counts = Counter(line.verdict for line in lines if belongs(line) and line.verdict != "beyond")
        if counts:
            parts = [f"{counts[v]} {v}" for v in ("agrees", "differs", "undecided", "unreadable") if counts[v]]
            said.append(f"{sum(counts.values())} {kind}: {', '.join(parts)}")
    return "\n".join(said)


_SIGNS = {"agrees": " =", "differs": " #", "undecided": " ~", "unreadable": " ?", "beyond": ""}


def _side_by_side(lines: Sequence[Line], shown: Mapping[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows and columns: each policy and quantity with the sources across, or, if these are many, the other way."""
    sources = list(dict.fromkeys(line.source for line in lines))
    many = len(sources) > SOURCES_ACROSS
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        quantity = shown.get(line.quantity, line.quantity)
        down, name, across = ("source", line.source, line.policy) if many else ("policy", line.policy, line.source)
        rows.setdefault((name, quantity), {down: name, "quantity": quantity})[across] = _cell(line)
    across_all = dict.fromkeys(line.policy for line in lines) if many else sources
    return list(rows.values()), ["source" if many else "policy", "quantity", *across_all]


def _cell(line: Line) -> str:
    if line.verdict == "beyond":
        return _short(line.measured)
    return f"{_short(line.published)} / {_short(line.measured)}{_SIGNS[line.verdict]}"


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _claim_row(line: Line) -> dict[str, Any]:
    return {"item": line.source, "policy": line.policy, "claim": line.quantity, "verdict": line.verdict,
            "holds in": line.note}  # fmt: skip


def _cell_row(line: Line) -> dict[str, Any]:
    row = line.row()
    return {key: row[key] for key in COLUMNS if key != "paper"}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


class Plots:
    """The figures of a paper, in the styles that they are needed in; each is plotted once."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self._by_style: dict[Style, dict[str, Plotted]] = {}

    def of(self, style: Style) -> dict[str, Plotted]:
        """The figures by name."""
        if style not in self._by_style:
            found = self.outcome.paper.compare.figures(self.outcome.rows, self.outcome.results, style)
            self._by_style[style] = {each.name: each for each in found}
        return self._by_style[style]

    @property
    def figures(self) -> dict[str, Plotted]:
        """Those that are written as files."""
        from fairq.figures import PAGE

        return self.of(PAGE)

    def plot(self, name: str) -> Callable[[Style], Figure]:
        """What plots one of them."""
        return lambda style: self.of(style)[name].figure


def write(outcomes: Sequence[Outcome], text: str, inside: Path, command: str) -> None:
    """Write the report, the table of verdicts as CSV and JSON, each item's table and figure, and one page of it all.

    Of several papers each has a folder of its own for its items.
    """
    from fairq.papers import paper_page

    rows = [row for each in outcomes for row in each.rows]
    (inside / "report.txt").write_text(text, encoding="utf-8")
    tables.write_csv(inside / "verdicts.csv", rows, COLUMNS)
    (inside / "verdicts.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    plotted = [Plots(each) for each in outcomes]
    for each in plotted:
        place = inside if len(outcomes) == 1 else inside / each.outcome.paper.name
        place.mkdir(exist_ok=True)
        write_items(each, place)
    (inside / "index.html").write_text(paper_page.page(plotted, command), encoding="utf-8")


def write_items(plots: Plots, place: Path) -> None:
    """Write each item's table and figure."""
    from fairq import figures

    found = plots.outcome
    rows = found.rows
    for item in found.paper.compare.captions(found.setup):
        mine = [row for row in rows if row["item"] == item]
        if mine:
            tables.write_csv(place / f"{item.replace(' ', '')}.csv", mine, COLUMNS)
    for name, plotted in plots.figures.items():
        figures.save(plotted.figure, place / name)


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
