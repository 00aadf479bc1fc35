"""What Python users can name stands as committed text: functions, their signatures, types,
exceptions.

`kept/public_python.txt` has all of `fairq.__all__`, and the types that its functions give. A line
that goes or changes is a promise broken; a line that comes is one given. The columns of a run's
tables are in `crates/experiment/tests/columns.txt`, the fields of documents in `kept/schemas.txt`.
"""

import ast
import enum
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from kept import hold

import fairq
from fairq.core.records import Record, Said
from fairq.core.rows import Row

ROOT = Path(__file__).resolve().parents[2]


def test_the_public_names_of_python_are_those_that_are_committed():
    hold("public_python.txt", lines(), "python/tests/test_public_python.py")


def test_modules_that_pages_name_are_there():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {match[0] for page in pages for match in re.finditer(r"\bfairq(\.[a-z_]+)+\b", page.read_text("utf-8"))}
    named = {name for name in named if not re.search(r"\.(toml|py|h|rs|rlib|bash|zsh|whl|md)$", name)}
    assert len(named) > 10
    assert [name for name in sorted(named) if not is_there(name)] == []


def is_there(name):
    """Whether a name of a page is a module, or an attribute of one."""
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(parts[:at]))
        except ModuleNotFoundError:
            continue
        for part in parts[at:]:
            found = getattr(found, part, None)
        return found is not None
    return False


DEPTH = 2
"""Types that annotations of the public functions name, and types that annotations of these name."""


def lines() -> list[str]:
    """All public names in order, each with what it is; types that have no public name stand there
    by their own."""
    public = [*fairq.__all__, "__version__"]
    found = [line for name in public for line in described(f"fairq.{name}", getattr(fairq, name))]
    types = {line for kind in given() for line in described(kind.__name__, kind)}
    return found + sorted(types)


def given() -> set[type]:
    """The types that the public functions give, without those of documents and their rows:
    `kept/schemas.txt` holds these."""
    found: set[type] = {Record}
    waiting: list[object] = [getattr(fairq, name) for name in fairq.__all__]
    for _ in range(DEPTH):
        kinds = {kind for each in waiting for kind in types_of(each)} - found
        waiting = [kind for kind in kinds if kind.__name__ not in fairq.__all__ and not is_of_document(kind)]
        found.update(kind for kind in waiting if isinstance(kind, type))
    return found


def is_of_document(kind: type) -> bool:
    """Whether a type is of a document's object, whose fields its schema has."""
    is_row = issubclass(kind, Row) and kind.__module__ not in ("fairq.core.rows", "fairq.core._types")
    return issubclass(kind, dict | str) or is_row


def types_of(value: object) -> Iterator[type]:
    """The types of fairq that the annotations of a function or of a type name."""
    parts = [value, *(member for _, member in members(value))] if isinstance(value, type) else [value]
    for part in parts:
        part = getattr(part, "fget", part)
        module = inspect.getmodule(part)
        if module is None or not module.__name__.startswith("fairq") or not str(module.__file__).endswith(".py"):
            continue
        names = imported(module) | vars(module)
        texts = [str(text) for text in getattr(part, "__annotations__", {}).values()]
        for word in {word for text in texts for word in re.findall(r"[\w.]+", text)}:
            kind = names.get(word.split(".")[0])
            kind = getattr(kind, word.split(".")[1], None) if "." in word and inspect.ismodule(kind) else kind
            if isinstance(kind, type) and kind.__module__.startswith("fairq") and not kind.__name__.startswith("_"):
                yield kind


def imported(module) -> dict[str, object]:
    """What a module imports for the checker of types alone."""
    found: dict[str, object] = {}
    for part in ast.parse(inspect.getsource(module)).body:
        if isinstance(part, ast.If) and "TYPE_CHECKING" in ast.unparse(part.test):
            for line in part.body:
                if isinstance(line, ast.ImportFrom) and line.module and line.module.split(".")[0] == "fairq":
                    inner = import_module(line.module)
                    for alias in line.names:
                        if hasattr(inner, alias.name):
                            found[alias.asname or alias.name] = getattr(inner, alias.name)
                        else:
                            found[alias.asname or alias.name] = import_module(f"{line.module}.{alias.name}")
    return found


