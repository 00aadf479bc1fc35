"""`fairq sweep`: what is missing of a study is run, by whatever engine, until the store has it."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairq.core import estimating
from fairq.core.errors import UsageError
from fairq.core.own import Own, Parts, read
from fairq.core.rows import Table, row_of
from fairq.questions import steady
from fairq.questions.asked import Question
from fairq.questions.search import Search
from fairq.studies import dask, enough, share, study_progress, summary, threads
from fairq.studies.claims import LEASE_S
from fairq.studies.store import Damage, Finished, Store
from fairq.studies.stored_runs import Results
from fairq.studies.study import ONE_RUN, Find, Run, Sets, Study, read_study
from fairq.studies.study_results import Left, MissingRun, Sweep
from fairq.studies.work import Counts, Failed, Job, tasks

ENGINES = ("threads", "dask")
"""What can run a study."""

REPLICATIONS_MAX = 1000
"""The most replications that --until adds up to."""

SHOW_S, ANSWER_S = 0.2, 2.0
"""How often the line of progress is written, and how often its answer is computed."""


Show = Callable[[str], None]
"""Is told the line of progress."""


@dataclass
class Options:
    """How a study is run."""

    store: str | None = None
    part: str | None = None
    engine: str = "threads"
    address: str | None = None
    client: Any = None
    workers: int | None = None
    until: str | None = None
    replications_max: int = REPLICATIONS_MAX
    fail_fast: bool = False
    mix_versions: bool = False
    verify: bool = False
    lease_s: float = LEASE_S
    parts: Parts | Own | None = None
    show: Show | None = None


@dataclass
class Opened:
    """A study and its store, and which runs are to be done here."""

    study: Study
    store: Store
    part: share.Part | None
    damages: list[Damage] = field(default_factory=list)

    def missing(self) -> list[Run]:
        """The runs that do not exist, each once: points may share one."""
        seen: set[str] = set()
        missing = []
        for run in self.study.runs():
            if not self.store.has(run.digest) and run.digest not in seen:
                seen.add(run.digest)
                missing.append(run)
        return missing

    def mine(self) -> list[Run]:
        """Those of them that are to be run here."""
        if self.part is None:
            return self.missing()
        numbers = {digest: at for at, digest in enumerate(dict.fromkeys(run.digest for run in self.study.runs()))}
        return [run for run in self.missing() if self.part.takes(numbers[run.digest])]


def cores() -> int:
    """The cores that this process may use: a job array gives a task some of its machine's."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def place(study: str | os.PathLike[str], store: str | None) -> Path:
    """The folder of a study's store: its own path without .toml, if no other is given."""
    if store is not None:
        if not store:
            raise UsageError("store: the name is empty; give that of a folder")
        return Path(store)
    path = Path(study)
    if path.suffix != ".toml":
        raise UsageError(f"{path}: a study is a .toml file; its store has the same name without .toml")
    return path.with_suffix("")


def open_study(
    path: str | os.PathLike[str], options: Options, *, write: bool = True, find: Find | None = None
) -> Opened:
    """Read a study and look at its store.

    With `write`, the store is made if it is not there, and damaged parts are set aside. `find`
    finds the times of a question, in place of runs.
    """
    part = share.parse(options.part) if options.part is not None else None
    store = Store(place(path, options.store), verify=options.verify)
    own = None
    if options.parts is not None:
        # read once: what is run is what was named
        own = options.parts = read(options.parts)
    study = read_study(path, store.header(), find or _finder(options), own)
    store.open(study, mix=options.mix_versions, write=write)
    store.scan()
    damages = list(store.damages)
    if write and damages:
        store.set_aside()
    return Opened(study, store, part, damages)


def _finder(options: Options) -> Find:
    """Runs a question at points of a study until it stands still."""

    def tell(fraction: float, seconds: float, hops: int) -> None:
        if options.show is not None:
            options.show(f"until shares and delays stand still: {100 * fraction:.0f} %, {seconds:.0f} s simulated")

    def find(question: Question, points: Sequence[Sets]) -> Question:
        parts = question.parts() if question.alone else [question]
        pairs = [(part, sets) for sets in points for part in parts]
        asks, sets_of = [part for part, _ in pairs], [sets for _, sets in pairs]
        search = Search(asks, options.workers or cores(), tell, sets=sets_of)
        search.run()
        return search.times.of(question)

    return find


