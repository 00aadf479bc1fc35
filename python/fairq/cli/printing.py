"""What commands print with: JSON, sections of tables, pictures, notes."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from fairq import plots
from fairq.core import lazy, streams, tables
from fairq.core.errors import OutputError, UsageError
from fairq.core.estimating import Estimate
from fairq.core.output import check_file, file
from fairq.core.progress import span
from fairq.core.results import Result
from fairq.core.rows import as_text

if TYPE_CHECKING:
    from fairq.figures import Style
    from fairq.questions.search import Search
    from fairq.studies.run_folder import RunFolder
    from fairq.studies.stored_runs import Results

FLOWS_SHOWN = 20
"""Flows in the tables of a replay, those with most packets, unless all are asked for."""


def as_json(document: Any, schema: str) -> str:
    """The document as --json prints it, by the schema of that name (fairq.schemas)."""
    return "".join(leaving([as_text(document)], schema))


def pieces(result: Result) -> Iterator[str]:
    """A result as --json prints it, with the end of a line."""
    pieces: list[str] = []
    result.write_json(pieces.append)
    yield from leaving([*pieces, "\n"], "result")


def leaving(document: Iterable[str], schema: str) -> Iterable[str]:
    """The pieces of a document. All documents leave here, where tests hold each to its schema."""
    del schema
    return document


class Look(TypedDict):
    """How the tables of a command look: what its options and the terminal say, as `tables.text` takes it."""

    wide: bool
    si: bool
    colour: bool


def look(arguments: Namespace) -> Look:
    """How the tables of this command look."""
    return {"wide": arguments.wide, "si": arguments.si, "colour": streams.has_colour()}


def sections(parts: Mapping[str, str]) -> str:
    """Tables below each other, each under its title; what is empty is left out."""
    return "\n\n".join(f"{title}\n{table}" for title, table in parts.items() if table)


def pairs(values: Mapping[str, Any], si: bool = False) -> str:
    """A line for each value, behind its name."""
    return "\n".join(f"{tables.head(key, si)}: {tables.value(key, value, si)}" for key, value in values.items())


def written(arguments: Namespace, *places: str | Path | None) -> str:
    """The end of what a command prints: a line for each file and folder that it wrote; not with --json or --quiet."""
    if arguments.json or arguments.quiet:
        return ""
    return "".join(f"\nWritten: {tables.shown(str(place))}" for place in places if place)


def paragraphs(parts: Iterable[str], arguments: Namespace, *places: str | Path | None) -> str:
    """What a command prints, with an empty line between the parts, and behind them what it wrote."""
    said = written(arguments, *places)
    return "\n\n".join(parts) + (f"\n{said}" if said else "")


def columns(rows: Sequence[Mapping[str, Any]], names: Iterable[str], arguments: Namespace) -> list[str] | None:
    """The columns to show: those of `names` that rows have, with --si their ends too; None for all of --wide."""
    if arguments.wide:
        return None
    ends = ("", *tables.ENDS) if arguments.si else ("",)
    return [column for name in names for end in ends if (column := f"{name}{end}") in rows[0]]


def tell(notes: Iterable[Mapping[str, Any]]) -> None:
    """Print notes to standard error, one a line."""
    for each in notes:
        streams.note(f"{each['where']}: {each['text']} [{each['code']}]")


def tell_of(results: Results | RunFolder) -> None:
    """Print what a reader of a study should know first: damaged parts.

    And a store of another version.
    """
    for damage in results.damages:
        streams.note(str(damage))
    if results.other_version is not None:
        streams.note(results.other_version)


def cost(found: Estimate) -> str:
    """What runs will cost, in a sentence."""
    runs = f"{_many(found.points, 'point')} x {_many(found.seeds, 'seed')} = {_many(found.runs, 'run')}: "
    if found.time_s is None or found.packet_hops is None:
        memory = f"about {(found.memory_bytes or 0) / 1e9:.1f} GB of memory"
        return f"{runs}{memory}, so that it was not tried how long they take."
    about = "" if found.is_exact else "about "
    took = f"{about}{span(found.time_s)}" if found.time_s >= 1 else "less than 1 s"
    memory = "" if found.memory_bytes is None else f", {found.memory_bytes / 1e6:.0f} MB of memory"
    most = ""
    if found.longest_times > 1:
        longest = span(found.time_s * found.longest_times)
        most = f" That is at least; at most {found.longest_times:.3g} times as much, {longest}."
    return (
        f"{runs}{about}{found.packet_hops / 1e6:.3g} million packet-hops, "
        f"{took} on {_many(found.workers, 'thread')}{memory}.{most}"
    )


def dry_run(search: Search, arguments: Namespace, *places: Path | None) -> str:
    """What the runs of a search will take; writes the scenario, if it is asked for. `places` were written before."""
    found = search.expected()
    if arguments.scenario:
        save_text(search.scenarios()[0].text, arguments.scenario)
    if arguments.json:
        return as_json(found.document, "estimate")
    return cost(found) + written(arguments, arguments.scenario, *places)


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def picture(name: str) -> Path:
    """The path of a picture that can be written; what the plotting package has to say becomes a note."""
    path = Path(name)
    if path.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise UsageError(f"{path}: the name must end in .svg, .png or .pdf")
    check_file(path)
    # said before the work whose picture it is
    lazy.look("a picture", "matplotlib", "numpy")
    streams.listen()
    return path


def save_text(text: str, path: str) -> None:
    """Write a file of text, whole or not at all."""
    with file(path) as place:
        place.write_text(text, encoding="utf-8")


def save_trace(result: Result, path: str) -> None:
    """Write the trace of a result, whole or not at all."""
    with file(path) as place, place.open("w", encoding="utf-8") as to:
        result.write_trace(to.write)


QLOGS_MAX = 100
"""The most flows that have a log of their own."""


def save_qlogs(result: Result, path: str) -> list[str]:
    """Write the log of each flow's sender, whole or not at all, and give the files.

    Of one flow it is `path`; of several a.qlog becomes a.NAME.qlog for each.
    """
    flows = list(dict.fromkeys(row["flow"] for row in result.flows))
    if len(flows) == 1:
        places = {flows[0]: path}
    else:
        at = Path(path)
        named = {flow: re.sub(r"[^-.\w]+", "_", flow) for flow in flows[:QLOGS_MAX]}
        places = {flow: str(at.with_name(f"{at.stem}.{name}{at.suffix}")) for flow, name in named.items()}
    if len(flows) > QLOGS_MAX:
        text = f"of {len(flows)} flows the first {QLOGS_MAX} have a log; set fewer flows for all of them"
        tell([{"code": "qlog", "where": "--qlog", "text": text}])
    for flow, place in places.items():
        result.write_qlog(flow, place)
    return list(places.values())


def style(arguments: Namespace) -> Style:
    """The style of figures that --for, --dark and --bare ask for."""
    made: Style = plotting().style(arguments.size or "page", dark=arguments.dark, bare=arguments.bare)
    return made


def plotting() -> Any:
    """`fairq.figures`, which loads the plotting package: only a picture pays for it."""
    return plots.loaded()


def save(figure: Any, path: Path) -> None:
    """Write a figure to the path of a picture, whole or not at all."""
    from fairq import figures

    try:
        with file(path) as place:
            figures.save_as(figure, place)
    except ValueError as error:
        raise OutputError(f"{path}: cannot be written: {error}") from None
