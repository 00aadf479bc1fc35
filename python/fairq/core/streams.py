"""Standard output and standard error, whatever state they are in; and what other packages say, as lines of fairq.

What is said on standard error is never worth the result: if it is closed or full, nothing else changes.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

GLYPH = re.compile(r"Glyph (\d+) .*missing from")
"""What matplotlib says of each letter that its font lacks."""

LETTERS_SHOWN = 8
"""Letters that a note names."""


def prepare() -> None:
    """Open what is closed of the three standard streams, so that no file of ours gets its number.

    What the encoding of standard output lacks is written as its like in ASCII, or as an escape.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # the lowest free number is given: this one
            os.open(os.devnull, os.O_RDWR)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open until the end
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    if isinstance(sys.stdout, io.TextIOWrapper):
        codecs.register_error("fairq", plain)
        sys.stdout.reconfigure(errors="fairq")


LIKE = {"–": "-", "−": "-", "±": "+", "…": "~", "×": "x", "µ": "u", "·": "."}
"""What tables have beside ASCII, each with one letter of ASCII: columns stay aligned."""


def plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """What is written for letters that an encoding lacks.

    >>> codecs.register_error("fairq", plain)
    >>> "1.0 µs (0.9–1.1)".encode("ascii", "fairq")
    b'1.0 us (0.9-1.1)'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(LIKE.get(letter) or f"\\u{ord(letter):04x}" for letter in lacking), error.end


def screen_width() -> int:
    """The columns of the terminal that standard output is, or what COLUMNS says; 0 where there is neither."""
    import shutil

    is_known = "COLUMNS" in os.environ or _is_terminal()
    return shutil.get_terminal_size(fallback=(0, 0)).columns if is_known else 0


def has_colour() -> bool:
    """Whether standard output takes colours: a terminal does, or FORCE_COLOR says so; with NO_COLOR nothing does."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (_is_terminal() and os.environ.get("TERM") != "dumb")


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except ValueError:
        # it is closed
        return False


_quiet = False


@contextmanager
def quiet(wanted: bool) -> Iterator[None]:
    """Within the block, if `wanted`, standard error carries errors alone: no progress, no notes."""
    global _quiet
    before, _quiet = _quiet, wanted
    try:
        yield
    finally:
        _quiet = before


def is_quiet() -> bool:
    """Whether progress and notes are left out."""
    return _quiet


def note(text: str) -> None:
    """Write a note to standard error, unless it is to be quiet."""
    if not _quiet:
        say(f"fairq: note: {line(text)}")


LINE_MAX = 1600
WORD_MAX = 400
"""Letters of a line on standard error, and of a word in it: no path of the usual kind is longer."""


def line(text: str) -> str:
    r"""A message as one line that steers no terminal; what is too long of it is cut.

    >>> line("a\x1b[31m\u202e\nis no rate")
    'a\\x1b[31m\\u202e is no rate'
    """
    text = " ".join(text.splitlines())
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
    text = re.sub(rf"\S{{{WORD_MAX},}}", lambda word: _cut(word[0], WORD_MAX // 2), text)
    return text if len(text) <= LINE_MAX else _cut(text, LINE_MAX)


def _cut(text: str, length: int) -> str:
    return f"{text[: length // 2]}…{text[-length // 2 :]}"


def say(line: str) -> None:
    """Write a line to standard error, if that can be."""
    write(sys.stderr, f"{line}\n")


def write(stream: TextIO | None, text: str) -> None:
    """Write text to standard error, or what stands for it; if it cannot be written, nothing more is written there."""
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        discard(stream)


def discard(stream: TextIO) -> None:
    """Lead a stream nowhere: what it still holds must not fail again when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextmanager
def told(what: str) -> Iterator[None]:
    """Within the block other packages' warnings are gathered; behind it each kind is one note on standard error."""
    said: dict[str, None] = {}

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        said[" ".join(str(message).split())] = None

    with warnings.catch_warnings():
        warnings.showwarning = show
        try:
            yield
        finally:
            for code, text in notes(list(said)):
                note(f"{what}: {text} [{code}]")


def notes(said: list[str]) -> list[tuple[str, str]]:
    """Code and text of the notes that stand for the warnings of other packages.

    >>> notes(["Glyph 26085 (N) missing from font(s) DejaVu Sans.", "Glyph 26412 (N) missing from current font."])
    [('glyphs', 'the font of figures lacks 日本 (2): boxes stand there')]
    """
    letters = [chr(int(match[1])) for text in said if (match := GLYPH.match(text))]
    others = [text for text in said if not GLYPH.match(text)]
    found = []
    if letters:
        first = letters[:LETTERS_SHOWN]
        shown = "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in first)
        shown += "…" if len(letters) > LETTERS_SHOWN else ""
        found.append(("glyphs", f"the font of figures lacks {shown} ({len(letters)}): boxes stand there"))
    if others:
        more = f"; and {len(others) - 1} more of the kind" if len(others) > 1 else ""
        found.append(("warning", others[0] + more))
    return found


def listen() -> None:
    """Make warnings of what matplotlib writes to its log, as of a folder for its cache that cannot be written."""
    import logging

    class Warn(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warnings.warn(record.getMessage(), stacklevel=2)

    log = logging.getLogger("matplotlib")
    if not log.handlers:
        log.addHandler(Warn(logging.WARNING))


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - it stays open until the end


def error_descriptor() -> int:
    """The descriptor of standard error."""
    return 2
