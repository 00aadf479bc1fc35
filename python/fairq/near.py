"""The near miss of a misspelt name."""

from __future__ import annotations

from collections.abc import Iterable

MEANT = {
    "queues": "disciplines",
    "queue": "disciplines",
    "qdiscs": "disciplines",
    "schedulers": "disciplines",
    "controls": "transports",
    "sources": "traffic",
    "maps": "topologies",
}
"""Words that others have for a list."""


def near_miss(word: str, known: Iterable[str]) -> str:
    """The end of a message: did you mean the nearest of `known`, or what there is."""
    import difflib

    names = list(known)
    meant = MEANT.get(word.lower())
    # a hyphen and an underscore are the same slip everywhere
    plain = {name.lower().replace("-", "_"): name for name in reversed(names)}
    found = [meant] if meant in names else difflib.get_close_matches(word.lower().replace("-", "_"), plain, 1, 0.7)
    if found:
        return f"; did you mean {plain.get(found[0], found[0])}?"
    return f"; there are {', '.join(names)}" if names else ""
