"""The command line: the functions of api.py with the same names.

Standard output carries the result (with --json exactly one document), standard error progress and
errors. What the exit status means is in exit_status.py.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from fairq._native import version
from fairq.cli.commands import NAMES, SUMMARIES, Broken
from fairq.cli.options import Parser, add, check_plot, check_targets
from fairq.core import lazy, signals, streams
from fairq.core.errors import FairqError, PartError
from fairq.core.exit_status import DONE, FAULT, INTERRUPTED, NO_READER, REFUSED
from fairq.core.memory import short_of_addresses
from fairq.core.remedies import told


def program() -> NoReturn:
    """Run the command that was typed and end the process with its exit status.

    A command that a signal ended goes at once: a signal may have come within a compiled part, whose
    own end, when the interpreter ends, then aborts the process.
    """
    status = main()
    if signals.asked() is not None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)
    sys.exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    streams.prepare()
    try:
        with signals.heard():
            return _main(sys.argv[1:] if argv is None else argv)
    except signals.Ended as ended:
        streams.say(f"fairq: {ended}")
        return ended.status
    except KeyboardInterrupt:
        streams.say("fairq: interrupted")
        return INTERRUPTED
    except BaseException as error:
        if (cause := signals.asked()) is not None:
            streams.say(f"fairq: {cause}")
            return cause.status
        # a panic of the compiled part is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if (short := short_of_addresses()) is not None:
            return _fail(short)
        import traceback

        streams.say(f"{traceback.format_exc()}fairq: this is a fault of fairq; report the lines above")
        return FAULT


def _main(argv: Sequence[str]) -> int:
    try:
        given = _helped(_joined(argv))
        for argument in given:
            if not _is_text(argument):
                return _fail(f"{argument!a} is not UTF-8; give the file another name, or write the value in UTF-8")
        try:
            arguments = parser(_meant(given)).parse_args(given)
        except SystemExit:
            # --help and --version
            sys.stdout.flush()
            raise
        check_targets(arguments)
        status = DONE
        try:
            with streams.quiet(arguments.quiet), streams.told(given[0]):
                check_plot(arguments)
                text = arguments.command(arguments)
        except Broken as broken:
            text, status = broken.text, broken.status
        if isinstance(text, str):
            text = [text if not text or text.endswith("\n") else text + "\n"]
        sys.stdout.writelines(text)
        sys.stdout.flush()
    except (FairqError, OSError, MemoryError, ModuleNotFoundError) as error:
        known = lazy.lacking(error) if isinstance(error, ModuleNotFoundError) else error
        if known is None or signals.asked() is not None:
            raise
        return _refused(known)
    return status


def _meant(given: Sequence[str]) -> str | None:
    """The command whose options are to be loaded; `None` for all commands."""
    if any(word.startswith("--print-completion") for word in given):
        return None
    return next((word for word in given if word in SUMMARIES), "")


def parser(name: str | None = None) -> Parser:
    """The options of the command called `name`; of all if there is none.

    Of other commands only the names are known then: their files, and what these import, are not loaded.
    """
    root = Parser(
        prog="fairq",
        description="A laboratory for fair queueing and congestion control.",
        epilog="Each command has an example: fairq run --help. An output folder is written whole or not at all.",
    )
    root.add_argument("-V", "--version", action="version", version=f"fairq {version()}")
    root.add_argument("--print-completion", action=_Completion, choices=SHELLS, metavar="SHELL",
                      help=f"print what completes fairq's commands and options in {', '.join(SHELLS)}")  # fmt: skip
    commands_of = root.add_subparsers(metavar="COMMAND", required=True, parser_class=Parser)

    for each, summary in SUMMARIES.items():
        if name in (None, each):
            add(commands_of, each)
        else:
            commands_of.add_parser(each, help=summary)
    return root


SHELLS = ("bash", "zsh", "tcsh")
"""The shells that can complete."""


class _Completion(argparse.Action):
    """Prints a shell's completion of all commands, and ends, as --help does."""

    def __call__(self, root: argparse.ArgumentParser, _namespace: Any, shell: Any, _option: Any = None) -> NoReturn:
        from fairq.cli.completion import completion

        assert isinstance(root, Parser), "it is an option of parser()"
        sys.stdout.write(completion(root, shell))
        root.exit()


def _joined(arguments: Sequence[str]) -> list[str]:
    """Arguments with a negative number made part of its option, so that the option and not its absence is refused."""
    joined: list[str] = []
    for at, argument in enumerate(arguments):
        if argument == "--":
            # what another command is given
            return [*joined, *arguments[at:]]
        negative = argument.startswith("-") and argument[1:].lstrip(".")[:1].isdigit()
        if negative and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _helped(arguments: list[str]) -> list[str]:
    """`fairq help` and `fairq help run` as the options that other programs have for them."""
    if arguments[:1] != ["help"]:
        return arguments
    return [*(name for name in arguments[1:2] if name in NAMES), "--help"]


def _is_text(argument: str) -> bool:
    """Whether an argument came as UTF-8: other bytes stand in it as halves of pairs, which nothing can print."""
    return not any("\ud800" <= letter <= "\udfff" for letter in argument)


def _refused(error: FairqError | OSError | MemoryError) -> int:
    if isinstance(error, FairqError):
        status = _fail(str(error))
        if isinstance(error, PartError) and error.__cause__ is not None:
            import traceback

            streams.say("".join(traceback.format_exception(error.__cause__)).rstrip())
        return status
    if isinstance(error, MemoryError):
        return _fail("there is not enough memory; ask for less, or run where there is more")
    streams.discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        # the reader has gone (`fairq … | head`): nothing is left to say
        return NO_READER
    return _fail(f"{error.filename or 'output'}: {told(error)}")


def _fail(message: str) -> int:
    streams.say(f"fairq: {streams.line(message)}")
    return REFUSED
