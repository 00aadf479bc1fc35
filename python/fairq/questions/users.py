"""The users of a line in place of flows: a household or an office in its busy hour."""

from __future__ import annotations

from fairq.core.errors import UsageError

MIX = (
    (3, ("web",)),
    (10, ("call(rate=100kbit/s)", "call(rate=100kbit/s)#(direction=up)")),
    (15, ("cubic",)),
    (30, ("cubic#(direction=up)",)),
)
"""Of how many users one has these flows, `#` being where their count stands: one in three reads
pages of the web, one in ten is in a call, one in fifteen downloads an update and one in thirty
uploads a backup, at least one of each. An assumption, which docs/guide/advise.md has as a table."""

MOST = 1000
"""The most users."""


def flows(users: int, where: str = "") -> list[str]:
    """The items of --flows that are these users; UsageError names `where` if there are too many."""
    if not 1 <= users <= MOST:
        said = where or f"--users {users}"
        raise UsageError(f"{said}: write a number from 1 to {MOST}")
    return [_counted(item, -(-users // each)) for each, items in MIX for item in items]


def _counted(item: str, count: int) -> str:
    said = f":{count}" if count > 1 else ""
    return item.replace("#", said) if "#" in item else f"{item}{said}"
