"""Progress of long work: on standard error, if that is a terminal and --quiet is not given; or in a notebook."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from html import escape
from importlib import import_module
from types import TracebackType
from typing import Any, Self, TextIO

from fairq.core.streams import is_quiet, write

Tell = Callable[[float, float, int], None]
"""Is told the fraction done, the simulated seconds and the packet-hops so far; what it raises stops
the run."""

Print = Callable[[str], None]
"""Is given the next part of a text that is to be shown."""

NOTEBOOK_AFTER_S, NOTEBOOK_GAP_S = 0.5, 0.2
"""A call that lasts this long shows a bar in a notebook; it is updated no more often than this."""


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


class NotebookBar:
    """A bar below the cell of a notebook while a call lasts; a context manager that removes it."""

    def __init__(self, what: str, display: Callable[..., Any]) -> None:
        self._what, self._display = what, display
        self._handle: Any = None
        self._began = time.monotonic()
        self._next = self._began + NOTEBOOK_AFTER_S

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.update({"text/html": "", "text/plain": ""}, raw=True)

    def tell(self, fraction: float, sim_seconds: float, packet_hops: int) -> None:
        """Show how far the work has come."""
        elapsed_s = time.monotonic() - self._began
        self._show(lambda: status(self._what, fraction, sim_seconds, packet_hops, elapsed_s), min(fraction, 1.0))

    def say(self, text: str) -> None:
        """Show a line of progress."""
        self._show(lambda: text)

    def _show(self, text: Callable[[], str], fraction: float | None = None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + NOTEBOOK_GAP_S
        said = text()
        bar = ""
        if fraction is not None:
            bar = f'<progress max="1" value="{fraction:.3f}" aria-label="{escape(self._what)}"></progress> '
        data = {"text/html": f"<div>{bar}{escape(said)}</div>", "text/plain": said}
        if self._handle is None:
            self._handle = self._display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def in_notebook(what: str) -> NotebookBar | None:
    """The bar of a call, if this is the kernel of a notebook; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if getattr(shell, "kernel", None) is None:
        return None
    return NotebookBar(what, import_module("IPython.display").display)


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
