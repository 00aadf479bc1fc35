"""What stands on the page of a report: sections with figures, tables, and their data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import fairq._native as _native
from fairq.core import tables
from fairq.reports import pictures, readings, series_sections
from fairq.reports.page_parts import Shown, csv_file, sha, thinned
from fairq.studies import summary
from fairq.studies.stored_runs import Results, RunRow
from fairq.studies.summary import Quantity, Values

FIGURES_MAX = 12
"""The most figures."""

GROUPS_MAX = 24
"""Groups, as flows, of a table or figure; more are left out, and the page says so."""


class Thin(NamedTuple):
    """How much of the data the page holds: rows shown and in files, and figures for a phone."""

    shown: int
    linked: int
    narrow: bool


@dataclass
class Item:
    """A figure with its data, or a table alone."""

    title: str
    says: str
    table: Shown
    picture: str = ""


@dataclass
class Section:
    """A heading and what stands below it."""

    name: str
    title: str
    text: str
    items: list[Item] = field(default_factory=list)


class BaseUnits(Protocol):
    """What has columns of numbers beside axes of texts with units."""

    @property
    def in_base_units(self) -> Mapping[str, Any]:
        """Them by their names."""

    def beside(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Those of a row."""


class Pictured:
    """Figures that are plotted once, and samples over time as a part of a page."""

    def __init__(self, base: BaseUnits) -> None:
        self.base = base
        self._plotted: dict[str, pictures.Elements] = {}

    def picture(self, plot: pictures.Plot, name: str, says: str, thin: Thin) -> str:
        """A figure, which is plotted once however often the page is made."""
        if name not in self._plotted:
            self._plotted[name] = pictures.plotted(plot, name, says)
        return pictures.shown(self._plotted[name], narrow=thin.narrow)

    def over_time(self, samples: series_sections.Samples, thin: Thin) -> Iterator[Item]:
        """A figure for each column of samples, then phases and warm-ups."""
        from fairq.figures.over_time import SAMPLED

        panels = f", a panel for each {listed(samples.varied)}" if samples.varied else ""
        at = f"; {samples.place}" if samples.place else ""
        for number, column in enumerate(samples.columns):
            rows = samples.rows(column, thin.linked)
            of = series_sections.COLUMNS[column]
            said = SAMPLED[column].partition(" (")[0]
            title = f"{said[:1].upper()}{said[1:]} over time"
            shown = [*samples.axes, *series_sections.KEYS[of], "time_s", column, f"{column}_min", f"{column}_max"]
            yield Item(
                title,
                f"{title}: a curve for each {of.removesuffix('s')}{panels}{at}",
                table_of(self.base, rows, shown, title, f"time-{column}", thin, ["seed", *shown]),
                self.picture(
                    self._plot_over_time(samples, column), f"t{number}", f"{said} {samples.spoken(column)}", thin
                ),
            )
        if rows := samples.phases():
            shown = [*samples.axes, "flow", "phase", "samples_percent"]
            table = table_of(self.base, rows, shown, "Part of the samples", "time-phases", thin, ["seed", *shown])
            yield Item("Phases of congestion control", "", table)
        rows = samples.warm_ups()
        ends = [row["warm_up_s"] for row in rows]
        if any(end is not None for end in ends):
            shown = [*samples.axes, "flow", "warm_up_s"]
            note = "A dash: it still moves in its second half." if None in ends else ""
            table = table_of(self.base, rows, shown, "End of the warm-up", "time-warm-up", thin, ["seed", *shown], note)
            yield Item("Where the warm-up of the throughput ends, by MSER-5", "", table)

    def _plot_over_time(self, samples: series_sections.Samples, column: str) -> pictures.Plot:
        """The figure of a column of samples: a panel for each point, one look for a name."""
        from fairq import figures

        rows, names = samples.plotted(column)
        stretch = samples.stretch(column)
        said = f"curve: mean of {stretch}; band: least and greatest" if stretch else ""
        return lambda style: figures.over_time(
            rows, samples.varied, "", quantities=[column], names=names, caption=said, style=style
        )


