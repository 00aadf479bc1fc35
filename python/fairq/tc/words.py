"""The words of a tc command, one after another, each with what it may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairq._native import UsageError
from fairq.near import near_miss


class Words:
    """What is left of a command; `what` names it in messages."""

    def __init__(self, words: list[str], what: str) -> None:
        self._words, self._at, self.what = words, 0, what

    def __bool__(self) -> bool:
        return self._at < len(self._words)

    def peek(self) -> str | None:
        """The next word, if there is one."""
        return self._words[self._at] if self else None

    def next(self, of: str) -> str:
        """The next word, which is `of` something."""
        word = self.peek()
        if word is None:
            raise UsageError(f"tc: {self.what}: {of} has no value")
        self._at += 1
        return word

    def rest(self) -> list[str]:
        """All that is left."""
        words, self._at = self._words[self._at :], len(self._words)
        return words

    def take(self, options: Mapping[str, Option]) -> dict[str, Any]:
        """The values of options, each by its first name; an unknown one names the nearest."""
        found: dict[str, Any] = {}
        while self:
            word = self.next("it")
            if word not in options:
                raise UsageError(f"tc: {self.what}: there is no option {word}{near_miss(word, options)}")
            name, read = options[word]
            found[name] = True if read is None else read(self.next(word))
        return found

    def numbers(self, read: Callable[[str], Any]) -> list[Any]:
        """Words as long as they begin with a digit."""
        found = []
        while (word := self.peek()) is not None and word[0].isdigit():
            found.append(read(self.next("it")))
        return found


Option = tuple[str, Callable[[str], Any] | None]
"""The name of a value and how it is read; None: a word that stands alone."""


def options(given: Mapping[str, Callable[[str], Any] | None]) -> dict[str, Option]:
    """Options by name; `burst|buffer` has two names for one."""
    found: dict[str, Option] = {}
    for names, read in given.items():
        first, *others = names.split("|")
        for name in (first, *others):
            found[name] = (first, read)
    return found
