"""The page of all commands and their options, of the declarations: docs/reference/commands.md.

`python -m fairq.cli.reference docs/reference/commands.md` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from fairq.cli import program
from fairq.cli.options import JSON, QUIET, Parser
from fairq.core.declared import Option, Spec

BEGINS = f"""\
# Which options does a command have?

`fairq COMMAND --help` prints the same. Every command has `--json` ({JSON.help})
and `--quiet` ({QUIET.help}). What an [exit status](exit-status.md)
means is the same for all of them.

The second column is the argument of the function of Python that does the same, with its kind and
what it is if left out; an empty one says that the command line alone has the option. Functions have
arguments beside them, as `progress`: `help(fairq.run)`.
"""


def text() -> str:
    """The page."""
    specs = [spec for spec in declared(program.parser()) if spec is not None]
    return "\n".join([BEGINS, *(section(spec) for spec in specs)])


def declared(parser: Parser) -> Iterator[Spec | None]:
    """The declarations of the commands of a parser, each before those of the commands inside it."""
    for inner in parser.commands().values():
        yield inner.spec
        yield from declared(inner)


def section(spec: Spec) -> str:
    """What a command does, takes and calls."""
    functions = " and ".join(f"`fairq.{function}`" for function in spec.functions)
    calls = f" In Python: {functions}." if functions else ""
    said = f"{spec.said} {spec.more}".rstrip().replace("<", "&lt;").replace("*", "\\*")
    rows = "".join(_row(option, has_function=bool(spec.functions)) for option in spec.all())
    table = f"\n| option | in Python | what it does |\n|---|---|---|\n{rows}" if rows else ""
    return f"## fairq {spec.name}\n\n{said}{calls}\n\nExample: `{spec.example}`\n{table}"


def typed(option: Option) -> list[str]:
    """What is typed for an option or an argument: each of its flags, the last with its value."""
    flags = [option.metavar or option.name] if option.is_argument else list(option.flags or (option.flag,))
    value = option.metavar or (None if option.choices else option.name.upper())
    if not option.is_argument and option.kind != "bool" and value is not None:
        flags[-1] += f" {value}"
    return flags


def does(option: Option, quote: str = "`") -> str:
    """What an option does, as sentences; its choices stand within `quote`."""
    one = f" One of {', '.join(f'{quote}{choice}{quote}' for choice in option.choices)}." if option.choices else ""
    said = f"{(option.help or '').rstrip('.')}.{one}".lstrip(".").strip()
    return f"{said[:1].upper()}{said[1:]}"


def _row(option: Option, *, has_function: bool) -> str:
    name = ", ".join(f"`{each}`" for each in typed(option))
    required = " (required)" if option.required else ""
    cells = (f"{name}{required}", _argument(option) if has_function else "", does(option))
    # A | in a cell would end it.
    escaped = [cell.replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(escaped)} |\n"


def _argument(option: Option) -> str:
    if not option.in_python:
        return ""
    usual = "" if option.required else f" = {option.default!r}"
    return f"`{option.called or option.name}: {option.annotation}{usual}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
