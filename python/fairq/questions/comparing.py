"""Asks a question: one scenario, its runs, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fairq.questions import asked, network, sentences
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.questions.receive_window import in_words
from fairq.runs import Experiment

if TYPE_CHECKING:
    from fairq.api import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq compare --json` prints."""

ANSWERED = ("queue", "seeds")
"""Notes of a run that a question does not need: it says the room; intervals keep in range."""


class Comparison(NamedTuple):
    """What a question gave.

    `rows` has a row for each queue (with each host queue, buffer and round trip) and group of
    flows, `queues` one for each queue, `paired` the differences on the same seeds, if asked for.
    `answer` says which is best by which quantity, by how much, and whether that is decided; its
    `text` is a sentence. `notes` say what to know before it is trusted. `scenario` is the file that
    was run, in TOML; `document` all as `--json` prints it.
    """

    answer: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    queues: Sequence[Mapping[str, Any]]
    paired: Sequence[Mapping[str, Any]]
    notes: Sequence[Mapping[str, Any]]
    scenario: str
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Comparison: rows {len(self.rows)}, {self.answer['text']}>"


def compare(question: Question, *, paired: bool, workers: int, progress: Tell | None = None) -> Comparison:
    """Run a question on `workers` threads."""
    scenario = network.scenario(question)
    result = Experiment(scenario).run(workers, progress)
    answers = Answers(question, result)
    answer = answers.answer()
    answer["text"] = sentences.answer(answer, question.seeds, len(question.line_rtts))
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "question": question.document(),
        "answer": answer,
        "rows": answers.rows(),
        "queues": answers.queues(),
        "paired": answers.paired() if paired else [],
        "notes": [
            *asked.notes(question),
            *answers.notes(),
            *(in_words(note) for note in result.notes if note["code"] not in ANSWERED),
        ],
    }
    tables = {name: document[name] for name in ("answer", "rows", "queues", "paired", "notes")}
    return Comparison(**tables, scenario=scenario.text, document=document)
