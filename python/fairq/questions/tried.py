"""A candidate of `fairq advise` and what each seed gave: the worst of directions and kinds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from fairq.core import quantities
from fairq.questions import rates, words
from fairq.questions.answers import Point, Seeds
from fairq.questions.asked import Group, Question
from fairq.questions.candidates import Candidate
from fairq.questions.measures import MEASURES, OF_CALL, OF_CANDIDATE, OF_LINE, intervals, quantity
from fairq.questions.sharing import Kind


class Side(NamedTuple):
    """What values of a candidate are of: a direction, and a kind of users if there are some."""

    way: str
    kind: Kind | None


class Runs(NamedTuple):
    """The points of a candidate in the runs of a question."""

    question: Question
    points: Sequence[Point]

    def groups(self, side: Side) -> list[tuple[int, Group]]:
        """The groups of flows of a side, each with its number."""
        return [
            (at, group)
            for at, group in enumerate(self.question.groups)
            if group.direction == side.way and (side.kind is None or group.item.kind == side.kind.name)
        ]


class Tried:
    """A candidate and what each seed gave.

    `weights` are the packets of each flow of a capture. `alone` has for each kind of users, by its
    name, the runs in which it is alone.
    """

    def __init__(
        self, candidate: Candidate, runs: Runs, weights: Mapping[str, int], kinds: Sequence[Kind] = (),
        alone: Mapping[str, Runs] | None = None,
    ) -> None:  # fmt: skip
        self.candidate = candidate
        self.points = runs.points
        self.groups = runs.question.groups
        self.name = candidate.name
        self.kinds = kinds
        self.rtts_s = [words.quantity("--rtt", "time", point.rtt) for point in runs.points]
        sides = (Side(*each) for each in product(words.DIRECTIONS, kinds or (None,)))
        self.sides = [side for side in sides if runs.groups(side)]
        self._runs, self._alone, self._weights = runs, alone or {}, weights
        self._rates = {
            way: (quantities.rate(rate), rates.nominal("--rate", line))
            for way, rate, line in zip(words.DIRECTIONS, candidate.setup.rates, runs.question.rates, strict=True)
        }
        self.seeds = self._seeds(self.sides)
        """The columns of each seed: the worst side, averaged over the round trips."""

    def _seeds(self, sides: Sequence[Side]) -> Seeds:
        """The columns of each seed: the worst of these sides, averaged over the round trips."""
        each = [[self.of_side(at, side) for side in sides] for at in range(len(self.points))]
        return [{column: _over(column, each, seed) for column in OF_CANDIDATE} for seed in range(len(each[0][0]))]

    def of_side(self, at: int, side: Side) -> Seeds:
        """The results of each seed at point number `at`, of one side."""
        point, groups = self.points[at], self._runs.groups(side)
        calls = [(at, group) for at, group in groups if group.item.name in ("call", words.RECORDED)]
        transfers = [(at, group) for at, group in groups if group.item.has_transfers]
        bulk = [(at, group) for at, group in groups if group.item.is_greedy]
        fills = any(group.item.is_greedy and group.direction == side.way for group in self.groups)
        found: Seeds = []
        for seed, line in enumerate(point.lines[side.way]):
            row = {f"call_{name}": self._mean(point, calls, name, seed) for name in OF_CALL}
            # A direction that nothing fills has no utilisation to keep.
            row |= {name: line[name] if fills or name == "queueing_s_mean" else None for name in OF_LINE}
            row["utilisation"] = self._of_shaped(row["utilisation"], side.way)
            row["bulk_queueing_s_mean"] = self._mean(point, bulk, "queueing_s_mean", seed)
            row["completion_s_mean"] = self._mean(point, transfers, "completion_s_mean", seed)
            row["guarantee_kept"] = self._kept(point, side, seed) if bulk else None
            row["alone_utilisation"] = self._used_alone(at, side, seed) if bulk else None
            found.append(row)
        return found

    def _of_shaped(self, used: float | None, way: str) -> float | None:
        """A part of the line as one of the rate set up: a CAKE shapes below its line's rate."""
        return None if used is None else min(used * self._rates[way][0] / self.candidate.shaped[way], 1.0)

    def _kept(self, point: Point, side: Side, seed: int) -> float | None:
        """The part of its guarantee that a kind gets, at most 1."""
        if side.kind is None:
            return None
        got = math.fsum(point.groups[at][seed]["goodput_bit_per_s"] or 0.0 for at, _ in self._runs.groups(side))
        return min(got / (side.kind.part * self.candidate.shaped[side.way]), 1.0)

    def _used_alone(self, at: int, side: Side, seed: int) -> float | None:
        """What is used of the rate set up while a kind is alone."""
        if side.kind is None:
            return None
        point = self._alone[side.kind.name].points[at]
        return self._of_shaped(point.lines[side.way][seed]["utilisation"], side.way)

    def _mean(self, point: Point, groups: Sequence[tuple[int, Group]], name: str, seed: int) -> float | None:
        """The mean over groups of flows, of those of a capture weighted by their packets."""
        known = [
            (self._weights.get(group.label, group.count), value)
            for at, group in groups
            if (value := point.groups[at][seed][name]) is not None
        ]
        whole = sum(weight for weight, _ in known)
        return math.fsum(weight * value for weight, value in known) / whole if whole else None

    @property
    def given_away(self) -> float:
        """The part of the line that shaping leaves unused, in the direction where that is more."""
        return max((line - self.candidate.shaped[way]) / line for way, (_, line) in self._rates.items())

    def values(self, column: str) -> list[float | None]:
        """A column by seed."""
        return [seed[column] for seed in self.seeds]

    def row(self) -> dict[str, Any]:
        """The means over the seeds with their intervals."""
        return {
            "candidate": self.candidate.name,
            "queue": self.candidate.queue,
            "given_away": self.given_away,
            "limit_down": self.points[-1].limits["down"],
            "limit_up": self.points[-1].limits["up"],
            **intervals(OF_CANDIDATE, self.seeds),
            "seeds": len(self.seeds),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each round trip and side."""
        for (at, rtt_s), side in product(enumerate(self.rtts_s), self.sides):
            row = {"candidate": self.candidate.name, "rtt_s": rtt_s, "direction": side.way}
            kind = {"kind": side.kind.name if side.kind is not None else None}
            yield row | kind | intervals(OF_CANDIDATE, self.of_side(at, side))

    def of_kinds(self) -> Iterator[dict[str, Any]]:
        """A row for each kind of users: the worse direction, averaged over the round trips."""
        for kind in self.kinds:
            seeds = self._seeds([side for side in self.sides if side.kind == kind])
            row = {"candidate": self.candidate.name, "kind": kind.name, "part": kind.part}
            yield row | intervals(OF_CANDIDATE, seeds) | {"seeds": len(seeds)}


def _over(column: str, points: Sequence[Sequence[Seeds]], seed: int) -> float | None:
    """The value of one seed: that of the worst side, averaged over the points, or `None`."""
    worse = min if MEASURES[quantity(column)].is_more_better else max
    found = []
    for sides in points:
        known = [value for side in sides if (value := side[seed][column]) is not None]
        if not known:
            return None
        found.append(worse(known))
    return math.fsum(found) / len(found)
