"""What each group of flows got over time, from counts of equal stretches of each run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from fairq import statistics
from fairq.core.results import Result
from fairq.questions import network
from fairq.questions.asked import Group, Question
from fairq.questions.measures import mean_of_known
from fairq.questions.network import Key

STRETCHES = 56
"""Equal parts of a run: a warm-up of 5 s before 30 s has eight."""

QUANTITIES = ("share", "queueing_s_mean")
"""What is followed over time."""


class Of(NamedTuple):
    """Whose course it is."""

    point: Key
    group: int
    """The number of the group of flows."""
    quantity: str


@dataclass
class Run:
    """A quantity in the stretches of one run, each with its weight in a mean of several."""

    values: list[float]
    weights: list[float]

    @classmethod
    def empty(cls) -> Run:
        """A run of which nothing is known yet."""
        return cls([0.0] * STRETCHES, [0.0] * STRETCHES)

    def mean(self, first: int, last: int) -> float | None:
        """The mean over the stretches from `first` to `last`; `None` if none has a value."""
        parts = [(weight, self.values[at]) for at, weight in enumerate(self.weights[first:last], first)]
        whole = math.fsum(weight for weight, _ in parts)
        return math.fsum(weight * value for weight, value in parts) / whole if whole else None


@dataclass
class Halves:
    """A quantity in the halves of a part of the runs, by seed."""

    first: list[float | None]
    second: list[float | None]

    @property
    def means(self) -> tuple[float, float] | None:
        """The means over the seeds; `None` if there are none."""
        first, second = (mean_of_known(half) for half in (self.first, self.second))
        return None if first is None or second is None else (first, second)

    def differ(self, part: float = 1.0) -> bool:
        """Whether zero is outside of this part of the 95 % interval of their difference."""
        found = statistics.paired(self.second, self.first)
        if found.difference is None or found.low is None or found.high is None:
            return False
        return abs(found.difference) > part * (found.high - found.low) / 2


class Course:
    """What each group of flows of a question got over time, at each point with each seed."""

    def __init__(self, question: Question, result: Result, measured: int) -> None:
        self.question = question
        self.measured = measured
        """The first stretch of the measured time."""
        self.runs: dict[Of, dict[int, Run]] = {}
        groups = {name: entry.group for entry in network.entries(question) for name in entry.flow_names}
        numbers = {id(group): at for at, group in enumerate(question.groups)}
        table = result.by_seed("course")
        ends = sorted(set(table.column("time_s")))
        stretches = {end: at for at, end in enumerate(ends)}
        names = ("seed", "time_s", "flow", "packets", "goodput_bit_per_s", "queueing_s_mean")
        rows = zip(network.keys(question, table), *(table.column(name) for name in names), strict=True)
        for point, seed, end, flow, packets, goodput, queueing in rows:
            # A study may set the number of flows: its copies have their numbers behind the name.
            group = groups.get(flow) or groups.get(flow.rpartition(".")[0])
            if group is None:
                continue
            at, number = stretches[end], numbers[id(group)]
            share = self._run(Of(point, number, "share"), seed)
            share.values[at] += goodput / self._rate(group)
            share.weights[at] = 1.0
            if packets:
                waits = self._run(Of(point, number, "queueing_s_mean"), seed)
                weight = waits.weights[at] + packets
                waits.values[at] += (queueing - waits.values[at]) * packets / weight
                waits.weights[at] = weight
        if question.is_moving:
            self._of_all()

    def _of_all(self) -> None:
        """Make shares parts of what all flows get: what the line could carry varies."""
        shares = [of for of in self.runs if of.quantity == "share"]
        for point, way in dict.fromkeys((of.point, self.question.groups[of.group].direction) for of in shares):
            mine = [of for of in shares if of.point == point and self.question.groups[of.group].direction == way]
            for seed in self.runs[mine[0]]:
                runs = [self.runs[of][seed] for of in mine if seed in self.runs[of]]
                for at in range(STRETCHES):
                    whole = math.fsum(run.values[at] for run in runs)
                    for run in runs:
                        run.values[at] /= whole or 1.0

    def _run(self, of: Of, seed: int) -> Run:
        return self.runs.setdefault(of, {}).setdefault(seed, Run.empty())

    def _rate(self, group: Group) -> float:
        return self.question.rate_bit_per_s(group.direction)

    def halves(self, of: Of, first: int) -> Halves:
        """The halves of the stretches from `first` to the end."""
        middle = (first + STRETCHES) // 2
        runs = self.runs.get(of, {}).values()
        return Halves([run.mean(first, middle) for run in runs], [run.mean(middle, STRETCHES) for run in runs])
