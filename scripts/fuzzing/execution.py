"""A forked process that reads one input after the other, and what is not to happen while it does.

Bad is: a status other than 0, 1 and 2, a panic or traceback on standard error, a refusal that is
not one line or steers the terminal, more than TIME_S of time, more than BYTES of memory, and the
end of the process.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from fairq.cli import program
from fuzzing.drawing import Case

TIME_S = 10
"""Seconds of the processor that reading one input may take."""
LONG_S = 1.0
"""Work that takes longer by its own estimate is not done."""
WALL_S = 300
"""Seconds on the wall: the process may wait for others, but not for ever."""
BYTES = 1_000_000_000
ADDRESSES = 8_000_000_000
"""Addresses that the process may ask for: most of them are never used."""
LETTERS = 2000
"""The longest line of a refusal."""
RESTART = 2000
"""Inputs of one process."""


class Outcome(NamedTuple):
    """What became of an input: whether it was accepted, what was bad, and standard error."""

    number: int
    accepted: bool
    bad: str
    said: str
    seconds: float


@dataclass
class Worker:
    """Reads the inputs that `make` gives, by their numbers, in a folder of its own."""

    make: Callable[[int], Case]
    folder: Path

    def outcomes(self, first: int, until: Callable[[int], bool]) -> Iterator[Outcome]:
        """The outcomes of the inputs from `first` on, until there are enough."""
        number = first
        while not until(number):
            for outcome in self._process(number, until):
                yield outcome
                number = outcome.number + 1

    def _process(self, first: int, until: Callable[[int], bool]) -> Iterator[Outcome]:
        """The outcomes of a process, up to its end."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                self._read_all(first, until, writing)
                os._exit(0)
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(1)
        os.close(writing)
        number, began, used = first, time.monotonic(), 0.0
        why, held = "", b""
        try:
            while True:
                line, _, held = held.partition(b"\n") if b"\n" in held else (b"", b"", held)
                if line:
                    outcome = Outcome(*json.loads(line))
                    yield outcome
                    number = outcome.number + 1
                    began, used = time.monotonic(), _used_s(child)
                elif why := _wait(child, reading, began, used):
                    break
                elif more := os.read(reading, 1 << 16):
                    held += more
                else:
                    break
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            os.close(reading)
        if why or status:
            how = why or f"the process ended: {_ended(status)}"
            yield Outcome(number, False, how, self._standard_error().strip()[-500:], time.monotonic() - began)

    def _standard_error(self) -> str:
        path = self.folder.with_suffix(".err")
        return path.read_text(errors="replace") if path.exists() else ""

    def _read_all(self, first: int, until: Callable[[int], bool], writing: int) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for at, name in ((1, ".out"), (2, ".err")):
            flags = os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_APPEND
            os.dup2(os.open(self.folder.with_suffix(name), flags, 0o600), at)
        for number in range(first, first + RESTART):
            if until(number):
                return
            os.write(writing, json.dumps(self._outcome(number)).encode() + b"\n")

    def _outcome(self, number: int) -> Outcome:
        case = self.make(number)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)
        for name, content in case.files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_bytes(content)
        os.chdir(self.folder)
        Path("/proc/self/clear_refs").write_text("5")
        began = time.process_time()
        accepted, bad, said = False, "", ""
        for at, command in enumerate(case.commands):
            is_of_said = any("{said}" in word for word in command)
            if is_of_said:
                printed = os.pread(1, 100_000, 0).decode()
                command = tuple(word.replace("{said}", printed) for word in command)
            status, said = run(command)
            bad = judged(status, said) or ("what was printed is refused" if is_of_said and status == 2 else "")
            accepted = accepted or (at == 0 and status in (0, 1))
            if bad or status == 2 or ("--dry-run" in command and not _is_short()):
                break
        seconds = time.process_time() - began
        peak = _peak_bytes()
        if not bad and seconds > TIME_S:
            bad = f"{seconds:.1f} s of the processor"
        if not bad and peak > BYTES:
            bad = f"{peak / 1e6:.0f} MB"
        return Outcome(number, accepted, bad, said.strip()[-2000:], seconds)


def run(command: tuple[str, ...]) -> tuple[int, str]:
    """The status of a command, and what it wrote to standard error."""
    for at in (1, 2):
        os.ftruncate(at, 0)
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8", write_through=True)
    try:
        # no argument of a program has a zero in it
        status = program.main([word.replace("\0", "") for word in command])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 2
    sys.stdout.flush()
    sys.stderr.flush()
    return status, os.pread(2, 1_000_000, 0).decode(errors="replace")


def judged(status: int, said: str) -> str:
    """What is bad of a status and what stands on standard error."""
    if status not in (0, 1, 2):
        return f"status {status}"
    for word in ("panicked", "Traceback", "memory allocation"):
        if word in said:
            return word
    lines = [line for line in said.splitlines() if not re.match(r"fairq: note: |usage: ", line)]
    if status == 2 and (len(lines) != 1 or not lines[0].startswith("fairq: ")):
        return f"{len(lines)} lines, not one"
    if status == 2 and len(lines[0]) > LETTERS:
        return f"a line of {len(lines[0])} letters"
    if status == 2 and (hidden := [letter for letter in lines[0] if unicodedata.category(letter) in ("Cc", "Cf")]):
        return f"a line with the letter U+{ord(hidden[0]):04X}"
    return ""


def _is_short() -> bool:
    """Whether what was tried, and described on standard output, takes less than LONG_S."""
    try:
        time_s = json.loads(os.pread(1, 100_000, 0))["time_s"]
    except (ValueError, KeyError, TypeError):
        return True
    return time_s is not None and time_s < LONG_S


def _wait(child: int, reading: int, began: float, used: float) -> str:
    """Wait for what the process says; gives why it is ended, if it is."""
    while not select.select([reading], [], [], 0.2)[0]:
        if _used_s(child) - used > 2 * TIME_S:
            return f"more than {2 * TIME_S} s of the processor"
        if time.monotonic() - began > WALL_S:
            return f"more than {WALL_S} s"
        if _resident_bytes(child) > 2 * BYTES:
            return f"more than {2 * BYTES / 1e6:.0f} MB"
    return ""


def _used_s(process: int) -> float:
    with contextlib.suppress(OSError, IndexError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _resident_bytes(process: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _peak_bytes() -> int:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def _ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"status {os.WEXITSTATUS(status)}"
