"""The memory of this program."""

from __future__ import annotations

import sys


def peak_memory() -> int | None:
    """The most bytes that this program had in memory, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
