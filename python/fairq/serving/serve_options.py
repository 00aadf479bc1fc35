"""Words of `fairq serve` become options of the compiled part, Parquet becomes text."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairq.core import lazy
from fairq.core.errors import UsageError
from fairq.core.inputs import STANDARD_INPUT, split

SERVED = ("fcfs", "round_robin", "wfq", "sfq_d")
"""The policies of a question that names none."""

COLUMNS = ("time", "tenant", "cost", "size", "seats", "start")
"""The columns of a log that have a meaning, but for the one that `done` names."""

Numbers = str | Mapping[str, float]
"""A number for each of some tenants: text as "a=2,b=0.5", or a dict."""


def numbers(of: str, given: Numbers | None) -> dict[str, float]:
    """A number for each tenant that is named; UsageError names the word `of`."""
    if given is None:
        return {}
    if isinstance(given, str):
        pairs: list[tuple[str, Any]] = []
        for part in given.split(","):
            name, equals, value = part.rpartition("=")
            if not equals or not name.strip():
                raise UsageError(f"{of}: `{part.strip()}` is not TENANT=NUMBER; write for example a=2,b=0.5")
            pairs.append((name.strip(), value.strip()))
    else:
        pairs = list(given.items())
    found: dict[str, float] = {}
    for name, value in pairs:
        try:
            found[name] = float(value)
            if not math.isfinite(found[name]):
                raise ValueError
        except (TypeError, ValueError):
            raise UsageError(f"{of}: `{name}={value}` has no number; write for example {name}=2") from None
    return found


def whole(of: str, given: Numbers | None) -> dict[str, int]:
    """As `numbers`, of whole numbers from 0 up."""
    found = numbers(of, given)
    for name, value in found.items():
        if value < 0 or value != int(value) or value > PRIORITY_MAX:
            raise UsageError(f"{of}: `{name}={value:g}` is no whole number from 0 up; the greatest is first")
    return {name: int(value) for name, value in found.items()}


PRIORITY_MAX = 2**32 - 1
"""The greatest priority."""


def speed(given: float) -> float:
    """The speed of a seat, above 0."""
    if not 0 < given <= SPEED_MAX:
        raise UsageError(f"speed: {given:g} is not above 0; write the units of cost that a seat serves in a second")
    return given


SPEED_MAX = 1e12
"""The greatest speed of a seat."""


def randomness(log: object, seeds: int | None, duration: str | None) -> dict[str, Any]:
    """How often and how long random requests come; UsageError if those of a log are asked for."""
    if log is not None:
        for name, given in {"seeds": seeds, "duration": duration}.items():
            if given is not None:
                raise UsageError(f"{name}: is of random requests; a log is served once, as long as it is")
    return {"seeds": SEEDS if seeds is None else seeds, "duration": duration or DURATION}


SEEDS = 10
"""Seeds of random requests."""

DURATION = "10min"
"""How long they arrive."""


def policies(given: str | Sequence[str]) -> list[str]:
    """The policies as texts."""
    return split(given) if isinstance(given, str) else list(given)


@contextmanager
def log(path: str | os.PathLike[str] | None, done: str | None) -> Iterator[dict[str, Any]]:
    """The options that say where a log is; a text made of Parquet lasts as long as the context."""
    if path is None:
        yield {"log": None}
    elif os.fspath(path) == "-":
        yield {"log": "standard input", "file": STANDARD_INPUT}
    elif Path(path).suffix.lower() in (".parquet", ".pq"):
        from tempfile import TemporaryDirectory  # for Parquet alone

        with TemporaryDirectory(prefix="fairq-") as folder:
            file = Path(folder) / "log.csv"
            _of_parquet(os.fspath(path), done, file)
            yield {"log": os.fspath(path), "file": str(file)}
    else:
        yield {"log": os.fspath(path)}


def _of_parquet(path: str, done: str | None, into: Path) -> None:
    """Write the columns of a Parquet file that have a meaning as CSV; times become seconds."""
    if not Path(path).is_file():
        raise UsageError(f"{path}: there is no such file; give a log of time,tenant,cost")
    duckdb = lazy.duckdb
    with duckdb.connect(":memory:") as connection:
        try:
            table = connection.read_parquet(path)
            kinds = dict(zip(table.columns, map(str, table.types), strict=True))
            wanted = [name for name in (*COLUMNS, done) if name is not None and name in kinds]
            said = ", ".join(_column(name, kinds[name]) for name in wanted)
            if not said:
                raise UsageError(f"{path}: has the columns {', '.join(kinds)}; needed are time, tenant and cost")
            table.project(said).write_csv(str(into), header=True)
        except duckdb.Error as error:
            raise UsageError(f"{path}: cannot be read as Parquet: {str(error).splitlines()[0]}") from None


def _column(name: str, kind: str) -> str:
    """A column as the log has it: an instant in seconds since 1970."""
    quoted = '"' + name.replace('"', '""') + '"'
    return f"epoch_ns({quoted}) / 1e9 AS {quoted}" if kind.startswith("TIMESTAMP") else quoted
