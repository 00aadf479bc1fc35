"""Runs several questions as one piece of work: what each measured, and how far all are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairq.questions import network
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.runs import Experiment

if TYPE_CHECKING:
    from fairq.api import Tell


@dataclass
class _Whole:
    """Tells the fraction of all questions, and the sums of simulated seconds and packet-hops."""

    progress: Tell
    runs: int
    before: int = 0
    """Runs of the questions that are finished."""
    now: int = 0
    """Runs of the question that is running."""
    seconds: float = 0.0
    hops: int = 0
    last: tuple[float, int] = (0.0, 0)
    """Simulated seconds and packet-hops of the question that is running."""

    def __call__(self, fraction: float, seconds: float, hops: int) -> None:
        self.last = (seconds, hops)
        self.progress((self.before + fraction * self.now) / self.runs, self.seconds + seconds, self.hops + hops)

    def begin(self, runs: int) -> None:
        """Begin the next question."""
        self.before, self.now = self.before + self.now, runs
        self.seconds, self.hops = self.seconds + self.last[0], self.hops + self.last[1]
        self.last = (0.0, 0)


def measured(questions: Sequence[Question], workers: int, progress: Tell | None = None) -> list[Answers]:
    """The answers of questions that are run one after the other, each on `workers` threads.

    UsageError names the word of a question that cannot be; all are checked before the first is run.
    """
    made = [Experiment(network.scenario(question)) for question in questions]
    counts = [len(experiment.runs()) for experiment in made]
    whole = _Whole(progress, sum(counts)) if progress is not None else None
    found = []
    for question, experiment, count in zip(questions, made, counts, strict=True):
        if whole is not None:
            whole.begin(count)
        found.append(Answers(question, experiment.run(workers, whole)))
    return found
