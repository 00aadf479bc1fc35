"""The report of one run, or of an emulation: a page like a study's, of the folder of `--out`.

What an emulation says of itself stands first: emulation_sections.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import fairq._native as _native
from fairq.core import tables
from fairq.core.results import Result, read_result
from fairq.reports import emulation_sections, series_sections
from fairq.reports.page_parts import Shown, sha
from fairq.reports.rendering import fitting, rendered
from fairq.reports.sections import GROUPS_MAX, Item, Pictured, Section, Thin, spoken_of, table_of, words_of
from fairq.reports.study_report import THINNER, as_page
from fairq.studies.stored_runs import RunRow
from fairq.studies.study_results import Page

SHOWN: Mapping[str, Sequence[str]] = {
    "flows": ("flow", "traffic", "transport", "throughput_bit_per_s", "share", "delay_s_mean", "queueing_s_mean",
              "queueing_s_p99", "rtt_s_mean", "retransmitted", "dropped", "lost", "marked"),
    "links": ("link", "direction", "packets", "bytes", "lost", "utilisation"),
    "queues": ("link", "direction", "discipline", "arrived", "waiting_packets_mean", "waiting_packets_max",
               "dropped", "marked", "overtaken", "jain"),
    "transfers": ("flow", "transport", "size", "completed", "completion_s_mean", "completion_s_p99", "slowdown_p50",
                  "slowdown_p99", "refused", "in_progress_mean"),
    "sessions": ("session", "receiver", "control", "level_mean", "level_end", "level_changes", "goodput_bit_per_s",
                 "loss"),
}  # fmt: skip
"""The columns of a table on the page, behind the axes; its file has all."""

LINES = ("link", "direction", "rate_bit_per_s", "delay_s", "discipline", "discipline_settings", "limit")
"""The columns of the table of what was run."""

PLOTTED = ("throughput_bit_per_s", "queueing_s_mean")
"""The columns of flows that have a figure."""


UNTITLED = ("", "emulate")
"""Titles of scenarios to which none was given: in a file, and by the words of `fairq emulate`."""


class NoBaseUnits(NamedTuple):
    """The axes of a run have no column beside them."""

    in_base_units: Mapping[str, Any] = {}

    def beside(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """None."""
        return {}


class Gathered(Pictured):
    """All that the page says of a run, read from its folder once."""

    def __init__(self, result: Result, name: str) -> None:
        super().__init__(NoBaseUnits())
        self.result, self.name = result, name
        self.scenario = result.scenario
        self.axes = list(result.points[0]["axes"]) if result.points else []
        self.samples = series_sections.of_runs(tuple(self.axes), self._runs(), self._samples)
        self.emulation = result.document.get("emulation")

    @property
    def seeds(self) -> int:
        """Runs of each point."""
        return max((len(point["seeds"]) for point in self.result.points), default=0)

    @property
    def runs(self) -> int:
        """Runs of all points."""
        return sum(len(point["seeds"]) for point in self.result.points)

    @property
    def heading(self) -> str:
        """What the scenario calls itself; the folder's name if it does not."""
        title = str(self.scenario.get("title", ""))
        return self.name if title in UNTITLED else title

    @property
    def said(self) -> str:
        """What was run, in a sentence."""
        duration = self.scenario["measure"]["duration"]
        if self.emulation is not None:
            return emulation_sections.said(self.emulation)
        points = len(self.result.points)
        of = f"{points} points, " if points > 1 else ""
        spread = "One seed shows no spread." if self.seeds == 1 else "Numbers are means, with their 95 % intervals."
        return f"A simulation: {of}{self.seeds} seed{'s' if self.seeds > 1 else ''}, {duration} each. {spread}"

    @property
    def notes(self) -> list[str]:
        """What limited the run."""
        return [f"{note['where']}: {note['text']}" for note in self.result.notes]

    @property
    def texts(self) -> list[tuple[str, str]]:
        """The scenario with all its fields."""
        return [("The scenario with all its fields", json.dumps(self.scenario, indent=1, ensure_ascii=False))]

    @property
    def made(self) -> list[tuple[str, str]]:
        """How the page was made."""
        info, command = self.result.run_info, "run" if self.emulation is None else "emulate"
        return [
            ("command", f"fairq {command} … --out {self.name} && fairq report {self.name}"),
            ("fairq", f"{_native.version()}; the run by {info.get('version')}"),
            ("version of results", str(self.result.document["schema_version"])),
            ("SHA-256 of the scenario with all its fields", sha(self.texts[0][1])),
            *([("time on one core", tables.value("cpu_s", info["cpu_s"]))] if info.get("cpu_s") else []),
        ]

    def lines(self, thin: Thin) -> Shown:
        """The lines that there were, with their queues."""
        keys = (*self.axes, "link", "direction")
        queues = {tuple(row[key] for key in keys): row for row in self.result.queues}
        rows = [{**queues.get(tuple(row[key] for key in keys), {}), **row} for row in self.result.links]
        for row in rows:
            if row.get("discipline_settings") == row.get("discipline"):
                row["discipline_settings"] = None
        return self._table(rows, [*self.axes, *LINES], "Lines and their queues", "lines", thin)

    def sections(self, thin: Thin) -> Iterator[Section]:
        """What the page shows, section by section."""
        if self.emulation is not None:
            yield from emulation_sections.sections(self, self.emulation, thin)
        yield Section("results", "Results", "", list(self._results(thin)))
        if self.samples is not None:
            yield Section("time", "Over time", self.samples.said(), list(self.over_time(self.samples, thin)))

    def _results(self, thin: Thin) -> Iterator[Item]:
        for name, shown in SHOWN.items():
            rows = list(getattr(self.result, name))
            if not rows:
                continue
            title = name.capitalize()
            table = self._table(rows, [*self.axes, *shown], title, name, thin)
            plots = list(self._of_flows(rows, thin)) if name == "flows" else []
            for number, (column, plot) in enumerate(plots):
                said = words_of(column)
                only = f", the {GROUPS_MAX} with most packets" if len(_busiest(rows)) < len(rows) else ""
                yield Item(
                    f"{said[:1].upper()}{said[1:]} of flows",
                    f"{said[:1].upper()}{said[1:]} of each flow{only}",
                    self._table(rows, [*self.axes, "flow", column], f"{title}: {said}", f"flows-{column}", thin)
                    if number else table,
                    plot,
                )  # fmt: skip
            if not plots:
                yield Item(title, "", table)

    def _of_flows(self, rows: Sequence[Mapping[str, Any]], thin: Thin) -> Iterator[tuple[str, str]]:
        """The figures of flows, by their columns."""
        from fairq import figures

        shown = _busiest(rows)
        for column in PLOTTED:
            if not any(row.get(column) is not None for row in shown):
                continue
            counted = [{**row, "seeds": self.seeds} for row in shown]

            def plot(style: Any, column: str = column, counted: Any = counted) -> Any:
                return figures.of_rows(counted, self.axes, [column], "", series="flow", style=style)

            spoken = spoken_of(shown, column, [*self.axes, "flow"])
            yield column, self.picture(plot, f"f{PLOTTED.index(column)}", spoken, thin)

    def _table(
        self, rows: Sequence[Mapping[str, Any]], shown: Sequence[str], caption: str, name: str, thin: Thin
    ) -> Shown:
        return table_of(self.base, rows, shown, caption, name, thin, tables.columns_of(rows))

    def _runs(self) -> list[RunRow]:
        return [
            RunRow("", point, seed["seed"], "", None, None, each["axes"])
            for point, each in enumerate(self.result.points) for seed in each["seeds"]
        ]  # fmt: skip

    def _samples(self, run: RunRow, _: Sequence[str] | None) -> list[Mapping[str, Any]]:
        own = {**run.axes, "seed": run.seed}
        return [row for row in self.result.series if all(row[name] == value for name, value in own.items())]


