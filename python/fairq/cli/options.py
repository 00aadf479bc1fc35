"""Options that several commands have, and how declarations become a parser."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn, TypeAlias

from fairq.cli.commands import NAMES, SUMMARIES, Command
from fairq.core.declared import NUMBERS, PATH, OneOf, Option, Spec, argument, of_one, switch, typed_only
from fairq.core.errors import UsageError

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""What commands are added to."""

WHOLE_DIGITS_MAX = 15
"""The most digits of a whole number."""


SIZES = ("page", "slide", "paper")
"""What a picture can be for, as in `fairq.figures`, which would import the plotting package."""

FIELDS = {
    "--seed": "measure.seed",
    "--seeds": "measure.replications",
    "--replications": "measure.replications",
    "--duration": "measure.duration",
    "--time": "measure.duration",
    "--warm-up": "measure.warm_up",
    "--queue": "defaults.queue",
    "--discipline": "defaults.queue",
    "--qdisc": "defaults.queue",
    "--buffer": "defaults.buffer",
    "--limit": "defaults.buffer",
    "--transport": "defaults.transport",
    "--rate": "links[0].rate",
    "--delay": "links[0].delay",
}
"""Options that a command with --set does not have, and the field of a scenario for each."""


class Parser(argparse.ArgumentParser):
    """Errors are one line and exit status 2, like all others; they name what was meant, where that can be known."""

    spec: Spec | None = None
    """What it was made from; None if it only holds other commands."""

    def commands(self) -> dict[str, Parser]:
        """The commands inside it."""
        inner = [action for action in self._actions if isinstance(action, argparse._SubParsersAction)]
        return {name: parser for action in inner for name, parser in action.choices.items()}

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As it is there, but a command itself refuses what it does not know: the line names that command."""
        given = list(sys.argv[1:] if args is None else args)
        behind = None
        if self.spec is not None and self.spec.command is not None:
            given, behind = self._parted(given, self.spec)
        known, unknown = super().parse_known_args(given, namespace)
        if behind is not None:
            known.behind = behind
        if unknown:
            self._refuse(unknown, given)
        return known, unknown

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """As it is there, but `--option=--` has no value: argparse makes an empty list of it."""
        if action.option_strings and arg_strings == ["--"]:
            self.error(f"argument {'/'.join(action.option_strings)}: '--' is no value")
        return super()._get_values(action, arg_strings)

    def _parted(self, given: list[str], spec: Spec) -> tuple[list[str], list[str]]:
        """What is typed for a command that runs another one, and that one with its arguments.

        It stands behind `--`, or where the command `has_bare_command` behind its own arguments.
        """
        if "--" in given:
            at = given.index("--")
            if not spec.has_bare_command or len(self._own(given[:at])) == at:
                return given[:at], given[at + 1 :]
        if not spec.has_bare_command:
            return given, []
        own = self._own(given)
        return own, given[len(own) :]

    def _own(self, given: Sequence[str]) -> list[str]:
        """Up to the first word that is no option, no value of one and no argument."""
        arguments = sum(not action.option_strings for action in self._actions)
        is_value = False
        for at, word in enumerate(given):
            if is_value:
                is_value = False
            elif word.startswith("-") and word != "-":
                action = self._option_string_actions.get(word)
                is_value = action is not None and action.nargs is None and action.const is None
            elif arguments == 0:
                return list(given[:at])
            else:
                arguments -= 1
        return list(given)

    def _refuse(self, unknown: Sequence[str], given: Sequence[str]) -> NoReturn:
        option = next((word for word in unknown if word.startswith("-") and word != "-"), None)
        if option is None:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        name, _, value = option.partition("=")
        behind = given.index(option) + 1 if option in given else len(given)
        value = value or next(iter(given[behind:]), "")
        self.error(f"there is no option {name} here{self._meant(name, '…' if value.startswith('-') else value or '…')}")

    def _meant(self, name: str, value: str) -> str:
        """What to write in place of an option that this command does not have."""
        name = name.replace("_", "-")
        own = [option for option in self._option_string_actions if option.startswith("--")]
        if "--set" in own and name in FIELDS:
            return f"; write --set {FIELDS[name]}={value}"
        if not name.startswith("--"):
            return ""
        from fairq.core.near import near_miss

        near = near_miss(name, own)
        if "did you mean" in near:
            return near
        others = [command for command in NAMES if name in _options_of(command)]
        have = "has" if len(others) == 1 else "have"
        return f"; {' and '.join(f'fairq {command}' for command in others)} {have} it" if others else near

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, with the near miss."""
        if action.choices is not None and value not in action.choices:
            from fairq.core.near import near_miss

            raise argparse.ArgumentError(action, f"{value!r} is not known{near_miss(str(value), action.choices)}")