def sweep(path: str | os.PathLike[str], options: Options) -> Sweep:
    """Run what is missing of a study. Each error is one line, and what is done stays done."""
    if options.engine not in ENGINES:
        raise UsageError(f"--engine: {options.engine}: there are {', '.join(ENGINES)}")
    for name, least in (("workers", options.workers), ("replications_max", options.replications_max)):
        if least is not None and least < 1:
            raise UsageError(f"{name}: {least} is not a whole number from 1 up")
    if options.until is not None and options.part is not None:
        raise UsageError("--until needs all runs of a point and --part has some of them; run the parts, then --until")
    goal = enough.until(options.until) if options.until is not None else None
    opened = open_study(path, options)
    if goal is not None and goal.quantity.table not in opened.study.keep.tables:
        raise UsageError(f"--until: the study keeps no {goal.quantity.table}; see [keep] in its file")
    opened.store.tidy()
    ran = failed = skipped = 0
    tried: set[str] = set()
    while True:
        # what has failed is not tried again by the same command
        if mine := [run for run in opened.mine() if run.digest not in tried]:
            tried.update(run.digest for run in mine)
            counts = _run(path, opened, mine, options, goal)
            ran, failed, skipped = ran + counts.done + counts.failed, failed + counts.failed, skipped + counts.left
        if goal is None:
            return _outcome(opened, ran, skipped)
        values = _values(opened, goal)
        is_ended = options.fail_fast and failed
        if is_ended or not _add_replications(opened, goal, values, options):
            unreached = sum(not enough.holds(goal, each) for each in values)
            return _outcome(opened, ran, skipped)._replace(unreached=unreached)


def _job(path: str | os.PathLike[str], opened: Opened, options: Options) -> Job:
    study = opened.study
    return Job(
        str(opened.store.root.absolute()),
        study.scenario.text,
        # the files that it names are looked for from its folder, on another machine too
        str(Path(study.scenario.name).absolute()),
        study.keep,
        f"fairq sweep {Path(path).name}",
        options.lease_s,
        study.scenario.own,
    )


def _run(
    path: str | os.PathLike[str], opened: Opened, runs: Sequence[Run], options: Options, goal: enough.Until | None
) -> Counts:
    store, job = opened.store, _job(path, opened, options)
    told = _Shown(opened, options, goal)
    todo = tasks(opened.study, runs)
    if options.engine == "dask":
        if job.own is not None:
            # a class that no worker can import is told before a task is sent
            pickle.dumps(job.own)
        with dask.connected(options.address, options.client) as client:
            counts = dask.run(store, job, todo, client, told.costs.mean_s, told.looked, fail_fast=options.fail_fast)
    else:
        workers = options.workers or cores()
        counts = threads.run(store, job, todo, min(workers, len(todo)), told, fail_fast=options.fail_fast)
    store.scan()
    return counts


class _Shown:
    """Counts what ends, and shows the line of progress with the answer so far."""

    def __init__(self, opened: Opened, options: Options, goal: enough.Until | None) -> None:
        self._opened, self._show = opened, options.show
        results = Results(opened.store.root)
        shown = enough.shown(results, goal)
        self._answer = enough.Answer(results, shown) if shown is not None else None
        self._answered, self._so_far = 0.0, ""
        self.costs = study_progress.known(opened.study, opened.store)
        runs = {run.digest: run.point for run in opened.study.runs()}
        self._left = {digest: point for digest, point in runs.items() if not opened.store.has(digest)}
        self._done = len(runs) - len(self._left)
        self._failed = 0
        self._shown = 0.0

    def __call__(self, ended: Finished | Failed) -> None:
        point = self._left.pop(ended.digest, None)
        if isinstance(ended, Failed):
            self._failed += 1
        else:
            self._done += 1
            if point is not None:
                self.costs.done(point, ended.cost_s)
        self._tell()

    def looked(self, _: Counts) -> None:
        """Something was done elsewhere: the store says what."""
        store = self._opened.store
        store.scan()
        for digest in [digest for digest in self._left if store.has(digest)]:
            self.costs.done(self._left.pop(digest), store.done[digest].runs[digest])
            self._done += 1
        self._tell()

    def _tell(self) -> None:
        if self._show is None or time.monotonic() - self._shown < SHOW_S:
            return
        now = self._shown = time.monotonic()
        if self._answer is not None and now - self._answered >= ANSWER_S:
            self._answer.refresh()
            self._answered, self._so_far = now, self._answer.worst()
        left_s = self.costs.left_s(self._left.values())
        counts = self._done, self._failed, len(self._left)
        self._show(study_progress.line(self._opened.study.name, *counts, left_s, self._so_far))


