"""What the runs of a question say: tables of flows and queues, paired differences, and the answer.

A number of a group is computed for each seed, from the rows of its flows; means and intervals are
over the seeds, on a scale where the impossible cannot occur. Differences are between runs of the
same seed, which have their random numbers in common.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from fairq import statistics
from fairq.core.results import Result
from fairq.questions import judging, network, steady, turning, words
from fairq.questions.asked import Group, Question
from fairq.questions.course import Course, Of
from fairq.questions.measures import (
    FLOW_KINDS,
    MEASURES,
    OF_GROUP,
    OF_QUEUE,
    PAIRED_OF_GROUP,
    PAIRED_OF_QUEUE,
    intervals,
    jain,
    known,
    mean_of_known,
)
from fairq.questions.network import Key
from fairq.questions.steady import Steady
from fairq.questions.turning import Place, Reach, Value

PAIRS_MAX = 4
"""Most choices that are compared each with each; of more, each with the first only."""

Seeds = list[dict[str, float | None]]
"""Quantities by name, for each seed in order."""


@dataclass(frozen=True)
class Choice:
    """What a reader could choose: a queue, a host queue and a buffer; `None` if it was not said."""

    queue: str
    host_queue: str | None
    buffer: str | None


@dataclass
class Point:
    """One choice at one round trip of the line."""

    key: Key
    choice: Choice
    rtt: str
    groups: list[Seeds] = field(default_factory=list)
    """The results of each group of flows."""
    lines: dict[str, Seeds] = field(default_factory=dict)
    """The results of the line in each direction."""
    settings: dict[str, str] = field(default_factory=dict)
    """The queue's settings, by direction."""
    limits: dict[str, str] = field(default_factory=dict)
    """How much may wait, by direction."""


