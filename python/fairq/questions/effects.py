"""What each setting of an entry does: one is varied at a time over one line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import fairq._native as _native
from fairq.core import registry
from fairq.core.errors import UsageError
from fairq.questions import asked, knobs, network, sentences, steady, words
from fairq.questions.answers import Point, Seeds
from fairq.questions.asked import Question
from fairq.questions.chance import by_chance
from fairq.questions.knobs import Fixed, Knob
from fairq.questions.measures import OF_EFFECT, intervals
from fairq.questions.question_results import Effects
from fairq.questions.search import measured
from fairq.questions.steady import Steady

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq explain NAME --effects --json` prints."""

RATE, RTT = "20Mbit/s", "40ms"
"""The line where nothing is said."""

LONGER = 3.0
"""How many times as long as the first runs the longest may be: there are many values."""

FLOWS = "cubic:2,cubic(ecn=true):2,call(rate=100kbit/s)"
"""The flows of a discipline: bulk, bulk that takes marks, and a call."""

RIVAL = "cubic"
"""What shares the line with a congestion control."""

QUEUE, BUFFER = "fifo", "1BDP"
"""The queue of a congestion control: flows compete in it."""

ROOM = " + 1000packets"
"""How much may wait where a queue cannot be without a limit: what Linux has, txqueuelen."""

BUDGET_S, RUN_S_PER_PACKET, SEEDS_MIN = 60.0, 1.2e-6, 3
"""The processor's time of all runs, about what a packet takes of it, and the fewest seeds."""

QUANTITIES = ("queueing_s_mean", "share", "loss")
"""What a setting is said to change."""

LEVEL = 0.05
"""How likely a setting without effect may be said to have one, in all its comparisons together."""

QUEUES = ("scheduler", "design", "buffer", "marker")
"""Parts of a queue whose name alone is a queue."""


@dataclass(frozen=True)
class Subject:
    """What is explained: a part of a queue, or a congestion control."""

    name: str
    card: Mapping[str, Any]
    line: Question
    """The line, with the defaults of the subject."""
    room: str = ""
    """How much may wait, behind a plus, where the subject cannot be without."""

    @property
    def is_queue(self) -> bool:
        """Whether it is a part of a queue."""
        return self.card["part"] in QUEUES

    def with_value(self, setting: str, value: str) -> Question:
        """The line with one setting of the subject at a value."""
        outer, _, inner = setting.partition(".")
        text = f"{self.name}({outer}=({inner}={value}))" if inner else f"{self.name}({setting}={value})"
        if self.is_queue:
            queue = f"{self.name} + {value}" if setting == "limit" else text + self.room
            return replace(self.line, queues=(queue,))
        return replace(self.line, flows=(_called(text, self.name), *self.line.flows[1:]))

    def refused(self, setting: str, value: str) -> str | None:
        """Why a value cannot be; `None` if it can."""
        try:
            question = self.with_value(setting, value)
            if self.is_queue:
                _native.queue(question.queues[0])
            network.scenario(replace(question, seeds=1))
        except UsageError as error:
            # Of an error only what it says of the value is of interest.
            return error.fault.removeprefix(f"{self.name}: ")
        return None


def effects(
    name: str, *, rate: str = RATE, rtt: str = RTT, flows: str | Sequence[str] | None = None, seeds: int | None = None,
    duration: str | None = None, workers: int, progress: Tell | None = None,
) -> Effects:  # fmt: skip
    """Vary each setting of an entry of the registry alone, and say what that does."""
    subject = _subject(name, rate=rate, rtt=rtt, flows=flows, duration=duration)
    network.scenario(subject.line)
    varied, fixed = knobs.of_card(subject.card, subject.refused)
    if subject.is_queue and (limit := _limit(subject.line)) is not None:
        varied.append(limit)
    if not varied:
        raise UsageError(f"{name}: {_none(fixed)}")
    count = seeds if seeds is not None else _seeds(subject.line, 1 + sum(len(knob.others) for knob in varied))
    questions = _questions(subject, varied, count)
    found = measured(list(questions.values()), workers, progress, LONGER)
    points = {key: answers.points[0] for key, answers in zip(questions, found.answers, strict=True)}
    return _told(replace(subject, line=found.questions[0]), varied, fixed, points, found.steady)


