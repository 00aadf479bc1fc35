"""What each command does: calls the function of api.py and turns its result into the text to print."""

from __future__ import annotations

import json
import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from fairq import _native, api, streams, tables
from fairq._native import OutputError, UsageError
from fairq.given import ran, read
from fairq.output import check, check_file, file, folder
from fairq.progress import Bar
from fairq.results import Result, Table

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
    "states": ["link", "direction", "discipline", "quantity", "value"],
}  # fmt: skip
"""The columns of `fairq run` on a screen, after the axes; --json and --out have all."""

BENCH_COLUMNS = (
    "row",
    "about",
    "packet_hops",
    "data_packets",
    "packets",
    "rows",
    "dropped",
    "cpu_s",
    "cpu_s_min",
    "cpu_s_max",
    "million_packet_hops_per_cpu_s",
    "simulated_s_per_cpu_s",
    "million_packets_per_cpu_s",
    "peak_memory_bytes",
    "wall_s",
    "ratio",
    "note",
)
"""The columns of `fairq bench`."""

NAME_WIDTH = 18
"""Columns of the names of a list: a longer name moves its own line alone."""

CARD_WIDTH = 100
"""Columns of a card where there is no screen."""

CARD_WIDTH_MAX = 120
"""Columns of a card at most: longer lines are hard to read."""

BENCHED = """
A packet-hop is one packet sent on one line, acknowledgements included; every packet is simulated by itself. CPU time is
that of the run, without the start of the program and the writing of results; memory is that of the whole program. Shown
is the median of five, each a program of its own, with the least and the greatest time. ratio: how long two programs
take beside each other with half of the runs each, over what one takes with two workers. Compare numbers of one machine
in the same minutes only."""
"""What the numbers of `fairq bench` mean."""

DISCIPLINE_COLUMNS = ["discipline", "part", "flows", "given", "ns_per_packet", "floor", "ratio", "unfairness_packets",
                      "idle_flow_bytes", "backlogged_flow_bytes", "dropped_share"]  # fmt: skip
"""The columns of `fairq bench disciplines`."""

MEASURED = """\
ns per packet: enqueue + dequeue in CPU time, accounts included, less what the loop costs around nothing; two packets of
each flow wait. ledger: the accounts alone. Floor A: a ring for each flow, served in turn; B: the next flow from a heap
of finish numbers. ratio: to the floor, timed in turn. given: by the flow's slot, or by a header that is looked up.
unfairness: the worst between two of 16 flows over any interval of the run, in greatest packets for a flow of weight 1;
- where a flow was not backlogged throughout. Bytes: allocated, for each flow when all were seen and nothing waits, and
when two packets of each wait. For instructions count a run of the example `workload backlog NAME FLOWS PACKETS` of
crates/bench with callgrind: docs/experiments/performance.md."""
"""What the numbers of `fairq bench disciplines` mean."""

DETECTED = ["flow", "verdict", "confidence", "capacity_bit_per_s", "share_bit_per_s", "packets", "unmatched", "pairs",
            "why"]  # fmt: skip
"""The columns of `fairq detect`; --json has the evidence too."""

MEANT = """\
confidence: the share of correct verdicts on test networks, half of them fair. capacity: from the smallest distance of
two packets that comes often; if others never paused in a fair queue, the line has more. share: what the flow got while
its packets waited for each other. unmatched: the part of its packets that was not found at the other end.
docs/guide/detect.md says what can and cannot be told."""
"""What the numbers of `fairq detect` mean."""

FLOWS_SHOWN = 20
"""Flows in the tables of a replay, those with most packets, unless all are asked for."""