class Answers:
    """The tables of a question, from the result of its scenario."""

    def __init__(self, question: Question, result: Result, course: Course | None = None) -> None:
        self.question = question
        self._course = course
        self.directions = [way for way in words.DIRECTIONS if (question.has_up if way == "up" else question.has_down)]
        self.points = _points(question, result)
        self._transports = {row["flow"]: row["transport"] for row in result.flows}
        self._first = {id(entry.group): entry.flow_names[0] for entry in reversed(network.entries(question))}

    def rows(self, rtt: str | None = None) -> list[dict[str, Any]]:
        """A row for each point, or each at this round trip, and group of flows."""
        found = []
        for point in (point for point in self.points if rtt in (None, point.rtt)):
            for at, (group, seeds) in enumerate(zip(self.question.groups, point.groups, strict=True)):
                row = self._choice(point, group.direction)
                row |= {
                    "rtt_s": self.question.rtt_s(group.item, point.rtt),
                    "flow": group.label,
                    "control": self._transports[self._first[id(group)]],
                    "direction": group.direction,
                    "hosts": group.host_class.hosts if group.host_class else None,
                    "count": group.count,
                }
                found.append(row | self._of_group(point, at) | {"seeds": len(seeds)})
        return found

    def _of_group(self, point: Point, at: int) -> dict[str, Any]:
        """The means of a group with their intervals, which are no narrower than what is known.

        What differs between the halves of the measured time is uncertain by at least as much, a
        percentile by the error of its sketch. Of n packets without a loss up to 3/n may be lost
        (rule of three).
        """
        seeds = point.groups[at]
        row = intervals(OF_GROUP, seeds)
        for quantity in PERCENTILES:
            _widen(row, quantity, part=SKETCH_ERROR)
        for quantity, of in MOVING.items():
            _widen(row, quantity, part=self._moved(point, at, of))
        sent = sum(known(seed["sent"] for seed in seeds))
        if row["loss"] == 0.0 and len(seeds) > 1:
            row["loss_high"] = min(3 / sent, 1.0)
        return row

    def _moved(self, point: Point, at: int, quantity: str) -> float:
        """How far a quantity moved from half to half of the measured time, in parts of its mean."""
        if self._course is None or not steady.is_tested(self.question):
            # Transfers of a size end: what they get does not move, it is over.
            return 0.0
        means = self._course.halves(Of(point.key, at, quantity), self._course.measured).means
        if means is None or not any(means):
            return 0.0
        before, after = means
        return abs(after - before) / ((before + after) / 2)

    def _moved_of_line(self, point: Point, way: str) -> float:
        """How far the queueing delay of a direction moved: that of its groups, by their shares."""
        parts = [
            (mean, self._moved(point, at, "queueing_s_mean"))
            for at, group in enumerate(self.question.groups)
            if group.direction == way and (mean := self._mean_share(point, at))
        ]
        whole = math.fsum(weight for weight, _ in parts)
        return math.fsum(weight * moved for weight, moved in parts) / whole if whole else 0.0

    @staticmethod
    def _mean_share(point: Point, at: int) -> float:
        return mean_of_known(seed["share"] for seed in point.groups[at]) or 0.0

    def queues(self) -> list[dict[str, Any]]:
        """A row for each point and direction in which data flows."""
        found = []
        for point in self.points:
            for way in self.directions:
                row = self._choice(point, way) | {"rtt_s": words.quantity("--rtt", "time", point.rtt), "direction": way}
                seeds = point.lines[way]
                row |= intervals(OF_QUEUE, seeds)
                _widen(row, "queueing_s_mean", part=self._moved_of_line(point, way))
                found.append(row | {"seeds": len(seeds)})
        return found

    def _choice(self, point: Point, direction: str) -> dict[str, Any]:
        return {
            "queue": point.choice.queue,
            "queue_settings": point.settings[direction],
            "host_queue": point.choice.host_queue,
            "buffer": point.choice.buffer or point.limits[direction],
            "limit": point.limits[direction],
        }

    def label(self, choice: Choice, rtt: str | None = None) -> str:
        """What tells a choice from the others, and the round trip if one is given and it varies."""
        question = self.question
        parts = [choice.queue] if len(question.queues) > 1 else []
        if choice.buffer is not None and len(question.buffers) > 1:
            parts.append(f"of {choice.buffer}" if parts else choice.buffer)
        if choice.host_queue is not None and len(question.host_queues) > 1:
            parts.append(f"{'with ' if parts else ''}{choice.host_queue} on hosts")
        if rtt is not None and len(question.rtts) > 1:
            parts.append(f"at {rtt}")
        return " ".join(parts) or choice.queue

    def name(self, key: Key) -> str:
        """What tells a point from the others; empty if there is one only."""
        point = next(point for point in self.points if point.key == key)
        return self.label(point.choice, point.rtt) if len(self.points) > 1 else ""

    def paired(self, steady: Steady | None = None) -> list[dict[str, Any]]:
        """Differences on the same seeds: between choices, and between groups at one point.

        None is decided whose sign what still moves could turn.
        """
        found = []
        reach = Reach(self.question.groups, steady)
        for rtt in self.question.line_rtts:
            points = [point for point in self.points if point.rtt == rtt]
            pairs = combinations(points, 2) if len(points) <= PAIRS_MAX else ((points[0], each) for each in points[1:])
            for one, other in pairs:
                a, b = (self.label(point.choice, rtt) for point in (one, other))
                for way in self.directions:
                    flow = None if len(self.directions) == 1 else way
                    found += _differences(PAIRED_OF_QUEUE, flow, _Side(a, one, way), _Side(b, other, way), reach)
                for at, group in enumerate(self.question.groups):
                    found += _differences(PAIRED_OF_GROUP, group.label, _Side(a, one, at), _Side(b, other, at), reach)
            for point in points:
                where = self.label(point.choice, rtt) if len(self.points) > 1 else None
                for one_at, other_at in combinations(self._rivals(), 2):
                    a, b = (self.question.groups[at].label for at in (one_at, other_at))
                    sides = _Side(a, point, one_at), _Side(b, point, other_at)
                    found += _differences(("share_per_flow",), where, *sides, reach)
        return found

    def unfinished(self) -> list[tuple[Group, list[Point]]]:
        """Groups whose transfers did not all end in the measured time, and the points where."""
        found = []
        for at, group in enumerate(self.question.groups):
            if "size" not in group.item.options:
                continue
            short = [
                point for point in self.points if any(seed["completed"] != group.count for seed in point.groups[at])
            ]
            if short:
                found.append((group, short))
        return found

    def notes(self) -> list[dict[str, str]]:
        """Transfers that did not end in the measured time: their completion times are unknown."""
        found = []
        for group, short in self.unfinished():
            where = ", ".join(dict.fromkeys(self.label(point.choice, point.rtt) for point in short))
            text = f"with {where} not all ended in the measured time: completion times are of those that did; write"
            text += " a longer --duration, and no start before the end of the warm-up"
            found.append({"code": "unfinished", "where": group.item.place, "text": text})
        return found

    def greedy(self, way: str | None = None) -> list[int]:
        """Groups whose flows take as much as they can: of a direction, or of both."""
        groups = enumerate(self.question.groups)
        return [at for at, group in groups if group.item.is_greedy and way in (None, group.direction)]

    def _rivals(self) -> list[int]:
        """Greedy groups of the first direction that has some."""
        return next(filter(None, map(self.greedy, words.DIRECTIONS)), [])

    def choices(self) -> list[Choice]:
        """What a reader could choose."""
        return list(dict.fromkeys(point.choice for point in self.points))

    def at(self, choice: Choice, rtt: str | None = None) -> list[Point]:
        """The points of a choice: at one round trip, or at all."""
        return [point for point in self.points if point.choice == choice and rtt in (None, point.rtt)]

    def answer(self, steady: Steady | None = None, rtt: str | None = None) -> dict[str, Any]:
        """The best and the second best choice by what the question is about, and by how much.

        If there is one choice and several groups of greedy flows, these are compared: what each of
        their flows gets. With `rtt`, at this round trip alone. Nothing is decided if what still
        moves could turn it.
        """
        quantity, of, sides = self._sides(rtt)
        values = {
            label: mean_over([side.seeds for side in each], quantity) for label, each in sides.items()
        }  # fmt: skip
        answer = judging.ranked(quantity, of, values, self.rtt_s)
        answer["decided"] = answer["decided"] and not self.is_turned(answer, steady, rtt)
        return answer

    def is_turned(self, answer: Mapping[str, Any], steady: Steady | None, rtt: str | None = None) -> bool:
        """Whether what still moves could turn an answer; one that compares nothing as well."""
        if steady is None or steady.stands:
            return False
        if answer["second"] is None or not steady.is_found:
            return True
        quantity, _, sides = self._sides(rtt)
        reach = Reach(self.question.groups, steady)
        means = {each["name"]: each["mean"] for each in answer["values"]}
        values = {label: Value(mean, _reach(reach, sides[label], quantity)) for label, mean in means.items()}
        counts = partial(judging.counts, quantity, rtt_s=self.rtt_s)
        is_more = MEASURES[quantity].is_more_better
        return turning.is_turned(answer["best"], answer["alike"], values, counts, is_more) or (
            quantity == "queueing_s_mean" and self._is_use_turned(reach, rtt)
        )

    def _is_use_turned(self, reach: Reach, rtt: str | None) -> bool:
        """Whether what moves could change which choices use as much of the line as any other."""
        for way in filter(self.greedy, self.directions):
            values = {
                self.label(choice): Value(
                    self.utilisation(choice, way, rtt),
                    _reach(reach, [_Side("", point, way) for point in self.at(choice, rtt)], "utilisation"),
                )
                for choice in self.choices()
            }
            best = max(values, key=lambda label: values[label].mean)
            counts = partial(judging.counts, "utilisation", rtt_s=self.rtt_s)
            if any(len(turning.sides(values[best], values[label], counts)) > 1 for label in values if label != best):
                return True
        return False

    def _sides(self, rtt: str | None) -> tuple[str, str | None, dict[str, list[_Side]]]:
        """What an answer compares: the quantity, whose it is, and by label where it is found."""
        choices = self.choices()
        if len(choices) == 1 and len(rivals := self._rivals()) > 1:
            points = self.at(choices[0], rtt)
            labels = {at: self.question.groups[at].label for at in rivals}
            return "share_per_flow", None, {
                label: [_Side(label, point, at) for point in points] for at, label in labels.items()
            }  # fmt: skip
        quantity, of, place = self._criterion()
        able = self._able(rtt) if quantity == "queueing_s_mean" else choices
        return quantity, of, {
            label: [_Side(label, point, place) for point in self.at(choice, rtt)]
            for choice in able
            for label in [self.label(choice)]
        }  # fmt: skip

    def _able(self, rtt: str | None) -> list[Choice]:
        """The choices that use as much of the line as any other, in each direction that is filled.

        A short queue of a line that is not used is no merit. Where no choice is first in all
        directions, all are able.
        """
        used = {
            choice: [self.utilisation(choice, way, rtt) for way in self.directions if self.greedy(way)]
            for choice in self.choices()
        }
        most = [max(ways) for ways in zip(*used.values(), strict=True)]
        able = [
            choice
            for choice, ways in used.items()
            if all(best - way < judging.SHARE_LEAST for best, way in zip(most, ways, strict=True))
        ]
        return able or list(used)

    def share(self, choice: Choice, at: int, rtt: str | None = None) -> dict[str, Any]:
        """The share of group number `at`; its interval is widened by what still moves between the halves."""
        points = self.at(choice, rtt)
        seeds: Seeds = [{"share": share} for share in mean_over([point.groups[at] for point in points], "share")]
        row = intervals(("share",), seeds)
        _widen(row, "share", part=math.fsum(self._moved(point, at, "share") for point in points) / len(points))
        return row

    def room(self, choice: Choice, way: str, rtt: str | None = None) -> float:
        """How much may wait, in the unit of the limit."""
        return float(self.at(choice, rtt)[-1].limits[way].split()[0])

    def of_line(self, choice: Choice, way: str, quantity: str, rtt: str | None = None) -> float:
        """The mean of a quantity of a direction of the line; 0 if it has no value."""
        return mean_of_known(mean_over([point.lines[way] for point in self.at(choice, rtt)], quantity)) or 0.0

    def utilisation(self, choice: Choice, way: str, rtt: str | None = None) -> float:
        """The mean part of a direction of the line that is used."""
        return self.of_line(choice, way, "utilisation", rtt)

    @property
    def rtt_s(self) -> float:
        """The shortest round trip of the line in seconds."""
        return min(words.quantity("--rtt", "time", each) for each in self.question.line_rtts)

    def _criterion(self) -> tuple[str, str | None, Place]:
        """The quantity that choices are ranked by, whose it is, and where it is found."""
        groups = self.question.groups
        calls = [at for at, group in enumerate(groups) if group.item.name == "call"]
        finite = [at for at, group in enumerate(groups) if group.item.has_transfers]
        flooded = self._rivals() if any(group.item.name == "flood" for group in groups) else []
        for quantity, found in (("queueing_s_p99", calls), ("completion_s_mean", finite), ("share", flooded)):
            if found:
                return quantity, groups[found[0]].label, found[0]
        line = self.directions[0]
        if len(self._rivals()) < 2:
            # Flows that are alike share alike in the long run; their queues differ in delay.
            return "queueing_s_mean", None, line
        return "jain_hosts" if self.question.hosts else "jain", None, line


