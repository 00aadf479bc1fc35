"""Asks a question: one scenario, its runs, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairq.questions import asked, kernel, network, sentences, traps
from fairq.questions.asked import Question
from fairq.questions.question_results import Comparison
from fairq.questions.receive_window import in_words
from fairq.questions.search import measured

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq compare --json` prints."""

ANSWERED = ("queue", "seeds")
"""Notes of a run that a question does not need: it says the room; intervals keep in range."""


def compare(question: Question, *, paired: bool, workers: int, progress: Tell | None = None) -> Comparison:
    """Run a question on `workers` threads."""
    found = measured([question], workers, progress)
    (question,), (result,), (answers,), steady = found
    answer = answers.answer(steady)
    answer["text"] = sentences.text(answers, answer, steady)
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "question": question.document(),
        "steady": steady.document(),
        "answer": answer,
        "rows": answers.rows(),
        "queues": answers.queues(),
        "paired": answers.paired(steady) if paired else [],
        "linux": kernel.document(answers),
        "notes": [
            *asked.notes(question),
            *traps.notes(question),
            *answers.notes(),
            *(in_words(note) for note in result.notes if note["code"] not in ANSWERED),
        ],
    }
    return Comparison(document=document, steady=steady.said(question), scenario=network.text(question))
