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
        done = failed = 0
        part = _Part()

        def publish() -> None:
            # a signal would else lose what it holds
            with deferred():
                if runs := part.take():
                    store.publish(owner, runs, job.keep, job.source)

        def take(item: Finished | Failed) -> None:
            nonlocal done, failed
            if isinstance(item, Failed):
                failed += 1
                store.fail(owner, item.digest, _reason(item))
            else:
                done += 1
                part.add(item)
                if part.is_full():
                    publish()
            tell(item)

        try:
            running = workers
            while running:
                try:
                    item = ended.get(timeout=TICK_S)
                except queue.Empty:
                    if part.is_late():
                        publish()
                    continue
                if item is None:
                    running -= 1
                elif isinstance(item, BaseException):
                    with store.writing():
                        raise item
                else:
                    take(item)
            publish()
        except OutputError:
            stopped.set()
            raise
        except BaseException:
            stopped.set()
            # the threads end by themselves; what they have finished by now is kept
            with deferred(), contextlib.suppress(OutputError):
                while not ended.empty():
                    if isinstance(item := ended.get(), Finished):
                        part.add(item)
                publish()
            raise
        return Counts(done, failed, left.left)


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
