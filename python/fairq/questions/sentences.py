"""The answer to a question in sentences: the verdict, what each control gets, what is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fairq.core import tables
from fairq.questions.judging import SHARE_LEAST, counts
from fairq.questions.measures import MEASURES
from fairq.questions.network import Key

if TYPE_CHECKING:
    from fairq.questions.answers import Answers, Choice
    from fairq.questions.steady import Steady


class Saying(NamedTuple):
    """What is said of the best by a quantity, of one and of two, and what its values are of."""

    one: str
    two: str
    values: str


SAYINGS = {
    "jain": Saying("shares most evenly", "share most evenly", "Jain's index"),
    "jain_hosts": Saying("shares most evenly among hosts", "share most evenly among hosts", "Jain's index of hosts"),
    "queueing_s_mean": Saying("has the shortest queue", "have the shortest queues", "mean queueing delay"),
    "queueing_s_p99": Saying("delays {of} least", "delay {of} least", "99th percentile of its queueing delay"),
    "completion_s_mean": Saying("finishes {of} soonest", "finish {of} soonest", "mean completion time"),
    "share": Saying("leaves {of} most", "leave {of} most", "its part of the line"),
    "share_per_flow": Saying("gets most", "get most", "part of the line for each flow"),
}
"""The words for each quantity."""

CHOICES_MAX = 4
"""Most values that a sentence lists; of more it has the ends."""

FULL = 0.99
"""The part of the line from which on it counts as used in full."""

MOVES_SAID = 2
"""What moves most is said: at most this number of moves."""


def text(answers: Answers, answer: Mapping[str, Any], steady: Steady) -> str:
    """The whole answer."""
    rtts = answers.question.line_rtts
    by_rtt = [answers.answer(steady, rtt) for rtt in rtts]
    if len(rtts) == 1 or not _turns(answers, by_rtt):
        said = _at(answers, answer, None)
        turned = [""] if answers.is_turned(answer, steady) else []
        if len(rtts) > 1:
            said.append(f"Means over {len(rtts)} round trips.")
    else:
        said = [
            f"At {rtt}: {' '.join(_at(answers, each, rtt))}" for rtt, each in zip(rtts, by_rtt, strict=True)
        ]  # fmt: skip
        found = zip(rtts, by_rtt, strict=True)
        turned = [f"at {rtt}" for rtt, each in found if answers.is_turned(each, steady, rtt)]
        turned = [""] if len(turned) == len(rtts) else turned
    return " ".join([*said, *moving(steady, answers.name, turned)])


def _at(answers: Answers, answer: Mapping[str, Any], rtt: str | None) -> list[str]:
    """The sentences at one round trip, or of the means over all."""
    choices = answers.choices()
    if len(choices) == 1 and answer["quantity"] == "share_per_flow":
        return [_rivals(answers, answer, rtt), *_used(answers, rtt)]
    if len(choices) == 1 and answer["best"] is not None:
        return [_alone(answers, rtt)]
    idle = _idle(answers, answer)
    return [
        _only(answer) if idle and answer["second"] is None else _verdict(answer, answers.question.seeds),
        *([f"{many(idle)} {'leave' if len(idle) > 1 else 'leaves'} more of the line unused."] if idle else []),
        *_least_buffer(answers, rtt),
        *_shares(answers, rtt),
        *_used(answers, rtt),
        # The verdict has the delay of the first direction alone.
        *(_waits(answers, rtt) if answer["quantity"] != "queueing_s_mean" or len(answers.directions) > 1 else ()),
    ]


def _turns(answers: Answers, by_rtt: Sequence[Mapping[str, Any]]) -> bool:
    """Whether another choice is best at another round trip, or the shares are others."""
    if len({frozenset([each["best"], *each["alike"]]) for each in by_rtt}) > 1:
        return True
    for choice in answers.choices():
        for at in answers.greedy():
            shares = [_share(answers, choice, at, rtt)[0] for rtt in answers.question.line_rtts]
            if max(shares) - min(shares) >= SHARE_LEAST:
                return True
    return False


def _share(answers: Answers, choice: Choice, at: int, rtt: str | None) -> tuple[float, float, float]:
    """The share of a group with its interval, which is as wide as in the table."""
    found = answers.share(choice, at, rtt)
    mean, low, high = (found[f"share{end}"] for end in ("", "_low", "_high"))
    return mean or 0.0, mean or 0.0 if low is None else low, mean or 0.0 if high is None else high


def _verdict(found: Mapping[str, Any], seeds: int) -> str:
    """Which choice is best, and by how much."""
    quantity = found["quantity"]
    said = Saying(*(text.format(of=found["of"]) for text in SAYINGS[quantity]))
    values = {each["name"]: amount(quantity, each["mean"]) for each in found["values"]}
    best, second, alike = found["best"], found["second"], found["alike"]
    if best is None:
        return "There is nothing to compare: no packet of these flows arrived, and no transfer came to its end."
    if second is None:
        return f"{best}: {said.values} {values[best]}."
    top = [best, *alike]
    others = "".join(f"; {name} {value}" for name, value in values.items() if name not in (*top, second))
    if second in alike:
        span = " to ".join(dict.fromkeys(values[name] for name in (top[0], top[-1])))
        what = said.values.replace("its ", f"{found['of']}'s ")
        return f"{many(top)} are the same for practical purposes: {what} {span}."
    verb = said.two if alike else said.one
    first = " and ".join(dict.fromkeys(values[name] for name in top)) if len(top) < 3 else values[best]
    if found["low"] is None:
        then = f"then {second} {values[second]}{others}"
        return f"{many(top)} {verb}: {said.values} {first}, {then}. {no_interval(seeds)}"
    low, high = (amount(quantity, found[end]) for end in ("low", "high"))
    gap = f"difference {amount(quantity, found['difference'])}, 95 % interval {low} to {high}"
    if found["decided"] or not _holds_zero(found):
        return f"{many(top)} {verb}: {said.values} {first}, then {second} {values[second]} ({gap}){others}."
    return (
        f"{many([*top, second])} {said.two}, and {seeds} seeds do not tell them apart{_more(found)}: "
        f"{said.values} {first} and {values[second]} ({gap}){others}."
    )


def _only(found: Mapping[str, Any]) -> str:
    """The verdict if all but one choice leave more of the line unused."""
    value = amount(found["quantity"], found["values"][0]["mean"])
    return f"{found['best']} uses the line best: {SAYINGS[found['quantity']].values} {value}."


def _idle(answers: Answers, found: Mapping[str, Any]) -> list[str]:
    """The choices that were not ranked, as they leave more of the line unused."""
    ranked = [each["name"] for each in found["values"]]
    others = [label for label in map(answers.label, answers.choices()) if label not in ranked]
    return others if found["quantity"] == "queueing_s_mean" and ranked else []


def _holds_zero(found: Mapping[str, Any]) -> bool:
    """Whether the seeds do not tell best and second apart; what still moves is said elsewhere."""
    return bool(found["low"] <= 0 <= found["high"])


def no_interval(seeds: int) -> str:
    """Why a difference has no interval."""
    return "One seed decides nothing." if seeds == 1 else "No interval: fewer than two seeds have a value."


def _more(found: Mapping[str, Any]) -> str:
    more = found["more_seeds"]
    return f"; about {more} more would" if more and more <= MORE_SEEDS_MAX else ""


def _rivals(answers: Answers, found: Mapping[str, Any], rtt: str | None) -> str:
    """What each control gets of one line."""
    (choice,) = answers.choices()
    groups = {answers.question.groups[at].label: at for at in answers.greedy()}
    parts = []
    for each in found["values"]:
        group = answers.question.groups[groups[each["name"]]]
        count = f" ({group.count} flows)" if group.count > 1 else ""
        parts.append(f"{each['name']}{count} {_with_interval(_share(answers, choice, groups[each['name']], rtt))}")
    said = ", ".join(parts)
    if found["low"] is None:
        return f"Of the line: {said}. {no_interval(answers.question.seeds)}"
    low, high = (f"{100 * found[end]:.1f}" for end in ("low", "high"))
    gap = f"{low} to {high} points a flow; {answers.question.seeds} paired runs"
    if found["decided"] or (found["second"] not in found["alike"] and not _holds_zero(found)):
        return f"{found['best']} gets most: {said} of the line (difference {gap})."
    if found["second"] in found["alike"]:
        return f"No difference found: {said} of the line (difference {gap})."
    names = f"{found['best']} and {found['second']}"
    return f"{names} are not told apart{_more(found)}: {said} of the line (difference {gap})."


def _alone(answers: Answers, rtt: str | None) -> str:
    """What the flows of one choice get where none is compared with another."""
    rows = answers.rows(rtt)
    parts = []
    for row in rows:
        alone = " alone" if len(rows) == 1 and row["count"] == 1 else ""
        if row["goodput_bit_per_s"] == 0.0:
            parts.append(f"{row['flow']}{alone} over {row['queue']}: nothing arrived")
            continue
        said = [f"{_rate(row)}, {amount('share', row['share'])} of the line"]
        if row["completion_s_mean"] is not None:
            said.append(f"{amount('completion_s_mean', row['completion_s_mean'])} a transfer")
        if row["loss"]:
            said.append(f"{amount('loss', row['loss'])} of its packets lost")
        said.append(f"{amount('queueing_s_mean', row['queueing_s_mean'])} of queueing")
        parts.append(f"{row['flow']}{alone} over {row['queue']}: {', '.join(said)}")
    return "; ".join(parts) + "."


def _rate(row: Mapping[str, Any]) -> str:
    """A goodput with its interval."""
    mean, low, high = (row[f"goodput_bit_per_s{end}"] for end in ("", "_low", "_high"))
    said = tables.value("x_bit_per_s", mean)
    ends = [tables.value("x_bit_per_s", end) for end in (low, high) if end is not None]
    if set(ends) <= {said}:
        return said
    return f"{said} ({tables.value('x_bit_per_s', low)} to {tables.value('x_bit_per_s', high)})"


def _least_buffer(answers: Answers, rtt: str | None) -> list[str]:
    """The least buffer that uses the line in full, where buffers are compared for one control."""
    question = answers.question
    if len(question.buffers) < 2 or len(answers.choices()) != len(question.buffers) or len(answers.greedy()) != 1:
        return []
    way = answers.directions[0]
    used = {choice: answers.utilisation(choice, way, rtt) for choice in answers.choices()}
    full = [choice for choice in used if used[choice] >= FULL]
    if not full:
        return [f"None of these buffers uses {100 * FULL:g} % of the line."]
    least = min(full, key=lambda choice: answers.room(choice, way, rtt))
    less = [choice for choice in used if answers.room(choice, way, rtt) < answers.room(least, way, rtt)]
    more = "".join(f"; {choice.buffer} uses {100 * used[choice]:.3g} %" for choice in less)
    return [f"{least.buffer} is the least of these buffers that uses {100 * FULL:g} % of the line{more}."]


def _shares(answers: Answers, rtt: str | None) -> list[str]:
    """What each control gets with each choice, where that differs."""
    choices, parts = answers.choices(), []
    rivals = answers.greedy()
    if len(rivals) < 2:
        return []
    for at in rivals:
        shares = {answers.label(choice): _share(answers, choice, at, rtt) for choice in choices}
        means = [mean for mean, _, _ in shares.values()]
        if max(means) - min(means) >= SHARE_LEAST:
            said = _by_value(shares, lambda each: _with_interval(each, SHARE_LEAST))
            parts.append(f"{answers.question.groups[at].label} takes {said}")
    return [f"{'; '.join(parts)} of the line."] if parts else []


def _used(answers: Answers, rtt: str | None) -> list[str]:
    """How much of each filled direction is used, where choices differ in it or leave some."""
    said = []
    for way in answers.directions:
        if not answers.greedy(way):
            continue
        used = {answers.label(choice): answers.utilisation(choice, way, rtt) for choice in answers.choices()}
        if max(used.values()) - min(used.values()) < SHARE_LEAST and min(used.values()) > 1 - 2 * SHARE_LEAST:
            continue
        where = f" ({way})" if len(answers.directions) > 1 else ""
        if len(used) == 1:
            said.append(f"{amount('utilisation', next(iter(used.values())))} of the line{where} is used.")
        else:
            said.append(f"Used of the line{where}: {_by_value(used, lambda value: amount('utilisation', value))}.")
    return said


def _waits(answers: Answers, rtt: str | None) -> list[str]:
    """The mean queueing delay of each filled direction, where choices differ in it."""
    said = []
    for way in filter(answers.greedy, answers.directions):
        values = {
            answers.label(choice): answers.of_line(choice, way, "queueing_s_mean", rtt) for choice in answers.choices()
        }
        if counts("queueing_s_mean", min(values.values()), max(values.values()), answers.rtt_s):
            where = f" ({way})" if len(answers.directions) > 1 else ""
            said.append(
                f"Mean queueing delay{where}: {_by_value(values, lambda value: amount('queueing_s_mean', value))}."
            )
    return said


def _by_value(values: Mapping[str, Any], shown: Callable[[Any], str]) -> str:
    """Each value once with the names that have it; of many the least and the greatest."""
    kept = dict(values)
    if len(kept) > CHOICES_MAX:
        order = sorted(kept, key=lambda name: kept[name])
        kept = {name: kept[name] for name in (order[0], order[-1])}
    names: dict[str, list[str]] = {}
    for name, value in kept.items():
        names.setdefault(shown(value), []).append(name)
    between = " to " if len(values) > CHOICES_MAX else ", "
    return between.join(f"{value} with {many(who)}" for value, who in names.items())


def _with_interval(share: tuple[float, float, float], least: float = 0.0) -> str:
    """A share with its interval, if that is wide enough to matter."""
    mean, low, high = share
    said = amount("share", mean)
    ends = "–".join(f"{100 * end:.3g}" if 100 * end >= LEAST else "0" for end in (low, high))
    return said if high - low <= 2 * least else f"{said} ({ends})"


def moving(steady: Steady, name: Callable[[Key], str] = lambda _: "", turned: Sequence[str] = ("",)) -> list[str]:
    """What still moves in the measured time, and what to write; `name` names a point, if needed.

    `turned` says where that could turn the verdict: empty words stand for everywhere.
    """
    if steady.stands:
        return []
    parts = []
    for move in steady.moves[:MOVES_SAID]:
        at = name(move.of.point)
        before, after = (amount(move.of.quantity, value) for value in (move.first, move.second))
        parts.append(f"{move.label}{f' with {at}' if at else ''} from {before} to {after}")
    kinds = {move.of.quantity for move in steady.moves[:MOVES_SAID]}
    what = "shares" if kinds == {"share"} else "queueing delays" if len(kinds) == 1 else "shares and queueing delays"
    so = f"{many(turned)} nothing is decided".lstrip() if turned else "that is too little to turn the verdict"
    return [
        f"The {what} still move from the first half of the measured time to the second: {', '.join(parts)}; {so}. "
        f"{_longer(steady)}"
    ]


def still_moving(steady: Steady, quantities: Sequence[str] = ("share", "queueing_s_mean")) -> list[str]:
    """The sentence on what still moves where no verdict is given: the groups with one of `quantities` moving."""
    labels = dict.fromkeys(move.label for move in steady.moves if move.of.quantity in quantities)
    if not labels:
        return []
    got = f"What {many(list(labels))} {'gets' if len(labels) == 1 else 'get'} still moves"
    return [f"{got} from the first half of the measured time to the second. {_longer(steady)}"]


def _longer(steady: Steady) -> str:
    """The times to write where something still moves."""
    length = steady.times.length
    return f"Write for example --warm-up {math.ceil(length)}s --duration {math.ceil(2 * length)}s."


MORE_SEEDS_MAX = 1000
"""A number of further seeds above this is left out."""


def amount(quantity: str, value: float) -> str:
    """A value as people read it: three digits and a unit, parts of a whole in percent."""
    if MEASURES[quantity].facts.ratio:
        percent = value * 100
        return f"{percent:.3g} %" if abs(percent) >= LEAST else "0 %"
    if "_s_" in quantity:
        return tables.value(quantity, value)
    return f"{value:.4f}"


LEAST = 5e-4
"""The least percentage that is told from none."""


def many(names: Sequence[str]) -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
