"""What commands and functions take, each word declared once: its name, kind, default and help.

From a declaration are made the options of the command line (`commands/options.py`), the checks of
what Python is given (`arguments.py`), the schema of a question in a study, the command that asks a
question again, and docs/reference/commands.md. The functions of api.py have written signatures,
which test_declared.py holds to it.

A class whose fields are words (`word`) holds what was asked as one object.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

PATH, LIST, PART = "str | os.PathLike[str]", "str | Sequence[str]", "str | float"
NUMBERS = "float | Sequence[float]"
"""Kinds that many words have: of a file, of a list, of a part of a whole, and of numbers."""


class Option(NamedTuple):
    """An option or an argument of a command, and an argument of Python."""

    name: str
    """Its name in Python; the command line writes - for _."""
    help: str | None = None
    metavar: str | None = None
    kind: str = "str"
    """What Python takes: an annotation that `arguments.KINDS` has, without its `| None`."""
    default: Any = None
    required: bool = False
    choices: Sequence[str] | None = None
    is_argument: bool = False
    """Whether the command line takes it by its place, without its name."""
    nargs: str | None = None
    is_written: bool = False
    """Whether it names a file or folder that the command writes."""
    in_python: bool = True
    """Whether a function takes it as well."""
    called: str | None = None
    """Its name in Python, if that is another one."""
    typed: Any = ...
    """Its default on the command line, if that is another one."""
    flags: Sequence[str] = ()
    """What is typed for it, if not its name."""
    at: tuple[str, ...] = ()
    """The fields of a scenario that it makes."""

    @property
    def flag(self) -> str:
        """What is typed for it."""
        return self.flags[0] if self.flags else f"--{self.name.replace('_', '-')}"

    @property
    def annotation(self) -> str:
        """The annotation of its argument in Python."""
        return self.kind if self.required or self.default is not None else f"{self.kind} | None"


def switch(name: str, help: str, **more: Any) -> Option:
    """An option without a value, which is off if it is not given."""
    return Option(name, help, None, "bool", default=False, **more)


def argument(
    name: str, help: str | None = None, metavar: str | None = None, kind: str = "str", **more: Any
) -> Option:  # fmt: skip
    """An option that is given by its place; it is required unless `nargs` says how many there are."""
    return Option(name, help, metavar, kind, is_argument=True, **{"required": "nargs" not in more} | more)


class OneOf(NamedTuple):
    """Options of which one is given at most."""

    options: Sequence[Option]
    required: bool = False


def of_one(each: Option | OneOf) -> Sequence[Option]:
    """An option, or those of which one is given."""
    return each.options if isinstance(each, OneOf) else (each,)


class Spec(NamedTuple):
    """A command: what it takes, and which functions of Python take the same."""

    name: str
    """As it is typed, as "theory tcp"."""
    example: str
    options: Sequence[Option | OneOf] = ()
    more: str = ""
    """What its help says beside the summary."""
    summary: str | None = None
    """What it does, if the list of commands does not say it."""
    does: str | None = None
    """The function of its file, if it has not the command's name."""
    functions: Sequence[str] = ()
    beside: Sequence[str] = ()
    """Arguments that these functions alone have."""
    command: str | None = None
    """What the command typed behind `--` does; `None`: it runs no other command."""
    has_bare_command: bool = False
    """Whether that one may also stand behind the arguments, without `--`."""

    @property
    def said(self) -> str:
        """What it does, as a sentence."""
        return f"{(self.summary or '')[:1].upper()}{(self.summary or '')[1:]}."

    def all(self) -> list[Option]:
        """Its options, those of which one is given at most among them."""
        return [option for each in self.options for option in of_one(each)]

    def words(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The given values that the functions of the command take, by their names in Python."""
        return {
            option.called or option.name: given[option.name]
            for option in self.all()
            if option.in_python and option.name in given
        }


def typed_only(*options: Option) -> tuple[Option, ...]:
    """Options as a command has them whose functions do not take them."""
    return tuple(option._replace(in_python=False) for option in options)


Read = Callable[[str, Any], Any]
"""Reads the value of an option, whose flag is named in errors."""


class Word(NamedTuple):
    """A field that holds what was said with an option."""

    field: str
    option: Option
    read: Read | None


def word(
    help: str, metavar: str | None = None, kind: str = "str", *,
    name: str = "", value: Any = ..., read: Read | None = None, **more: Any,
) -> Any:  # fmt: skip
    """A field of a dataclass that holds what was said with an option.

    The option has the name of the field, if no `name` is given. `read` makes the field's value of
    what was said; `value` is that of an option that was left out, if it is not the default.
    """
    from dataclasses import field

    option = Option(name, help, metavar, kind, **more)
    told = {"option": option, "read": read}
    return field(metadata=told) if option.required else field(
        default=option.default if value is ... else value, metadata=told
    )  # fmt: skip


def words(kind: Any) -> list[Word]:
    """The words of a class, in the order in which they are declared."""
    return [
        Word(name, told["option"]._replace(name=told["option"].name or name), told["read"])
        for name, each in kind.__dataclass_fields__.items()
        if "option" in (told := each.metadata)
    ]


def options(kind: Any, *, without: Iterable[str] = ()) -> list[Option]:
    """The options that the words of a class declare."""
    return [word.option for word in words(kind) if word.option.name not in without]


def picked(kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `kind` among all arguments of a function, as `locals()` has them."""
    return {option.name: given[option.name] for option in options(kind) if option.name in given}


def said(asked: Any) -> Iterator[tuple[Option, list[str] | bool]]:
    """What was said with each word of an object: its texts, or whether it is on."""
    for field, option, _ in words(type(asked)):
        value = getattr(asked, field)
        if isinstance(value, bool):
            yield option, value
        else:
            several = value if isinstance(value, tuple | list) else () if value is None else (value,)
            yield option, [str(getattr(each, "text", each)) for each in several]


def command_line(command: str, given: Iterable[tuple[Option, list[str] | bool]]) -> str:
    """The command that says this, as a shell takes it; options without a value come last."""
    typed, flags = command.split(), []
    for option, value in given:
        if value is True:
            flags.append(option.flag)
        elif value:
            typed += [*([] if option.is_argument else [option.flag]), ",".join(value)]
    return shlex.join([*typed, *sorted(flags)])


TYPES: Mapping[str, list[str]] = {
    "str": ["string"],
    "int": ["integer"],
    "bool": ["boolean"],
    LIST: ["string", "array"],
    PART: ["string", "number"],
    f"{PART} | Sequence[str]": ["string", "number", "array"],
}
"""The types of JSON of the kinds that a question has."""


def properties(kind: Any) -> dict[str, Any]:
    """The fields of a table that says the words of a class, as properties of a JSON Schema."""
    found: dict[str, Any] = {}
    for option in options(kind):
        types = TYPES[option.kind]
        found[option.name] = {"description": option.help, "type": types[0] if len(types) == 1 else types}
        found[option.name] |= {"items": {"type": "string"}} if "array" in types else {}
        found[option.name] |= {"minimum": 1} if option.kind == "int" else {}
        found[option.name] |= {} if option.default is None else {"default": option.default}
    return found


def required(kind: Any) -> list[str]:
    """The words of a class that have to be said."""
    return [option.name for option in options(kind) if option.required]