def described(name: str, value: object) -> Iterator[str]:
    """A public name as lines: what it is, and for a type its bases, fields and methods."""
    if inspect.isroutine(value):
        yield from called(name, value)
    elif not isinstance(value, type):
        yield f"{name}: {type(value).__name__}"
    else:
        bases = " ".join(base.__name__ for base in value.__mro__[1:] if base is not object)
        yield f"{name} is {bases or 'a type'}"
        for line in sorted(fields_of(value)):
            yield f"{name}.{line}"
        for member, found in sorted(members(value), key=lambda pair: pair[0]):
            if isinstance(found, property):
                yield f"{name}.{member}: {shown((found.fget.__annotations__ or {}).get('return', 'Any'))} (read only)"
            elif callable(found) or isinstance(found, classmethod | staticmethod):
                yield from called(f"{name}.{member}", getattr(value, member))


def fields_of(kind: type) -> Iterator[str]:
    """The fields of a type with their types, defaults, and places in a tuple."""
    if issubclass(kind, BaseException | enum.Enum) or kind.__module__ == "fairq.core._types":
        return
    places = {field: f" at {at}" for at, field in enumerate(getattr(kind, "_fields", ()))}
    for field, annotation in getattr(kind, "__annotations__", {}).items():
        if not field.startswith("_"):
            default = getattr(kind, "_field_defaults", {}).get(field, ...)
            text = shown(getattr(annotation, "__forward_arg__", annotation))
            yield f"{field}: {text}{'' if default is ... else f' = {default!r}'}{places.get(field, '')}"


def shown(annotation: object) -> str:
    """A type as it is written, without the sentence that a field of a document has beside it."""
    text = " ".join(str(annotation).split())
    if not text.startswith("Annotated["):
        return text
    named = ast.parse(text, mode="eval").body
    assert isinstance(named, ast.Subscript) and isinstance(named.slice, ast.Tuple)
    return ast.unparse(named.slice.elts[0])


def members(kind: type) -> Iterator[tuple[str, object]]:
    """The public members of a type and of its bases in fairq, each once, without the fields of
    named tuples."""
    fields = set(getattr(kind, "_fields", ()))
    if kind.__module__ == "fairq.core._types":
        return
    for base in kind.__mro__:
        if base.__module__.startswith("fairq"):
            for name, member in vars(base).items():
                is_shown = not name.startswith("_") or name in ("_repr_html_", "__getitem__")
                # What all results have is said of `Record` alone, but for the document.
                is_shown = is_shown and (
                    base is kind or kind is Record or base not in (Record, Said) or name == "document"
                )
                is_slot = inspect.ismemberdescriptor(member) or type(member).__name__ == "_tuplegetter"
                if is_shown and (name not in fields or isinstance(member, property)) and not is_slot:
                    fields.add(name)
                    yield name, member


def called(name: str, function) -> Iterator[str]:
    """How a function is called, a line for each of its parameters; of a default that is an object
    its type alone."""
    try:
        found = inspect.signature(function)
    except ValueError:
        yield f"{name}(…)"
        return
    for parameter in found.parameters.values():
        if parameter.name != "self":
            star = "*, " if parameter.kind is inspect.Parameter.KEYWORD_ONLY else ""
            text = re.sub(r"<(\S+) object at 0x[0-9a-f]+>", r"<\1>", unquoted(parameter))
            yield f"{name}({star}{text})"
    returned = found.return_annotation
    yield f"{name}() -> {'Any' if returned is inspect.Signature.empty else shown(returned)}"


def unquoted(parameter: inspect.Parameter) -> str:
    """A parameter as it is written in a program."""
    annotation = parameter.annotation
    text = str(parameter.replace(annotation=inspect.Parameter.empty))
    if annotation is inspect.Parameter.empty:
        return text
    name, _, default = text.partition("=")
    return f"{name}: {shown(annotation)}" + (f" = {default}" if default else "")
