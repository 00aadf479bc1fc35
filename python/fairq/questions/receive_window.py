"""The receive window of a question, and what notes on its scenario mean in its words."""

from __future__ import annotations

from collections.abc import Mapping

from fairq.core import quantities
from fairq.core.errors import UsageError

OPTION = "--receive-window"

PACKET = 1500
"""Bytes of a packet of IP, as in edition 2."""

PACKETS_MAX = 10**9
"""The largest window that a scenario takes."""

REMEDIES = {
    "a larger connection.receive_window": f"a larger {OPTION}",
    "connection = { tunes_buffer = false } beside its profile": "--profile rfc",
    "measure.duration": "--duration",
    "a warm_up of": "a --warm-up of",
    "or a start": "or start= in its item",
    'for example queue = "fq_codel", or ecn = true in the queue': "a --queue that marks, as codel(ecn=true)",
    "jitter = 1 in their traffic": "rates that differ a little",
}
"""What a note on a scenario says to write, and what that is in the words of a question."""


def packets(text: str | int) -> int:
    """A receive window in packets: 4000, 4000packets, or bytes of packets of 1500, as 6MB."""
    number = str(text).strip().removesuffix("packets").strip()
    try:
        found = int(number) if number.isdecimal() else int(quantities.size(str(text))) // PACKET
    except UsageError as error:
        raise UsageError(f"{OPTION} {error}; or packets, as 4000packets") from None
    if not 1 <= found <= PACKETS_MAX:
        raise UsageError(
            f"{OPTION} {text}: a window is from 1 to {PACKETS_MAX} packets of {PACKET} B; write for example 6MB"
        )
    return found


def in_words(note: Mapping[str, str]) -> dict[str, str]:
    """A note on the scenario of a question, with the remedy in the question's words."""
    head, separator, remedy = note["text"].partition("write ")
    for theirs, ours in REMEDIES.items():
        remedy = remedy.replace(theirs, ours)
    return {"code": note["code"], "where": note["where"], "text": f"{head}{separator}{remedy}"}
