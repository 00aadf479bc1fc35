"""What the functions that Python can call are given: refused in the package's own words if it is of the wrong kind."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from fairq.core import declared, lazy
from fairq.core.errors import ScenarioError, UsageError
from fairq.core.inputs import Placed, Text
from fairq.core.near import near_miss
from fairq.core.progress import in_notebook

P = ParamSpec("P")
R = TypeVar("R")

WHOLE_MAX = 2**31 - 1
"""The greatest whole number that is asked for anywhere."""


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse arguments whose kind is not that of the annotation: UsageError names the argument and what to write.

    Annotations are looked up as text in KINDS, which has every one of the functions that are checked.
    A call that is told its progress shows it in a notebook by itself; False says not to.
    """
    code, kinds = function.__code__, function.__annotations__
    names = code.co_varnames[: code.co_argcount]
    every = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount] if code.co_flags & 0x04 else None
    takes_more = bool(code.co_flags & 0x08)
    usual = {*names[len(names) - len(function.__defaults__ or ()) :], *(function.__kwdefaults__ or ())}
    required = [name for name in every if name not in usual]
    told = next((name for name in every if kinds[name] in TOLD), None)

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        if rest is None and len(arguments) > len(names):
            raise UsageError(f"{function.__name__}: {len(arguments)} values without a name; write {_named(every)}")
        if not takes_more:
            _check_names(function.__name__, every, named)
        _check_required(function.__name__, required[len(arguments) :], named)
        if twice := [name for name in names[: len(arguments)] if name in named]:
            raise UsageError(f"{function.__name__}: {twice[0]} is given twice")
        given = [_fit(name, kinds[name], value) for name, value in zip(names, arguments, strict=False)]
        more = arguments[len(names) :]
        given += [_fit(rest, kinds[rest], value) for value in more] if rest else more
        fitting = {name: _fit(name, kinds[name], value) if name in kinds else value for name, value in named.items()}
        try:
            if told is not None and not fitting.get(told):
                return _shown(function, told, TOLD[kinds[told]], given, fitting)
            return function(*given, **fitting)  # type: ignore[arg-type]
        except ScenarioError as error:
            placed = [value for value in (*given, *fitting.values()) if isinstance(value, Placed)]
            if not placed:
                raise
            raise placed[0]._told(error) from None
        except ModuleNotFoundError as error:
            if (lacking := lazy.lacking(error)) is None:
                raise
            raise lacking from None

    return call


def _shown(function: Callable[..., R], told: str, method: str, given: Sequence[Any], fitting: Mapping[str, Any]) -> R:
    """What the function gives, with a bar in a notebook unless its argument `told` is False."""
    bar = in_notebook(function.__name__) if fitting.get(told) is None else None
    if bar is None:
        return function(*given, **{**fitting, told: None})
    with bar:
        return function(*given, **{**fitting, told: getattr(bar, method)})


def _check_names(function: str, every: Sequence[str], given: Iterable[str]) -> None:
    """Refuse what is no argument of a function, with the near miss."""
    for name in given:
        if name not in every:
            raise UsageError(f"{function}: there is no argument {name}{near_miss(name, every)}")


def _check_required(function: str, required: Sequence[str], given: Mapping[str, Any]) -> None:
    if missing := [name for name in required if name not in given]:
        raise UsageError(f"{function}: {missing[0]} is missing; write {missing[0]}=")


def read(kind: type[R], called: str, given: Mapping[str, Any]) -> R:
    """The object of a class whose fields are words (`declared.word`): each checked, then read.

    What is None was left out. UsageError names the word, and `called` if it is no word or missing.
    """
    _check_names(called, [option.name for option in declared.options(kind)], given)
    _check_required(called, declared.required(kind), given)
    found = {}
    for field, option, reader in declared.words(kind):
        value = _fit(option.name, option.annotation, given.get(option.name, option.default))
        if value is not None:
            found[field] = value if reader is None else reader(option.flag, value)
    return kind(**found)


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"{name}=" for name in names)


def _fit(name: str, kind: str, value: Any) -> Any:
    fits, wanted = KINDS[kind.removesuffix(" | None")]
    if value is None and kind.endswith(" | None"):
        return None
    found = fits(value)
    if found is None:
        shown = repr(value)
        shown = shown if len(shown) <= 40 else f"{shown[:37]}…"
        raise UsageError(f"{name}: {shown} is {_a(type(value).__name__)}; write {wanted}")
    if kind.removesuffix(" | None") == "int" and found < 1:
        usual = ", or None" if kind.endswith(" | None") else ""
        raise UsageError(f"{name}: {found} is none; write a whole number from 1 up{usual}")
    return found


