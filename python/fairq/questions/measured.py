"""Runs questions until what they measure stands still: their answers, and how long that took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from fairq import api
from fairq.estimating import Estimate, together
from fairq.questions import network, steady
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.questions.course import STRETCHES, Course
from fairq.questions.steady import Steady, Times
from fairq.results import Result
from fairq.runs import Experiment

if TYPE_CHECKING:
    from fairq.api import Tell


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


def experiments(questions: Sequence[Question], times: Times) -> list[Experiment]:
    """The experiments of questions with these times; UsageError names the word that cannot be."""
    return [Experiment(network.scenario(times.of(question))) for question in questions]


def expected(questions: Sequence[Question], workers: int | None) -> Estimate:
    """What questions will cost: that of their first runs, and of all runs up to the longest."""
    first = steady.begin(questions)
    made = experiments(questions, first)
    factor = steady.most(first, steady.longest(questions, made, first))
    each = [api.estimate(network.scenario(first.of(question)), workers=workers) for question in questions]
    return together(each, factor)


def measured(
    questions: Sequence[Question], workers: int, progress: Tell | None = None, longer: float | None = None
) -> Measured:
    """Run questions one after the other, each on `workers` threads, until all stand still.

    `longer` is how many times as long as the first run the longest may be, where it is not the
    usual. All are checked before the first is run.
    """
    times = first = steady.begin(questions)
    made = experiments(questions, times)
    longest = steady.longest(questions, made, first)
    if longer is not None:
        longest = min(longest, longer * first.length)
    whole = _Whole(progress, 0.0) if progress is not None else None
    while True:
        asked = [times.of(question) for question in questions]
        results = _run(made, times, workers, whole)
        courses = [Course(*each, times.stretch()) for each in zip(asked, results, strict=True)]
        answers = [Answers(*each) for each in zip(asked, results, courses, strict=True)]
        moves = steady.moves(courses, steady.tested_from(questions, times))
        unfinished = any(each.unfinished() for each in answers)
        if not (moves or unfinished) or times.length >= longest:
            is_tested = all(map(steady.is_tested, questions))
            return Measured(asked, results, answers, Steady(times, first, longest, tuple(moves), is_tested))
        times = steady.longer(times, courses, questions, longest)
        made = experiments(questions, times)


def _run(made: Sequence[Experiment], times: Times, workers: int, whole: _Whole | None) -> list[Result]:
    counts = [len(experiment.runs()) for experiment in made]
    if whole is not None:
        whole.all += sum(counts) * times.length
    results = []
    for experiment, count in zip(made, counts, strict=True):
        if whole is not None:
            whole.begin(count * times.length)
        results.append(experiment.run(workers, whole, STRETCHES))
    return results
