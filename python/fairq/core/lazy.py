"""Packages that are heavy, or not always installed: each is loaded when it is first used here.

`lazy.duckdb.connect()`; UsageError says what to install. numpy and matplotlib are not among them:
rooms that need these are loaded as a whole when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
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


def __getattr__(name: str) -> Any:
    """What is asked for, loaded; UsageError if it is not installed."""
    if name not in PACKAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return import_module(PACKAGES[name])
    except ImportError:
        package = PACKAGES[name].partition(".")[0]
        raise UsageError(f"this needs the package {package}; write: pip install {package}") from None
