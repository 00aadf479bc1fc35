"""The least buffer that keeps a part of a line, by queue, beside the rule of thumb.

Each queue runs with rooms from a fiftieth to four bandwidth-delay products. What is used of the
line is a mean over the seeds with a 95 % interval at each room. The least buffer is where the mean
comes to the target for good; the ends of its interval are where the upper and the lower ends do.
Between two rooms the logarithm of the room is interpolated.

Rule of thumb: a product over the square root of the number of flows (Appenzeller, Keslassy and
McKeown, "Sizing Router Buffers", SIGCOMM 2004); one product for one flow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fairq import statistics
from fairq.core import tables
from fairq.core.arguments import read
from fairq.core.declared import command_line, said
from fairq.core.errors import UsageError
from fairq.questions import asked, network, sentences, words
from fairq.questions.advising import LONGER, Line
from fairq.questions.answers import Answers, Choice, Point
from fairq.questions.asked import Question
from fairq.questions.measures import MEASURES
from fairq.questions.question_results import LeastBuffer
from fairq.questions.search import measured

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq advise --buffer-for --json` prints."""

PRODUCTS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 2.0, 4.0)
"""The rooms that are tried, in bandwidth-delay products."""

QUEUES, FLOWS = ("fifo", "fq_codel"), "cubic:4"
"""The queues and the flows where none are named."""


@dataclass(frozen=True)
class Sought:
    """The part of the line that is to be kept, and the runs that tell."""

    part: float
    question: Question


TIMES = ("duration", "warm_up")
WORDS = ("down", "up", "rtt", "flows", "queue", "seeds", *TIMES)
"""The words of a line that it goes with."""


def ask(share: str | float, **given: Any) -> Sought:
    """What these words ask for, WORDS of `Line`; UsageError names the word that makes no sense."""
    part = words.part("--buffer-for", share, "the line", "99%")
    if part <= 0:
        raise UsageError(f"--buffer-for {share}: write the part of the line that is to be used, as 99%")
    asks = read(Line, "least_buffer", given)
    question = asked.ask(
        rate=f"{asks.down}/{asks.up}", rtt=asks.rtt, flows=asks.flows or FLOWS, queue=asks.queue or list(QUEUES),
        seeds=asks.seeds, duration=asks.duration, warm_up=asks.warm_up,
        buffer=[f"{product:g}BDP" for product in PRODUCTS],
    )  # fmt: skip
    if not any(item.is_greedy for item in question.flows):
        raise UsageError("--flows: none takes what it can get, so that no buffer fills the line; write cubic as well")
    asks = replace(asks, flows=tuple(item.text for item in question.flows), queue=question.queues)
    kept = [each for each in said(asks) if each[0].name in WORDS and each[0].name not in TIMES]
    command = f"{command_line('fairq advise', kept)} --buffer-for {100 * part:g}%"
    return Sought(part, replace(question, asked_by=command))


def least_buffer(sought: Sought, *, workers: int, progress: Tell | None = None) -> LeastBuffer:
    """Run every queue with every room on `workers` threads."""
    (question,), _, (answers,), steady = measured([sought.question], workers, progress, LONGER)
    rows = list(_rows(sought.part, answers))
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "command": question.command,
        "part": sought.part,
        "down": question.rates[0],
        "up": question.rates[1],
        "rtt": list(question.line_rtts),
        "flows": [item.text for item in question.flows],
        "seeds": question.seeds,
        "steady": steady.document(),
        "rows": rows,
        "tried": list(_tried(answers)),
        "notes": [note for note in asked.notes(question) if note["code"] != "tail"],
        "text": " ".join([*_sentences(sought.part, rows), *sentences.still_moving(steady, ("share",))]),
    }
    return LeastBuffer(document=document, steady=steady.said(question), scenario=network.text(question))


class _Used(NamedTuple):
    """What is used of a direction of the line with one room."""

    product: float
    point: Point
    mean: float
    low: float
    high: float


def _curves(answers: Answers) -> Iterator[tuple[str, str, str, list[_Used]]]:
    """By queue, round trip and filled direction, what is used with each room, the least first."""
    for queue in answers.question.queues:
        for rtt in answers.question.line_rtts:
            for way in filter(answers.greedy, answers.directions):
                at = [(product, Choice(queue, None, f"{product:g}BDP")) for product in PRODUCTS]
                yield queue, rtt, way, [_used(product, answers.at(choice, rtt)[0], way) for product, choice in at]


def _used(product: float, point: Point, way: str) -> _Used:
    found = statistics.interval([seed["utilisation"] for seed in point.lines[way]], MEASURES["utilisation"].scale)
    mean = found.mean or 0.0
    ends = (mean if end is None else end for end in (found.low, found.high))
    return _Used(product, point, mean, *ends)