def _options_of(command: str) -> list[str]:
    """The options of a command, those of its own commands left out."""
    root = Parser()
    commands_of = root.add_subparsers(parser_class=Parser)
    add(commands_of, command)
    return list(commands_of.choices[command]._option_string_actions)


JSON = switch("json", "print one JSON document and nothing else", in_python=False)
QUIET = switch("quiet", "print results and errors: no progress, no notes", in_python=False)
"""Options of every command."""

FILE = argument("scenario", "the scenario file; - reads standard input", "SCENARIO.toml", "Scenario")
STUDY = argument("study", "the study file, or the folder of its store", "STUDY", PATH)
QUICK = switch("quick", "use short runs, too short to quote")
SET = Option("set", "change a field of the scenario, as defaults.queue=fq; may be repeated", "PATH=VALUE",
             "Settings", default=())  # fmt: skip
PARTS = Option("parts", "own parts of queues and flows: a file of Python with their classes", "FILE.py", "Parts")
WORKERS = Option("workers", "threads (default: all cores); same results", "N", "int")
VERIFY = switch("verify", "read every part of the store and check its digest")
STORE = Option("store", "the store (default: the study's path without .toml)", "DIR", PATH)

(WIDE, SI, DRY_RUN) = typed_only(
    switch("wide", "show all columns, wider than the terminal if need be"),
    switch("si", "show raw numbers, as seconds and bit/s, not as 3.4 ms and 16.2 Mbit/s"),
    switch("dry_run", "say how many runs there are and how long they will take, and end"),
)
LOOKS = (WIDE, SI)
"""How tables look."""

(TRACE, QLOG, SCENARIO) = typed_only(
    Option("trace", "write waits and sends of packets, for ui.perfetto.dev (JSON)", "FILE", PATH,
           is_written=True),
    Option("qlog", "write each flow's packets and acknowledgements, for qvis (a file a flow)", "FILE", PATH,
           is_written=True),
    Option("scenario", "write the scenario that is run, for fairq run", "FILE", PATH, is_written=True),
)  # fmt: skip

PICTURE_LOOKS = typed_only(
    Option("size", "what the picture is for: page (1280 pixels, default), slide or paper", choices=SIZES,
           flags=("--for",)),
    switch("dark", "draw the picture on a dark background"),
    switch("bare", "leave title and caption of the picture to your text"),
)  # fmt: skip


def plot(what: str) -> tuple[Option, ...]:
    """--plot, which does `what`, and how a picture looks. `printing.style` makes a style of them."""
    to = Option("plot", f"{what} (.svg, .png or .pdf)", "FILE", PATH, is_written=True, in_python=False)
    return (to, *PICTURE_LOOKS)


def timeline(what: str) -> Option:
    """--timeline, which does `what`."""
    return Option("timeline", f"{what} (.svg, .png or .pdf)", "FILE", PATH, is_written=True, in_python=False)


TIMELINE = (
    timeline("draw packets of the first run over time, beside the fluid"),
    *typed_only(
        Option("first", "draw --timeline from this time (default: the start)", "TIME", flags=("--from",)),
        Option("last", "draw --timeline to this time (default: the end)", "TIME", flags=("--to",)),
        Option("link", "draw --timeline of this link (default: the slowest that most flows share)", "NAME"),
    ),
)
"""The picture of a run's packets, and what of them it shows."""


def out(what: str) -> tuple[Option, ...]:
    """--out, which does `what`, and --replace."""
    replace = switch("replace", "let --out replace the result of another scenario, or of other settings")
    return (Option("out", what, "DIR", PATH, is_written=True), replace)


def add(commands_of: Commands, name: str) -> None:
    """Add the command of this name, which its file declares."""
    module = name.replace("-", "_")
    file = import_module(f"fairq.cli.commands.{module}")
    if hasattr(file, "add"):
        file.add(commands_of)
    else:
        declare(commands_of, file.SPEC, getattr(file, file.SPEC.does or module))


def declare(commands_of: Commands, spec: Spec, function: Command, inside: Spec | None = None) -> Parser:
    """Add a command as it is declared.

    Flags that the command `inside` which it stands has too count at both places.
    """
    name = spec.name.split()[-1]
    summary = SUMMARIES[name] if spec.summary is None else spec.summary
    spec = spec._replace(summary=summary)
    description = f"{spec.said} {spec.more}".rstrip()
    added = commands_of.add_parser(name, help=summary, description=description, epilog=f"example: {spec.example}")
    added.spec = spec
    added.set_defaults(command=function)
    outer = {option.name for option in (JSON, QUIET, *inside.all())} if inside else set()
    for each in (JSON, QUIET, *spec.options):
        group = each if isinstance(each, OneOf) else None
        to: Any = added.add_mutually_exclusive_group(required=group.required) if group else added
        for option in of_one(each):
            _add(to, option, is_of_both=option.name in outer)
    return added