@dataclass(frozen=True)
class _Side:
    """A side of a comparison: its label, and where it is found at a point."""

    label: str
    point: Point
    place: Place

    @property
    def seeds(self) -> Seeds:
        """What each seed gave."""
        return self.point.groups[self.place] if isinstance(self.place, int) else self.point.lines[self.place]


def _reach(reach: Reach, found: Sequence[_Side], quantity: str) -> float:
    """How far the mean of a quantity over points could go."""
    return math.fsum(reach.of(each.point, each.place, quantity) for each in found) / len(found)


def _differences(
    quantities: Iterable[str], flow: str | None, one: _Side, other: _Side, reach: Reach
) -> list[dict[str, Any]]:
    rows = []
    for quantity in quantities:
        a, b = ([seed[quantity] for seed in side.seeds] for side in (one, other))
        found = statistics.paired(a, b, MEASURES[quantity].scale)
        if found.difference is None or found.count < 2:
            continue
        far = math.fsum(reach.of(side.point, side.place, quantity) for side in (one, other))
        rows.append({
            "quantity": quantity, "flow": flow, "a": one.label, "b": other.label, "difference": found.difference,
            "low": found.low, "high": found.high, "decided": found.decided and abs(found.difference) > far,
            "more_seeds": found.more_seeds,
        })  # fmt: skip
    return rows


