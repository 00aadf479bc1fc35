"""Own parts as they are given: classes by their names, or the file that has them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fairq.core.errors import PartError, UsageError
from fairq.core.near import near_miss
from fairq.core.parts import KINDS, Control, Part, Source

Parts = Mapping[str, type] | str | os.PathLike[str]
"""Classes of own parts by their names in texts, or the path of a file of Python that has some."""

NAME = re.compile(r"[a-z][a-z0-9_]*")

Described = tuple[str, type, str, list[tuple[str, Any, str]], str]
"""A part for the compiled part: name, class, fairq's class, settings with defaults, version."""


class Own:
    """Own parts, read. They can be pickled: from a file they are read again."""

    def __init__(self, parts: Mapping[str, type], file: str | None = None) -> None:
        self.parts, self.file = dict(parts), file
        said = _text_of(file) if file is not None else None
        self.described = [_described(name, part, said) for name, part in self.parts.items()]
        self._shared = {name: _shared(part) for name, part in self.parts.items()}

    def names(self, *kinds: type) -> list[str]:
        """The names of those that derive from one of these classes."""
        return [name for name, part in self.parts.items() if issubclass(part, kinds)]

    def check_shared(self) -> None:
        """Refuse what ran if a class has changed by it: results would depend on their order."""
        for name, part in self.parts.items():
            for field, value in _shared(part).items():
                if self._shared[name].get(field, ...) != value:
                    self._shared[name] = _shared(part)
                    said = f"{part.__name__}.{field} of the class has changed in a run, and all objects share it"
                    raise PartError(f"{said}; keep it in the object, as self.{field} set by __init__", name)

    def versions(self) -> dict[str, str]:
        """What stands in digests for what each part does, by its name."""
        return {name: version for name, *_, version in self.described}

    def __reduce__(self) -> tuple[Any, ...]:
        if self.file is not None:
            return of_file, (self.file,)
        for name, part in self.parts.items():
            module = sys.modules.get(part.__module__)
            if part.__module__ == "__main__" or getattr(module, part.__qualname__, None) is not part:
                raise PartError(
                    "another process cannot import its class; write it into a file, and give that as parts=", name
                )
        return Own, (self.parts,)


def read(parts: Parts | Own | None) -> Own | None:
    """Own parts as they are given; UsageError says what is wrong with one."""
    if parts is None or isinstance(parts, Own):
        return parts
    if isinstance(parts, Mapping):
        return Own(parts)
    return of_file(os.fspath(parts))


def of_file(path: str) -> Own:
    """The public classes of parts in a file, by their `name` or their own in small letters."""
    module = _module(Path(path))
    found = {
        _name_of(each): each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, KINDS)
        and each.__module__ == module.__name__
        and not each.__name__.startswith("_")
    }
    if not found:
        raise UsageError(f"parts: {path} has no part; write a class that derives from fairq.Rank or another of {KNOWN}")
    return Own(found, str(Path(path).resolve()))


def audited(discipline: str | type, parts: Parts | None) -> tuple[str, Own | None]:
    """The text of a discipline and the own parts that it may name; of a class, its name."""
    own = read(parts)
    if isinstance(discipline, str):
        return discipline, own
    name = _name_of(discipline)
    known = Own({**(own.parts if own is not None else {}), name: discipline})
    if issubclass(discipline, Control | Source):
        raise UsageError(
            f"audit: {discipline.__name__} is no part of a queue; give a Rank, Scheduler, Policy or Discipline"
        )
    return name, known


KNOWN = ", ".join(kind.__name__ for kind in KINDS)


def _name_of(part: type) -> str:
    named = vars(part).get("name")
    return named if isinstance(named, str) else re.sub(r"(?<!^)(?=[A-Z])", "_", part.__name__).lower()


def _module(path: Path) -> ModuleType:
    """The module of a file, run anew."""
    from hashlib import sha256
    from importlib.util import module_from_spec, spec_from_file_location

    if path.suffix != ".py" or not path.is_file():
        said = "no file of Python" if path.is_file() else "no such file"
        raise UsageError(f"parts: {path}: {said}; give the path of a .py file with classes of parts")
    name = f"fairq_parts_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = module_from_spec(spec)
    # dataclasses and pickle look a class's module up
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        said = str(error).splitlines()[0] if str(error) else ""
        raise PartError(f"cannot be imported: {type(error).__name__}: {said}".rstrip(": "), str(path)) from error
    return module


