"""Which page of the site some words mean, by titles and headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

SMALL = frozenset([
    "a", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "in", "is", "it", "my",
    "of", "on", "or", "the", "to", "what", "which", "with",
])  # fmt: skip
"""Words that say nothing of what is looked for."""

BEGUN = 4
"""Letters from which on the beginning of a word stands for it."""

LATER = ("agreement/", "design/", "reference/constants", "reference/refused")
"""Where a name is told of beside other things: a page that is about it comes first."""

ENDING = 3
"""Letters that a word may have after what is found, as "buffers" for "buffer"."""

NEAR = 3
"""How many pages are named where none has all words."""


class Entry(NamedTuple):
    """A title or a heading of the site."""

    page: str
    """The file, with the heading's anchor."""
    text: str
    title: str
    """The title of its page."""
    is_title: bool


def words_of(text: str) -> list[str]:
    """The words of a text that say what it is about.

    >>> words_of("How do I use `fq_codel`?"), words_of("what is it")
    (['use', 'fq_codel'], ['what', 'is', 'it'])
    """
    found = re.findall(r"[\w-]+", text.lower())
    return [word for word in found if word not in SMALL] or found


def best(words: str, entries: Sequence[Entry]) -> Entry | None:
    """The entry that has all the words, and as little beside them as can be; None: none has all."""
    asked = words_of(words)
    found = [(points, entry) for entry in entries if (points := _points(asked, entry)) is not None]
    return max(found, key=lambda each: each[0])[1] if found else None


def near(words: str, entries: Sequence[Entry]) -> list[str]:
    """The titles of pages that have some of the words, or nearly, those with most first."""
    import difflib

    asked = words_of(words)
    points: dict[str, float] = {}
    for entry in entries:
        own = words_of(entry.text)
        likeness = [max((_likeness(word, each, difflib.SequenceMatcher) for each in own), default=0) for word in asked]
        scored = sum(part for part in likeness if part > 0.7)
        points[entry.title] = max(points.get(entry.title, 0), scored + (0.1 if scored and entry.is_title else 0))
    ranked = sorted((title for title in points if points[title]), key=lambda title: -points[title])
    return ranked[:NEAR]


def _likeness(one: str, other: str, matcher: type) -> float:
    return float(matcher(None, one, other).ratio())


def _points(asked: Sequence[str], entry: Entry) -> float | None:
    """How well an entry fits: each word in it, or else in the title or the name of its page.

    What stands in brackets behind it, as in "drr (scheduler)", is a kind: it counts as the title.
    """
    named, _, kind = entry.text.partition(" (")
    own, beside = words_of(named), words_of(f"{kind} {entry.title} {re.sub('[/.#]', ' ', entry.page)}")
    total, hit = 0.0, set()
    for word in asked:
        if (found := _in(word, own)) is not None:
            total += 1 if found == word else 0.7
            hit.add(found)
        elif (found := _in(word, beside)) is not None:
            total += 0.4 if found == word else 0.3
        else:
            return None
    points = total / len(asked) + 0.5 * len(hit) / len(own) + (0.2 if entry.is_title else 0)
    is_name = entry.is_title and "-".join(asked).replace("_", "-") == PurePosixPath(entry.page).stem
    return points + (1 if is_name else 0) - (0.1 if entry.page.startswith(LATER) else 0)


def _in(word: str, words: Iterable[str]) -> str | None:
    """The word among others, or what it begins, or is the beginning of but for an ending."""
    begun = None
    for each in words:
        if each == word or each.replace("-", "_") == word.replace("-", "_"):
            return each
        short, long = sorted((each, word), key=len)
        if len(short) >= BEGUN and long.startswith(short) and len(word) <= len(each) + ENDING:
            begun = each
    return begun
