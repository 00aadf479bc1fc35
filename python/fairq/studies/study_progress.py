"""How far a study has come, and the time left by what runs have cost so far."""

from __future__ import annotations

import time
from collections.abc import Iterable

from fairq.core.progress import span
from fairq.studies.store import Store
from fairq.studies.study import Study


class Costs:
    """What the runs of each point cost, and how fast the work goes."""

    def __init__(self) -> None:
        self._by_point: dict[int, tuple[float, int]] = {}
        self._all = (0.0, 0)
        self._began = time.monotonic()
        self._done_s = 0.0

    def know(self, point: int, cost_s: float) -> None:
        """Count a run that was done before."""
        total, runs = self._by_point.get(point, (0.0, 0))
        self._by_point[point] = (total + cost_s, runs + 1)
        self._all = (self._all[0] + cost_s, self._all[1] + 1)

    def done(self, point: int, cost_s: float) -> None:
        """Count a run that was done now."""
        self.know(point, cost_s)
        self._done_s += cost_s

    @property
    def mean_s(self) -> float | None:
        """What a run costs."""
        return self._all[0] / self._all[1] if self._all[1] else None

    def work_s(self, missing: Iterable[int]) -> float:
        """What runs of these points cost: as others of the point, or as the mean of all."""
        work = 0.0
        for point in missing:
            total, runs = self._by_point.get(point, (self.mean_s or 0.0, 1))
            work += total / runs
        return work

    def left_s(self, missing: Iterable[int]) -> float | None:
        """The time that these will take, at the rate of those done now; None before the first."""
        elapsed = time.monotonic() - self._began
        if self._done_s <= 0 or elapsed <= 0:
            return None
        return self.work_s(missing) * elapsed / self._done_s


def known(study: Study, store: Store) -> Costs:
    """The costs of the runs that exist."""
    costs = Costs()
    for run in study.runs():
        if store.has(run.digest):
            costs.know(run.point, store.done[run.digest].runs[run.digest])
    return costs


def line(name: str, done: int, failed: int, missing: int, left_s: float | None, answer: str = "") -> str:
    """One line of progress.

    >>> line("buffers", 4500, 1, 5499, 192.0)
    'buffers  45 %  4500 done  1 failed  5499 missing  3 min 12 s left'
    """
    total = done + failed + missing
    parts = [f"{name} {100 * (done + failed) / total if total else 100:3.0f} %", f"{done} done"]
    if failed:
        parts.append(f"{failed} failed")
    parts.append(f"{missing} missing")
    if left_s is not None and missing:
        parts.append(f"{span(left_s)} left")
    return "  ".join([*parts, answer] if answer else parts)
