"""The commands of a text as a shell would give them, with Windows' ends of lines too."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from fairq.traffic_control.refusal import refused

ENDS = ("&&", "||", ";", "&", "\n")
"""What stands between two commands."""

REDIRECTION = re.compile(r"(\d*|&)(>>?|<|>\|)(&\d|&-)?")
"""An operator that leads what is printed elsewhere, with the numbers of streams."""


def commands(text: str) -> list[list[str]]:
    """The words of each command."""
    text = text.removeprefix("\ufeff")
    text = re.sub(r"\\[ \t]*\r?\n", " ", text)
    return [words for line in text.splitlines() for words in _of_line(line) if words]


def _of_line(line: str) -> Iterator[list[str]]:
    """The commands of one line, without redirections."""
    words: list[str] = []
    pieces = _pieces(line)
    while pieces:
        piece = pieces.pop(0)
        if piece in ENDS:
            yield words
            words = []
        elif piece == "|" or piece.startswith(("<<", "(", ")")):
            raise refused(f"{line.strip()[:60]}: {piece} is of a shell and no part of a command; leave it out")
        elif (found := REDIRECTION.fullmatch(piece)) is not None:
            if not found[3]:
                # the file
                pieces = pieces[1:]
        else:
            words.append(_plain(piece))
    yield words


def _pieces(line: str) -> list[str]:
    """Words in their quotes, and operators."""
    quoted = r"""(?:[^\s"';<>|&()\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+"""
    operator = r"(?:\d+(?=[<>]))?(?:&>>?|>>|>\||>&[\d-]|<<|<|>|&&|\|\||;|&|\||\(|\))(?:&[\d-])?"
    comment = r"(?:(?<=\s)|^)\#.*"
    found = []
    at = 0
    for match in re.finditer(rf"\s+|{comment}|{operator}|{quoted}", line):
        if match.start() != at:
            break
        at = match.end()
        if match[0].strip() and not match[0].startswith("#"):
            found.append(match[0])
    if at != len(line):
        raise refused(f"{line.strip()!r}: No closing quotation, or nothing behind a \\")
    return found


def _plain(word: str) -> str:
    """A word without its quotes."""
    return "".join(shlex.split(word)) if any(letter in word for letter in "\"'\\") else word
