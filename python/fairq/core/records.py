"""Results: a frozen type each, whose fields are said once.

Of the fields are made the document that `--json` prints, its JSON Schema (fairq.schemas), the tuple
that a result is too, what a notebook shows, and the files that it can be written to.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from fairq.core import rows, shown
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.rows import Row, Table


class Beside(str):
    """The meaning of a field that the document does not have."""

    __slots__ = ()


class Named(str):
    """The name of a field in the document, where that is another."""

    __slots__ = ()


class Given(str):
    """The meaning of a field that the document has only if it holds something."""

    __slots__ = ()


def metadata(hint: Any) -> tuple[Any, ...]:
    """What stands beside a field's type."""
    return tuple(getattr(hint, "__metadata__", ()))


def in_document(kind: type) -> dict[str, tuple[str, Any]]:
    """The fields of a type that its document has: by their name there the name here, and the type."""
    found = {}
    for name, hint in rows.hints(kind).items():
        beside = metadata(hint)
        if not any(isinstance(each, Beside) for each in beside):
            key = next((each for each in beside if isinstance(each, Named)), None)
            found[str(key) if key is not None else name.removesuffix("_")] = name, hint
    return found


class Said:
    """What all results have: a document, its file, CSV files of tables, and what a notebook shows."""

    __slots__ = ()

    @property
    def document(self) -> Mapping[str, Any]:
        """All of it as dicts and lists, as `--json` prints it."""
        raise NotImplementedError

    def _tables(self) -> dict[str, Table[Any]]:
        """The tables by name, the one that a notebook shows first."""
        kind: Any = type(self)
        found = {name: _as_table(getattr(self, name, None)) for name in rows.hints(kind)}
        ordered = sorted(found.items(), key=lambda pair: pair[0] != "rows")
        return {name: value for name, value in ordered if value is not None}

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the document as JSON into a file, whole or not at all.

        OutputError if it cannot be written.
        """
        rows.write_into(path, lambda write: write(rows.as_text(self.document) + "\n"))

    def write_csv(self, path: str | os.PathLike[str], table: str | None = None) -> None:
        """Write a table as CSV into a file, whole or not at all: the one called `table`, else the first.

        UsageError if there is none.
        """
        found = self._tables()
        if not found:
            raise UsageError(f"{type(self).__name__}: it has no table; write_json writes all of it")
        name = next(iter(found)) if table is None else table
        if name not in found:
            raise UsageError(f"table: {name}: there is no such table{near_miss(name, found)}")
        found[name].write_csv(path)

    def _repr_html_(self) -> str:
        text = getattr(self, "text", "")
        found = next((each for each in self._tables().values() if len(each)), None)
        below = shown.of_values(self.document) if found is None else found._repr_html_()
        return f"{shown.sentence(text)}{below}"


def _as_table(value: Any) -> Table[Any] | None:
    """A table, or a list of results as one; None if it is neither."""
    if isinstance(value, list) and value and isinstance(value[0], Record):
        return Table.of(Row, [each.document for each in value])
    return value if isinstance(value, Table) else None


class Document(Said, Row):
    """A result that is taken apart by key: a mapping from the names of its document."""

    __slots__ = ()

    @property
    def document(self) -> dict[str, Any]:
        """All of it as dicts and lists, as `--json` prints it."""
        found: dict[str, Any] = rows.plain(self)
        return found


BARE = ("control", "text")
"""Fields that a prompt shows without their names."""


class Record(Said, tuple[Any, ...]):
    """A result as a tuple with names.

    The annotated fields in their order are the document's. `places` are the fields that the tuple
    has, in its order; `named` is the name of the type in its schema; `told` are the fields that a
    prompt shows, of a table its size.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[Mapping[str, Any]] = {}
    _named: ClassVar[str] = ""
    _told: ClassVar[Sequence[str]] = ()

    def __init_subclass__(cls, *, places: Sequence[str], named: str = "", told: Sequence[str] = ()) -> None:
        cls._fields, cls._named, cls._told = tuple(places), named, told
        type.__setattr__(cls, "__match_args__", cls._fields)
        cls._field_defaults = {name: vars(cls)[name] for name in cls.__annotations__ if name in vars(cls)}

    def __new__(cls, *places: Any, **fields: Any) -> Self:
        """The result with these fields; with `document` what is not given is taken of it."""
        if len(places) > len(cls._fields):
            raise TypeError(f"{cls.__name__} has {len(cls._fields)} places, and {len(places)} values were given")
        given = {**dict(zip(cls._fields, places, strict=False)), **fields}
        told = in_document(cls)
        document = given.pop("document", {})
        if unknown := [key for key in document if key not in told]:
            raise TypeError(f"{cls.__name__}: its document has no {unknown[0]}")
        given = {told[key][0]: value for key, value in document.items()} | given
        made = {
            name: rows.typed(hint, given.pop(name)) if name in given else _missing(cls, name)
            for name, hint in rows.hints(cls).items()
        }
        if given:
            raise TypeError(f"{cls.__name__} has no field {min(given)}")
        if "document" in cls._fields:
            made["document"] = _document(cls, made)
        self = tuple.__new__(cls, (made[name] for name in cls._fields))
        self.__dict__.update(made)
        return self

    @property
    def document(self) -> Mapping[str, Any]:
        """All of it as dicts and lists, as `--json` prints it."""
        found: Mapping[str, Any] = self.__dict__.get("document") or _document(type(self), self.__dict__)
        return found

    def _asdict(self) -> dict[str, Any]:
        """The fields of the tuple by name."""
        return {name: getattr(self, name) for name in self._fields}

    def _replace(self, **changes: Any) -> Self:
        """The result with other values of some fields."""
        told = {name for name, _ in in_document(type(self)).values()} if "document" in changes else set()
        kept = {name: value for name, value in self._given().items() if name not in told}
        return type(self)(**(kept | changes))

    def _given(self) -> dict[str, Any]:
        """The fields that make the result again."""
        return {name: self.__dict__[name] for name in rows.hints(type(self)) if name != "document"}

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        """The result with these values of the tuple's fields."""
        return cls(*values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name}: a result cannot be changed; _replace makes another")

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._given())

    def __repr__(self) -> str:
        if not self._told:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"
        said = []
        for name in self._told:
            value = getattr(self, name)
            is_table = isinstance(value, Table | list)
            if len(value) if is_table else "\n" not in str(value):
                said.append(f"{name} {len(value)}" if is_table else str(value) if name in BARE else f"{name} {value}")
        return f"<{type(self).__name__}: {', '.join(said)}>"


def _missing(kind: type[Record], name: str) -> Any:
    """The value of a field that was not given."""
    if name in kind._field_defaults:
        return kind._field_defaults[name]
    hint = rows.hints(kind)[name]
    if any(isinstance(each, Given) for each in metadata(hint)):
        return rows.typed(hint, [])
    raise TypeError(f"{kind.__name__}: {name} is not given")


def _document(kind: type[Record], made: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a result with these fields."""
    found = {}
    for key, (name, hint) in in_document(kind).items():
        is_left_out = any(isinstance(each, Given) for each in metadata(hint)) and not made[name]
        if not is_left_out:
            found[key] = rows.plain(made[name])
    return found


def _again(kind: type[Record], fields: Mapping[str, Any]) -> Record:
    """A result that was sent away."""
    return kind(**fields)