def _subject(name: str, *, rate: str, rtt: str, flows: str | Sequence[str] | None, duration: str | None) -> Subject:
    """What a name means, over a line."""
    cards = [card for card in registry.cards(name) if card["part"] in (*QUEUES, "transport")]
    if not cards:
        part = next((card["part"] for card in registry.cards(name)), None)
        kind = "an edition or a profile" if part is None else f"{'a kind of ' if part == 'traffic' else 'a '}{part}"
        raise UsageError(
            f"{name}: --effects is for disciplines and congestion controls, and {name} is {kind}; "
            "fairq list disciplines names them"
        )
    card = cards[0]
    if len(words.values("--rtt", rtt)) > 1:
        raise UsageError(f"--rtt {rtt}: the settings are tried at one round trip; write one of them")
    line: dict[str, Any] = {"rate": rate, "rtt": rtt, "duration": duration, "seeds": 1}
    if card["part"] in QUEUES:
        room = _room(name)
        return Subject(name, card, asked.ask(**line, flows=FLOWS if flows is None else flows, queue=name + room), room)
    if flows is not None:
        raise UsageError(
            f"--flows: {name} is a congestion control, and its flow is beside one of {RIVAL}; leave it out"
        )
    if words.controls()[name] == "uncontrolled":
        raise UsageError(f"{name}: --effects is for congestion controls, and {name} does without")
    asked_of = asked.ask(**line, flows=[name], queue=QUEUE, buffer=BUFFER)
    # The names stay whatever the settings are: runs of the same seed have their random numbers in
    # common.
    return Subject(name, card, replace(asked_of, flows=(_called(name, name), _called(RIVAL, f"{RIVAL} beside it"))))


def _room(name: str) -> str:
    """What a queue needs behind its name, as a limit. UsageError if it cannot be on its own."""
    try:
        _native.queue(name)
    except UsageError as error:
        try:
            _native.queue(name + ROOM)
        except UsageError:
            raise UsageError(f"--effects: {error}") from None
        return ROOM
    return ""


def _called(text: str, name: str) -> words.Item:
    """An item whose flows have this name."""
    return replace(words.item(text), called=name)


def _none(fixed: Sequence[Fixed]) -> str:
    if not fixed:
        return "it has no settings"
    return f"none of its settings can be varied alone: {'; '.join(f'{each.name}: {each.reason}' for each in fixed)}"


def _limit(line: Question) -> Knob | None:
    """The room of the line's queue as a setting."""
    scenario = network.scenario(line)
    (first, *_) = json.loads(_native.lines(scenario.text, scenario.name, []))
    limit = first["queue"]["limit"]
    return knobs.of_limit(limit) if limit is not None else None


def _seeds(line: Question, values: int) -> int:
    """As many seeds as the processor's time has room for."""
    packets = line.rate_bit_per_s("down") * steady.begin([line]).length / 8 / network.PACKET
    return max(SEEDS_MIN, min(asked.SEEDS, int(BUDGET_S / (values * packets * RUN_S_PER_PACKET))))


Key = tuple[str, str]
"""A setting and its value; that of the defaults is empty."""

DEFAULTS: Key = ("", "")


def _questions(subject: Subject, varied: Sequence[Knob], seeds: int) -> dict[Key, Question]:
    found = {DEFAULTS: replace(subject.line, seeds=seeds)}
    for knob in varied:
        for value in knob.others:
            found[knob.name, value] = replace(subject.with_value(knob.name, value), seeds=seeds)
    return found


