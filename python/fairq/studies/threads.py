"""The engine of one process: threads that simulate, beside the one that writes."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from collections.abc import Sequence

import fairq._native as _native
from fairq.core.errors import OutputError
from fairq.core.signals import deferred
from fairq.studies.claims import Owner
from fairq.studies.store import Finished, Store
from fairq.studies.work import (
    PART_LATE_S,
    PART_ROWS,
    PART_RUNS,
    PART_S,
    Counts,
    Failed,
    Job,
    Queue,
    Simulations,
    Task,
    Told,
)

WAITING = 32
"""Finished runs that may wait for the writer: simulation stops when the disk is that far behind."""
TICK_S = 0.2
"""How often the writer looks up: signals come between two looks."""


def run(store: Store, job: Job, tasks: Sequence[Task], workers: int, tell: Told, *, fail_fast: bool = False) -> Counts:
    """Run tasks on `workers` threads; each run exists as soon as its part is published.

    What ends it early, as Ctrl-C does, keeps all runs that came to their end. OutputError if the
    disk refuses.
    """
    with store.owner(job.lease_s) as owner:
        left = Queue(store, owner, tasks)
        ended: queue.Queue[Finished | Failed | BaseException | None] = queue.Queue(WAITING)
        stopped = threading.Event()
        simulations = Simulations(job)

        def work() -> None:
            try:
                while not stopped.is_set() and (task := left.next()) is not None:
                    item = _ended(simulations, task)
                    if fail_fast and isinstance(item, Failed):
                        stopped.set()
                    ended.put(item)
            except BaseException as error:
                ended.put(error)
            ended.put(None)

        for _ in range(workers):
            threading.Thread(target=work, daemon=True).start()
        writer = _Writer(store, owner, job, tell)
        try:
            running = workers
            while running:
                try:
                    item = ended.get(timeout=TICK_S)
                except queue.Empty:
                    if writer.part.is_late():
                        writer.publish()
                    continue
                if item is None:
                    running -= 1
                elif isinstance(item, BaseException):
                    with store.writing():
                        raise item
                else:
                    writer.take(item)
            writer.publish()
        except OutputError:
            stopped.set()
            raise
        except BaseException:
            stopped.set()
            # the threads end by themselves; what they have finished by now is kept
            with deferred(), contextlib.suppress(OutputError):
                while not ended.empty():
                    if isinstance(item := ended.get(), Finished):
                        writer.part.add(item)
                writer.publish()
            raise
        return Counts(writer.done, writer.failed, left.left)


class _Writer:
    """Takes runs as they end, and publishes them in parts."""

    def __init__(self, store: Store, owner: Owner, job: Job, tell: Told) -> None:
        self._store, self._owner, self._job, self._tell = store, owner, job, tell
        self.part = _Part()
        self.done = self.failed = 0

    def take(self, item: Finished | Failed) -> None:
        if isinstance(item, Failed):
            self.failed += 1
            self._store.fail(self._owner, item.digest, _reason(item))
        else:
            self.done += 1
            self.part.add(item)
            if self.part.is_full():
                self.publish()
        self._tell(item)

    def publish(self) -> None:
        """Write what has ended."""
        # a signal would else lose what it holds
        with deferred():
            if runs := self.part.take():
                self._store.publish(self._owner, runs, self._job.keep, self._job.source)


class _Part:
    """Finished runs that will share a file."""

    def __init__(self) -> None:
        self._runs: list[Finished] = []
        self._began, self._cost_s, self._rows = 0.0, 0.0, 0

    def add(self, run: Finished) -> None:
        if not self._runs:
            self._began = time.monotonic()
        self._runs.append(run)
        self._cost_s += run.cost_s
        self._rows += len(run.tables)

    def is_full(self) -> bool:
        return self._cost_s >= PART_S or len(self._runs) >= PART_RUNS or self._rows >= PART_ROWS

    def is_late(self) -> bool:
        return bool(self._runs) and time.monotonic() - self._began > PART_LATE_S

    def take(self) -> list[Finished]:
        runs = self._runs
        self._runs, self._began, self._cost_s, self._rows = [], 0.0, 0.0, 0
        return runs


def _ended(simulations: Simulations, task: Task) -> Finished | Failed:
    try:
        return simulations.finish(task)
    except BaseException as error:
        # a panic of the compiled part is no Exception, and one run's
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            return Failed(task, str(error) or type(error).__name__)
        raise


def _reason(failed: Failed) -> dict[str, object]:
    return {
        "error": failed.error,
        "sets": dict(failed.task.sets),
        "seed": failed.task.seed,
        "host": socket.gethostname(),
        "fairq": _native.version(),
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
