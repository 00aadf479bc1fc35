"""A part of a study for a task of a job array: each of n tasks takes every n-th run."""

from __future__ import annotations

import re
from typing import NamedTuple

from fairq.core.errors import UsageError

WRITTEN = re.compile(r"(\d{1,9})/(\d{1,9})")


class Part(NamedTuple):
    """Task number `number` of `of`, from 1."""

    number: int
    of: int

    def takes(self, run: int) -> bool:
        """Whether a run with this number, from 0, is of this part."""
        return run % self.of == self.number - 1


def parse(text: str) -> Part:
    """The part that "3/16" says; UsageError says what is wrong."""
    found = WRITTEN.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--part: {text!r} is no part; write the task's number and how many there are, as 3/16")
    number, of = int(found[1]), int(found[2])
    if not 1 <= number <= of:
        raise UsageError(f"--part: {text}: the tasks of {of} have the numbers 1 to {of}; is yours counted from 0?")
    return Part(number, of)