def _add(to: Any, option: Option, *, is_of_both: bool) -> None:
    """Add an option or an argument to a parser, or to a group of one."""
    told: dict[str, Any] = {"help": option.help and option.help.replace("%", "%%")}
    if option.kind == "bool":
        action = "store_false" if option.default else "store_true"
        usual = argparse.SUPPRESS if is_of_both else option.default
        to.add_argument(*_flags(option), dest=option.name, action=action, default=usual, **told)
        return
    told |= {"metavar": option.metavar, "choices": option.choices}
    told["type"] = target if option.is_written else READERS.get(option.kind)
    told["default"] = option.default if option.typed is ... else option.typed
    if option.is_argument:
        to.add_argument(option.name, nargs=option.nargs, **told)
    elif option.kind in REPEATED:
        told["default"] = list(option.default)
        to.add_argument(*_flags(option), dest=option.name, action="append", required=option.required, **told)
    else:
        to.add_argument(*_flags(option), dest=option.name, required=option.required, **told)


def _flags(option: Option) -> Sequence[str]:
    return option.flags or (option.flag,)


def check_plot(arguments: argparse.Namespace) -> None:
    """UsageError if a word of a picture is given without the picture, or a picture cannot be drawn here.

    --for, --dark and --bare are of any, --from, --to and --link of --timeline.
    """
    given = vars(arguments)
    if given.get("timeline", "none") is None:
        for flag, name in (("--from", "first"), ("--to", "last"), ("--link", "link")):
            if given.get(name) is not None:
                raise UsageError(f"{flag}: there is no such picture without --timeline; write --timeline FILE as well")
    pictures = [f"--{name}" for name in ("plot", "timeline") if name in given]
    asked = [name for name in pictures if given[name[2:]] is not None]
    # it is there, as a rule; a user that left it out hears so before a run of minutes, not behind it
    if asked and find_spec("matplotlib") is None:
        raise UsageError(f"{asked[0]}: a picture needs the package matplotlib; write: pip install matplotlib")
    if asked or not pictures:
        return
    wanted, write = " or ".join(pictures), " or ".join(f"{name} FILE" for name in pictures)
    looks = ((f"--for {arguments.size}", arguments.size), ("--dark", arguments.dark), ("--bare", arguments.bare))
    for option, is_given in looks:
        if is_given:
            raise UsageError(f"{option}: there is no picture without {wanted}; write {write} as well")


def _assignment(text: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not PATH=VALUE, as in defaults.queue=fq")
    return path.strip(), value.strip()


class Target(str):
    """The name of a file or folder that a command writes."""

    __slots__ = ()


def target(text: str) -> Target:
    """The name of what is to be written, of an option."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; give that of a file or folder")
    return Target(text)


def check_targets(arguments: argparse.Namespace) -> None:
    """Refuse two targets of one name, and a target that the command reads."""
    texts = {name: value for name, value in vars(arguments).items() if isinstance(value, str)}
    given = {name: value for name, value in texts.items() if value and "\0" not in value}
    places: dict[str, str] = {}
    for name in sorted(given, key=lambda name: isinstance(given[name], Target)):
        value, place = given[name], os.path.realpath(given[name])
        if isinstance(value, Target):
            option = f"--{name.replace('_', '-')}"
            if place in places:
                raise UsageError(f"{option} {value}: {places[place]} is the same file; give each a name of its own")
            places[place] = f"that of {option}"
        elif os.path.isfile(value):  # noqa: PTH113 - a value may be no path at all
            places[place] = "what is read"


def _command(text: str) -> tuple[str, str]:
    host, equals, command = text.partition("=")
    if not equals or not host.strip() or not command.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST=COMMAND, as in right='iperf3 -s'")
    return host.strip(), command.strip()


def count(text: str) -> int:
    """A whole number from 1 up, of an option."""
    value = whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return value


def whole(text: str) -> int:
    """A whole number from 0 up, of an option."""
    if text.startswith("-") and text[1:].isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be negative")
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    if len(text) > WHOLE_DIGITS_MAX:
        raise argparse.ArgumentTypeError(f"a number of {len(text)} digits is too great")
    return int(text)


def number(text: str) -> float:
    """A number, or a percentage as its fraction, of an option."""
    try:
        return float(text.strip().removesuffix("%")) / 100 if text.strip().endswith("%") else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def numbers(text: str) -> list[float]:
    """Numbers with commas between them, of an option."""
    return [number(part) for part in text.split(",")]


READERS: Mapping[str, Callable[[str], Any]] = {
    "int": count,
    "Whole": whole,
    "float": number,
    NUMBERS: numbers,
    "Settings": _assignment,
    "Commands": _command,
}
"""By kind: what reads the text of an option that is no text."""

REPEATED = ("Settings", "Commands", "Sequence[str]")
"""The kinds of options that may be given more than once."""