def _told(
    subject: Subject, varied: Sequence[Knob], fixed: Sequence[Fixed], points: Mapping[Key, Point], found: Steady
) -> Effects:
    seeds = subject.line.seeds
    labels = [group.label for group in subject.line.groups]
    rows: list[dict[str, Any]] = []
    settings: list[dict[str, Any]] = []
    for knob in varied:
        of_values = {value: points[DEFAULTS if value == knob.default else (knob.name, value)] for value in knob.values}
        for value, point in of_values.items():
            for label, group in zip(labels, point.groups, strict=True):
                rows.append({
                    "setting": knob.name, "value": value, "is_default": value == knob.default, "flow": label,
                    **intervals(OF_EFFECT, group), "seeds": seeds,
                })  # fmt: skip
        settings.append(_setting(knob, labels, of_values))
    line = subject.line
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "name": subject.name,
        "part": subject.card["part"],
        "line": {
            "rate": line.rate,
            "rtt": list(line.rtts),
            "flows": [item.text for item in line.flows],
            "queue": line.queues[0],
            "seeds": seeds,
            "duration": line.duration,
            "warm_up": line.warm_up,
        },
        "settings": settings,
        "fixed": [each._asdict() for each in fixed],
        "rows": rows,
    }
    document["steady"] = found.document()
    document["text"] = " ".join([_text(settings, seeds), *sentences.moving(found)])
    return Effects(document=document)


class _Change(NamedTuple):
    """What one value of a setting does to one quantity of a group of flows."""

    flow: str
    quantity: str
    value: str
    before: float
    after: float
    chance: float


def _setting(knob: Knob, labels: Sequence[str], points: Mapping[str, Point]) -> dict[str, Any]:
    """A setting, and whether one of its values changes anything beyond chance."""
    tried = [
        _Change(label, quantity, value, *means, by_chance(after, before))
        for value in knob.others
        for at, label in enumerate(labels)
        for quantity in QUANTITIES
        if (pairs := _pairs(points[value].groups[at], points[knob.default].groups[at], quantity))
        for after, before in [pairs]
        for means in [(math.fsum(before) / len(before), math.fsum(after) / len(after))]
    ]
    # Bonferroni: of many comparisons some are off by chance.
    known = [change for change in tried if change.chance * len(tried) < LEVEL]
    changes = _greatest(known)
    return {
        "setting": knob.name, "type": knob.type, "default": knob.default, "values": list(knob.values), "doc": knob.doc,
        "has_effect": bool(changes), "comparisons": len(tried),
        "changes": [
            {"flow": each.flow, "quantity": each.quantity, "value": each.value, "at_default": each.before,
             "at_value": each.after}
            for each in changes
        ],
    }  # fmt: skip


def _greatest(changes: Iterable[_Change]) -> list[_Change]:
    """The greatest change of each flow and quantity."""
    found: dict[tuple[str, str], _Change] = {}
    for change in changes:
        key = (change.flow, change.quantity)
        if key not in found or _size(change) > _size(found[key]):
            found[key] = change
    return list(found.values())


def _size(change: _Change) -> float:
    return abs(change.after - change.before)


def _pairs(one: Seeds, other: Seeds, quantity: str) -> tuple[list[float], list[float]] | None:
    """The values of the seeds that have one on both sides; `None` if there are not two."""
    pairs = [
        (a[quantity], b[quantity])
        for a, b in zip(one, other, strict=True)
        if a[quantity] is not None and b[quantity] is not None
    ]
    if len(pairs) < 2:
        return None
    return [a for a, _ in pairs if a is not None], [b for _, b in pairs if b is not None]


def _text(settings: Sequence[Mapping[str, Any]], seeds: int) -> str:
    """What the settings do, in sentences."""
    if seeds < 2:
        return "One seed does not tell an effect from chance."
    said = []
    if with_effect := [each["setting"] for each in settings if each["has_effect"]]:
        verb = "change" if len(with_effect) > 1 else "changes"
        said.append(f"{knobs.many(with_effect)} {verb} delay, share or loss on this line.")
    else:
        said.append("No setting changes delay, share or loss beyond chance on this line.")
    if without := [_tried(each) for each in settings if not each["has_effect"]]:
        begin = "These changed none of the three beyond chance" if with_effect else "Tried"
        said.append(f"{begin}: {knobs.many(without)}.")
    return " ".join(said)


def _tried(setting: Mapping[str, Any]) -> str:
    """A setting and the range of the values that were tried."""
    ends = f"{setting['values'][0]} to {setting['values'][-1]}"
    return f"{setting['setting']} ({ends if setting['type'] in knobs.QUANTITIES else ', '.join(setting['values'])})"
