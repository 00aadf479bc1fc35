"""The memory of this program."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ADDRESSES_MIN = 10**9
"""Bytes of address space below which packages fail to load, each with errors of its own."""


def short_of_addresses() -> str | None:
    """What to say of a failure where `ulimit -v` is too small for the packages that are loaded."""
    try:
        import resource
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= ADDRESSES_MIN:
        return None
    return (
        f"{limit / 1e6:.0f} MB of address space are too few; raise the limit, as by: ulimit -v {ADDRESSES_MIN // 1000}"
    )


def peak_memory() -> int | None:
    """The most bytes that this program had in memory, where the system tells."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def growth(do: Callable[[], object]) -> int | None:
    """How many bytes more than before were in memory at once while it ran; `None` where Linux does not tell."""
    try:
        # proc(5): the greatest memory counts from now on
        Path("/proc/self/clear_refs").write_text("5")
        before = _resident("VmRSS")
        do()
        return max(0, _resident("VmHWM") - before)
    except OSError:
        do()
        return None


def _resident(field: str) -> int:
    """A line of this program's state in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))
