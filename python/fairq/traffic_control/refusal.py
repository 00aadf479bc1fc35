"""What is wrong in commands of tc."""

from __future__ import annotations

from fairq.core.errors import UsageError


def refused(fault: str) -> UsageError:
    """The error, whose `fault` others say with a place of their own."""
    return UsageError(fault, where="tc")
