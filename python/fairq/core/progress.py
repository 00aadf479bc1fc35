"""Progress of long work, on standard error, if that is a terminal and --quiet is not given."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from fairq.core.streams import is_quiet, write

Tell = Callable[[float, float, int], None]
"""Is told the fraction done, the simulated seconds and the packet-hops so far; what it raises stops
the run."""

Print = Callable[[str], None]
"""Is given the next part of a text that is to be shown."""


class Line:
    """One line that is rewritten; a context manager that removes it in the end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream if stream is not None else sys.stderr
        # Python has no standard error where it was closed
        self.is_shown = self._stream is not None and self._stream.isatty() and not is_quiet()
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Remove the line, to print something else in its place; the next step writes it anew."""
        if self._width:
            write(self._stream, "\r" + " " * self._width + "\r")
            self._width = 0

    def show(self, text: str, name: str = "") -> None:
        """Write the line; where `text` is too long, the `name` that it begins with gives way."""
        if not self.is_shown:
            return
        # a longer text would go on below, where nothing erases it: a long name gives way to the numbers
        over = len(text) - self._room()
        if over > 0:
            kept = name[: max(0, len(name) - over - 1)]
            text = f"{kept}…{text[len(name) :]}"[: self._room()] if name else text[: self._room()]
        write(self._stream, "\r" + text.ljust(self._width))
        self._width = len(text)

    def _room(self) -> int:
        """How long the line may be; 79 where the terminal does not say."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return (columns or 80) - 1


class Bar(Line):
    """A line with simulated time, packets per second, time left.

    It is itself the callable the run tells: `with Bar("demers1990") as bar: run(progress=bar)`.
    """

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        super().__init__(stream)
        self._what = what
        self._began = time.monotonic()

    def __call__(self, fraction: float, sim_seconds: float, packet_hops: int) -> None:
        """Show how far the work has come."""
        if self.is_shown:
            elapsed_s = time.monotonic() - self._began
            self.show(status(self._what, fraction, sim_seconds, packet_hops, elapsed_s), self._what)


def status(what: str, fraction: float, sim_seconds: float, packet_hops: int, elapsed_s: float) -> str:
    """The line itself.

    >>> status("run", 0.25, 500.0, 3_000_000, 1.5)
    'run  25 %  500 s simulated  2.0 million packets/s  4 s left'
    """
    parts = [f"{what} {100 * min(fraction, 1.0):3.0f} %"]
    if sim_seconds > 0:
        parts.append(f"{sim_seconds:.0f} s simulated")
    if elapsed_s > 0 and packet_hops > 0:
        rate = packet_hops / elapsed_s
        parts.append(f"{rate / 1e6:.1f} million packets/s" if rate >= 1e5 else f"{rate:.0f} packets/s")
    if fraction > 0 and elapsed_s >= 1:
        parts.append(f"{span(elapsed_s * (1 / min(fraction, 1.0) - 1))} left")
    return "  ".join(parts)


def span(seconds: float) -> str:
    """A time as people read it.

    >>> span(75.2)
    '1 min 15 s'
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
