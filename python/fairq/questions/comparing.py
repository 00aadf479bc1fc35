"""Asks a question: one scenario, its runs, and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from fairq.questions import asked, kernel, network, sentences, traps
from fairq.questions.asked import Question
from fairq.questions.measured import measured
from fairq.questions.receive_window import in_words

if TYPE_CHECKING:
    from fairq.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq compare --json` prints."""

ANSWERED = ("queue", "seeds")
"""Notes of a run that a question does not need: it says the room; intervals keep in range."""


class Comparison(NamedTuple):
    """What a question gave.

    `rows` has a row for each queue (with each host queue, buffer and round trip) and group of
    flows, `queues` one for each queue, `paired` the differences on the same seeds, if asked for.
    `steady` says how long was measured; the document has whether that stood still.
    `answer` says which is best by which quantity, by how much, and whether that is decided; its
    `text` is a sentence. `notes` say what to know before it is trusted. `scenario` is the file that
    was run, in TOML; `document` all as `--json` prints it.
    """

    answer: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    queues: Sequence[Mapping[str, Any]]
    paired: Sequence[Mapping[str, Any]]
    steady: str
    notes: Sequence[Mapping[str, Any]]
    scenario: str
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Comparison: rows {len(self.rows)}, {self.answer['text']}>"


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
    tables = {name: document[name] for name in ("answer", "rows", "queues", "paired", "notes")}
    return Comparison(**tables, steady=steady.said(question), scenario=network.text(question), document=document)
