"""`fairq compare`: queues, buffers and congestion controls over one line, asked in one line."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from fairq import api, plots
from fairq.cli.options import DRY_RUN, LOOKS, PARTS, SCENARIO, WORKERS, plot
from fairq.cli.printing import as_json, columns, dry_run, look, paragraphs, picture, save, save_text, style, tell
from fairq.core import tables
from fairq.core.declared import Spec, options, picked, switch
from fairq.core.errors import UsageError
from fairq.core.output import check_file
from fairq.core.progress import Bar
from fairq.questions import asked, comparing
from fairq.questions.asked import Question
from fairq.questions.each_alone import each_alone
from fairq.questions.measures import FLOW_KINDS
from fairq.questions.question_results import Comparison
from fairq.questions.search import Search
from fairq.questions.sentences import amount

SPEC = Spec(
    "compare",
    "fairq compare --rate 100Mbit/s --rtt 40ms --flows cubic:2,bbr:2 --queue fifo,fq_codel,cake",
    (
        *options(asked.Question),
        switch("paired", "show differences between runs of the same seeds, and which are decided"),
        *plot("draw means with their intervals"),
        SCENARIO,
        PARTS,
        WORKERS,
        DRY_RUN,
        *LOOKS,
    ),
    "An item of --flows is CONTROL[(settings)][:COUNT][@RTT][(start=, size=, direction=up|down, dscp=)], or web,"
    " call(rate=) or flood(rate=). The values of --queue, --host-queue, --buffer and --rtt are crossed."
    " docs/guide/compare.md shows what to ask.",
    functions=("compare", "compare_alone"),
    beside=("progress",),
)  # fmt: skip


def compare(arguments: Namespace) -> str:
    """`fairq compare`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    if arguments.scenario:
        check_file(arguments.scenario)
    question = asked.ask(arguments.parts, **picked(asked.Question, vars(arguments)))
    if arguments.alone:
        _check_alone(arguments)
    if arguments.dry_run:
        return dry_run(Search([question], arguments.workers or api.cores()), arguments)
    if arguments.alone:
        return _alone(arguments, question)
    with Bar("compare") as bar:
        comparison = comparing.compare(
            question, paired=arguments.paired, workers=arguments.workers or api.cores(), progress=bar
        )
    if arguments.scenario:
        save_text(comparison.scenario, arguments.scenario)
    if drawing is not None:
        save(plots.of_comparison(comparison, style(arguments)), drawing)
    tell(note for note in comparison.notes if note["code"] != "buffer")
    if arguments.json:
        return as_json(comparison.document, "compare")
    said = (comparison.answer["text"], comparison.document["linux"]["text"])
    parts = [*_shown(comparison, arguments), *map(tables.prose, said)]
    return paragraphs(parts, arguments, arguments.scenario, drawing)


def _check_alone(arguments: Namespace) -> None:
    for option in ("paired", "plot"):
        if getattr(arguments, option):
            raise UsageError(f"--{option}: --alone compares no flows of one line; leave one of the two out")


def _alone(arguments: Namespace, question: Question) -> str:
    """`fairq compare --alone`: each item on a line of its own."""
    with Bar("compare") as bar:
        found = each_alone(question, workers=arguments.workers or api.cores(), progress=bar)
    if arguments.scenario:
        save_text(found.scenario, arguments.scenario)
    tell(note for note in found.notes if note["code"] != "buffer")
    if arguments.json:
        return as_json(found.document, "compare-alone")
    minor = (*MINOR, "queueing_s_mean", "loss")
    shown = columns(found.rows, ALONE, arguments)
    table = tables.text(found.rows, shown, minor=minor, keep=("line_loss", "flow"), **look(arguments))
    parts = [table, _numbers(found.rows, found.steady, found.notes), tables.prose(found.text)]
    return paragraphs(parts, arguments, arguments.scenario)


def _shown(comparison: Comparison, arguments: Namespace) -> list[str]:
    """The tables, each under its title, and what their numbers are."""
    parts = []
    # A limit that follows from the queue tells no rows apart.
    follows = [] if comparison.document["question"]["buffer"] else ["buffer"]
    kinds = [] if comparison.document["question"]["hosts"] else FLOW_KINDS
    minor = [*kinds, *follows, *MINOR]
    for title, rows, names in (("Flows", comparison.rows, ROWS), ("Queues", comparison.queues, QUEUES)):
        shown = columns(rows, names, arguments)
        table = tables.text(rows, shown, minor=minor, keep=("queue", "flow"), **look(arguments))
        parts.append(f"{title}\n{table}")
    if arguments.paired:
        paired = comparison.paired if arguments.si else [_read(row) for row in comparison.paired]
        kept = ("quantity", "a", "b", "difference", "decided")
        table = tables.text(paired, keep=kept, minor=("95 % interval",), **look(arguments)) if paired else NO_PAIRS
        parts.append(f"a less b, on the same seeds\n{table}")
    return [*parts, _numbers(comparison.rows, comparison.steady, comparison.notes)]


def _numbers(rows: Sequence[Mapping[str, Any]], steady: str, notes: Sequence[Mapping[str, Any]]) -> str:
    """What the numbers of the tables are."""
    seeds = rows[0]["seeds"]
    means = f"Means of {seeds} seeds with their 95 % intervals." if seeds > 1 else "One seed."
    said = [f"{note['where']}: {note['text']}." for note in notes if note["code"] == "buffer"]
    return tables.prose(" ".join([means, steady, *said]))


def _read(row: Mapping[str, Any]) -> dict[str, Any]:
    """A difference as people read it: each quantity has a unit of its own."""
    quantity = row["quantity"]
    low, high = (amount(quantity, row[end]) for end in ("low", "high"))
    return {
        "quantity": tables.words(quantity)[0],
        "flow": row["flow"],
        "a": row["a"],
        "b": row["b"],
        "difference": amount(quantity, row["difference"]),
        "95 % interval": f"{low} to {high}",
        "decided": row["decided"],
        "more seeds": row["more_seeds"] or None,
    }


NO_PAIRS = "one seed has no difference; write --seeds 10"


ALONE = ("line_loss", "burst", "queue", "host_queue", "buffer", "rtt_s", "flow", "count", "share", "goodput_bit_per_s",
         "padhye_bit_per_s", "rfc9438_bit_per_s", "queueing_s_mean", "loss")  # fmt: skip
ROWS = ("queue", "host_queue", "buffer", "rtt_s", "flow", "direction", "count", "share", "share_per_host",
        "goodput_bit_per_s", "queueing_s_mean", "queueing_s_p95", "queueing_s_p99", "loss", "marked_ratio",
        "retransmitted", "completion_s_mean")  # fmt: skip
QUEUES = ("queue", "host_queue", "buffer", "rtt_s", "direction", "jain", "jain_hosts", "utilisation",
          "queueing_s_mean", "overtaken", *FLOW_KINDS)  # fmt: skip
"""The columns on a screen; --wide and --json have all."""

MINOR = ("overtaken", "retransmitted", "queueing_s_p95", "count", "goodput_bit_per_s", "queueing_s_p99", "marked_ratio")
"""The columns that go first where a screen is too narrow."""
