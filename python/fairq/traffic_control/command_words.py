"""The words of a tc command, one after another, each with what it may be, and the list of what differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.traffic_control.refusal import refused

T = TypeVar("T")


class Differs(list[dict[str, str]]):
    """What is not as in Linux: rows of setting, here, linux, each once."""

    def say(self, setting: str, here: str, linux: Any) -> None:
        """Add a row."""
        row = {"setting": setting, "here": here, "linux": f"{linux}"}
        if row not in self:
            self.append(row)

    def leave(self, given: Mapping[str, Any], *names: str) -> None:
        """Say options that have no like here; one that is off is as if it was not said."""
        for name in names:
            if name in given and given[name] is not False:
                self.say(name, "left out", "on" if given[name] is True else given[name])


class Words:
    """What is left of a command; `what` names it in messages."""

    def __init__(self, words: Sequence[str], what: str) -> None:
        self._words, self._at, self.what = list(words), 0, what

    def __bool__(self) -> bool:
        return self._at < len(self._words)

    def peek(self) -> str | None:
        """The next word, if there is one."""
        return self._words[self._at] if self else None

    def next(self, of: str) -> str:
        """The next word, which is `of` something."""
        word = self.peek()
        if word is None:
            raise self.refused(f"{of} has no value")
        self._at += 1
        return word

    def value(self, of: str, read: Callable[[str], T]) -> T:
        """The next word, read; a message names the option."""
        word = self.next(of)
        try:
            return read(word)
        except UsageError as error:
            raise self.refused(f"{of} {error}") from None

    def rest(self) -> list[str]:
        """All that is left."""
        words, self._at = self._words[self._at :], len(self._words)
        return words

    def refused(self, why: str) -> UsageError:
        """The error for what is wrong in the command."""
        return refused(f"{self.what}: {why}")

    def unknown(self, word: str, known: Sequence[str]) -> UsageError:
        """The error for an option that there is not."""
        return self.refused(f"there is no option {word}{near_miss(word, known)}")

    def take(
        self,
        known: Mapping[str, Option],
        short: Sequence[str] = (),
        once: Sequence[str] = (),
        until: Sequence[str] = (),
    ) -> dict[str, Any]:
        """The values of options, each by its first name; the last word on a thing counts.

        Those in `short` may be cut to any beginning; of several the first in the list is meant. Of those in `once` tc
        refuses a second. The first word of `until` is left.
        """
        found: dict[str, Any] = {}
        while self and self.peek() not in until:
            word = self.next("it")
            full = word if word in known else next((name for name in short if word and name.startswith(word)), None)
            if full is None:
                raise self.unknown(word, [*known, *until])
            name, read = known[full]
            if name in once and name in found:
                raise self.refused(f"{name} stands twice; write it once")
            if isinstance(read, Several):
                found[name] = read.words(self, full)
            else:
                found[name] = self.value(full, read) if callable(read) else read
        return found

    def numbers(self, of: str, read: Callable[[str], T], count: int | None = None) -> list[T]:
        """Words as long as they begin with a digit; a `count` is how many there have to be."""
        found = []
        while (word := self.peek()) is not None and word[:1].isdigit():
            found.append(self.value(of, read))
        if count not in (None, len(found)):
            raise self.refused(f"{of} has {len(found)} numbers; write {count}")
        return found


@dataclass(frozen=True)
class Several:
    """An option whose value is several words."""

    words: Callable[[Words, str], Any]
    """The value, of the words that follow and the option's name."""


Option = tuple[str, Any]
"""The name of a value and how it is read, or the value itself of a word that stands alone."""
ON: Option = ("", True)
"""A word that stands alone, and is then true."""


def options(given: Mapping[str, Callable[[str], Any] | Option]) -> dict[str, Option]:
    """Options by name; `burst|buffer` has two names for one, `("ecn", False)` is a value of another."""
    found: dict[str, Option] = {}
    for names, read in given.items():
        first, *others = names.split("|")
        for name in (first, *others):
            found[name] = (first, read) if callable(read) else (read[0] or first, read[1])
    return found


def shortened(word: str, known: Sequence[str]) -> str | None:
    """The first of `known` that begins with the word: tc lets verbs and objects be cut."""
    return next((name for name in known if word and name.startswith(word)), None)