def mean_over(points: Sequence[Seeds], quantity: str) -> list[float | None]:
    """The mean of a quantity over points, for each seed; `None` if one of them has no value."""
    found: list[float | None] = []
    for seeds in zip(*points, strict=True):
        values = [seed[quantity] for seed in seeds]
        found.append(None if None in values else mean_of_known(values))
    return found


PERCENTILES, SKETCH_ERROR = ("queueing_s_p95", "queueing_s_p99"), 2**-7
"""Columns that are percentiles of a flow, and the relative error of the sketch that gives them."""


MOVING = {"share": "share", "share_per_host": "share", "goodput_bit_per_s": "share",
          "queueing_s_mean": "queueing_s_mean"}  # fmt: skip
"""Columns whose halves are known, and the quantity that moves from half to half as they do."""


def _widen(row: dict[str, Any], quantity: str, part: float) -> None:
    """Make the interval of a quantity reach as far from its mean as this part of it."""
    mean, low, high = (row[f"{quantity}{end}"] for end in ("", "_low", "_high"))
    if low is None:
        return
    most = 1.0 if MEASURES[quantity].scale == "logit" else math.inf
    if MEASURES[quantity].facts.of_ratio == "share" and row["share"]:
        # A goodput is at most what a share of all is.
        most = mean / row["share"]
    row |= {
        f"{quantity}_low": min(low, max((1 - part) * mean, 0.0)),
        f"{quantity}_high": max(high, min((1 + part) * mean, most)),
    }


