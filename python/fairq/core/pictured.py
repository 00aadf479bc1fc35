"""Results that have a picture: `.plot()` gives it, and a notebook shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from fairq.core.errors import OutputError, UsageError
from fairq.core.output import file
from fairq.core.rows import path_of

FORMS = ("svg", "png", "pdf")
"""How the name of a figure's file may end."""


class Figure:
    """A figure: a notebook shows it as SVG, `save` writes it as a file."""

    __slots__ = ("_made", "matplotlib")

    matplotlib: Any
    """The figure of matplotlib, to change it; made with matplotlib's own settings."""

    def __init__(self, figure: Any, made: Callable[[str], bytes]) -> None:
        self.matplotlib, self._made = figure, made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the figure into a file, whole or not at all: .svg, .png or .pdf by its name.

        UsageError for another ending, OutputError if it cannot be written.
        """
        name = path_of(path)
        form = name.rpartition(".")[2].lower()
        if form not in FORMS:
            raise UsageError(f"{name}: a figure is an .svg, a .png or a .pdf; write the path so that it ends in one")
        try:
            with file(name) as place:
                place.write_bytes(self._made(form))
        except ValueError as error:
            raise OutputError(f"{name}: cannot be written: {error}") from None

    def _repr_svg_(self) -> str:
        return self._made("svg").decode()

    def __repr__(self) -> str:
        return "<Figure: .save(path) writes it as .svg, .png or .pdf>"


class Pictured:
    """A result that has a picture."""

    __slots__ = ()

    def plot(
        self, what: str | None = None, *, size: Literal["page", "slide", "paper"] = "page", dark: bool = False,
        bare: bool = False,
    ) -> Figure:  # fmt: skip
        """Its figure, as `--plot` of the command draws it; no setting of matplotlib counts.

        Of a run `what` is "means", "series", "packets" or "theory"; None takes what there is. Of a
        study it is a column, as "flows.throughput_bit_per_s"; None takes the first of its report.
        Of a reproduced paper it is a figure, as "figure7"; None takes the first.
        `size` is what the figure is for; `bare` leaves out title and caption. UsageError if the
        result does not have what is asked for, or matplotlib is not installed.
        """
        # above all rooms, for it knows the results of all and how each is plotted
        figure: Figure = import_module("fairq.plots").of(self, what, size, dark, bare)
        return figure