class Broken(Exception):  # noqa: N818 - it is no error: the command did what it should
    """A command has found that something does not hold; `text` is all that goes to standard output."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


Command = Callable[[Namespace], str | Iterator[str]]
"""A command: from its arguments to all that goes to standard output."""


def run(arguments: Namespace) -> str | Iterator[str]:
    """`fairq run`."""
    if arguments.out:
        check(arguments.out)
    plot = picture(arguments.plot) if arguments.plot else None
    series = arguments.series if arguments.series is not None else "auto" if plot else None
    scenario = read(arguments.scenario)
    work = ran(scenario, arguments.set)
    if arguments.out:
        check(arguments.out, of=work, replace=arguments.replace)
    with Bar(Path(scenario.name).stem) as bar:
        result = api.run(
            scenario,
            set=arguments.set,
            workers=arguments.workers,
            series=series,
            packets=arguments.packets,
            states=arguments.states,
            overlay=arguments.overlay,
            progress=bar,
        )
    tell(result.notes)
    kept = arguments.out or arguments.json
    tell(
        {"code": "samples", "where": option, "text": f"these rows go nowhere; write {places} to keep them"}
        for option, given, goes, places in (
            ("--series", arguments.series, kept or plot, "--out DIR, --json or --plot FILE"),
            ("--packets", arguments.packets, kept, "--out DIR or --json"),
        )
        if given is not None and not goes
    )
    if arguments.out:
        name = Path(arguments.scenario).name
        with folder(arguments.out, wrote=f"fairq run {name}", of=work, replace=arguments.replace) as inside:
            _write_result(inside, result)
    if plot:
        _plot_over_time(plot, result)
    if arguments.json:
        return _pieces(result)
    axes = [axis["name"] for axis in result.scenario.get("axes", [])]
    shown = {name: getattr(result, name) for name in SHOWN}
    shown["flows"] = _without_copies(result)
    sections = {
        name.capitalize(): [_narrow(row, axes + columns) for row in shown[name]]
        for name, columns in SHOWN.items()
        if shown.get(name)
    }
    return _sections(sections) + _warned(result.transfers) + _speed(result.run_info, workers=arguments.workers)


def tell(notes: Iterable[Mapping[str, Any]]) -> None:
    """Print notes to standard error, one a line."""
    for each in notes:
        streams.note(f"{each['where']}: {each['text']} [{each['code']}]")


def reproduce(arguments: Namespace) -> str:
    """`fairq reproduce`."""
    if arguments.list:
        found = api.listing("papers")
        return as_json(found) if arguments.json else tables.text(found)
    if arguments.paper is None:
        raise UsageError("PAPER is missing; write one of those that fairq reproduce --list shows, or all")
    out = arguments.out or ("out/all" if arguments.paper == "all" else None)
    with Bar(arguments.paper) as bar:

        def printed(part: str) -> None:
            bar.clear()
            sys.stdout.write(part)
            sys.stdout.flush()

        reproduced = api.reproduce(
            arguments.paper,
            seeds=arguments.seeds,
            quick=arguments.quick,
            start=arguments.start,
            workers=arguments.workers,
            out=out,
            replace=arguments.replace,
            progress=bar,
            printed=None if arguments.json else printed,
        )
    if arguments.json:
        return as_json(reproduced.rows)
    return f"\nWritten: {out}, the page is index.html\n" if out and not arguments.quiet else ""


def replay(arguments: Namespace) -> str:
    """`fairq replay`."""
    with Bar(Path(arguments.capture).name) as bar:
        result = api.replay(
            arguments.capture,
            rate=arguments.rate,
            buffer=arguments.buffer,
            disciplines=_split(arguments.discipline),
            classifier=arguments.classifier,
            gap_max=arguments.gap_max,
            fluid=arguments.fluid,
            under=arguments.under,
            out=arguments.out,
            replace=arguments.replace,
            progress=bar,
        )
    if arguments.json:
        return as_json(result.document)
    summary = [{key: d[key] for key in d if key not in ("flows", "note")} for d in result.disciplines]
    parts = [_pairs(result.capture), "", "Disciplines", tables.text(summary)]
    parts += [f"{d['name']}: {d['note']}" for d in result.disciplines if d.get("note")]
    for discipline in result.disciplines:
        flows = sorted(discipline["flows"], key=lambda flow: -flow["packets"])
        kept = flows if arguments.all else flows[:FLOWS_SHOWN]
        parts += ["", f"Flows under {discipline['name']}, by {discipline['rows_by']}", tables.text(kept)]
        if len(kept) < len(flows):
            parts.append(f"and {len(flows) - len(kept)} flows with fewer packets; --all shows them")
    return "\n".join(parts)


def tc(arguments: Namespace) -> str:
    """`fairq tc`."""
    from fairq import tc as linux

    if arguments.read is not None:
        found = linux.read(sys.stdin.read() if arguments.read == "-" else arguments.read)
        return as_json(linux.as_document(found)) if arguments.json else "\n".join(linux.as_lines(found))
    path = Path(arguments.queue)
    if path.suffix in (".toml", ".json"):
        scenario = read(path)
        written = linux.of_scenario(scenario.text, scenario.name, arguments.dev)
    else:
        written = linux.write(arguments.queue, arguments.dev)
    return as_json(written.as_document()) if arguments.json else "\n".join(written.as_lines())


def detect(arguments: Namespace) -> str:
    """`fairq detect`."""
    rows = api.detect(*(path for path in (arguments.sent, arguments.received) if path is not None))
    if arguments.flow is not None:
        rows = [row for row in rows if arguments.flow in row["flow"]]
        if not rows:
            raise UsageError(f"{arguments.flow!r}: no flow has this in its name; without --flow all are shown")
    if arguments.json:
        return as_json(rows)
    kept = rows if arguments.all else rows[:FLOWS_SHOWN]
    text = tables.text(kept, DETECTED)
    if len(kept) < len(rows):
        text += f"\nand {len(rows) - len(kept)} flows with fewer packets; --all shows them"
    said: dict[str, list[str]] = {}
    for row in kept:
        for note in row["notes"]:
            said.setdefault(note, []).append(row["flow"])
    for note, flows in said.items():
        more = f" and {len(flows) - 1} others" if len(flows) > 1 else ""
        text += f"\nnote, {flows[0]}{more}: {note}"
    return f"{text}\n\n{MEANT}"


def audit(arguments: Namespace) -> str:
    """`fairq audit`."""
    with Bar(arguments.discipline) as bar:
        found = api.audit(
            arguments.discipline,
            seeds=arguments.seeds,
            quick=arguments.quick,
            run=arguments.replay,
            progress=bar,
        )
    text = as_json(found.document) if arguments.json else _audited(found)
    if not found.passed:
        raise Broken(text)
    return text


def _audited(found: api.Audit) -> str:
    """The tables of an audit, then a line for each broken invariant, each broken bound, and each exemption."""
    name = found.discipline if found.discipline.isidentifier() else f"'{found.discipline}'"
    laws = [_narrow(row, ["law", "runs", "checks", "verdict"]) for row in found.laws]
    bounds = [_narrow(row, ["measure", "worst", "bound", "ratio", "unit", "of", "run", "runs"]) for row in found.bounds]
    packets = [{column.replace("_ps", "_s"): _seconds(column, value) for column, value in row.items()}
               for row in found.packets]  # fmt: skip
    text = _sections({"Laws": laws, "Worst measured": bounds, "Packets": packets, "Cost by the card": found.costs})
    text += f"\nNot measured here; instructions are counted by: {found.document['costs_counted_by']}"
    broken = [f"BROKEN {row['of']}: {row['message']}; fairq audit {name} --replay {row['run']}"
              for row in found.violations]  # fmt: skip
    exempt = [f"Exempt from {row['law']}: {row['example']}; fairq audit {name} --replay {row['run']}"
              for row in found.laws if row["run"] and row["verdict"] != "broken"]  # fmt: skip
    count = f"{found.document['runs']} runs, {found.document['packets']} packets."
    verdict = "Something is broken." if broken else "All laws and bounds that are claimed hold."
    return "\n".join([text, "", *exempt, *broken, f"{count} {verdict}"])


def _seconds(column: str, value: Any) -> Any:
    return value / 1e12 if column.endswith("_ps") and value is not None else value


def topology(arguments: Namespace) -> str:
    """`fairq topology`."""
    out = picture(arguments.out) if arguments.out else None
    with Bar(Path(arguments.file).name) as bar:
        found = api.topology(
            arguments.file,
            strict=arguments.strict,
            default_rate=arguments.default_rate,
            default_delay=arguments.default_delay,
            progress=bar,
        )
    said = {name: value for name, value in found.document.items() if not name.endswith("_table")}
    if out is not None:
        from fairq import maps

        title = f"{Path(arguments.file).stem}: {found.nodes} nodes, {found.links} links, "
        title += f"diameter {found.diameter_s * 1000:.4g} ms"
        with Bar(Path(out).name) as bar:
            figure = maps.network(title, found.node_table, found.link_table, progress=bar)
        save(figure, out)
    if arguments.json:
        return as_json(said)
    lines = [_pairs({name: value for name, value in said.items() if name not in ("warnings", "notes")})]
    lines += [f"warning: {warning}" for warning in found.warnings]
    return "\n".join(lines + [f"note: {note}" for note in found.notes])


def listing(arguments: Namespace) -> str:
    """`fairq list`."""
    entries = api.listing(arguments.what)
    if arguments.json:
        return as_json(entries)
    if arguments.what == "papers":
        return tables.text(entries)
    return _names(entries, streams.screen_width())


def _names(entries: Sequence[Mapping[str, Any]], width: int) -> str:
    """A line for each entry, by part: its name and the first sentence of its card, cut to `width` columns (0: not)."""
    lines: list[str] = []
    for part, group in groupby(entries, key=lambda entry: entry["part"]):
        rows = [(entry["name"], entry["summary"].split(". ")[0].rstrip(".") + ".") for entry in group]
        room = min(max(len(name) for name, _ in rows), NAME_WIDTH)
        lines += ["", part] if lines else [part]
        lines += [f"  {name.ljust(room)}  {sentence}" for name, sentence in rows]
    return "\n".join(line if not width or len(line) <= width else f"{line[: width - 1]}…" for line in lines)


def schema(arguments: Namespace) -> str:
    """`fairq schema`: to the byte the file in schema/."""
    return api.SCHEMAS[arguments.name]()


def explain(arguments: Namespace) -> str:
    """`fairq explain`."""
    if arguments.scenes or arguments.plot:
        return _scenes(arguments)
    if arguments.json:
        cards, text = api.cards(arguments.name), api.explain(arguments.name)
        return as_json({"name": arguments.name, "cards": cards, "card": text})
    width = streams.screen_width() or CARD_WIDTH
    return api.explain(arguments.name, width=min(max(width, api.WIDTH_MIN), CARD_WIDTH_MAX))


def _scenes(arguments: Namespace) -> str:
    """A table for each scene of a transport; or one figure of them all."""
    plot = picture(arguments.plot) if arguments.plot else None
    played = api.scenes(arguments.name)
    if plot:
        from fairq import figures

        save(figures.scenes(played, f"{arguments.name}, driven alone"), plot)
    if arguments.json:
        return as_json(played)
    if plot:
        return "" if arguments.quiet else f"Written: {plot}"
    return "\n\n".join(f"{scene['scene']}: {scene['shows']}\n{tables.text(scene['rounds'])}" for scene in played)


def bench(arguments: Namespace) -> str:
    """`fairq bench`."""
    with Bar("bench") as bar:
        result = api.bench(arguments.rows, quick=arguments.quick, progress=bar)
    if arguments.json:
        return as_json(result)
    shown = [{name: row[name] for name in BENCH_COLUMNS if name in row} for row in result["rows"]]
    columns = [name for name in BENCH_COLUMNS if any(name in row for row in shown)]
    info = ", ".join(f"{key} {value}" for key, value in result["run_info"].items() if value is not None)
    return f"{tables.text(shown, columns)}\n\n{info}\n{BENCHED}"


def bench_disciplines(arguments: Namespace) -> str:
    """`fairq bench disciplines`."""
    if arguments.rows:
        raise UsageError("--row: it names a workload of fairq bench; write names behind fairq bench disciplines")
    with Bar("bench disciplines") as bar:
        result = api.bench_disciplines(arguments.names, mixed=arguments.mixed, quick=arguments.quick, progress=bar)
    if arguments.json:
        return as_json(result)
    floors = [{"floor": row["floor"], "flows": row["flows"], "ns_per_packet": row["ns_per_packet"]}
              for row in result["floors"]]  # fmt: skip
    has_notes = any(row["note"] for row in result["rows"])
    columns = [*DISCIPLINE_COLUMNS, *(["note"] if has_notes else [])]
    return f"Floors\n{tables.text(floors)}\n\nDisciplines\n{tables.text(result['rows'], columns)}\n\n{MEASURED}"


def picture(name: str) -> Path:
    """The path of a picture that can be written; what the plotting package has to say becomes a note."""
    path = Path(name)
    if path.suffix not in (".svg", ".png", ".pdf"):
        raise UsageError(f"{path}: the name must end in .svg, .png or .pdf")
    check_file(path)
    streams.listen()
    return path


def save(figure: Any, path: Path) -> None:
    """Write a figure to the path of a picture, whole or not at all."""
    from fairq import figures

    try:
        with file(path) as place:
            figures.save_as(figure, place)
    except ValueError as error:
        raise OutputError(f"{path}: cannot be written: {error}") from None


def _write_result(inside: Path, result: Result) -> None:
    seed = result.scenario["measure"]["seed"]
    for name in ("flows", "links", "queues", "transfers", "sessions", "series", "packets", "states", "theory"):
        rows = getattr(result, name)
        if not rows:
            continue
        tables.write_csv(inside / f"{name}.csv", rows)
        path = inside / f"{name}.parquet"
        if isinstance(rows, Table):
            rows.write_parquet(path, json.dumps(result.scenario), seed)
        else:
            _native.write_table(str(path), json.dumps(rows), json.dumps(result.scenario), seed)
    with (inside / "result.json").open("w", encoding="utf-8") as file:
        result.write_json(file.write)
        file.write("\n")


def _without_copies(result: Result) -> list[Mapping[str, Any]]:
    """The flows for a screen: the connections of transfers have one row for all in the table of transfers."""
    carried = {row["traffic"] for row in result.transfers}
    return [row for row in result.flows if row["traffic"] not in carried]


def _warned(transfers: Sequence[Mapping[str, Any]]) -> str:
    refused = dict.fromkeys(row["flow"] for row in transfers if row["refused"])
    return "".join(
        f"\n\nWarning: some transfers of {flow} found no idle connection and were refused; a larger count lets them in."
        for flow in refused
    )


def _narrow(row: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The columns that a screen shows; of several seeds with the ends of the confidence interval beside the mean."""
    shown: dict[str, Any] = {}
    for column in columns:
        if column in row:
            shown[column] = row[column]
        if f"{column}_low" in row and column in ("throughput_bit_per_s", "rtt_s_mean"):
            shown[f"{column}_low"] = row[f"{column}_low"]
            shown[f"{column}_high"] = row[f"{column}_high"]
    return shown