def _busiest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the flows with most packets, in their order."""
    packets: dict[str, float] = {}
    for row in rows:
        packets[row["flow"]] = packets.get(row["flow"], 0) + (row["throughput_packets"] or 0)
    kept = set(sorted(packets, key=lambda flow: -packets[flow])[:GROUPS_MAX])
    return [row for row in rows if row["flow"] in kept]


def write(folder: str | os.PathLike[str], out: str | os.PathLike[str] | None) -> Page:
    """Write the report of the run in a folder to `out`, or beside it, whole or not at all."""
    gathered = Gathered(read_result(folder), Path(folder).resolve().name)
    return as_page(folder, out, gathered.runs, lambda: report(gathered))


def report(gathered: Gathered) -> str:
    """The page of a run."""

    def page(thin: Thin) -> str:
        sections = list(gathered.sections(thin))
        contents = [("run", "What was run"), *((each.name, each.title) for each in sections)]
        return rendered(
            "run_report.html",
            {
                "heading": gathered.heading, "title": f"{gathered.heading}: report", "contents": contents,
                "lead": gathered.scenario.get("about", ""),
                "said": gathered.said, "notes": gathered.notes, "lines": gathered.lines(thin),
                "commands": emulation_sections.commands(gathered.emulation), "sections": sections,
                "is_doubtful": emulation_sections.is_doubtful(gathered.emulation),
                "texts": gathered.texts, "made": gathered.made,
            },
            __package__,
        )  # fmt: skip

    return fitting(page, THINNER)
