"""What a run will cost, before it is run: `--dry-run`. The work is tried for a second."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

from fairq.core.errors import FairqError
from fairq.core.inputs import Text
from fairq.core.memory import peak_memory
from fairq.core.records import Record
from fairq.core.runs import Experiment

TRIED_S = 1.0
"""How long the work is tried."""

TRIED_BYTES = 1_000_000_000
"""What work may need by its estimate to be tried: an estimate is to cost little itself."""

CELL_BYTES = 8
"""Bytes of a number in a table of results."""


class Estimate(
    Record,
    places=("points", "seeds", "runs", "workers", "packet_hops", "time_s", "memory_bytes", "is_exact", "longest_times"),
):  # fmt: skip
    """What a run will cost: how many points, seeds and runs there are, and about what they take.

    `packet_hops` counts each packet on each line, `time_s` is on `workers` threads, `memory_bytes`
    that of the whole program. `is_exact` if the work was over before it was to be ended. Work that
    needs much memory is not tried: then `packet_hops` and `time_s` are None.
    """

    points: Annotated[int, "Points of the axes."]
    seeds: Annotated[int, "Seeds of each point."]
    runs: Annotated[int, "Runs of all points."]
    workers: Annotated[int, "Threads."]
    packet_hops: Annotated[
        int | None, "Packets sent, on each line counted, acknowledgements included; null if nothing was tried."
    ]
    time_s: Annotated[float | None, "Time of all runs on these threads, in seconds; null if nothing was tried."]
    memory_bytes: Annotated[int | None, "Memory of the whole program in bytes; null if unknown."]
    is_exact: Annotated[bool, "Whether the work was over before it was to be ended."]
    longest_times: Annotated[float, "How many times as much it may take until what is measured stands still."] = 1.0


def together(each: Sequence[Estimate], longest_times: float) -> Estimate:
    """What several pieces of work cost, one after the other."""
    memory = [one.memory_bytes for one in each if one.memory_bytes is not None]
    hops = [one.packet_hops for one in each if one.packet_hops is not None]
    times = [one.time_s for one in each if one.time_s is not None]
    return each[0]._replace(
        points=sum(one.points for one in each),
        runs=sum(one.runs for one in each),
        packet_hops=sum(hops) if len(hops) == len(each) else None,
        time_s=sum(times) if len(times) == len(each) else None,
        memory_bytes=max(memory, default=None),
        is_exact=all(one.is_exact for one in each),
        longest_times=longest_times,
    )


class _Enough(Exception):  # noqa: N818 - it is no error
    """The work was tried for long enough."""


def estimate(scenario: Text, sets: Sequence[tuple[str, str]], workers: int) -> Estimate:
    """Try a scenario on `workers` threads for a second, and say what all of it will cost.

    ScenarioError if it cannot be run, as where it needs more memory than there is.
    """
    experiment = Experiment(scenario, sets)
    runs = experiment.runs()
    seeds = len({run.seed for run in runs})
    needed = experiment.memory_bytes(workers)
    if needed > TRIED_BYTES:
        return Estimate(len(runs) // seeds, seeds, len(runs), workers, None, None, needed, is_exact=False)
    began = time.monotonic()
    done, packet_hops = 0.0, 0

    def tell(fraction: float, _: float, hops: int) -> None:
        nonlocal done, packet_hops
        done, packet_hops = fraction, hops
        if fraction > 0 and time.monotonic() - began >= TRIED_S:
            raise _Enough

    try:
        result = experiment.run(workers, tell)
        done, packet_hops = 1.0, result.run_info["packet_hops"]
    except _Enough:
        pass
    took = time.monotonic() - began
    memory = peak_memory()
    if memory is not None and done < 1.0:
        memory += round(len(runs) * _row_bytes(scenario, sets) * (1 - done))
    return Estimate(
        points=len(runs) // seeds,
        seeds=seeds,
        runs=len(runs),
        workers=workers,
        packet_hops=round(packet_hops / done),
        time_s=took / done,
        memory_bytes=None if memory is None else max(memory, needed),
        is_exact=done == 1.0,
    )


def _row_bytes(scenario: Text, sets: Sequence[tuple[str, str]]) -> float:
    """The bytes of one run's tables, by a run of a microsecond, whose tables have as many rows."""
    moment = [("measure.warm_up", "0 s"), ("measure.duration", "1 us"), ("measure.replications", "1")]
    try:
        result = Experiment(scenario, [*sets, *moment]).run(1)
    except FairqError:
        return 0.0
    tables = (result.flows, result.links, result.queues)
    return CELL_BYTES * sum(len(table) * len(table.columns) for table in tables) / max(len(result.points), 1)