def _points(question: Question, result: Result) -> list[Point]:
    """The points in the order of the axes, with what each seed gave."""
    flows = _by_point(question, result, "flows", "flow")
    queues = _by_point(question, result, "queues", "direction", link=network.LINE)
    transfers = _by_point(question, result, "transfers", "flow", size="all")
    entries = network.entries(question)
    of_group = [[entry for entry in entries if entry.group is group] for group in question.groups]
    links = _by_point(
        question, result, "links", "direction", link=network.MODEM if question.is_behind else network.LINE
    )
    points = []
    for key, by_seed in flows.items():
        queue, host_queue, buffer, rtt = key
        point = Point(key, Choice(queue, host_queue, buffer), rtt, groups=[[] for _ in question.groups])
        point.lines = {way: [] for way in words.DIRECTIONS}
        for seed, rows in by_seed.items():
            done = transfers.get(key, {}).get(seed, {})
            rates = {way: _rate(question, links[key][seed], way) for way in words.DIRECTIONS}
            for at, group in enumerate(question.groups):
                mine = of_group[at]
                found = _of_flows([rows[name] for entry in mine for name in entry.flow_names], rates[group.direction])
                found |= _per_one(found["share"], group)
                found |= _of_transfers([done[entry.name] for entry in mine if entry.name in done])
                point.groups[at].append(found)
            for way, direction in WAYS.items():
                line = queues[key][seed][direction]
                point.lines[way].append(_of_line(line, question, entries, rows, way))
                point.settings[way], point.limits[way] = line["discipline_settings"], line["limit"]
        points.append(point)
    return points


WAYS = {"down": "forward", "up": "reverse"}
"""The directions of the line's link."""


def _rate(question: Question, line: Mapping[str, Mapping[str, Any]], way: str) -> float:
    """What a direction of the line could carry in one run, in bit/s."""
    row = line[WAYS[way]]
    if not question.is_moving or not row["utilisation"]:
        return question.rate_bit_per_s(way)
    assert question.duration is not None, "the times of a run are known"
    seconds = words.quantity("--duration", "time", question.duration)
    return float(row["bytes"] * 8 / row["utilisation"] / seconds)


def _per_one(share: float | None, group: Group) -> dict[str, float | None]:
    """What one flow of the group gets, and one host if it is on hosts."""
    hosts = group.host_class.hosts if group.host_class else None
    return {
        "share_per_flow": None if share is None else share / group.count,
        "share_per_host": None if share is None or hosts is None else share / hosts,
    }


