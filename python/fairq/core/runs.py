"""Experiments and the runs that they consist of: one point of a scenario's axes and one seed each.

A run can be pickled, sent to another process or machine, and run there; its digest says what its tables depend on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import fairq._native as _native
from fairq.core import shown
from fairq.core.errors import Interrupted, UsageError
from fairq.core.results import TABLES, Result, Table, table
from fairq.core.rows import ROWS_SHOWN

if TYPE_CHECKING:
    from fairq.core.inputs import Text
    from fairq.core.progress import Tell


def cores() -> int:
    """How many threads a run gets unless it is told otherwise: the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class RunTables(Mapping[str, Table[Any]]):
    """The tables of one run, by name."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Tables) -> None:
        self._native = native

    def __getitem__(self, name: str) -> Table[Any]:
        if name not in TABLES:
            raise KeyError(name)
        return table(self._native.table(name), name)

    def __iter__(self) -> Any:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)

    def _repr_html_(self) -> str:
        sizes = {name: len(self[name]) for name in TABLES if len(self[name])}
        said = ", ".join(f"{name} {size}" for name, size in sizes.items())
        return f"{shown.sentence(f'The tables of one run: {said}')}{self['flows']._repr_html_()}"


class Run:
    """One point of a scenario's axes and one seed."""

    __slots__ = ("_native", "_own")

    def __init__(self, native: _native.Run, own: Any = None) -> None:
        self._native, self._own = native, own

    @property
    def axes(self) -> Mapping[str, Any]:
        """The value of each axis."""
        axes: Mapping[str, Any] = json.loads(self._native.axes)
        return axes

    @property
    def seed(self) -> int:
        """The seed."""
        return self._native.seed

    @property
    def digest(self) -> str:
        """The name of what the run gives: 32 hexadecimal digits.

        They are over the resolved scenario at this point, the files that it names, the seed and the version of results;
        title, description, axes and the number of replications do not count.
        """
        return self._native.digest

    def finish(self) -> RunTables:
        """Run from start to end, on one thread."""
        tables = self._native.finish()
        if self._own is not None:
            self._own.check_shared()
        return RunTables(tables)

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (self._native, self._own)

    def _repr_html_(self) -> str:
        return shown.of_values({**self.axes, "seed": self.seed, "digest": self.digest})

    def __repr__(self) -> str:
        return f"<Run: axes {dict(self.axes)}, seed {self.seed}>"


class Experiment:
    """A scenario read and checked, ready to run."""

    __slots__ = ("_native", "_own")

    def __init__(
        self,
        scenario: Text,
        sets: Sequence[tuple[str, str]] = (),
        series: str | None = None,
        packets: str | None = None,
        states: bool = False,
        trace: bool = False,
    ) -> None:
        text, name, self._own = scenario
        self._native = _native.Experiment(text, name, list(sets), series, packets, states, trace, self._own)

    def runs(self) -> list[Run]:
        """All runs: each point of the axes in its order, with each seed in its order."""
        return [Run(run, self._own) for run in self._native.runs()]

    def _repr_html_(self) -> str:
        runs = self.runs()
        rows = [{**run.axes, "seed": run.seed, "digest": run.digest} for run in runs[:ROWS_SHOWN]]
        above = shown.sentence("A scenario, read and checked; .run(workers) runs all of it")
        return f"{above}{shown.table(rows, list(rows[0]), len(runs))}"

    def longest_round_trip_s(self, packet: int) -> float:
        """Give the longest round trip of a flow in seconds, with full buffers of such packets."""
        return self._native.longest_round_trip_s(packet)

    def memory_bytes(self, workers: int) -> int:
        """About how much memory all networks, `workers` runs at a time and all tables need."""
        return self._native.memory_bytes(workers)

    def run_of(self, digest: str) -> Run:
        """The run that a digest names; UsageError if there is none."""
        for run in self.runs():
            if run.digest == digest:
                return run
        raise UsageError(
            f"{digest}: no run of this scenario has this digest: it is of another scenario, seed or file, or of another"
            f" version of results ({_native.results_version()} here); see run.digest for run in runs()"
        )

    def run(self, workers: int, progress: Tell | None = None, stretches: int | None = None) -> Result:
        """Run everything on `workers` threads.

        With `stretches`, `by_seed("course")` has what each flow got in this number of equal parts of a run.

        Raises Interrupted on Ctrl-C, with what the complete runs gave.
        """
        try:
            outcome = self._native.outcome(workers, progress, stretches)
        except KeyboardInterrupt as stopped:
            # A signal that ends a command, or an exception of the caller's own, stays what it is.
            if type(stopped) is not KeyboardInterrupt:
                raise
            raise _interrupted(stopped) from None
        if self._own is not None:
            self._own.check_shared()
        return Result(outcome)

    def collect(self, tables: Iterable[RunTables]) -> Result:
        """What the tables of all runs, in the order of `runs`, say together."""
        every = list(tables)
        for at, each in enumerate(every):
            if not isinstance(each, RunTables):
                said = f"tables[{at}] is a {type(each).__name__}"
                raise UsageError(f"collect: {said}; write what run.finish() gives, for each run of runs()")
        return Result(self._native.collect([each._native for each in every]))


def _interrupted(stopped: KeyboardInterrupt) -> Interrupted:
    """The same with the result of the runs that were complete."""
    if (so_far := getattr(stopped, "so_far", None)) is None:
        return Interrupted("interrupted before a run was complete")
    result = Result(so_far)
    told = result.run_info
    of_all = f"{told['runs_complete']} of {told['runs']} runs" if "runs" in told else "all runs"
    return Interrupted(f"interrupted: {of_all} were complete; `result` of this exception has what they gave", result)
