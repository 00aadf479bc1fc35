"""Runs questions until what they measure stands still: their answers, and how long that took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fairq.core.estimating import Estimate, estimate, together
from fairq.core.inputs import Text
from fairq.core.results import Result
from fairq.core.runs import Experiment
from fairq.questions import network, steady
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.questions.course import STRETCHES, Course
from fairq.questions.network import Made
from fairq.questions.steady import Steady, Times

if TYPE_CHECKING:
    from fairq.core.progress import Tell


class Measured(NamedTuple):
    """What questions measured, all with the same times."""

    questions: list[Question]
    """The questions with the times that were found."""
    results: list[Result]
    answers: list[Answers]
    steady: Steady


@dataclass
class _Whole:
    """Tells the part of all runs that is done, by their length, and the sums of their work."""

    progress: Tell
    all: float
    """The length of all runs that are planned."""
    before: float = 0.0
    """The length of the runs of the experiments that are finished."""
    now: float = 0.0
    """The length of the runs of the one that is running."""
    seconds: float = 0.0
    hops: int = 0
    last: tuple[float, int] = (0.0, 0)
    """Simulated seconds and packet-hops of the one that is running."""

    def __call__(self, fraction: float, seconds: float, hops: int) -> None:
        self.last = (seconds, hops)
        self.progress((self.before + fraction * self.now) / self.all, self.seconds + seconds, self.hops + hops)

    def begin(self, length: float) -> None:
        """Begin the next experiment."""
        self.before, self.now = self.before + self.now, length
        self.seconds, self.hops = self.seconds + self.last[0], self.hops + self.last[1]
        self.last = (0.0, 0)
        self.all = max(self.all, self.before + self.now)


Sets = Sequence[tuple[str, str]]
"""Paths of a scenario's fields and their values as JSON."""


@dataclass
class Search:
    """Questions whose runs grow until what they measure stands still, all with the same times.

    `longer` is how many times as long as the first run the longest may be, where it is not the
    usual; `sets` are fields of each question's scenario that have another value. All questions are
    checked before the first is run: UsageError names the word that cannot be.
    """

    questions: Sequence[Question]
    workers: int
    progress: Tell | None = None
    longer: float = math.inf
    sets: Sequence[Sets] = ()

    def __post_init__(self) -> None:
        self.first = self.times = steady.begin(self.questions)
        self._made: tuple[Times, list[Made]] | None = None
        self.longest = steady.longest(self.questions, self._experiments(), self.first)
        self.longest = min(self.longest, self.longer * self.first.length)
        self.whole = _Whole(self.progress, 0.0) if self.progress is not None else None
        self.results: list[Result] = []
        self.courses: list[Course] = []

    @property
    def asked(self) -> list[Question]:
        """The questions with the times of now."""
        return [self.times.of(question) for question in self.questions]

    def scenarios(self) -> list[Text]:
        """The scenarios with the times of now."""
        return [made.scenario for made in self._all()]

    def _all(self) -> list[Made]:
        """What the questions make with the times of now, made once."""
        if self._made is None or self._made[0] != self.times:
            self._made = (self.times, [network.made(question) for question in self.asked])
        return self._made[1]

    def _experiments(self) -> list[Experiment]:
        if not self.sets:
            return [made.experiment for made in self._all()]
        return [Experiment(*each) for each in zip(self.scenarios(), self.sets, strict=True)]

    def run(self) -> Steady:
        """Run the questions until they stand still, or to the longest."""
        while True:
            self._run()
            tested = steady.tested_from(self.questions, self.times)
            moves = steady.moves(self.courses, tested, self.times.stretch())
            is_over = any(map(network.is_unfinished, self.asked, self.results))
            if not (moves or is_over) or self.times.length >= self.longest:
                is_tested = all(map(steady.is_tested, self.questions))
                return Steady(self.times, self.first, self.longest, tuple(moves), is_tested)
            self.times = steady.longer(self.times, self.courses, self.questions, self.longest)

    def _run(self) -> None:
        made = self._experiments()
        lengths = [len(experiment.runs()) * self.times.length for experiment in made]
        if self.whole is not None:
            self.whole.all += sum(lengths)
        self.results = []
        for experiment, length in zip(made, lengths, strict=True):
            if self.whole is not None:
                self.whole.begin(length)
            self.results.append(experiment.run(self.workers, self.whole, STRETCHES))
        at = self.times.stretch()
        self.courses = [Course(*each, at) for each in zip(self.asked, self.results, strict=True)]

    def expected(self) -> Estimate:
        """What it will cost: that of the first runs, and of all runs up to the longest."""
        each = [estimate(scenario, (), self.workers) for scenario in self.scenarios()]
        return together(each, steady.most(self.first, self.longest))


def measured(
    questions: Sequence[Question], workers: int, progress: Tell | None = None, longer: float = math.inf
) -> Measured:
    """Run questions, each on `workers` threads, until all stand still, and give their answers."""
    search = Search(questions, workers, progress, longer)
    found = search.run()
    answers = [Answers(*each) for each in zip(search.asked, search.results, search.courses, strict=True)]
    return Measured(search.asked, search.results, answers, found)
