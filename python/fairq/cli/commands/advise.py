"""`fairq advise`: which queue is best for a line, and how Linux is told to have it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairq import api, plots
from fairq.cli.options import DRY_RUN, LOOKS, SCENARIO, WORKERS, plot
from fairq.cli.printing import as_json, columns, dry_run, look, paragraphs, picture, save, save_text, style, tell
from fairq.core import tables
from fairq.core.declared import PART, Option, Spec, options, picked
from fairq.core.errors import UsageError
from fairq.core.output import check_file
from fairq.core.progress import Bar
from fairq.questions import advising, least_buffer
from fairq.questions.advising import LONGER, Line
from fairq.questions.asked import Question
from fairq.questions.measures import quantity
from fairq.questions.question_results import Advice
from fairq.questions.ranking import CRITERIA
from fairq.questions.search import Search
from fairq.questions.sentences import amount

SPEC = Spec(
    "advise",
    "fairq advise --down 50Mbit/s --up 10Mbit/s --rtt 20ms,80ms",
    (
        *options(Line),
        Option("buffer_for", "find the least buffers that use this part of the line, as 99%", "PART", PART,
               in_python=False),
        *plot("draw the trade-off into FILE"),
        SCENARIO,
        WORKERS,
        DRY_RUN,
        *LOOKS,
    ),
    "Queues as Linux's tc sets them up have bulk flows in both directions, a user of the web, and a call or your"
    " own packets, on a line of these rates. They are ranked by the call; those within 5 ms of the best by"
    " transfers,"
    f" then by queueing of bulk flows, then by utilisation; or by one of {', '.join(CRITERIA)}."
    " docs/guide/advise.md says what is behind it.",
    functions=("advise", "least_buffer"),
    beside=("share", "progress"),
)  # fmt: skip


def advise(arguments: Namespace) -> str:
    """`fairq advise`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    words = picked(Line, vars(arguments))
    for word, value in words.items():
        if value == "":
            raise UsageError(f"--{word.replace('_', '-')} is empty; write a value, or leave it out")
    if arguments.scenario:
        check_file(arguments.scenario)
    if arguments.buffer_for is not None:
        return _least_buffer(arguments, words)
    wish = advising.wish(**words)
    # The packets of a capture stand beside the scenario that reads them.
    table = Path(arguments.scenario).with_suffix(".packets.csv") if arguments.scenario and wish.capture else None
    if table is not None:
        check_file(table)
    if arguments.dry_run:
        with advising.with_packets(wish, table) as question:
            return dry_run(_search([question, *wish.alone(question)], arguments), arguments, table)
    with Bar("advise") as bar:
        found = advising.advise(wish, arguments.workers or api.cores(), bar, table)
    if arguments.scenario:
        save_text(found.scenario, arguments.scenario)
    if drawing is not None:
        save(plots.of_advice(found, style(arguments)), drawing)
    tell(found.notes)
    if arguments.json:
        return as_json(found.document, "advise")
    said = (found.text, found.document["linux"]["text"])
    parts = [_table(found, arguments), *map(tables.prose, said), *(["\n".join(found.tc)] if found.tc else [])]
    return paragraphs(parts, arguments, arguments.scenario, table, drawing)


def _least_buffer(arguments: Namespace, words: Mapping[str, Any]) -> str:
    """`fairq advise --buffer-for`: the least buffer of each queue."""
    others = [option.name for option in options(Line, without=least_buffer.WORDS) if option.default is None]
    for word in (*others, "plot"):
        if getattr(arguments, word) is not None:
            raise UsageError(f"--{word.replace('_', '-')}: --buffer-for tries rooms alone; leave one of the two out")
    asks = {word: words[word] for word in least_buffer.WORDS} | {"share": arguments.buffer_for}
    if arguments.dry_run:
        return dry_run(_search([least_buffer.ask(**asks).question], arguments), arguments)
    with Bar("advise") as bar:
        least = api.least_buffer(**asks, workers=arguments.workers, progress=bar)
    if arguments.scenario:
        save_text(least.scenario, arguments.scenario)
    tell(least.notes)
    if arguments.json:
        return as_json(least.document, "advise-buffer")
    shown = None if arguments.wide else BUFFERS
    table = tables.text(least.rows, shown, keep=("queue", "products"), **look(arguments))
    seeds = least.rows[0]["seeds"]
    means = f"Of {seeds} seeds with 95 % intervals." if seeds > 1 else "One seed."
    parts = [table, tables.prose(f"{means} {least.steady}"), tables.prose(least.text)]
    return paragraphs(parts, arguments, arguments.scenario)


def _search(questions: Sequence[Question], arguments: Namespace) -> Search:
    return Search(questions, arguments.workers or api.cores(), longer=LONGER)


