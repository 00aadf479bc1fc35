"""The pages of `man fairq` and `man fairq-COMMAND`, of the declarations, as the wheel installs them.

`python -m fairq.cli.man_pages packaging/wheel/data/share/man/man1` writes them. They bear the
version and no date, so that the same tree makes the same bytes on any day.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from textwrap import wrap

from fairq._native import version
from fairq.cli import program, reference
from fairq.cli.commands import SUMMARIES
from fairq.cli.options import JSON, QUIET
from fairq.core import exit_status
from fairq.core.declared import Option, Spec

WIDTH = 76
"""Columns of a line of source, so that `git diff` of a page can be read."""

ABOUT = (
    "fairq is a laboratory for fair queueing and congestion control: the disciplines that decide which packet a router"
    " sends next and which it drops, the congestion controls that react to them, a packet-level simulator to try both"
    " in, and published results to measure it against."
)
OWN = (
    ("-h, --help", "Print the commands, or the options of the command that is named before it."),
    ("-V, --version", "Print the version."),
    ("--print-completion SHELL", f"Print what completes commands and options in {', '.join(program.SHELLS)}."),
)
"""What `fairq` takes without a command."""


def pages() -> dict[str, str]:
    """The text of each page by the name of its file."""
    specs: dict[str, list[Spec]] = {name: [] for name in SUMMARIES}
    for spec in reference.declared(program.parser()):
        if spec is not None:
            specs[spec.name.split()[0]].append(spec)
    made = {"fairq.1": _root()}
    return made | {f"fairq-{name}.1": _page(name, inside) for name, inside in specs.items()}


def write(folder: Path) -> None:
    """Write the pages into a folder, and remove those of commands that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in folder.glob("fairq*.1"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text, encoding="ascii")


def _root() -> str:
    commands = [(f"fairq-{name}(1)", f"{summary[:1].upper()}{summary[1:]}.") for name, summary in SUMMARIES.items()]
    common = [(option.flag, reference.does(option)) for option in (JSON, QUIET)]
    return _text(
        *_head("fairq", "a laboratory for fair queueing and congestion control"),
        *_paragraph("`fairq` `COMMAND` [options]"),
        *_section("Description"),
        *_paragraph(ABOUT),
        *_paragraph(
            "Start with `fairq compare`, which measures queues and congestion controls over one line, or with"
            " `fairq run SCENARIO.toml`, which simulates a network that a file describes."
        ),
        *_section("Commands"),
        *_listed(commands),
        *_section("Options"),
        *_listed(OWN),
        *_paragraph("Of every command:"),
        *_listed(common),
        *_statuses(),
        *_section("See also"),
        *_paragraph(", ".join(f"`fairq-{name}`(1)" for name in sorted(SUMMARIES))),
    )


def _page(name: str, specs: list[Spec]) -> str:
    """The page of a command, and of those inside it."""
    lines = _head(f"fairq-{name}", SUMMARIES[name])
    for spec in specs:
        lines += _paragraph(_synopsis(spec))
    if not specs or specs[0].name != name:
        lines += [*_section("Description"), *_paragraph(f"{SUMMARIES[name][:1].upper()}{SUMMARIES[name][1:]}.")]
    for spec in specs:
        lines += _section("Description" if spec.name == name else f"fairq {spec.name}")
        lines += _paragraph(f"{spec.said} {spec.more}".rstrip())
        if spec.functions:
            lines += _paragraph(f"In Python: {' and '.join(f'`fairq.{each}`' for each in spec.functions)}.")
        lines += _paragraph("Options:") if spec.name != name and spec.all() else []
        lines += _section("Options") if spec.name == name and spec.all() else []
        lines += _listed((", ".join(reference.typed(option)), _does(option)) for option in spec.all())
        lines += [*_paragraph("Example:"), ".RS", ".EX", _escaped(spec.example), ".EE", ".RE"]
    lines += [*_statuses(), *_section("See also"), *_paragraph(f"`fairq`(1), `fairq {name} --help`")]
    return _text(*lines)


def _does(option: Option) -> str:
    return f"{reference.does(option)}{' Required.' if option.required else ''}"


def _synopsis(spec: Spec) -> str:
    words = [f"`fairq {spec.name}`"]
    for option in spec.all():
        typed = reference.typed(option)[0]
        if option.required or option.is_argument:
            several = " ..." if option.nargs in ("*", "+") else ""
            words.append(f"{typed}{several}" if option.required else f"[{typed}{several}]")
    words.append("[options]")
    if spec.command is not None:
        words.append("[--] COMMAND ..." if spec.has_bare_command else "-- COMMAND ...")
    return " ".join(words)


def _statuses() -> list[str]:
    said = ((str(status), meaning) for status, meaning in exit_status.MEANINGS.items())
    return [*_section("Exit status"), *_listed(said)]


def _head(name: str, summary: str) -> list[str]:
    return [
        '.\\" Written by python -m fairq.cli.man_pages: change the declarations, not this page.',
        f'.TH {name.upper()} 1 "" "fairq {version()}" "fairq"',
        *_section("Name"),
        f"{_escaped(name)} \\- {_escaped(summary)}",
        *_section("Synopsis"),
    ]


def _section(name: str) -> list[str]:
    return [f'.SH "{name.upper()}"']


def _listed(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A list of what is typed, each with what it does."""
    for typed, said in entries:
        yield f".TP\n\\fB{_escaped(typed)}\\fR"
        yield from _wrapped(said)


def _paragraph(text: str) -> list[str]:
    return [".PP", *_wrapped(text)]


def _wrapped(text: str) -> list[str]:
    return [_bold(line) for line in _whole(wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))]


def _whole(lines: list[str]) -> list[str]:
    """Lines of which none ends within `…`: bold letters begin and end in one."""
    whole: list[str] = []
    for line in lines:
        if whole and whole[-1].count("`") % 2:
            whole[-1] += f" {line}"
        else:
            whole.append(line)
    return whole


def _bold(line: str) -> str:
    """What stands within `…` in bold letters."""
    parts = [_escaped(part) for part in line.split("`")]
    text = "".join(f"\\fB{part}\\fR" if at % 2 else part for at, part in enumerate(parts))
    # a line that begins with one of these would be a request
    return f"\\&{text}" if text[:1] in (".", "'") else text


def _escaped(text: str) -> str:
    """Text in letters that every reader of man pages shows as they are."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha")
    plain = plain.replace("~", "\\(ti")
    return re.sub(r"[^\x00-\x7f]", lambda found: f"\\[u{ord(found[0]):04X}]", plain)


def _text(*lines: str) -> str:
    # a heading begins a paragraph by itself
    return re.sub(r"^(\.SH .*)\n\.PP$", r"\1", "\n".join(lines), flags=re.MULTILINE) + "\n"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
