"""Samples over time for the report of a study: of bounded size, and with every peak.

One run of each point is read, that of its first seed: a mean over seeds would be smoother than any
run. Neighbouring samples of a curve are joined to a *stretch* with their mean, least and greatest.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairq import statistics
from fairq.core import columns, tables
from fairq.studies import summary
from fairq.studies.stored_runs import Results, RunRow

POINTS_MAX = 6
"""The most points, each a panel of a figure."""

PANEL_MAX = 6
"""The most curves of a panel: one for each colour of figures."""

CURVES_MAX = 24
"""The most curves of a figure, in all its panels."""

STRETCHES_MAX = 400
"""The most stretches of a curve: more could not be told apart on a page."""

ROWS_MAX = 1_200
"""The most stretches of all curves of a figure."""

KEYS = {"flows": columns.keys("flows"), "queues": columns.keys("queues"), "receivers": columns.keys("sessions")}
"""What is sampled, and the columns with its name."""

COLUMNS = {
    "throughput_bit_per_s": "flows",
    "window_packets": "flows",
    "flight_packets": "flows",
    "rtt_s": "flows",
    "pacing_bit_per_s": "flows",
    "held_packets": "queues",
    "level": "receivers",
}
"""The columns that are shown, in their order, and what each is of."""

Name = tuple[str, ...]
"""The values of the columns of KEYS."""


@dataclass(slots=True)
class Stretch:
    """Neighbouring samples of one curve, those that have a value."""

    count: int = 0
    total: float = 0.0
    least: float = math.inf
    greatest: float = -math.inf

    def add(self, value: float) -> None:
        """Count a sample."""
        self.count += 1
        self.total += value
        self.least = min(self.least, value)
        self.greatest = max(self.greatest, value)

    def join(self, other: Stretch) -> None:
        """Count the samples of another stretch."""
        self.count += other.count
        self.total += other.total
        self.least = min(self.least, other.least)
        self.greatest = max(self.greatest, other.greatest)


@dataclass
class Curves:
    """The samples of one run."""

    run: RunRow
    size: Mapping[str, int]
    """Samples of a stretch, by what they are of; the last stretch may have fewer."""
    interval_s: float = 0.0
    """The time between two samples."""
    ends: dict[str, list[float]] = field(default_factory=lambda: {what: [] for what in KEYS})
    """The time of the last sample of each stretch."""
    by: dict[tuple[str, Name], dict[int, Stretch]] = field(default_factory=dict)
    """The stretches of each column and name, by their number, where there is a value."""
    phases: dict[Name, Counter[str]] = field(default_factory=dict)
    """Samples of each flow in each phase of its congestion control."""
    warm_ups: dict[Name, int | None] = field(default_factory=dict)
    """The samples of each flow's throughput that MSER-5 cuts off."""


