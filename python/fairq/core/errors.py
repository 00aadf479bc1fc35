"""What fairq refuses, as values: where, what is wrong and what to write instead.

The compiled part raises these too. The line of text is made here, once, and no code takes it apart
again: to say a fault of another place, take `fault` and give your own `where`.
"""

from __future__ import annotations

from typing import Any


class FairqError(Exception):
    """Anything fairq refuses; `str()` of it is one clear line.

    `where` is the file and the line in it, or the option; `path` the place within, as
    "links[0].queue"; `field` the field that is meant where an axis or an option sets it; `message`
    what is wrong; `remedy` what to write instead, the part of the text behind the first semicolon;
    `fault` the two as one text; `errno` the number of the system's error, if one is the cause. What
    is not known is empty, and `errno` None.
    """

    def __init__(
        self, fault: str = "", where: str = "", path: str = "", field: str = "", errno: int | None = None
    ) -> None:
        super().__init__(": ".join(part for part in (where, path, field, fault) if part))
        self.where, self.path, self.field, self.fault, self.errno = where, path, field, fault, errno
        self.message, self.remedy = _divided(fault)


class UsageError(FairqError):
    """An argument or a name that is not known."""


class ScenarioError(FairqError):
    """A scenario that cannot be read or run."""


class CaptureError(FairqError):
    """A file that is not a capture, or a broken one."""


class TopologyError(FairqError):
    """A file that is not a topology, or a broken one."""


class OutputError(FairqError):
    """A file or folder that cannot be written."""


class PartError(FairqError):
    """An own part, which `where` names, that did what it may not, or raised its `__cause__`."""


class RefusedError(FairqError):
    """A request that a dispatcher does not admit.

    `reason` is "full", "tenant_full", "too_many_tenants", "too_wide" or "closed".
    """

    reason: str = ""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a call that runs a scenario; `result` is what the complete runs gave, or None.

    `result` is a `fairq.Result`, also of a call that asks a question: the runs of its scenario, at
    the points of which one was complete. In a notebook it is `sys.last_value.result`.
    """

    def __init__(self, said: str = "interrupted", result: Any = None) -> None:
        super().__init__(said)
        self.result = result


def _divided(text: str) -> tuple[str, str]:
    """What is wrong, and the remedy; a semicolon within `…`, a quote, divides nothing."""
    pieces = text.split("; ")
    for at in range(1, len(pieces)):
        message = "; ".join(pieces[:at])
        if message.count("`") % 2 == 0:
            return message, "; ".join(pieces[at:])
    return text, ""