def _table(found: Advice, arguments: Namespace) -> str:
    """The candidates with what they are ranked by, and by how much each is worse than the best."""
    criterion, then = found.criterion["column"], found.criterion["then"]
    is_whole = arguments.wide or arguments.si
    rows = [row if is_whole else _shown(row, bool(then)) for row in found.candidates]
    names = dict.fromkeys(("rank", "candidate", criterion, *then, "worse_by", "worse_in", *COLUMNS))
    shown = columns(rows, names, arguments)
    minor = [name for name in MINOR if name not in (criterion, "utilisation")]
    table = tables.text(rows, shown, minor=minor, keep=("rank", "candidate", criterion), **look(arguments))
    unranked = "".join(f"\n{tables.prose(line)}" for line in _unranked(found))
    kinds = f"\n\nEach kind of users:\n{_kinds(found, arguments)}" if found.kinds else ""
    return f"{table}{unranked}{kinds}\n\n{tables.prose(' '.join(_said(found)))}"


def _kinds(found: Advice, arguments: Namespace) -> str:
    """What each kind of users has behind each candidate."""
    shown = columns(found.kinds, dict.fromkeys(("candidate", "kind", "part", *OF_KINDS)), arguments)
    return tables.text(found.kinds, shown, keep=("candidate", "kind", "guarantee_kept"), **look(arguments))


def _said(found: Advice) -> Iterator[str]:
    """What the numbers of the table are."""
    seeds = found.candidates[0]["seeds"]
    means = f"means of {seeds} seeds with their 95 % intervals, " if seeds > 1 else ""
    worst = "The worst of both directions and all kinds of users" if found.kinds else "The worse of both directions"
    yield f"{worst}, {means}and over the round trips."
    yield found.steady
    line = found.document["line"]
    if not line["shared"]:
        yield f"The flows: {', '.join(line['flows'])}."
    for kind in line["shared"]:
        yield f"Kind {kind['kind']}, guaranteed {100 * kind['part']:.3g} %: {', '.join(kind['flows'])}."
    yield "Utilisation is a part of the rate that the commands set up; shaping gives away what is below the line."


def _unranked(found: Advice) -> Iterator[str]:
    """Why candidates have the rank -."""
    least = found.criterion["utilisation_min"]
    few = [row["candidate"] for row in found.candidates if not row["is_full"]]
    none = [row["candidate"] for row in found.candidates if row["rank"] is None and row["is_full"]]
    if few:
        names, use = ", ".join(few), "use" if len(few) > 1 else "uses"
        yield f"No rank: {names} {use} less than {100 * least:.3g} % of the rate set up."
    if none:
        yield f"No rank: {', '.join(none)} {'have' if len(none) > 1 else 'has'} no value of the criterion."


def _shown(row: Mapping[str, Any], has_several: bool) -> dict[str, Any]:
    """A candidate; what it is worse by, and in what if there are several criteria."""
    found = {name: value for name, value in row.items() if not name.startswith("worse_")}
    column = row["worse_in"]
    if column is None:
        # The first, an equal one, or one without a rank.
        return found | {"worse_by": "equal" if row["rank"] not in (None, 1) else None}
    by = amount(quantity(column), row["worse_by"])
    return found | {"worse_by": f"{by} {WORSE_IN[column]}" if has_several else by}


BUFFERS = ("queue", "rtt_s", "direction", "count", "products", "bytes", "rule_products", "queueing_s_mean",
           "utilisation_most")  # fmt: skip
"""The columns of least buffers on a screen; --wide and --json have all."""

WORSE_IN = {
    "guarantee_kept": "(guarantee)", "alone_utilisation": "(alone)",
    "call_queueing_s_p99": "(call)", "call_in_time": "(call)", "completion_s_mean": "(transfers)",
    "bulk_queueing_s_mean": "(bulk)", "utilisation": "(utilisation)",
}  # fmt: skip
"""What a candidate is worse in, by column."""

OF_KINDS = ("guarantee_kept", "call_queueing_s_p99", "completion_s_mean", "bulk_queueing_s_mean", "alone_utilisation",
            "call_loss")  # fmt: skip
"""The columns of kinds of users on a screen."""

COLUMNS = ("utilisation", "given_away", "call_loss", "completion_s_mean", "bulk_queueing_s_mean", "jain", "is_decided",
           "limit_down", "limit_up")  # fmt: skip
"""The columns on a screen beside the criterion's; --wide and --json have all."""

MINOR = ("limit_down", "limit_up", "is_decided", "jain", "given_away", "call_loss", "completion_s_mean",
         "bulk_queueing_s_mean")  # fmt: skip
"""The columns that go first where a screen is too narrow."""