class Gathered(Pictured):
    """All that the page says, read from the store once."""

    def __init__(self, results: Results, runs: Sequence[RunRow]) -> None:
        super().__init__(results)
        self.results, self.runs = results, runs
        self.values = summary.values(results, summary.quantities(results))
        self.samples = series_sections.read(results, runs)
        self.notes = [str(damage) for damage in results.damages]
        self.scenario = json.loads(_native.toml_tree(results.study.scenario.text, results.study.scenario.name)[0])

    @property
    def title(self) -> str:
        """What the scenario calls itself."""
        return str(self.scenario.get("title", ""))

    @property
    def counts(self) -> dict[str, int]:
        """Points, seeds of a point, and runs by whether they exist."""
        done = sum(run.part is not None for run in self.runs)
        failed = sum(run.error is not None for run in self.runs)
        points = self.results.study.points
        return {
            "points": len(points), "seeds": max(len(point.digests) for point in points), "done": done,
            "failed": failed, "missing": len(self.runs) - done - failed,
        }  # fmt: skip

    @property
    def axes(self) -> list[tuple[str, str]]:
        """Each axis with its values."""
        found = []
        for axis in self.results.axes:
            levels = list(dict.fromkeys(str(point.axes[axis]) for point in self.results.study.points))
            more = f" and {len(levels) - 24} more" if len(levels) > 24 else ""
            found.append((axis, ", ".join(levels[:24]) + more))
        return found

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The study and the scenario as they were written."""
        study = self.results.study
        return [
            ("The study", study.text),
            (f"The scenario {study.scenario.name.rpartition('/')[2]}", study.scenario.text),
        ]

    def made(self, name: str) -> list[tuple[str, str]]:
        """How the page was made: versions, digests, commands."""
        study, header = self.results.study, self.results.store.header() or {}
        digests = sorted(run.digest for run in self.runs if run.part)
        file = name or f"{study.name}.toml"
        cost = sum({run.digest: run.cost_s or 0.0 for run in self.runs if run.part}.values())
        return [
            ("command", f"fairq sweep {file} && fairq report {file}"),
            ("fairq", f"{_native.version()}; the runs by {header.get('fairq')}"),
            ("version of results", str(header.get("results"))),
            ("SHA-256 of the study", sha(study.text)),
            ("SHA-256 of the scenario", sha(study.scenario.text)),
            ("SHA-256 of the digests of all runs", sha("\n".join(digests))),
            ("time on one core", tables.value("cost_s", cost)),
        ]

    def sections(self, thin: Thin) -> Iterator[Section]:
        """What the page shows, section by section."""
        if items := list(self._results(thin)):
            yield Section("results", "Results", self._said(), items)
        if items := list(self._effects(thin)):
            text = (
                "The mean at each value of an axis, over all points that have it, and its difference from the first"
                " value of that axis: of runs with the same seed and the same other axes. A difference is decided if"
                " its 95 % interval does not hold 0; more seeds is how many would decide it, if it stays what it is."
            )
            yield Section("effects", "What each axis changes", text, items)
        if self.samples is not None:
            yield Section("time", "Over time", self.samples.said(), list(self.over_time(self.samples, thin)))
        if items := list(self._delays(thin)):
            yield Section("delays", "Delays of packets", "", items)
        if items := list(self._fairness(thin)):
            text = "What each flow got, beside its max-min fair share on the rates of the links."
            yield Section("fairness", "Against max-min fairness", text, items)
        if items := list(self._losses(thin)):
            text = "Packets of a run that did not arrive, by what became of them, and those that were marked."
            yield Section("losses", "Drops by reason", text, items)

    def _said(self) -> str:
        seeds = self.counts["seeds"]
        if seeds == 1:
            return "Each number is of one seed, and so has no interval."
        return f"Each number is a mean over {seeds} seeds of a point, with its 95 % interval over the seeds."

    def _results(self, thin: Thin) -> Iterator[Item]:
        for number, (quantity, of) in enumerate(list(self.values.items())[:FIGURES_MAX]):
            column = quantity.column
            group = summary.KEYS[quantity.table][0]
            left = of.groups[GROUPS_MAX:]
            rows = [row for row in summary.means(of, quantity) if row[group] not in left]
            said = words_of(column)
            title = f"{said[:1].upper()}{said[1:]} of {quantity.table}"
            over = f" over {listed(self.results.axes)}" if self.results.axes else ""
            spoken = spoken_of(rows, column, [*self.results.axes, group])
            yield Item(
                title,
                f"{title}{over}",
                table_of(
                    self.results, rows, [*self.results.axes, group, column], f"{title}: means",
                    f"{quantity.table}-{column}", thin,
                    [*self.results.axes, group, "seeds", column, f"{column}_low", f"{column}_high"],
                    f"{len(left)} more {quantity.table} are left out." if left else "",
                ),
                self.picture(self._plot(rows, column, group), f"r{number}", spoken, thin),
            )  # fmt: skip

    def _plot(self, rows: Sequence[Mapping[str, Any]], column: str, group: str) -> pictures.Plot:
        """The figure that the axes, or the study's [draw], choose."""
        from fairq import figures
        from fairq.figures import axis_units

        draw = self.results.study.draw
        named = [axis for axis in (draw.x, draw.by, draw.facet) if axis]
        axes = [*named, *(axis for axis in self.results.axes if axis not in named)]
        across = draw.x
        if across and axis_units.numbers(row[across] for row in rows) is not None:
            facet = [draw.facet] if draw.facet else []
            series = [axis for axis in [*axes, group] if axis not in (across, *facet)]
            return lambda style: figures.lines(rows, [column], across, series, facet, "", style=style)
        return lambda style: figures.of_rows(rows, axes, [column], "", series=group, style=style)

    def _effects(self, thin: Thin) -> Iterator[Item]:
        for quantity, of in list(self.values.items())[:FIGURES_MAX]:
            rows = []
            column = quantity.column
            unit = tables.words(column)[1]
            difference = f"difference_{tables.suffix(column)}" if unit else "difference"
            for effect in summary.effects(of):
                if effect.group in of.groups[GROUPS_MAX:]:
                    continue
                found = effect.found
                rows.append(
                    {
                        "axis": effect.axis, "value": str(effect.value), "of": effect.group, column: effect.mean,
                        "against": None if effect.against is None else str(effect.against),
                        difference: found.difference if found else None,
                        f"{difference}_low": found.low if found else None,
                        f"{difference}_high": found.high if found else None,
                        "decided": None if found is None or found.low is None else found.decided,
                        "more_seeds": found.more_seeds if found and not found.decided else None,
                    }
                )  # fmt: skip
            if rows:
                said = words_of(column)
                title = f"{said[:1].upper()}{said[1:]} of {quantity.table}"
                shown = ["axis", "value", "of", column, "against", difference, "decided", "more_seeds"]
                yield Item(
                    title,
                    "",
                    table_of(
                        self.results, rows, shown, f"{title}: main effects", f"effects-{quantity}", thin, list(rows[0])
                    ),
                )

    def _delays(self, thin: Thin) -> Iterator[Item]:
        if "packets" not in self.results.tables:
            return
        rows, seeds = readings.packets(self.results)
        if not rows:
            return
        from fairq import figures
        from fairq.figures import axis_units

        axes = [axis for axis in self.results.axes if len({row[axis] for row in rows}) > 1]
        names = [axis for axis in axes if axis_units.numbers(row[axis] for row in rows) is None]
        series = names[:1] or axes[:1]
        panels = [axis for axis in axes if axis not in series]
        flow = self.results.study.keep.packets
        title = f"Delays of the packets of {flow}"
        said = f"Packets of seed{'s' if len(seeds) > 1 else ''} {listed([str(seed) for seed in seeds])}"

        def plot(style: Any) -> Any:
            return figures.distribution(rows, series, panels, "", caption=said, style=style)

        quantiles = readings.quantiles(rows, self.results.axes)
        yield Item(
            title,
            f"Share of packets whose delay is at most what stands across, for {listed(axes)}",
            table_of(
                self.results, quantiles, [*self.results.axes, "packets_percent", "delay_s"], f"{title}: percentiles",
                "delays", thin, [*self.results.axes, "packets_percent", "delay_s"],
            ),
            self.picture(plot, "d", f"{title} for {listed(axes)}; the table has its percentiles", thin),
        )  # fmt: skip

    def _fairness(self, thin: Thin) -> Iterator[Item]:
        quantity = Quantity("flows", "throughput_bit_per_s")
        found = self.values.get(quantity) or summary.values(self.results, [quantity]).get(quantity)
        if found is None:
            return
        shares = readings.shares(self.results)
        rows = []
        for row in summary.means(found, quantity):
            share = shares.get((tuple(row[axis] for axis in self.results.axes), row["flow"]))
            if share:
                rows.append({**row, "max_min_bit_per_s": share, "part_of_share": row[quantity.column] / share})
        if not rows:
            return
        from fairq import figures

        def plot(style: Any) -> Any:
            return figures.shares(rows, self.results.axes, "", style=style)

        columns = [*self.results.axes, "flow", "throughput_bit_per_s", "max_min_bit_per_s", "part_of_share"]
        every = [*columns, "throughput_bit_per_s_low", "throughput_bit_per_s_high", "seeds"]
        yield Item(
            "Throughput and max-min share",
            "What each flow got, as a bar, and its max-min fair share, as an upright line",
            table_of(self.results, rows, columns, "Throughput and max-min share", "max-min", thin, every),
            self.picture(plot, "m", spoken_of(rows, "part_of_share", [*self.results.axes, "flow"]), thin),
        )

    def _losses(self, thin: Thin) -> Iterator[Item]:
        reasons = {"dropped": "dropped by queues", "lost": "lost on links", "marked": "marked"}
        asked = [Quantity("flows", column) for column in reasons] if "flows" in self.results.tables else []
        by_reason = {quantity.column: of for quantity, of in summary.values(self.results, asked).items()}
        by_reason = {
            column: of for column, of in by_reason.items() if any(any(each.values()) for each in of.by.values())
        }
        for column, of in by_reason.items():
            yield self._lost_of_flows(column, reasons[column], of, thin)
        if "states" in self.results.tables and (rows := readings.states(self.results)):
            columns = [*self.results.axes, *readings.STATE, "value"]
            every = [*columns, "value_low", "value_high", "seeds"]
            caption = "Drops as each discipline counts them"
            table = table_of(self.results, rows, columns, caption, "drops", thin, every)
            yield Item("What the disciplines count", "", table)

    def _lost_of_flows(self, column: str, reason: str, of: Values, thin: Thin) -> Item:
        from fairq import figures

        rows = summary.means(of, Quantity("flows", column))
        title = f"Packets of each flow that were {reason}"

        def plot(style: Any) -> Any:
            return figures.of_rows(rows, self.results.axes, [column], "", series="flow", style=style)

        columns = [*self.results.axes, "flow", column]
        every = [*columns, f"{column}_low", f"{column}_high", "seeds"]
        spoken = spoken_of(rows, column, [*self.results.axes, "flow"])
        return Item(
            title,
            f"{title}, in a run",
            table_of(self.results, rows, columns, title, f"losses-{column}", thin, every),
            self.picture(plot, f"l{column}", spoken, thin),
        )


