"""What a paper's variants.py is made of: scenarios with some fields changed, and tables in Markdown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairq.core.inputs import pairs
from fairq.core.runs import cores
from fairq.papers.papers import Job, load
from fairq.papers.reproduction import Steps, run_job

Changes = Mapping[str, object]
"""Fields of a scenario and their values."""


def run_varied(paper: str, job: Job, changes: Changes) -> Mapping[str, Any]:
    """What the job gives with these fields changed, too."""
    return run_job(load(paper), replace(job, sets=(*job.sets, *pairs(changes))), cores(), Steps(1, None))


def print_table(columns: Sequence[str], rows: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Print a table in Markdown, each row as soon as it is known: one may take minutes."""
    _print_row(columns)
    sys.stdout.write("|---" + "|---:" * (len(columns) - 1) + "|\n")
    for name, cells in rows:
        _print_row([name, *cells])
    sys.stdout.write("\n")


def _print_row(cells: Iterable[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()
