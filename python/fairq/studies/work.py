"""What an engine has to do: run some runs of a study into its store.

Engines divide this work and decide nothing.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import fairq._native as _native
from fairq.studies.claims import Owner
from fairq.studies.store import Finished, Store
from fairq.studies.study import ONE_RUN, Keep, Run, Sets, Study

if TYPE_CHECKING:
    from fairq.core.own import Own

PART_S = 1.0
"""Work that a part holds: runs shorter than this share one."""
PART_RUNS = 1000
PART_ROWS = 200_000
"""What a part holds at most: memory stays flat. A run with more rows has its own part."""
PART_LATE_S = 10.0
"""How long a finished run may wait for others to share its part."""
WAIT_S = 0.5
"""How soon a run is asked for again whose owner may have died."""
EXPERIMENTS = 8
"""Points whose scenario is kept read."""


class Task(NamedTuple):
    """A run, with all that another process needs to run it."""

    digest: str
    sets: Sets
    at: int
    seed: int


class Job(NamedTuple):
    """What all tasks of a study share; it can be pickled."""

    root: str
    text: str
    name: str
    keep: Keep
    source: str
    lease_s: float
    own: Own | None = None


class Counts(NamedTuple):
    """What became of tasks: done here, failed here, left to other processes."""

    done: int = 0
    failed: int = 0
    left: int = 0


class Failed(NamedTuple):
    """A run that has no tables, and why."""

    task: Task
    error: str

    @property
    def digest(self) -> str:
        """The run's digest."""
        return self.task.digest


Told = Callable[[Finished | Failed], None]
"""Is told of each run that came to its end."""


def tasks(study: Study, runs: Sequence[Run]) -> list[Task]:
    """The runs as tasks."""
    points = study.points
    return [Task(run.digest, points[run.point].sets, points[run.point].at, run.seed) for run in runs]


class Simulations:
    """Runs tasks, and keeps the scenarios of the last points. For several threads."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._kept: OrderedDict[Sets, _native.Experiment] = OrderedDict()
        self._lock = threading.Lock()

    def finish(self, task: Task) -> Finished:
        """Run from start to end."""
        # of this thread alone: what others do meanwhile is not its cost
        began = time.thread_time()
        tables = self._experiment(task.sets).run_at(task.at, task.seed).finish()
        if self._job.own is not None:
            self._job.own.check_shared()
        return Finished(task.digest, tables, time.thread_time() - began)

    def _experiment(self, sets: Sets) -> _native.Experiment:
        with self._lock:
            if sets in self._kept:
                self._kept.move_to_end(sets)
                return self._kept[sets]
        keep = self._job.keep
        # one replication: the limit of rows of a series is for what is in memory
        settings = [*sets, ONE_RUN]
        text, name, own = self._job.text, self._job.name, self._job.own
        made = _native.Experiment(text, name, settings, keep.series, keep.packets, keep.states, own=own)
        with self._lock:
            self._kept[sets] = made
            while len(self._kept) > EXPERIMENTS:
                self._kept.popitem(last=False)
        return made


class Queue:
    """The tasks that are left, given out one by one with their claims. For several threads."""

    def __init__(self, store: Store, owner: Owner, tasks: Sequence[Task]) -> None:
        self._store, self._owner = store, owner
        self._next = list(reversed(tasks))
        self._elsewhere: list[Task] = []
        self._failed = store.failed()
        self._lock = threading.Lock()
        self.left = 0
        """Tasks that other processes have, or have done."""

    def next(self) -> Task | None:
        """The next task that this process has claimed; None if there is no more for it."""
        with self._lock:
            while True:
                if not self._next and not self._look_again():
                    return None
                task = self._next.pop()
                if self._claim(task.digest):
                    return task
                self._elsewhere.append(task)

    def _claim(self, digest: str) -> bool:
        if not self._owner.claim(digest):
            return False
        # it may have been done between the last look and the claim
        if self._is_over(digest):
            self._owner.release(digest)
            return False
        return True

    def _is_over(self, digest: str) -> bool:
        """Whether another process has run it: it exists, or has failed since this one began."""
        self._store.scan()
        return self._store.has(digest) or self._store.failure(digest) != self._failed.get(digest)

    def _look_again(self) -> bool:
        """Take up what other processes had claimed and may have left; whether there is some."""
        self._next = [task for task in self._elsewhere if not self._is_over(task.digest)]
        self._next = [task for task in self._next if self._owner.may_get(task.digest)]
        self.left += len(self._elsewhere) - len(self._next)
        self._elsewhere = []
        if self._next:
            time.sleep(WAIT_S)
        return bool(self._next)
