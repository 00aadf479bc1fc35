"""Tables: rows as frozen objects, columns by name, Arrow for polars, pandas, pyarrow and DuckDB.

A table is a sequence of rows. A row is a mapping from column name to value and has its columns as
attributes too: `row["delay_s_p99"]` is `row.delay_s_p99`. A column called like a keyword of Python
or a method of mappings, as `from` or `values`, is `row.from_`, `row.values_`. A value that does not
exist is None.
"""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args, get_origin, get_type_hints, overload

from fairq.core import lazy, tables
from fairq.core import shown as notebook
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.output import file

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PART = 4096
"""Rows that are made at a time."""

ROWS_SHOWN = 10
"""Rows of a table that a prompt or a notebook shows."""


class Row(Mapping[str, Any]):
    """One row of a table; it cannot be changed."""

    __slots__ = ("_names", "_values")
    _named: ClassVar[str] = ""
    _names: Mapping[str, int]
    _values: tuple[Any, ...]

    def __init_subclass__(cls, *, named: str = "") -> None:
        """`named` is the name of the type in schemas, where that is another."""
        super().__init_subclass__()
        cls._named = named

    def __init__(self, names: Mapping[str, int], values: tuple[Any, ...]) -> None:
        object.__setattr__(self, "_names", names)
        object.__setattr__(self, "_values", values)

    def __getitem__(self, name: str) -> Any:
        return self._values[self._names[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getattr__(self, name: str) -> Any:
        at = None if name.startswith("_") else self._names.get(name, self._names.get(name.removesuffix("_")))
        if at is None:
            raise AttributeError(f"{name}: no such column{near_miss(name, list(self._names))}", name=name, obj=self)
        return self._values[at]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a row of a result cannot be changed; dict(row) makes one that can")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self._names), self._values)

    def __hash__(self) -> int:
        return hash((tuple(self._names), self._values))

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.items())
        return f"{type(self).__name__}({said})"

    def _repr_html_(self) -> str:
        return notebook.of_values(self)


R = TypeVar("R", bound=Row, covariant=True)

K = TypeVar("K", bound=Row)


def row_of(kind: type[K], values: Mapping[str, Any]) -> K:
    """The row with these values by name; what is inside gets its type too."""
    return kind({name: at for at, name in enumerate(values)}, _inside(kind, values))


if TYPE_CHECKING:
    Rows = Sequence[R]
else:
    # A Sequence when it is checked and not when it runs: polars would take the rows of one, and not
    # Arrow's memory.
    Rows = Generic


class Kept:
    """Rows of Python as the columns that a table reads; the compiled part has the same methods."""

    def __init__(self, rows: list[dict[str, Any]], names: Iterable[str] = ()) -> None:
        self.rows = rows
        self.names = list(dict.fromkeys([*names, *tables.columns_of(rows)]))

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, at: int, start: int, count: int) -> list[Any]:
        """Values of a column; None where a row has none."""
        name = self.names[at]
        return [row.get(name) for row in self.rows[start : start + count]]

    def _arrow(self) -> Any:
        """The columns in Arrow's memory, by the package that is there."""
        columns = {name: self.cells(at, 0, len(self)) for at, name in enumerate(self.names)}
        if find_spec("pyarrow") is None:
            return lazy.polars.DataFrame(columns, strict=False)
        return lazy.pyarrow.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        arrow = self._arrow()
        return arrow.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        arrow = self._arrow()
        return arrow.schema.__arrow_c_schema__() if hasattr(arrow, "schema") else arrow.__arrow_c_schema__()

    def write_parquet(self, path: str, source: str, seed: int | None = None) -> None:
        """Write a Parquet file, by pyarrow."""
        told = {"fairq.source": source} | ({} if seed is None else {"fairq.seed": str(seed)})
        with file(path) as place:
            lazy.parquet.write_table(self._arrow().replace_schema_metadata(told), place)


