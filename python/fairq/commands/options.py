"""Options that several commands have, and the parser whose errors are one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

from fairq.commands import NAMES, SUMMARIES, Command, adder
from fairq.errors import UsageError

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

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}; see {self.prog} --help")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As it is there, but a command itself refuses what it does not know: the line names that command."""
        given = list(sys.argv[1:] if args is None else args)
        known, unknown = super().parse_known_args(given, namespace)
        if unknown:
            self._refuse(unknown, given)
        return known, unknown

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """As it is there, but `--option=--` has no value: argparse makes an empty list of it."""
        if action.option_strings and arg_strings == ["--"]:
            self.error(f"argument {'/'.join(action.option_strings)}: '--' is no value")
        return super()._get_values(action, arg_strings)

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
        from fairq.near import near_miss

        near = near_miss(name, own)
        if "did you mean" in near:
            return near
        others = [command for command in NAMES if name in _options_of(command)]
        have = "has" if len(others) == 1 else "have"
        return f"; {' and '.join(f'fairq {command}' for command in others)} {have} it" if others else near

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As it is there, with the near miss."""
        if action.choices is not None and value not in action.choices:
            from fairq.near import near_miss

            raise argparse.ArgumentError(action, f"{value!r} is not known{near_miss(str(value), action.choices)}")


def _options_of(command: str) -> list[str]:
    """The options of a command, those of its own commands left out."""
    root = Parser()
    commands_of = root.add_subparsers(parser_class=Parser)
    adder(command)(commands_of)
    return list(commands_of.choices[command]._option_string_actions)


def command(
    commands_of: Commands,
    name: str, function: Command, example: str, more: str = "", summary: str | None = None,
    default: bool | str = False,
) -> argparse.ArgumentParser:  # fmt: skip
    """Add a command: an example, and what else its help should say.

    `summary` says what it does (imperative, under 80 characters): it is given of a command inside another, and of the
    others stands in the list of commands. `default` is that of --json, SUPPRESS for a command inside one that has it:
    both places count.
    """
    summary = SUMMARIES[name] if summary is None else summary
    description = f"{summary[0].upper()}{summary[1:]}. {more}".rstrip()
    added = commands_of.add_parser(name, help=summary, description=description, epilog=f"example: {example}")
    added.set_defaults(command=function)
    added.add_argument("--json", action="store_true", default=default, help="print one JSON document and nothing else")
    added.add_argument(
        "--quiet", action="store_true", default=default, help="print results and errors: no progress, no notes"
    )
    return added


def quick(command: argparse.ArgumentParser, default: bool | str = False) -> None:
    """Add --quick."""
    command.add_argument("--quick", action="store_true", default=default, help="use short runs, too short to quote")


def looks(command: argparse.ArgumentParser, default: bool | str = False) -> None:
    """Add --wide and --si."""
    command.add_argument("--wide", action="store_true", default=default,
                         help="show all columns, wider than the terminal if need be")  # fmt: skip
    command.add_argument("--si", action="store_true", default=default,
                         help="show raw numbers, as seconds and bit/s, not as 3.4 ms and 16.2 Mbit/s")  # fmt: skip


def set_field(command: argparse.ArgumentParser) -> None:
    """Add --set."""
    command.add_argument("--set", action="append", default=[], type=_assignment, metavar="PATH=VALUE",
                         help="change a field of the scenario, as defaults.queue=fq; may be repeated")  # fmt: skip


def workers(command: argparse.ArgumentParser) -> None:
    """Add --workers."""
    command.add_argument("--workers", type=count, metavar="N", help="threads (default: all cores); same results")


def dry_run(command: argparse.ArgumentParser) -> None:
    """Add --dry-run."""
    command.add_argument("--dry-run", action="store_true",
                         help="say how many runs there are and what they will take, and end")  # fmt: skip


def verify(command: argparse.ArgumentParser) -> None:
    """Add --verify."""
    command.add_argument("--verify", action="store_true", help="read every part of the store and check its digest")


def out(command: argparse.ArgumentParser, what: str) -> None:
    """Add --out and --replace; `what` is what --out does."""
    command.add_argument("--out", type=target, metavar="DIR", help=what)
    command.add_argument("--replace", action="store_true",
                         help="let --out replace the result of another scenario, or of other settings")  # fmt: skip


def traces(command: argparse.ArgumentParser) -> None:
    """Add --trace and --qlog."""
    command.add_argument("--trace", type=target, metavar="FILE",
                         help="write waits and sends of packets, for ui.perfetto.dev (JSON)")  # fmt: skip
    command.add_argument("--qlog", type=target, metavar="FILE",
                         help="write what each flow's sender did and heard, for qvis (a file a flow)")  # fmt: skip


def plot(command: argparse.ArgumentParser, what: str) -> None:
    """Add --plot, --for and --dark; `what` is what --plot does. `printing.style` makes a style of them."""
    command.add_argument("--plot", type=target, metavar="FILE", help=f"{what} (.svg, .png or .pdf)")
    picture_looks(command)


def picture_looks(command: argparse.ArgumentParser) -> None:
    """Add --for, --dark and --bare."""
    command.add_argument("--for", dest="size", choices=SIZES,
                         help="what the picture is for: page (1280 pixels, default), slide or paper")  # fmt: skip
    command.add_argument("--dark", action="store_true", help="draw the picture on a dark ground")
    command.add_argument("--bare", action="store_true", help="leave title and caption of the picture to your text")


def check_plot(arguments: argparse.Namespace) -> None:
    """UsageError if --for, --dark or --bare is given without --plot, where `plot` added them."""
    if getattr(arguments, "plot", "none") is not None:
        return
    looks = ((f"--for {arguments.size}", arguments.size), ("--dark", arguments.dark), ("--bare", arguments.bare))
    for option, given in looks:
        if given:
            raise UsageError(f"{option}: there is no picture without --plot; write --plot FILE as well")


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
