"""The memory of this program."""

from __future__ import annotations

import sys

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
