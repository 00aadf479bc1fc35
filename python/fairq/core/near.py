"""The near miss of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

Words = dict[str, list[tuple[str, str]]]
"""For each word of another tool: the name that has to be known, and what to write."""


@cache
def foreign() -> Words:
    """The words that others have for a name of ours; the compiled part reads the same file."""
    found: Words = {}
    for line in Path(__file__).with_name("foreign_words.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words, name, *write = (part.strip() for part in line.split("|"))
            for word in words.split(","):
                found.setdefault(word.strip(), []).append((name, write[0] if write else name))
    return found


def meant(word: str, known: Iterable[str]) -> str | None:
    """What to write for a word of others, if its name is one of `known`.

    >>> meant("VoIP", ["call", "web"]), meant("udp", ["web"])
    ('call(rate=100kbit/s)', None)
    """
    names = {*known}
    return next((write for name, write in foreign().get(_plain(word), ()) if name in names), None)


def near_miss(word: str, known: Iterable[str]) -> str:
    """The end of a message: did you mean the nearest of `known`, or what there is.

    >>> near_miss("latency", ["rate", "delay"]), near_miss("--bw", ["--rate"])
    ('; did you mean delay?', '; did you mean --rate?')
    """
    names = list(known)
    dashes = "--" if word.startswith("--") else ""
    ours = meant(word.removeprefix(dashes), (name.removeprefix(dashes) for name in names))
    if ours is not None:
        return f"; write {ours}" if " " in ours else f"; did you mean {dashes}{ours}?"
    found = _nearest(word, names)
    if found is not None:
        return f"; did you mean {found}?"
    return f"; there are {', '.join(names)}" if names else ""


def _nearest(word: str, names: Sequence[str]) -> str | None:
    import difflib

    plain = {_plain(name): name for name in reversed(names)}
    found = difflib.get_close_matches(_plain(word), plain, 1, 0.7)
    # two letters that changed places in a short name are half of it
    found = found or [name for name in plain if len(word) > 1 and sorted(name) == sorted(_plain(word))]
    found = found or [name for name in plain if len(word) > 3 and name.startswith(_plain(word))][:1]
    return plain[found[0]] if found else None


def _plain(word: str) -> str:
    """Hyphen, space and underscore are the same slip, as are small letters and capitals."""
    return word.lower().replace("-", "_").replace(" ", "_")
