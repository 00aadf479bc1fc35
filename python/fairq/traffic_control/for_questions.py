"""What tc has to say of the queues of a question (`fairq compare`), which does without this room, too."""

from __future__ import annotations

import fairq._native as _native
from fairq.core.errors import UsageError
from fairq.traffic_control.command_reader import read, read_words
from fairq.traffic_control.command_writer import write


def remedy(queue: str) -> str | None:
    """What to write for a queue in the words of tc; `None` if these are none."""
    try:
        found = read_words(queue)
        _native.queue(found.text)
    except UsageError:
        return None
    # Linux's limit is the default here as well, and --buffer may take its place.
    text = found.text if "limit" in queue else found.text.partition(" + ")[0]
    more = "; fairq tc --read says what differs" if found.differs else ""
    return f"these are words of tc; write {text}{more}"


def set_up(queue: str) -> str | None:
    """The text form of what tc would set up for a queue; `None` if Linux has no such queue."""
    try:
        return read("\n".join(write(queue).commands)).text
    except UsageError:
        return None