def _rows(part: float, answers: Answers) -> Iterator[dict[str, Any]]:
    """The least buffer of each curve."""
    for queue, rtt, way, curve in _curves(answers):
        flows = sum(answers.question.groups[at].count for at in answers.greedy(way))
        rtt_s = words.quantity("--rtt", "time", rtt)
        product_bytes = answers.question.rate_bit_per_s(way) * rtt_s / 8
        products = _least(part, [(used.product, used.mean) for used in curve])
        low = _least(part, [(used.product, used.high) for used in curve])
        high = _least(part, [(used.product, used.low) for used in curve])
        most = max(curve, key=lambda used: used.mean)
        yield {
            "queue": queue, "rtt_s": rtt_s, "direction": way, "count": flows,
            "products": products, "products_low": low if low != PRODUCTS[0] else None, "products_high": high,
            "bytes": None if products is None else max(products * product_bytes, float(network.PACKET)),
            "rule_products": 1 / math.sqrt(flows), "product_bytes": product_bytes,
            "utilisation_most": most.mean, "most_at_products": most.product,
            "queueing_s_mean": _waits(curve, products, way), "seeds": len(most.point.lines[way]),
        }  # fmt: skip


def _least(part: float, curve: Sequence[tuple[float, float]]) -> float | None:
    """The room from which on a curve keeps `part`; `None` if it does not at its end."""
    short = [at for at, (_, used) in enumerate(curve) if used < part]
    if not short:
        return curve[0][0]
    if short[-1] == len(curve) - 1:
        return None
    (below, less), (above, more) = curve[short[-1] : short[-1] + 2]
    return below * math.pow(above / below, (part - less) / (more - less))


def _waits(curve: Sequence[_Used], products: float | None, way: str) -> float | None:
    """The mean queueing delay with the first room that is tried and not less than the least."""
    used = next((used for used in curve if products is not None and used.product >= products), None)
    waits = [seed["queueing_s_mean"] for seed in used.point.lines[way]] if used else []
    return statistics.interval(waits, MEASURES["queueing_s_mean"].scale).mean if waits else None


def _tried(answers: Answers) -> Iterator[dict[str, Any]]:
    """What was used of the line with each room."""
    for queue, rtt, way, curve in _curves(answers):
        for used in curve:
            yield {
                "queue": queue, "rtt_s": words.quantity("--rtt", "time", rtt), "direction": way,
                "products": used.product, "limit": used.point.limits[way], "utilisation": used.mean,
                "utilisation_low": used.low, "utilisation_high": used.high,
            }  # fmt: skip


def _sentences(part: float, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What each queue needs, the rule of thumb, and what none gives."""
    wanted = f"{100 * part:g} %"
    if all(row["products"] is None for row in rows):
        best = max(rows, key=lambda row: row["utilisation_most"])
        kept = math.floor(1000 * best["utilisation_most"]) / 10
        yield (
            f"None of these keeps {wanted} of the line with up to {PRODUCTS[-1]:g}BDP: {_name(best, rows)} keeps most, "
            f"{sentences.amount('utilisation', best['utilisation_most'])} with {best['most_at_products']:g}BDP; write "
            f"for example --buffer-for {kept:g}%."
        )
        return
    for row in rows:
        name = _name(row, rows)
        if row["products"] is None:
            most = sentences.amount("utilisation", row["utilisation_most"])
            yield f"{name} keeps no more than {most}, with {row['most_at_products']:g}BDP."
        else:
            yield f"{name} keeps {wanted} of the line with {_room(row)}."
    for flows in dict.fromkeys(row["count"] for row in rows):
        rule = f"BDP/√{flows} for {flows} flows" if flows > 1 else "one BDP for one flow"
        yield f"The rule of thumb is {1 / math.sqrt(flows):.3g}BDP, {rule}."


def _name(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """What tells a row from the others."""
    parts = [row["queue"]]
    if len({each["rtt_s"] for each in rows}) > 1:
        parts.append(f"at {tables.value('rtt_s', row['rtt_s'])}")
    if len({each["direction"] for each in rows}) > 1:
        parts.append(row["direction"])
    return " ".join(parts)


def _room(row: Mapping[str, Any]) -> str:
    """A room in products with its interval, and in bytes."""
    low = f"{row['products_low']:.2g}" if row["products_low"] is not None else "less"
    high = f"{row['products_high']:.2g}" if row["products_high"] is not None else f"more than {PRODUCTS[-1]:g}"
    said, size = f"{row['products']:.2g}", tables.value("x_bytes", row["bytes"])
    if row["products"] <= PRODUCTS[0]:
        return f"{said}BDP or less, {size}"
    return f"{said}BDP, {size}" if low == high == said else f"{said}BDP ({low} to {high}), {size}"
