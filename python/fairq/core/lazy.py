"""Packages that are heavy, or not always installed: each is loaded when it is first used here.

`lazy.duckdb.connect()`; UsageError says what to install. numpy and matplotlib are not loaded here,
for rooms that need these are loaded as a whole: what calls a room makes that error by `lacking`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fairq.core.errors import UsageError

if TYPE_CHECKING:
    import dask as dask
    import distributed as distributed
    import duckdb as duckdb
    import jinja2 as jinja2
    import networkx as networkx
    import pandas as pandas
    import polars as polars
    import pyarrow as pyarrow
    import shtab as shtab
    from pyarrow import parquet as parquet

PACKAGES = {
    name: name
    for name in ("dask", "distributed", "duckdb", "jinja2", "networkx", "pandas", "polars", "pyarrow", "shtab")
} | {"parquet": "pyarrow.parquet"}
"""What can be asked for by its name here, and the module that it is."""

OTHERS = ("anywidget", "matplotlib", "numpy", "traitlets")
"""Packages that rooms load by themselves."""


def lacking(error: ImportError, need: str = "this") -> UsageError | None:
    """What to install, if one of these packages is missing; None for another error."""
    package = (error.name or "").partition(".")[0]
    return _told(package, need) if package in (*PACKAGES, *OTHERS) else None


def look(need: str, *packages: str) -> None:
    """UsageError if one of these packages is not installed, without loading any."""
    for package in packages:
        if find_spec(package) is None:
            raise _told(package, need)


def _told(package: str, need: str) -> UsageError:
    return UsageError(f"{need} needs the package {package}; write: pip install {package}")


def __getattr__(name: str) -> Any:
    """What is asked for, loaded; UsageError if it is not installed."""
    if name not in PACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(PACKAGES[name])
    except ImportError:
        raise _told(PACKAGES[name].partition(".")[0], "this") from None