def _outcome(opened: Opened, ran: int, skipped: int) -> Sweep:
    store, study = opened.store, opened.study
    digests = dict.fromkeys(run.digest for run in study.runs())
    failed = {digest: said for digest, said in store.failed().items() if digest in digests}
    done = sum(store.has(digest) for digest in digests)
    missing = len(digests) - done - len(failed)
    if opened.part is not None:
        skipped = missing
    return Sweep(
        done,
        len(failed),
        missing,
        min(skipped, missing),
        ran,
        {digest: str(said.get("error")) for digest, said in failed.items()},
        [str(damage) for damage in opened.damages],
        str(store.root),
    )


def _values(opened: Opened, goal: enough.Until) -> list[list[float]]:
    """The values of each point; UsageError if all runs are there and none has a value."""
    so_far = enough.Answer(Results(opened.store.root), goal.quantity)
    so_far.refresh()
    values = [so_far.values(at) for at in range(len(opened.study.points))]
    if not opened.mine() and not any(values):
        table, column = goal.quantity[:2]
        raise UsageError(f"--until: no run has a value of {table}.{column}; choose another column")
    return values


def _add_replications(opened: Opened, goal: enough.Until, values: Sequence[Sequence[float]], options: Options) -> bool:
    """Give points whose interval is too wide more replications; whether there are some."""
    added = False
    for at, point in enumerate(opened.study.points):
        now = len(point.digests)
        # more runs without a value tell nothing
        if not values[at] or not all(map(opened.store.has, point.digests)):
            continue
        wanted = min(enough.replications(goal, values[at], now), options.replications_max)
        if wanted > now:
            opened.study.extend(at, wanted)
            added = True
    if added:
        opened.store.open(opened.study, mix=options.mix_versions)
    return added


def list_missing(path: str | os.PathLike[str], options: Options) -> Table[MissingRun]:
    """The runs that do not exist; nothing is written or run."""
    opened = open_study(path, options, write=False)
    points = opened.study.points
    runs = [{"digest": run.digest, "seed": run.seed, "axes": points[run.point].axes} for run in opened.mine()]
    return Table.of(MissingRun, runs)


def watch(path: str | os.PathLike[str], options: Options) -> Iterable[Sweep]:
    """The state of a store, again and again, until all runs are done or failed."""
    opened = open_study(path, options, write=False)
    while True:
        state = _outcome(opened, 0, 0)
        yield state
        if not state.missing:
            return
        time.sleep(1.0)
        opened.store.scan()


def estimate(path: str | os.PathLike[str], options: Options) -> Left:
    """Say what is left to run and how long it takes, by runs that exist or one that is tried."""
    searches: list[Search] = []

    def note(question: Question, points: Sequence[Sets]) -> Question:
        searches.append(Search([question] * len(points), 1, sets=points))
        return searches[-1].asked[0]

    opened = open_study(path, options, write=False, find=note)
    study, mine = opened.study, opened.mine()
    costs = study_progress.known(study, opened.store)
    if mine and costs.mean_s is None:
        tried = estimating.estimate(study.scenario, [*study.points[mine[0].point].sets, ONE_RUN], 1)
        if tried.time_s is not None:
            costs.know(mine[0].point, tried.time_s / tried.points)
    workers = max(1, min(options.workers or cores(), len(mine)))
    work_s = costs.work_s(run.point for run in mine)
    runs = len({digest for point in study.points for digest in point.digests})
    return row_of(Left, {
        "points": len(study.points),
        "runs": runs,
        "missing": len(mine),
        "workers": workers,
        "time_s": None if costs.mean_s is None and mine else work_s / workers,
        "longest_times": max((steady.most(each.first, each.longest) for each in searches), default=1.0),
    })  # fmt: skip


def _shown(path: str | os.PathLike[str], options: Options) -> tuple[Results | None, enough.Quantity | None]:
    """What there is of a study, and the quantity to show; None if there is nothing."""
    opened = open_study(path, options, write=False)
    if opened.store.header() is None:
        return None, None
    results = Results(opened.store.root)
    return results, enough.shown(results, enough.until(options.until) if options.until is not None else None)


def groups(path: str | os.PathLike[str], options: Options) -> list[dict[str, Any]]:
    """What there is so far: a row for each point and group of flows with runs."""
    results, shown = _shown(path, options)
    return (
        summary.by_group(results, summary.Quantity(shown.table, shown.column))
        if results is not None and shown is not None
        else []
    )


def answers(path: str | os.PathLike[str], options: Options) -> list[dict[str, Any]]:
    """What --until goes by, so far: a row for each point with runs, all flows together."""
    results, shown = _shown(path, options)
    if results is None or shown is None:
        return []
    so_far = enough.Answer(results, shown)
    so_far.refresh()
    return so_far.rows()
