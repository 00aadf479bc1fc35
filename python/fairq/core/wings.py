"""Wings: rooms that the core does without. What it asks of one is left out where the wing is not there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def wing(name: str) -> Any:
    """The module of a wing, as "traffic_control.for_questions"; `None` if the package is without it."""
    room = f"fairq.{name.partition('.')[0]}"
    return None if find_spec(room) is None else import_module(f"fairq.{name}")
