"""What a report reads beside means: delays of packets, max-min shares, counts of drops."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import fairq._native as _native
from fairq import statistics
from fairq.core.errors import FairqError
from fairq.studies import summary
from fairq.studies.stored_runs import Results
from fairq.studies.study import Sets

PACKETS_MAX = 200_000
"""Packets of which delays are plotted: of the first seeds that have no more."""

QUANTILES = 100
"""Points of a distribution in its table."""


def packets(results: Results) -> tuple[list[dict[str, Any]], list[int]]:
    """Packets with axes and delay, of the first seeds with at most PACKETS_MAX; those seeds."""
    rows: list[dict[str, Any]] = []
    taken: list[int] = []
    runs = [run for run in results.runs() if run.part]
    for seed in dict.fromkeys(run.seed for run in runs):
        of: dict[str, list[Mapping[str, Any]]] = {}
        for run in runs:
            if run.seed == seed:
                of.setdefault(run.digest, []).append(run.axes)
        parts = [part._replace(digests=frozenset(of)) for part in results.parts("packets")]
        table = results.table_of(parts, "packets", ["sent_s", "received_s"])
        if taken and len(rows) + len(table) > PACKETS_MAX:
            break
        for digest, sent, received in zip(
            *(table.column(name) for name in ("digest", "sent_s", "received_s")), strict=True
        ):
            delay = None if received is None or sent is None else received - sent
            rows += [{**axes, "delay_s": delay} for axes in of[digest]]
        taken.append(seed)
    order = summary.order(results)
    rows.sort(key=lambda row: order[tuple(row[axis] for axis in results.axes)])
    return rows[:: -(-len(rows) // (2 * PACKETS_MAX)) or 1], taken


def quantiles(rows: Sequence[Mapping[str, Any]], axes: Sequence[str]) -> list[dict[str, Any]]:
    """The delay below which a share of the packets arrives; none where they did not arrive."""
    by: dict[tuple[Any, ...], list[float | None]] = {}
    for row in rows:
        by.setdefault(tuple(row[axis] for axis in axes), []).append(row["delay_s"])
    found = []
    for place, delays in by.items():
        arrived = sorted(delay for delay in delays if delay is not None)
        for percent in range(0, QUANTILES + 1, 5):
            at = max(0, -(-percent * len(delays) // QUANTILES) - 1)
            value = arrived[at] if at < len(arrived) else None
            found.append({**dict(zip(axes, place, strict=True)), "packets_percent": percent, "delay_s": value})
    return found


def shares(results: Results) -> dict[tuple[Any, str], float]:
    """The max-min share of each flow entry at each place, where the theory speaks of it."""
    study = results.study
    axes = json.loads(_native.toml_tree(*study.scenario[:2])[0]).get("axes", [])
    own = [each["name"] for axis in axes for each in (axis, *axis.get("paired", []))]
    # the points of the scenario's own axes set the same fields: one call gives the shares of all
    called: dict[Sets, dict[tuple[str, ...], dict[str, list[float]]]] = {}
    found: dict[tuple[Any, str], float] = {}
    for point in study.points:
        if point.sets not in called:
            try:
                rows = json.loads(_native.max_min(*study.scenario[:2], list(point.sets)))
            except FairqError:
                return {}
            by = called[point.sets] = {}
            for row in rows:
                if (share := row["share_bit_per_s"]) is not None:
                    flows = by.setdefault(tuple(str(row[axis]) for axis in own), {})
                    flows.setdefault(summary.COPY.sub("", row["flow"]), []).append(share)
        place = tuple(point.axes[axis] for axis in results.axes)
        for flow, each in called[point.sets].get(tuple(str(point.axes[axis]) for axis in own), {}).items():
            found[place, flow] = sum(each) / len(each)
    return found


REASONS = ("drop", "overlimit")
"""What the name of a count of drops has in it, among the numbers that a discipline shows."""


STATE = ("link", "direction", "discipline", "subqueue", "quantity")
"""The columns that say what a number that a discipline shows is of."""


def states(results: Results) -> list[dict[str, Any]]:
    """Drops that disciplines count until the end, over the seeds, where there are any."""
    by: dict[tuple[Any, ...], list[float]] = {}
    times = results.table("states", ["time_s"])
    ends: dict[str, float] = {}
    for run, time in zip(times["digest"], times["time_s"], strict=True):
        ends[run] = max(time, ends.get(run, 0.0))
    for row in results.rows("states"):
        counts_drops = any(reason in row["quantity"] for reason in REASONS) and row["value"] is not None
        if counts_drops and row["time_s"] == ends[row["digest"]]:
            place = tuple(row[axis] for axis in results.axes)
            where = tuple(row[name] for name in STATE)
            by.setdefault((*place, *where), []).append(row["value"])
    names = (*results.axes, *STATE)
    order = summary.order(results)
    rows = []
    for key, counts in sorted(by.items(), key=lambda each: order[each[0][: len(results.axes)]]):
        if any(counts):
            mean, low, high, seeds, _ = statistics.interval(counts, "log" if min(counts) >= 0 else "plain")
            own = {"value": mean, "value_low": low, "value_high": high}
            rows.append({"seeds": seeds, **dict(zip(names, key, strict=True)), **own})
    return rows