@dataclass
class Samples:
    """What the report shows of the samples of a study."""

    axes: tuple[str, ...]
    curves: list[Curves]
    """One for each point that is shown."""
    names: dict[str, list[Name]]
    """The names that are shown, by what they are of."""
    seeds_left_out: int
    left_out: list[str]
    """What else is not shown, in words."""

    @property
    def columns(self) -> list[str]:
        """The columns with values."""
        known = {column for each in self.curves for column, _ in each.by}
        return [column for column in COLUMNS if column in known]

    @property
    def varied(self) -> list[str]:
        """The axes that tell the points apart."""
        return [axis for axis in self.axes if len({each.run.axes[axis] for each in self.curves}) > 1]

    @property
    def place(self) -> str:
        """The values of the other axes, in words."""
        same = [axis for axis in self.axes if axis not in self.varied]
        return ", ".join(f"{axis} {self.curves[0].run.axes[axis]}" for axis in same)

    def stretch(self, *of: str) -> str:
        """How long the stretches of some columns are, in words; "" if each is one sample."""
        sizes = {(each.size[COLUMNS[column]], each.interval_s) for each in self.curves for column in of}
        lengths = sorted({size * interval_s for size, interval_s in sizes if size > 1})
        return " to ".join(tables.value("length_s", length) for length in dict.fromkeys(lengths[:1] + lengths[-1:]))

    def rows(self, column: str, most: int = ROWS_MAX) -> list[dict[str, Any]]:
        """A row for each stretch of each curve, in wider stretches if there are more than `most`.

        `time_s` is the end of the stretch. Stretches of several samples have the least and the
        greatest of them beside their mean.
        """
        what = COLUMNS[column]
        found = [(each, name, own) for each in self.curves for (of, name), own in each.by.items() if of == column]
        factor = 1
        while sum(-(-len(each.ends[what]) // factor) for each, _, _ in found) > max(most, len(found)):
            factor += 1
        rows = []
        for each, name, own in found:
            wide: dict[int, Stretch] = {}
            for at, stretch in own.items():
                wide.setdefault(at // factor, Stretch()).join(stretch)
            for at, stretch in wide.items():
                row = {**each.run.axes, "seed": each.run.seed}
                row |= zip(KEYS[what], name, strict=True)
                row["time_s"] = each.ends[what][min((at + 1) * factor, len(each.ends[what])) - 1]
                row[column] = stretch.total / stretch.count
                if each.size[what] * factor > 1:
                    row |= {f"{column}_min": stretch.least, f"{column}_max": stretch.greatest}
                rows.append(row)
        return rows

    def plotted(self, column: str) -> tuple[list[dict[str, Any]], list[str]]:
        """The rows for a figure, and the names of all curves of their kind as it has them."""
        what = COLUMNS[column]
        rows, names = self.rows(column), self.names[what]
        if what == "receivers" and len({session for session, _ in names}) > 1:
            # receivers of two sessions may have the same name
            rows = [{**row, "receiver": f"{row['session']} {row['receiver']}"} for row in rows]
            return rows, [" ".join(name) for name in names]
        return rows, [" ".join(name) if what == "queues" else name[-1] for name in names]

    def spoken(self, column: str) -> str:
        """What the figure of a column shows in words: its ends, and where and when they are."""
        every = [
            (value, [str(each.run.axes[axis]) for axis in self.varied] + list(name), each.ends[COLUMNS[column]][at])
            for each in self.curves for (of, name), own in each.by.items() if of == column
            for at, stretch in own.items() for value in (stretch.least, stretch.greatest)
        ]  # fmt: skip
        ends = [find(every, key=lambda end: end[0]) for find in (min, max)]
        at = "until" if self.stretch(column) else "at"
        said = [
            f"{tables.value(column, value)} ({', '.join(where)}, {at} {tables.value('length_s', time)})"
            for value, where, time in ends
        ]
        return f"from {said[0]} to {said[1]}; the table below has all"

    def phases(self) -> list[dict[str, Any]]:
        """The part of the samples of each flow in each phase of its congestion control."""
        return [
            {**each.run.axes, "seed": each.run.seed, "flow": name[0], "phase": phase,
             "samples_percent": 100 * count / own.total()}
            for each in self.curves for name, own in each.phases.items() for phase, count in own.items()
        ]  # fmt: skip

    def warm_ups(self) -> list[dict[str, Any]]:
        """When the warm-up of each flow's throughput ends; None where that cannot be said."""
        return [
            {**each.run.axes, "seed": each.run.seed, "flow": name[0],
             "warm_up_s": None if cut is None else cut * each.interval_s}
            for each in self.curves for name, cut in each.warm_ups.items()
        ]  # fmt: skip

    def said(self) -> str:
        """Which runs and curves are shown, and how they are thinned."""
        seeds = {each.run.seed for each in self.curves}
        which = "its first seed" if len(seeds) > 1 else f"seed {min(seeds)}"
        count = self.seeds_left_out
        others = f"; those of {count} more seed{'s' if count > 1 else ''} are not" if count else ""
        parts = [f"One run of each point is shown, that of {which}{others}.", *self.left_out]
        if stretch := self.stretch(*self.columns):
            parts.append(
                f"A curve is the mean over stretches of {stretch}; its band reaches from the least to the greatest"
                " sample of each stretch, so that no peak is lost."
            )
        return " ".join(parts)


def read(results: Results, runs: Sequence[RunRow]) -> Samples | None:
    """The samples of the first points and their first seeds; None if there are none."""
    if "series" not in results.tables:
        return None
    of = {part.marker.name: part for part in results.parts("series")}

    def rows(run: RunRow, columns: Sequence[str] | None) -> Rows:
        known = [of[run.part]._replace(digests=frozenset([run.digest]))] if run.part in of else []
        return results.table_of(known, "series", columns)

    return of_runs(results.axes, [run for run in runs if run.part], rows)


Rows = Sequence[Mapping[str, Any]]


def of_runs(
    axes: tuple[str, ...], runs: Sequence[RunRow], rows: Callable[[RunRow, Sequence[str] | None], Rows]
) -> Samples | None:
    """The same of runs with their samples: `rows` gives those of a run, with some columns."""
    # runs come seed by seed
    first: dict[int, RunRow] = {}
    for run in runs:
        first.setdefault(run.point, run)
    every = [first[point] for point in sorted(first)]
    shown = every[:POINTS_MAX]
    counts: dict[str, dict[Name, int]] = {what: {} for what in KEYS}
    lengths = []
    for run in shown:
        own, length = _survey(rows(run, SURVEYED))
        lengths.append(length)
        for (what, name), peak in own.items():
            counts[what][name] = max(peak, counts[what].get(name, 0))
    if not any(lengths):
        return None
    names, left_out = _chosen(counts, min(PANEL_MAX, CURVES_MAX // len(shown)))
    if len(every) > len(shown):
        left_out.insert(0, f"Of {len(every)} points the first {len(shown)} are shown.")
    others = {run.seed for run in runs} - {run.seed for run in shown}
    curves = []
    most = {what: min(STRETCHES_MAX, ROWS_MAX // (len(shown) * max(1, len(own)))) for what, own in names.items()}
    for run, length in zip(shown, lengths, strict=True):
        if length:
            curves.append(Curves(run, {what: -(-length // most[what]) for what in KEYS}))
            _fill(curves[-1], rows(run, None), names)
    return Samples(axes, curves, names, len(others), left_out)


def _named(row: Mapping[str, Any]) -> tuple[str, Name]:
    """What a sample is of."""
    for what, keys in KEYS.items():
        if row[keys[0]] is not None:
            return what, tuple([row[key] for key in keys])
    raise AssertionError(f"a sample of nothing: {row}")


SURVEYED = (*(key for keys in KEYS.values() for key in keys), "held_packets")
"""The columns by which what is shown is chosen."""


def _survey(table: Rows) -> tuple[dict[tuple[str, Name], int], int]:
    """What a run has samples of, with the most packets that each queue held; samples of each."""
    peaks: dict[tuple[str, Name], int] = {}
    for row in table:
        name = _named(row)
        peaks[name] = max(peaks.get(name, 0), row["held_packets"] or 0)
    return peaks, len(table) // max(1, len(peaks))


def _chosen(peaks: Mapping[str, Mapping[Name, int]], most: int) -> tuple[dict[str, list[Name]], list[str]]:
    """The names that are shown, at most `most` of a kind, and what is said of the others."""
    found: dict[str, list[Name]] = {}
    left_out = []
    for what, names in peaks.items():
        turns: Counter[str] = Counter()
        rank: dict[Name, int] = {}
        for name, peak in names.items():
            entry = summary.COPY.sub("", name[0])
            rank[name] = -peak if what == "queues" else turns[entry]
            turns[entry] += 1
        first = sorted(names, key=rank.__getitem__)[:most]
        found[what] = [name for name in names if name in first]
        if len(names) > len(first):
            how = {
                "flows": "the first copies of each entry, in turn",
                "queues": "those that held the most packets",
                "receivers": "the first of each session, in turn",
            }[what]
            left_out.append(f"Of {len(names)} {what} {len(first)} are shown: {how}.")
    return found, left_out


def _fill(curves: Curves, rows: Iterable[Mapping[str, Any]], names: Mapping[str, Sequence[Name]]) -> None:
    """Join the samples of a run that have these names."""
    of = {what: [column for column in COLUMNS if COLUMNS[column] == what] for what in KEYS}
    counted = {(what, name): 0 for what, own in names.items() for name in own}
    throughputs: dict[Name, array[float]] = {}
    for row in rows:
        what, name = key = _named(row)
        curves.interval_s = curves.interval_s or row["time_s"]
        if key not in counted:
            continue
        at = counted[key] // curves.size[what]
        counted[key] += 1
        ends = curves.ends[what]
        if at == len(ends):
            ends.append(0.0)
        ends[at] = row["time_s"]
        for column in of[what]:
            if (value := row[column]) is not None:
                curves.by.setdefault((column, name), {}).setdefault(at, Stretch()).add(value)
        if what == "flows":
            throughputs.setdefault(name, array("d")).append(row["throughput_bit_per_s"])
            if row["phase"] is not None:
                curves.phases.setdefault(name, Counter())[row["phase"]] += 1
    curves.warm_ups = {name: statistics.warm_up(values).cut for name, values in throughputs.items()}
