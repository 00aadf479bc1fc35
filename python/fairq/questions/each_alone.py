"""What each item of flows gets of a line of its own, at each loss, beside the formulas of TCP.

Each item with each loss is a question by itself, and all are measured for the same time. The
scenario that is written has both as axes, and gives the same runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairq.core import tables
from fairq.core.results import Result
from fairq.questions import asked, network, sentences, traps
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.questions.comparing import ANSWERED
from fairq.questions.question_results import Alone
from fairq.questions.receive_window import in_words
from fairq.questions.search import measured
from fairq.theories import tcp_throughput

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq compare --alone --json` prints."""

TIMEOUT_S = {"linux": 0.2}
"""Linux's least timeout beyond a round trip (TCP_RTO_MIN); others have a second (RFC 6298, 2.4)."""


def each_alone(question: Question, *, workers: int, progress: Tell | None = None) -> Alone:
    """Run each item of a question alone, with each loss, on `workers` threads."""
    parts, results, found, steady = measured(question.parts(), workers, progress)
    rows = [row for part, answers in zip(parts, found, strict=True) for row in _rows(part, answers)]
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "question": _document(question, parts[0]),
        "steady": steady.document(),
        "rows": rows,
        "notes": _notes(question, results),
        "text": " ".join([*_sentences(rows), *sentences.still_moving(steady)]),
    }
    whole = steady.times.of(question)
    scenario = network.scenario(whole).text
    return Alone(document=document, steady=steady.said(parts[0]), scenario=scenario)


def _notes(question: Question, results: Sequence[Result]) -> list[dict[str, str]]:
    """What to know of the question, and what held a run back, each once."""
    found = [*asked.notes(question), *traps.notes(question)]
    for result in results:
        found += [in_words(note) for note in result.notes if note["code"] not in ANSWERED]
    return [note for at, note in enumerate(found) if note not in found[:at]]


def _document(question: Question, measured: Question) -> dict[str, Any]:
    times = {"duration": measured.duration, "warm_up": measured.warm_up}
    said = {name: value for name, value in question.document().items() if name not in ("hosts", "loss_burst")}
    return said | times | {"loss": [loss.text for loss in question.losses]}


def _rows(part: Question, answers: Answers) -> Iterator[dict[str, Any]]:
    """The rows of one item with one loss, each with what the formulas say of it."""
    loss = part.loss
    for row in answers.rows():
        said = {"line_loss": loss.part if loss else 0.0, "burst": loss.burst if loss else None}
        yield said | row | _formulas(part, row)


def _formulas(part: Question, row: Mapping[str, Any]) -> dict[str, float | None]:
    """What the formulas give at the line's loss and the measured round trip, at most the line.

    They know single losses of a line alone: without them, or in bursts, they say nothing.
    """
    loss = part.loss
    if loss is None or not loss.part or loss.burst is not None or row["queueing_s_mean"] is None:
        return {"padhye_bit_per_s": None, "rfc9438_bit_per_s": None}
    rtt = row["rtt_s"] + row["queueing_s_mean"]
    timeout = rtt + TIMEOUT_S[part.profile] if part.profile in TIMEOUT_S else max(1.0, rtt)
    bits, most = 8 * network.PACKET * row["count"], part.rate_bit_per_s(row["direction"])
    return {
        "padhye_bit_per_s": min(bits * tcp_throughput.padhye_full(rtt, loss.part, timeout=timeout), most),
        "rfc9438_bit_per_s": min(bits * tcp_throughput.cubic(rtt, loss.part), most),
    }


def _sentences(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What each item gets, a sentence for each loss, at the first of the other choices."""
    first = rows[0]
    same = ("queue", "host_queue", "buffer", "rtt_s")
    mine = [row for row in rows if all(row[name] == first[name] for name in same)]
    where = "" if len(mine) == len(rows) else f" ({first['queue']}, {tables.value('rtt_s', first['rtt_s'])})"
    for line in dict.fromkeys((row["line_loss"], row["burst"]) for row in mine):
        at = [row for row in mine if (row["line_loss"], row["burst"]) == line]
        got = ", ".join(f"{row['flow']} {_got(row)}" for row in at)
        yield f"{_loss(*line)}{where}: {got}."


def _loss(part: float, burst: float | None) -> str:
    if not part:
        return "Without a loss"
    return f"At a loss of {100 * part:.3g} %{f' in bursts of {burst:g}' if burst else ''}"


def _got(row: Mapping[str, Any]) -> str:
    goodput = tables.value("x_bit_per_s", row["goodput_bit_per_s"])
    return f"{goodput} ({sentences.amount('share', row['share'])})"
