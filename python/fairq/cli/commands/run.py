"""`fairq run`: a scenario, its tables, files and pictures."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairq import api, plots
from fairq.cli import timelines
from fairq.cli.options import DRY_RUN, FILE, LOOKS, PARTS, QLOG, SET, TIMELINE, TRACE, WORKERS, out, plot
from fairq.cli.printing import (
    as_json,
    columns,
    cost,
    look,
    paragraphs,
    picture,
    pieces,
    save,
    save_qlogs,
    save_trace,
    sections,
    style,
    tell,
)
from fairq.core import tables
from fairq.core.declared import Option, Spec, switch, typed_only
from fairq.core.inputs import ran, read
from fairq.core.output import check, check_file, folder
from fairq.core.progress import Bar
from fairq.core.results import Result, Table

SPEC = Spec(
    "run",
    "fairq run scenarios/dumbbell.toml --set defaults.buffer=40packets --out out/dumbbell",
    (
        FILE,
        SET,
        PARTS,
        WORKERS,
        Option("series", "sample throughput and queues this often, as 100ms; auto takes 200 samples", "TIME"),
        Option("packets", "record each packet of this flow (needs --out, --json or --plot)", "FLOW"),
        switch("states", "show what each discipline counts and keeps at the end, as tc -s does"),
        *plot("draw samples over time, or means over axes"),
        *TIMELINE,
        TRACE,
        QLOG,
        switch("overlay", "add predicted throughput and delay bounds, and the relative difference"),
        *LOOKS,
        DRY_RUN,
        *typed_only(*out("write the tables (CSV and Parquet) and result.json into this folder")),
    ),
    "docs/reference/scenario.md has every field of a scenario, docs/guide/measured.md every column."
    " --overlay predicts by max-min, Mathis, Padhye and PGPS. `fairq detect DIR` reads what"
    " --packets FLOW --out DIR writes.",
    functions=("run",),
    beside=("trace", "progress"),
)  # fmt: skip


SHOWN = {
    "flows": ["flow", "traffic", "transport", "throughput_bit_per_s", "rtt_s_mean", "delay_s_mean", "delay_s_p99",
              "retransmitted", "dropped"],
    "links": ["link", "direction", "packets", "utilisation"],
    "queues": ["link", "direction", "discipline", "limit", "waiting_packets_mean", "waiting_packets_max", "dropped",
               "marked"],
    "transfers": ["flow", "transport", "size", "completed", "completion_s_mean", "completion_s_p99", "slowdown_p50",
                  "slowdown_p99", "refused", "in_progress_mean"],
    "theory": ["flow", "throughput_bit_per_s", "max_min_bit_per_s", "max_min_gap", "mathis_bit_per_s", "mathis_gap",
               "padhye_bit_per_s", "padhye_gap", "delay_s_max", "delay_bound_s", "delay_bound_gap"],
    "sessions": ["session", "receiver", "control", "level_mean", "level_end", "level_changes", "goodput_bit_per_s",
                 "loss", "target_s"],
    "states": ["link", "direction", "discipline", "subqueue", "quantity", "value", "unit"],
}  # fmt: skip
"""The columns of `fairq run` on a screen, after the axes; --wide, --json and --out have all."""


MINOR = {
    "flows": ["traffic", "retransmitted", "delay_s_mean", "transport"],
    "queues": ["limit", "marked", "waiting_packets_max"],
    "transfers": ["transport", "in_progress_mean", "slowdown_p50", "completed"],
    "sessions": ["level_changes", "level_end"],
    "theory": ["delay_bound_gap", "padhye_gap", "mathis_gap", "max_min_gap"],
}
"""The columns that go first where a screen is too narrow, in this order."""


def run(arguments: Namespace) -> str | Iterator[str]:
    """`fairq run`."""
    if arguments.out:
        check(arguments.out)
    drawing = picture(arguments.plot) if arguments.plot else None
    packets = picture(arguments.timeline) if arguments.timeline else None
    for path in filter(None, (arguments.trace, arguments.qlog)):
        check_file(path)
    series = arguments.series if arguments.series is not None else "auto" if drawing else None
    timelines.check(arguments)
    scenario = read(arguments.scenario, parts=arguments.parts)
    work = ran(scenario, arguments.set)
    if arguments.out:
        check(arguments.out, of=work, replace=arguments.replace)
    if arguments.dry_run:
        found = api.estimate(scenario, set=arguments.set, workers=arguments.workers)
        return as_json(found.document, "estimate") if arguments.json else cost(found)
    with Bar(Path(scenario.name).stem) as bar:
        result = api.run(
            **SPEC.words(vars(arguments)) | {"scenario": scenario, "series": series, "parts": None},
            trace=bool(arguments.trace or arguments.qlog),
            progress=bar,
        )
    # what is refused is refused before anything is written
    timeline = timelines.of_run(scenario, result, arguments) if packets else None
    tell(result.notes)
    kept = arguments.out or arguments.json
    tell(
        {"code": "samples", "where": option, "text": f"these rows go nowhere; write {places} to keep them"}
        for option, given, goes, places in (
            (
                "--series",
                arguments.series,
                kept or drawing or arguments.trace or arguments.qlog,
                "--out DIR, --json or --plot FILE",
            ),
            ("--packets", arguments.packets, kept or _is_of_packets(arguments), "--out DIR, --json or --plot FILE"),
        )
        if given is not None and not goes
    )
    if arguments.out:
        name = Path(arguments.scenario).name
        with folder(arguments.out, wrote=f"fairq run {name}", of=work, replace=arguments.replace) as inside:
            write_result(inside, result)
    if drawing:
        _plot(drawing, result, arguments)
    if timeline is not None and packets:
        save(timeline, packets)
    if arguments.trace:
        save_trace(result, arguments.trace)
    logs = save_qlogs(result, arguments.qlog) if arguments.qlog else []
    if arguments.json:
        return pieces(result)
    axes = [axis["name"] for axis in result.scenario.get("axes", [])]
    shown = {name: getattr(result, name) for name in SHOWN}
    shown |= {"flows": _without_copies(result), "states": _at_end(result.states)}
    shown_tables = {
        name.capitalize(): tables.text(
            rows,
            columns(rows, axes + SHOWN[name], arguments),
            minor=MINOR.get(name, ()),
            keep=["throughput_bit_per_s"],
            **look(arguments),
        )
        for name, rows in shown.items()
        if rows
    }
    said = sections(shown_tables) + _seeds(result.scenario, raw=arguments.si) + _warned(result.transfers)
    said += _speed(result.run_info, workers=arguments.workers)
    return paragraphs([said], arguments, arguments.out, drawing, packets, arguments.trace, *logs)


def _seeds(scenario: Mapping[str, Any], *, raw: bool) -> str:
    """What the numbers of several seeds are, and their intervals."""
    seeds = scenario["measure"]["replications"]
    if seeds == 1:
        return ""
    ends = "low and high are the ends" if raw else "± is half"
    return f"\n\n{tables.prose(f'Means of {seeds} seeds; {ends} of the 95 % confidence interval.')}"


def write_result(inside: Path, result: Result) -> None:
    """Write the tables and result.json into a folder."""
    seed = result.scenario["measure"]["seed"]
    for name in ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states", "theory"):
        rows = getattr(result, name)
        if not rows:
            continue
        tables.write_csv(inside / f"{name}.csv", rows)
        rows.write_parquet(inside / f"{name}.parquet", json.dumps(result.scenario), seed)
    with (inside / "result.json").open("w", encoding="utf-8") as file:
        result.write_json(file.write)
        file.write("\n")


def _without_copies(result: Result) -> list[Mapping[str, Any]]:
    """The flows without the connections of transfers, which have one row in the table of transfers."""
    carried = {row["traffic"] for row in result.transfers}
    return [row for row in result.flows if row["traffic"] not in carried]


def _at_end(states: Table[Any]) -> list[Mapping[str, Any]]:
    """What disciplines show at the end of each run, without the samples."""
    times = states["time_s"]
    # axes and seed stand before the time, and the rows of a run in the order of time
    runs = list(zip(*(states[name] for name in states.columns[: states.columns.index("time_s")]), strict=True))
    ends = dict(zip(runs, times, strict=True))
    return [states[at] for at, (run, time) in enumerate(zip(runs, times, strict=True)) if time == ends[run]]


def _warned(transfers: Sequence[Mapping[str, Any]]) -> str:
    refused = dict.fromkeys(row["flow"] for row in transfers if row["refused"])
    return "".join(
        f"\n\nWarning: some transfers of {flow} found no idle connection and were refused; a larger count lets them in."
        for flow in refused
    )


def _is_of_packets(arguments: Namespace) -> bool:
    """Whether the picture is of the delays of packets."""
    return bool(arguments.plot and arguments.packets and arguments.series is None and not arguments.overlay)


def _plot(path: Path, result: Result, arguments: Namespace) -> None:
    """Draw means over the axes; delays of packets, samples or theory if they were asked for."""
    is_over_time = arguments.series is not None or arguments.overlay or not result.scenario["axes"]
    what = None if _is_of_packets(arguments) else "series" if is_over_time else "means"
    save(plots.of_run(result, what, style(arguments)), path)


def _speed(info: Mapping[str, Any], workers: int | None = None) -> str:
    hops, cpu = info.get("packet_hops"), info.get("cpu_s")
    if not hops:
        return ""
    said = f"\n\n{hops} packet-hops" + (f" in {tables.value('cpu_s', cpu)} of CPU time" if cpu else "")
    if info.get("parts", 1) > 1:
        return f"{said}, the network in {info['parts']} parts"
    # A user that asked for workers, or waited, reads why there was one.
    if "whole" in info and (workers or (cpu and cpu > 1)):
        return f"{said}, on one core: {info['whole']}"
    return said