def _plot_over_time(path: Path, result: Result) -> None:
    from fairq import figures

    axes = [axis["name"] for axis in result.scenario["axes"]]
    title = result.scenario["title"]
    save(figures.over_time(result.series, axes, title, result.theory or ()), path)


def _sections(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    return "\n\n".join(f"{title}\n{tables.text(rows)}" for title, rows in parts.items() if rows)


def _speed(info: Mapping[str, Any], workers: int | None = None) -> str:
    hops, cpu = info.get("packet_hops"), info.get("cpu_s")
    if not hops:
        return ""
    said = f"\n\n{hops} packet-hops" + (f" in {cpu:.2f} CPU seconds" if cpu else "")
    if info.get("parts", 1) > 1:
        return f"{said}, the network in {info['parts']} parts"
    # A user that asked for workers, or waited, reads why there was one.
    if "whole" in info and (workers or (cpu and cpu > 1)):
        return f"{said}, on one core: {info['whole']}"
    return said


def _pairs(values: Mapping[str, Any]) -> str:
    return "\n".join(f"{tables.heading(key)}: {tables.shown(value)}" for key, value in values.items())


def _split(text: str) -> list[str]:
    """Split at the commas that are in no brackets: drr(quantum=1500, x=1),fq."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def as_json(document: Any) -> str:
    """The document as --json prints it; JSON has no infinity and no NaN: they are null, as what does not exist."""
    return json.dumps(_finite(document), indent=1, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _pieces(result: Result) -> Iterator[str]:
    """A result as --json prints it, with the end of a line."""
    pieces: list[str] = []
    result.write_json(pieces.append)
    yield from pieces
    yield "\n"