def _described(name: str, part: type, text: str | None) -> Described:
    if not isinstance(name, str) or NAME.fullmatch(name) is None:
        raise UsageError(f"parts: {name!r} is no name of a part; write small letters, digits and _, as mine")
    if not isinstance(part, type):
        raise UsageError(
            f"parts: {name} is a {type(part).__name__}; give the class itself, as parts={{{name!r}: Mine}}"
        )
    kind = next((kind for kind in KINDS if issubclass(part, kind)), None)
    if kind is None:
        said = f"parts: {part.__name__} derives from no class of parts"
        raise UsageError(f"{said}; write class {part.__name__}(fairq.Rank), or another of {KNOWN}")
    missing = [each for each in REQUIRED[kind.__name__] if getattr(part, each) is getattr(kind, each)]
    if missing:
        own = [each for each in vars(part) if not each.startswith("_")]
        raise UsageError(f"parts: {part.__name__} has no {missing[0]}{near_miss_of(missing[0], own)}")
    return name, part, kind.__name__, _settings(part), _version(part, text)


REQUIRED = {
    "Rank": ("rank",),
    "Scheduler": ("next",),
    "Policy": (),
    "Discipline": ("enqueue", "dequeue"),
    "Control": ("acknowledged",),
    "Source": ("next",),
}
"""By fairq's class: the methods without which a part does nothing."""


def near_miss_of(wanted: str, own: list[str]) -> str:
    """Which of a class's own names may be meant as the one that is missing."""
    found = near_miss(wanted, own) if own else ""
    return found.replace("did you mean", "is it") if "did you mean" in found else "; write it"


def _settings(part: type) -> list[tuple[str, Any, str]]:
    """The keyword arguments of `__init__`, each with its default."""
    import inspect

    found = []
    begin = getattr(part, "__init__")  # noqa: B009 - of the class, as it is called with an object
    if begin is object.__init__:
        return []
    (_, *parameters) = inspect.signature(begin).parameters.values()
    for parameter in parameters:
        where = f"parts: {part.__name__}: {parameter.name}"
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise UsageError(f"{where} is no setting; name each argument of __init__, as k: float = 1.0")
        if parameter.default is parameter.empty:
            raise UsageError(f"{where} has no default; write one, as {parameter.name}: float = 1.0")
        default = parameter.default
        if not isinstance(default, bool | int | float | str):
            raise UsageError(f"{where} is a {type(default).__name__}; a setting is a number, True, False or text")
        is_number = isinstance(default, int) and not isinstance(default, bool)
        if is_number and parameter.annotation in (float, "float"):
            default = float(default)
        found.append((parameter.name, default, ""))
    return found


def _shared(part: type) -> dict[str, Any]:
    """Copies of what all objects of a class share, but for methods and what cannot be copied."""
    found = {}
    for each in reversed(_own_classes(part)):
        for name, value in vars(each).items():
            if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__"):
                with suppress(Exception):
                    found[name] = deepcopy(value)
    return found


def _version(part: type, text: str | None) -> str:
    """What stands in digests for what a part does: its text, or that of all of its file."""
    from hashlib import sha256

    said = text if text is not None else "\n".join(map(_source, _own_classes(part)))
    return sha256(said.encode()).hexdigest()[:32]


def _own_classes(part: type) -> list[type]:
    return [each for each in part.__mro__ if each is not object and each.__module__ != Part.__module__]


def _source(part: type) -> str:
    import inspect

    try:
        return inspect.getsource(part)
    except (OSError, TypeError):
        # typed into an interpreter that keeps no text
        own = {
            name: value for name, value in sorted(vars(part).items()) if not name.startswith("__") or callable(value)
        }
        return repr([(name, _compiled(value)) for name, value in own.items()])


def _compiled(value: Any) -> str:
    import marshal

    code = getattr(value, "__code__", None) if isinstance(value, FunctionType) else None
    return marshal.dumps(code).hex() if code is not None else repr(value)


def _text_of(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")
