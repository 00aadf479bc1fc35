"""What the registry holds of disciplines, transports and traffic, as the compiled part says it."""

from __future__ import annotations

import json
from typing import Any

import fairq._native as _native


def listing(what: str) -> list[dict[str, Any]]:
    """The entries of a kind, one of `fairq.api.LISTS` but "papers"."""
    entries: list[dict[str, Any]] = json.loads(_native.listing(what))
    return entries


def explained(name: str) -> dict[str, Any]:
    """The cards that are called `name`, as fields and as text; UsageError with the near miss."""
    document: dict[str, Any] = json.loads(_native.explained(name))
    return document


def cards(name: str) -> list[dict[str, Any]]:
    """The cards that are called `name`, as fields; UsageError with the near miss."""
    found: list[dict[str, Any]] = explained(name)["cards"]
    return found
