"""The gateway's process from outside: a job in, lines of JSON out; the command has the terminal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from fairq.core import signals
from fairq.core.errors import FairqError, UsageError
from fairq.core.exit_status import BY_SIGNAL

CODE = "import sys; sys.path.insert(0, sys.argv[1]); from fairq.emulation.gateway import main; main()"
"""What the interpreter runs: it finds this package and asks the user's environment for nothing."""

Watch = Callable[[Mapping[str, Any]], object]
"""Is told what is under way."""


class Answer(NamedTuple):
    """What the gateway said."""

    ready: dict[str, Any]
    """What was made: hosts, their kernel, the back end."""
    report: dict[str, Any]
    status: int
    """The exit status of the terminal's command; 0 if there was none."""


def run(job: Mapping[str, Any], *, watch: Watch | None = None, output: int | None = None) -> Answer:
    """Run a job to its end; commands write to the descriptor `output`, or to standard output.

    UsageError is what the gateway refuses, in its words.
    """
    if not sys.platform.startswith("linux"):
        raise UsageError("emulation needs Linux: its namespaces and its TCP; fairq run simulates the same scenario")
    job = dict(job)
    environment = {**os.environ, **job.pop("environment", {})}
    heard, told = os.pipe()
    given = os.memfd_create("job")
    try:
        os.write(given, json.dumps(job).encode())
        os.lseek(given, 0, os.SEEK_SET)
        folder = str(Path(__file__).resolve().parents[2])
        command = [sys.executable, "-I", "-S", "-c", CODE, folder, str(given), str(told)]
        # Kernels have no terminal.
        with _signals(has_terminal="host_kernel" not in job) as passed:
            process = subprocess.Popen(command, pass_fds=(given, told), stdout=output, env=environment)
            passed.append(process)
            os.close(told)
            told = -1
            lines = _read(heard, watch)
            status = process.wait()
    finally:
        for descriptor in (heard, told, given):
            if descriptor >= 0:
                os.close(descriptor)
    if "error" in lines:
        raise UsageError(str(lines["error"]["message"]))
    if "report" not in lines:
        how = f"signal {-status}" if status < 0 else f"status {status}"
        raise FairqError(f"the gateway ended without a report ({how}); nothing of it is left running")
    return Answer(lines.get("ready", {}), lines["report"], status)


def _read(descriptor: int, watch: Watch | None) -> dict[str, Any]:
    """The lines that the gateway writes, by what they are."""
    found: dict[str, Any] = {}
    with os.fdopen(descriptor, encoding="utf-8", closefd=False) as stream:
        for line in stream:
            said = json.loads(line)
            if "watch" not in said:
                found |= said
            elif watch is not None:
                watch(said["watch"])
            if "report" in found or "error" in found:
                # something that a command left running may keep the other end open
                break
    return found


@contextmanager
def _signals(*, has_terminal: bool) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Within it Ctrl-C is for a command that has the terminal; other signals go to the gateway."""
    processes: list[subprocess.Popen[bytes]] = []
    if threading.current_thread() is not threading.main_thread():
        yield processes
        return
    came: list[int] = []

    def passed(number: int, _: object) -> None:
        came.append(number)
        for process in processes:
            process.send_signal(signal.SIGTERM)

    before = {}
    for number in BY_SIGNAL:
        handler = signal.getsignal(number)
        if handler not in (signal.SIG_IGN, None):
            before[number] = handler
            is_left = has_terminal and number == signal.SIGINT
            signal.signal(number, _left_to_command if is_left else passed)
    try:
        yield processes
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise signals.Ended(came[0])


def _left_to_command(_: int, __: object) -> None:
    """The terminal sends it to the command too, which decides what it means."""
