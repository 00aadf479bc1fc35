"""What a figure is plotted with: matplotlib's own settings, whatever the environment says.

This module is imported before any other of this package, so that matplotlib is loaded here. Neither
MPLBACKEND, which notebooks set for all programs that they start, nor a file of settings, nor a
notebook's own settings change a figure.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from fairq.core.errors import UsageError
from fairq.core.near import near_miss

P = ParamSpec("P")
R = TypeVar("R")

ENVIRONMENT = ("MPLBACKEND", "MATPLOTLIBRC")
"""The variables that matplotlib reads its settings from; MPLCONFIGDIR keeps its cache, too."""


def _load() -> None:
    """Import matplotlib without the environment's settings; a program's own backend stays.

    UsageError if it, or numpy, which it needs, is not installed.
    """
    if sys.modules.get("matplotlib") is not None:
        return
    kept = {name: os.environ.pop(name) for name in ENVIRONMENT if name in os.environ}
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("matplotlib", "numpy"):
            raise
        raise UsageError(f"a picture needs the package {error.name}; write: pip install matplotlib") from None
    finally:
        os.environ.update(kept)
    if "MPLBACKEND" in kept:
        # a notebook that imports pyplot later finds its backend; one that is not installed is none
        with contextlib.suppress(ValueError):
            matplotlib.rcParams["backend"] = kept["MPLBACKEND"]


_load()


@contextmanager
def own() -> Iterator[None]:
    """Within the block matplotlib has its own settings; behind it those of the program again."""
    import matplotlib

    wanted = {name: value for name, value in matplotlib.rcParamsDefault.items() if not name.startswith("backend")}
    changed = {name: value for name, value in wanted.items() if matplotlib.rcParams[name] != value}
    with matplotlib.rc_context(changed) if changed else contextlib.nullcontext():
        yield


def plotted(*of_columns: str, needs: Sequence[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Plot with matplotlib's own settings, and refuse `rows` that are none or lack a column.

    `of_columns` are the parameters that name columns of `rows`, `needs` are columns that are there
    in any case. Without both, the figure can be plotted of any rows.

    Raises UsageError that names the column and the near miss.
    """

    def of(function: Callable[P, R]) -> Callable[P, R]:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def draw(*arguments: P.args, **named: P.kwargs) -> R:
            given = {**(function.__kwdefaults__ or {}), **dict(zip(names, arguments, strict=False)), **named}
            if "rows" in given and (of_columns or needs):
                asked = [(name, column) for name in of_columns for column in _several(given.get(name))]
                _check(given["rows"], [*asked, *(("rows", column) for column in needs)])
            with own():
                return function(*arguments, **named)

        return draw

    return of


def _several(names: Any) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names or ()


def _check(rows: Any, asked: Sequence[tuple[str, str]]) -> None:
    if isinstance(rows, str | Mapping) or not (hasattr(rows, "__len__") and hasattr(rows, "__getitem__")):
        raise UsageError(f"rows: {type(rows).__name__} is no table; give a table of a result, or a list of dicts")
    if not len(rows):
        raise UsageError("rows: there are none, and no figure can be plotted of them")
    if not isinstance(rows[0], Mapping):
        raise UsageError(f"rows: {rows[0]!r} is no row; give dicts of column and value")
    for where, column in asked:
        if column not in rows[0] and not any(column in row for row in rows):
            raise UsageError(f"{where}: the rows have no column {column}{near_miss(column, rows[0])}")
