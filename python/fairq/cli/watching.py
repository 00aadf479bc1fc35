"""What `--watch` shows while an emulation runs: queues, rates and delays, on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from fairq.core import streams, tables

UP, CLEAR = "\x1b[{}A", "\x1b[J"
"""What moves a terminal's cursor up, and clears what is below it."""

ROWS_MAX = 15
"""The most flows that are shown, those with the greatest rates."""

FLOWS = ("flow", "throughput_bit_per_s", "rtt_s")
QUEUES = ("link", "direction", "held_packets")


class Watching:
    """Shows what is under way. As a context it is `None` without a terminal, or if not wanted."""

    def __init__(self, is_wanted: bool) -> None:
        self._is_wanted = is_wanted
        self._lines = 0

    def __enter__(self) -> Self | None:
        if not self._is_wanted:
            return None
        if not sys.stderr.isatty():
            streams.note("--watch: standard error is no terminal; what is under way is not shown")
            return None
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def __call__(self, said: Mapping[str, Any]) -> None:
        """Draw anew."""
        text = drawn(said)
        self._clear()
        self._lines = text.count("\n") + 1
        streams.write(sys.stderr, f"{text}\n")

    def _clear(self) -> None:
        if self._lines:
            streams.write(sys.stderr, f"\r{UP.format(self._lines)}{CLEAR}")
            self._lines = 0


def drawn(said: Mapping[str, Any]) -> str:
    """The samples of one instant as tables."""
    rows: Sequence[Mapping[str, Any]] = said["rows"]
    flows = [row for row in rows if row.get("flow") is not None]
    queues = [row for row in rows if row.get("link") is not None]
    flows = sorted(flows, key=lambda row: -(row["throughput_bit_per_s"] or 0.0))[:ROWS_MAX]
    parts = [f"after {said['time_s']:.1f} s"]
    parts += [tables.text(queues, QUEUES, keep=QUEUES)] if queues else []
    parts += [tables.text(flows, FLOWS, keep=FLOWS)] if flows else []
    return "\n".join(parts)