def _by_point(
    question: Question, result: Result, table: str, by: str, **only: str
) -> dict[Key, dict[int, dict[str, Mapping[str, Any]]]]:
    """The rows of a table with the values of `only`, by point, seed and the column `by`."""
    found: dict[Key, dict[int, dict[str, Mapping[str, Any]]]] = {}
    rows = result.by_seed(table)
    for key, row in zip(network.keys(question, rows), rows, strict=True):
        if all(row[column] == value for column, value in only.items()):
            found.setdefault(key, {}).setdefault(row["seed"], {})[row[by]] = row
    return found


def _of_flows(flows: Sequence[Mapping[str, Any]], rate: float) -> dict[str, float | None]:
    """The quantities of a group of flows in one run.

    Goodput is of packets that came for the first time, with their headers; a percentile is the mean
    over the flows of each flow's, weighted by its packets.
    """
    goodput = math.fsum(
        row["throughput_bit_per_s"] * row["goodput_packets"] / row["throughput_packets"]
        for row in flows
        if row["throughput_packets"]
    )
    sent = sum(row["sent"] for row in flows)
    gone = sum(row["dropped"] + (row["lost"] or 0) for row in flows)
    marked = sum(row["marked"] for row in flows)
    in_time = [row["in_time"] for row in flows if row["in_time"] is not None]
    found: dict[str, float | None] = {
        "goodput_bit_per_s": goodput,
        # A packet that crosses the beginning of the measured time counts whole.
        "share": min(goodput / rate, 1.0),
        "loss": min(gone / sent, 1.0) if sent else None,
        "marked_ratio": min(marked / sent, 1.0) if sent else None,
        "marked": float(marked),
        "retransmitted": float(sum(row["retransmitted"] for row in flows)),
        "sent": float(sent),
        # One that comes at the end was sent before the measured time began.
        "in_time": min(sum(in_time) / sent, 1.0) if sent and len(in_time) == len(flows) else None,
    }
    return found | {name: _weighted(flows, name) for name in ("queueing_s_mean", "queueing_s_p95", "queueing_s_p99")}


def _weighted(flows: Iterable[Mapping[str, Any]], name: str) -> float | None:
    """The mean of a column, weighted by the packets that arrived."""
    parts = [(row["throughput_packets"], row[name]) for row in flows if row[name] is not None]
    packets = sum(weight for weight, _ in parts)
    return math.fsum(weight * value for weight, value in parts) / packets if packets else None


def _of_transfers(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """The number of transfers that ended, and mean and 95th percentile of their times."""
    found: dict[str, float | None] = {"completed": float(sum(row["completed"] for row in rows))}
    for name in ("completion_s_mean", "completion_s_p95"):
        parts = [(row["completed"], row[name]) for row in rows if row[name] is not None]
        count = sum(weight for weight, _ in parts)
        found[name] = math.fsum(weight * value for weight, value in parts) / count if count else None
    return found


def _of_line(
    line: Mapping[str, Any],
    question: Question,
    entries: Sequence[network.Entry],
    rows: Mapping[str, Mapping[str, Any]],
    way: str,
) -> dict[str, float | None]:
    """The quantities of a direction of the line in one run; Jain's index is of greedy flows."""
    mine = [entry for entry in entries if entry.group.direction == way]
    greedy = [entry for entry in mine if entry.group.item.is_greedy]
    hosts: dict[str, float] = {}
    for entry in greedy:
        if entry.host is not None:
            sums = math.fsum(rows[name]["throughput_bit_per_s"] for name in entry.flow_names)
            hosts[entry.host] = hosts.get(entry.host, 0.0) + sums
    return {
        "jain": line["jain"] if sum(entry.count for entry in greedy) > 1 else None,
        "jain_hosts": jain([(rate, 1) for rate in hosts.values()]) if len(hosts) > 1 else None,
        "utilisation": min(line["utilisation"], 1.0),
        "queueing_s_mean": _weighted((rows[name] for entry in mine for name in entry.flow_names), "queueing_s_mean"),
        "overtaken": line["overtaken"],
        **{name: line[name] for name in FLOW_KINDS},
    }
