"""The losses of a line: a part of the packets, one by one or in bursts, as "2%@burst=5"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fairq.core.errors import UsageError
from fairq.questions import words


class Loss(NamedTuple):
    """Which packets a line loses."""

    text: str
    part: float
    """Of all packets."""
    burst: float | None
    """The mean number lost in a row; `None`: each is lost on its own."""

    @property
    def value(self) -> float | str:
        """It as a scenario has it."""
        return self.part if self.burst is None else f"{self.part:g}@burst={self.burst:g}"


def losses(given: str | float | Sequence[str]) -> tuple[Loss, ...]:
    """The values of --loss; UsageError says what to write."""
    texts = [str(given)] if isinstance(given, str | int | float) else [str(each) for each in given]
    return tuple(_loss(text) for text in words.values("--loss", ",".join(texts)))


def _loss(text: str) -> Loss:
    some, at, behind = text.partition("@")
    part = words.part("--loss", some)
    if not at:
        return Loss(text, part, None)
    name, equals, number = (word.strip() for word in behind.partition("="))
    try:
        if name != "burst" or not equals:
            raise ValueError
        return Loss(text, part, float(number))
    except ValueError:
        raise UsageError(f"--loss {text}: write the mean burst behind the part, as 2%@burst=5") from None