class Table(Rows[R]):
    """A table of results: a sequence of its rows.

    Polars, pandas, pyarrow and DuckDB take it as it is, by Arrow's C data interface:
    `polars.DataFrame(table)`. Of the tables of a run no number is copied, by `to_polars` no text.
    """

    __slots__ = ("_names", "_native", "_row")

    def __init__(self, native: Any, row: Callable[[Mapping[str, int], tuple[Any, ...]], R]) -> None:
        self._native, self._row = native, row
        self._names = {name: at for at, name in enumerate(native.names)}

    @classmethod
    def of(cls, row: type[R], rows: Iterable[Mapping[str, Any]], names: Iterable[str] = ()) -> Table[R]:
        """The table of these rows, which are its own from now on.

        `names` are columns that it has even if no row has them; without rows it has the type's.
        """
        kept = [each if isinstance(each, dict) else plain(each) for each in rows]
        return cls(Kept(kept, names or ([] if kept else [name.removesuffix("_") for name in hints(row)])), row)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(self._names)

    def column(self, name: str) -> list[Any]:
        """All values of a column."""
        if name not in self._names:
            raise KeyError(f"{name}: no such column{near_miss(name, self.columns)}")
        values: list[Any] = self._native.cells(self._names[name], 0, len(self))
        return values

    def __len__(self) -> int:
        return len(self._native)

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> list[R]: ...
    @overload
    def __getitem__(self, at: str) -> list[Any]: ...
    def __getitem__(self, at: int | slice | str) -> R | list[R] | list[Any]:
        if isinstance(at, str):
            return self.column(at)
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        if not 0 <= number < len(self):
            raise IndexError(f"{at}: the table has {len(self)} rows")
        return next(self._rows(number, 1))

    def __iter__(self) -> Iterator[R]:
        for start in range(0, len(self), PART):
            yield from self._rows(start, PART)

    def _rows(self, start: int, count: int) -> Iterator[R]:
        if isinstance(self._native, Kept):
            return self._kept(self._native.rows[start : start + count])
        cells = [self._native.cells(at, start, count) for at in range(len(self._names))]
        return (self._row(self._names, values) for values in zip(*cells, strict=True))

    def _kept(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[R]:
        for row in rows:
            if row.keys() == self._names.keys():
                yield self._row(self._names, _inside(self._row, {name: row[name] for name in self._names}))
            else:
                yield self._row({name: at for at, name in enumerate(row)}, _inside(self._row, row))

    # What a sequence has beside these; to be one in fact would hide Arrow's memory from polars.
    index = Sequence.index
    count = Sequence.count

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Table | Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Table.of, (self._row, self.plain(), self.columns)

    def plain(self) -> list[dict[str, Any]]:
        """The rows as dicts, as a document has them."""
        return self._native.rows if isinstance(self._native, Kept) else [dict(row) for row in self]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def to_polars(self) -> polars.DataFrame:
        """As a polars data frame, of a run's table without a copy; needs polars."""
        return lazy.polars.DataFrame(self if isinstance(self._native, Kept) else self._native.views())

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas data frame; needs pandas."""
        return lazy.pandas.DataFrame({name: self.column(name) for name in self.columns})

    def to_arrow(self) -> pyarrow.Table:
        """As an Arrow table; needs pyarrow."""
        return lazy.pyarrow.table(self)

    def write_parquet(self, path: str | os.PathLike[str], source: str = "", seed: int | None = None) -> None:
        """Write a Parquet file; `source` and `seed` go into its metadata.

        OutputError if it cannot be written.
        """
        self._native.write_parquet(path_of(path), source, None if seed is None else int(seed))

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file, whole or not at all.

        The columns' names are in its first line; what does not exist is empty.
        """

        def write(to: Callable[[str], Any]) -> None:
            writer = csv.writer(_Lines(to), lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows([row.get(name) for name in self.columns] for row in self)

        write_into(path, write)

    def __repr__(self) -> str:
        every = "the same in all rows" if len(self) <= ROWS_SHOWN else "the same in all rows shown"
        shown = tables.text(self[:ROWS_SHOWN], self.columns, every=every, more=".columns names all")
        return f"{shown}\n{_size(len(self), len(self.columns))}"

    def _repr_html_(self) -> str:
        return notebook.table(self[:ROWS_SHOWN], self.columns, len(self))


class _Lines:
    """The target of a CSV writer."""

    def __init__(self, write: Callable[[str], Any]) -> None:
        self.write = write


@cache
def hints(kind: Any) -> Mapping[str, Any]:
    """The fields of a type by name, each with its type and what stands beside it."""
    found = get_type_hints(kind, include_extras=True) if isinstance(kind, type) else {}
    return {name: hint for name, hint in found.items() if not name.startswith("_")}


@cache
def _typed_fields(kind: Any) -> Mapping[str, Any]:
    """The fields of a row that hold rows, by the names of their columns."""
    return {name.removesuffix("_"): hint for name, hint in hints(kind).items() if _holds_rows(hint)}


@cache
def _holds_rows(hint: Any) -> bool:
    is_row = isinstance(hint, type) and issubclass(hint, Row)
    return is_row or any(_holds_rows(each) for each in get_args(hint) if not isinstance(each, str))


def _inside(kind: Any, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values of a row, rows inside of it as their types."""
    fields = _typed_fields(kind)
    if not fields:
        return tuple(values.values())
    return tuple(typed(fields[name], value) if name in fields else value for name, value in values.items())


def typed(hint: Any, value: Any) -> Any:
    """A value of a document as a field's type says: dicts become rows, lists of them tables."""
    if value is None or isinstance(value, Row | Table) or not _holds_rows(hint):
        return value
    origin, given = get_origin(hint), get_args(hint)
    if origin is None:
        return row_of(hint, value)
    if origin is Table:
        return Table.of(given[0], value)
    return typed(next(each for each in given if _holds_rows(each)), value)


def plain(value: Any) -> Any:
    """A value as a document has it: rows as dicts, tables as lists."""
    if isinstance(value, Table):
        return value.plain()
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        # A result among results has a document of its own.
        return dict(value.document) if hasattr(value, "document") else [plain(inner) for inner in value]
    return str(value) if isinstance(value, os.PathLike) else value


def as_text(document: Any) -> str:
    """A document as JSON, as --json prints it.

    JSON has no infinity and no NaN: they are null, as what does not exist.
    """
    return json.dumps(_finite(document), indent=1, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | Table):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def path_of(path: Any) -> str:
    """A path of a file as text; UsageError if it is none."""
    try:
        return str(os.fspath(path))
    except TypeError:
        raise UsageError(f"path: {path!r} is a {type(path).__name__}; write the path of a file") from None


def write_into(path: Any, write: Callable[[Callable[[str], Any]], None]) -> None:
    """Write pieces of text into a file, whole or not at all."""
    with file(path_of(path)) as place, place.open("w", encoding="utf-8", newline="") as into:
        write(into.write)


def _size(rows: int, columns: int) -> str:
    return f"{rows} row{'' if rows == 1 else 's'}, {columns} columns"
