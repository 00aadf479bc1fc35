"""Values of JSON as the types that wrote them; what has another shape is a ValueError."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Made = TypeVar("Made")


def made(kind: type[Made], value: object, *, passing: bool = False) -> Made:
    """The `kind` that a value of JSON says: a named tuple, a dataclass, a container, a plain type.

    A member that has a default may be missing; one that `kind` does not have is refused, or with
    `passing` passed over. ValueError says what is no `kind`.
    """
    found: Made = _made(kind, value, passing)
    return found


def _made(kind: Any, value: object, passing: bool = False) -> Any:
    if kind is Any:
        return value
    origin, given = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _first(given, value)
    if origin is list and isinstance(value, list):
        return [_made(given[0], each) for each in value]
    if origin is tuple and isinstance(value, list):
        kinds = given[:1] * len(value) if given[-1] is Ellipsis else given
        return tuple(_made(each, one) for each, one in zip(kinds, value, strict=True))
    if origin in (dict, Mapping) and isinstance(value, dict):
        return {name: _made(given[1], each) for name, each in value.items()}
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        return _members(kind, value, passing)
    if kind is float and type(value) is int:
        return float(value)
    if origin is None and type(value) is kind:
        return value
    raise ValueError(f"{value!r:.60} is no {kind}")


def _first(kinds: tuple[Any, ...], value: object) -> Any:
    for kind in kinds:
        try:
            return _made(kind, value)
        except ValueError:
            continue
    raise ValueError(f"{value!r:.60} is none of {kinds}")


def _members(kind: Any, value: object, passing: bool) -> Any:
    known = _hints(kind)
    if not isinstance(value, dict) or not (passing or value.keys() <= known.keys()):
        raise ValueError(f"{value!r:.60} is no {kind.__name__}")
    given = {name: _made(known[name], each) for name, each in value.items() if name in known}
    try:
        return kind(**given)
    except TypeError as error:
        raise ValueError(f"{kind.__name__}: {error}") from None


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