def _a(name: str) -> str:
    return "None" if name == "NoneType" else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _text(value: Any) -> str | None:
    """Text that can be written in UTF-8."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _whole(value: Any) -> int | None:
    """A whole number, also one of numpy's; whether a thing is so is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    number: int = value.__index__()
    return number if abs(number) <= WHOLE_MAX else None


def _from_zero(value: Any) -> int | None:
    number = _whole(value)
    return None if number is None or number < 0 else number


def _path(value: Any) -> Any:
    """What may name a file: no path has a zero in it."""
    try:
        name = _text(os.fspath(value))
    except TypeError:
        return None
    return value if name is not None and "\0" not in name else None


def _texts(value: Any) -> list[str] | None:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        return None
    return list(value) if all(_text(each) is not None for each in value) else None


def _list(value: Any) -> str | list[str] | None:
    """A list as text, or texts."""
    text = _text(value)
    return _texts(value) if text is None else text


def _part(value: Any) -> str | float | None:
    """A number, or its text."""
    if isinstance(value, bool):
        return None
    return float(value) if isinstance(value, int | float) else _text(value)


def _parts(value: Any) -> str | float | list[str] | None:
    """A number, or texts of some."""
    found = _part(value)
    return _texts(value) if found is None else found


def _number(value: Any) -> float | None:
    found = _part(value)
    return found if isinstance(found, float) else None


def _numbers(value: Any) -> list[float] | None:
    """A number, or a list of some, as a list."""
    found = [_number(each) for each in (value if isinstance(value, list | tuple) else [value])]
    numbers = [each for each in found if each is not None]
    return numbers if found and len(numbers) == len(found) else None


def _settings(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value if all(_text(path) is not None for path in value) else None
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return None
    return value if all(_texts(pair) is not None and len(pair) == 2 for pair in value) else None


def _parts_given(value: Any) -> Any:
    return value if isinstance(value, Mapping) else _path(value)


def _by_name(value: Any) -> Any:
    """Numbers by name, or their text."""
    if not isinstance(value, Mapping):
        return _text(value)
    named = {name: _number(number) for name, number in value.items()}
    return named if all(_text(name) is not None and number is not None for name, number in named.items()) else None


def _scenario(value: Any) -> Any:
    return value if isinstance(value, Mapping | Text) else _path(value)


KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "str": (_text, "text"),
    "int": (_whole, f"a whole number, at most {WHOLE_MAX}"),
    "bool": (lambda value: value if isinstance(value, bool) else None, "True or False"),
    "str | os.PathLike[str]": (_path, "the path of a file"),
    "Sequence[str]": (_texts, 'a list of texts, as ["fifo", "fq"]'),
    "str | Sequence[str]": (_list, "text with commas, or a list of texts"),
    "str | float": (_part, 'a number, or text as "1%"'),
    "str | float | Sequence[str]": (_parts, 'a number, text as "0,1%", or a list of texts'),
    "Whole": (_from_zero, f"a whole number from 0 up, at most {WHOLE_MAX}"),
    "float": (_number, "a number"),
    "float | Sequence[float]": (_numbers, "a number, or a list of numbers"),
    "str | Mapping[str, float]": (_by_name, 'numbers by name, as {"a": 2}, or text as "a=2,b=0.5"'),
    "Scenario": (_scenario, "the path of a scenario, or dicts and lists"),
    "Settings": (_settings, 'fields and their values, as {"defaults.queue": "fq"}'),
    "Commands": (_settings, 'hosts and their commands, as {"right": "iperf3 -s"}'),
    "str | type": (
        lambda value: value if isinstance(value, type) else _text(value),
        "a discipline as text, or the class of a part",
    ),
    "Parts": (_parts_given, 'own parts by their names, as {"mine": Mine}, or the path of a file that has them'),
    "Tell | Literal[False]": (
        lambda value: value if value is False or callable(value) else None,
        "a function of three numbers, or False for no bar in a notebook",
    ),
    "Print | Literal[False]": (
        lambda value: value if value is False or callable(value) else None,
        "a function of a text, or False for no line in a notebook",
    ),
    "Watch": (lambda value: value if callable(value) else None, "a function of a mapping"),
    "Print": (lambda value: value if callable(value) else None, "a function of a text"),
    "What": (_text, 'the name of a list, as "disciplines"'),
    "Literal['together', 'drawn']": (_text, '"together" or "drawn"'),
    "Literal['threads', 'dask']": (_text, '"threads" or "dask"'),
    "object": (lambda value: value, "anything"),
    "Literal['device', 'class']": (_text, '"device" or "class"'),
}
"""By annotation: what makes a value fit (None if it does not), and what to write."""

TOLD = {"Tell | Literal[False] | None": "tell", "Print | Literal[False] | None": "say"}
"""The annotations of what is told the progress of a call, and what of a notebook's bar stands for each."""