def table_of(
    results: BaseUnits, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], caption: str, name: str, thin: Thin,
    every: Sequence[str], left_out: str = "",
) -> Shown:  # fmt: skip
    """A table: some rows of it as they are read, and more of them as a file, in base units too."""
    rows = [dict(row) for row in rows]
    columns = [column for column in columns if any(row.get(column) is not None for row in rows)]
    short = thinned(rows, thin.shown)
    heads, cells = tables.read(short, columns)
    linked = [{**row, **results.beside(row)} for row in thinned(rows, thin.linked)]
    every = [*every, *(name for name in results.in_base_units if any(name in row for row in linked))]
    notes = [left_out] if left_out else []
    if len(short) < len(rows):
        notes.append(f"{len(short)} of {len(rows)} rows are shown; the file has {_all_or(len(linked), len(rows))}.")
    file = csv_file(caption, f"{name}.csv", linked, every)
    return Shown(caption, heads, [("", cells)], file, " ".join(notes))


def _all_or(some: int, every: int) -> str:
    return "all" if some == every else f"{some} of them"


def spoken_of(rows: Sequence[Mapping[str, Any]], column: str, names: Sequence[str]) -> str:
    """What a figure shows in words: its range, and where its ends are."""
    known = [row for row in rows if row.get(column) is not None]
    if not known:
        return f"{words_of(column)}: no value"
    least, most = (function(known, key=lambda row: row[column]) for function in (min, max))
    places = [", ".join(str(row[name]) for name in names) for row in (least, most)]
    ends = [tables.value(column, row[column]) for row in (least, most)]
    return f"{words_of(column)} from {ends[0]} ({places[0]}) to {ends[1]} ({places[1]}); the table below has all"


def words_of(column: str) -> str:
    """The words of a column's name, as figures have them."""
    from fairq.figures import axis_units

    return axis_units.words(column)[0]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)
