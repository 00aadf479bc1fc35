"""Fails the nth call with each error, in every command that writes, and judges what is left.

    .venv/bin/python scripts/failures.py                      every cell, some twenty minutes
    .venv/bin/python scripts/failures.py --cells 300 --seed 1 a random sample
    .venv/bin/python scripts/failures.py --only 'sweep/rename/4/ESTALE/once'

A cell is a command, a call, which of the calls fails, its error, and whether the calls behind it
fail too. Only calls on the command's own files count. A cell is good if

- the result is whole, or one line says that failure and its remedy, with status 2;
- what stood before stands, and nothing half-written is left beside it;
- the same command without failures then gives the whole result, and a sweep runs no run again.

Exit status 1 and a line for each cell that is not good. Linux: a cell is a forked process.
"""

from __future__ import annotations

import argparse
import builtins
import contextlib
import errno
import io
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairq.cli import program
from fairq.core import output, remedies, results, signals  # noqa: F401 - loaded before the forks
from fairq.core.errors import OutputError
from fairq.studies import store, threads

ERRORS = [getattr(errno, name) for name in ("EACCES", "EIO", "ENOSPC", "EMFILE", "ESTALE", "EROFS", "EDQUOT")]
MODULES = {"mkdir": "mkdir", "unlink": "unlink", "stat": "stat", "listdir": "listdir", "scandir": "scandir"}
CALLS = ("open", "read", "write", "link", "rename", "fsync", *MODULES)
WIDTH_S = 60
"""How long a cell may take."""

SCENARIO = """edition = 2
[measure]
duration = "200 ms"
[defaults]
start = "0 s"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
[[flows]]
name = "file"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
count = 2
"""
STUDY = """[study]
scenario = "line.toml"
replications = 2
[[axes]]
name = "queue"
path = "defaults.queue"
values = ["fifo", "drr"]
"""
GRAPH = "from,to,rate,delay\na,b,1 Mbit/s,1 ms\nb,c,1 Mbit/s,1 ms\n"


@dataclass(frozen=True)
class Command:
    """A command, what it writes, and whether that may not have been there before."""

    words: tuple[str, ...]
    target: str


LINE = ("--rate", "5 Mbit/s", "--rtt", "20 ms")
QUEUES = (*LINE, "--flows", "reno:2", "--queue", "fifo,drr", "--seeds", "2", "--workers", "1")
COMMANDS = {
    "run": Command(("run", "line.toml", "--out", "out"), "out"),
    "run in place": Command(("run", "line.toml", "--out", "."), "."),
    "plot": Command(("run", "line.toml", "--plot", "plot.svg"), "plot.svg"),
    "trace": Command(("run", "line.toml", "--trace", "trace.json"), "trace.json"),
    "replay": Command(("replay", "packets.pcap", "--rate", "8 Mbit/s", "--buffer", "9kB", "--out", "out"), "out"),
    "sweep": Command(("sweep", "study.toml", "--workers", "1"), "study"),
    "verify": Command(("sweep", "study.toml", "--workers", "1", "--verify"), "study"),
    "damaged": Command(("sweep", "study.toml", "--workers", "1"), "study"),
    "report": Command(("report", "study.toml", "--out", "page.html"), "page.html"),
    "topology": Command(("topology", "graph.csv", "--out", "map.svg"), "map.svg"),
    "baseline": Command(("baseline", "reno", *LINE, "--duration", "1 s", "--scenario", "one.toml"), "one.toml"),
    "qlog": Command(("run", "line.toml", "--qlog", "run.qlog"), "run.qlog"),
    "compare": Command(("compare", *QUEUES, "--duration", "1 s", "--plot", "plot.svg"), "plot.svg"),
    "compare scenario": Command(("compare", *QUEUES, "--dry-run", "--scenario", "one.toml"), "one.toml"),
    "advise": Command(
        (
            "advise",
            "--down",
            "5 Mbit/s",
            "--up",
            "1 Mbit/s",
            *QUEUES[2:4],
            *QUEUES[6:],
            "--duration",
            "1 s",
            "--plot",
            "plot.svg",
        ),
        "plot.svg",
    ),
    "explain": Command(("explain", "cubic", "--plot", "plot.svg"), "plot.svg"),
    "reproduce": Command(("reproduce", "legout2002", "--quick", "--out", "out"), "out"),
}


# The shim.


class Shim:
    """Counts calls on files below `root`, and fails one: the `number`th.

    Or that and all behind it.
    """

    def __init__(self, root: Path, call: str = "", number: int = 0, error: int = 0, *, goes_on: bool = False) -> None:
        self.root, self.call, self.number, self.error, self.goes_on = str(root), call, number, error, goes_on
        self.counts: Counter[str] = Counter()
        self.failed = 0
        self._lock = threading.Lock()
        self._own: dict[int, bool] = {}

    def tell(self, call: str, path: Any) -> None:
        """Count a call; OSError if it is the one that fails."""
        if not self._is_below(path):
            return
        with self._lock:
            self.counts[call] += 1
            now = self.counts[call]
        if call == self.call and (now == self.number or (self.goes_on and now > self.number)):
            self.failed += 1
            raise OSError(self.error, os.strerror(self.error), None if isinstance(path, int) else str(path))

    def _is_below(self, path: Any) -> bool:
        if isinstance(path, int):
            return self._own.get(path, False)
        try:
            return os.path.join(os.getcwd(), os.fspath(path)).startswith(self.root)  # noqa: PTH109, PTH118
        except (TypeError, FileNotFoundError):
            return False

    def install(self) -> None:
        """Stand before the calls of this process, for good."""
        self._open(io.open, os.open)
        for name in MODULES:
            self._before(os, name, name)
        self._before(os, "rmdir", "unlink")
        self._before(os, "link", "link")
        for name in ("rename", "replace"):
            self._before(os, name, "rename")
        self._before(output, "_swap", "rename")
        for name in ("fsync", "write", "read"):
            self._before(os, name, name)
        self._native()

    def _before(self, module: Any, name: str, call: str) -> None:
        real = getattr(module, name)

        def stand_in(*given: Any, **named: Any) -> Any:
            self.tell(call, given[0] if given else ".")
            return real(*given, **named)

        setattr(module, name, stand_in)

    def _open(self, real: Callable[..., Any], real_descriptor: Callable[..., int]) -> None:
        def opened(file: Any, *rest: Any, **named: Any) -> Any:
            if not self._is_below(file):
                return real(file, *rest, **named)
            self.tell("open", file)
            return File(real(file, *rest, **named), self, file)

        def descriptor(path: Any, *rest: Any, **named: Any) -> int:
            self.tell("open", path)
            found = real_descriptor(path, *rest, **named)
            self._own[found] = self._is_below(path)
            return found

        io.open = builtins.open = opened
        os.open = descriptor

    def _native(self) -> None:
        """The compiled part writes tables by itself, and says what the system did in a line."""

        def failing(path: str) -> None:
            try:
                for call in ("open", "write"):
                    self.tell(call, path)
            except OSError as error:
                said = f"{path}: cannot be written: {os.strerror(error.errno or 0)} (os error {error.errno})"
                raise OutputError(said) from None

        class Rows:
            def __init__(self, rows: Any) -> None:
                self.rows = rows

            def __len__(self) -> int:
                return len(self.rows)

            def write_parquet(self, path: str, source: str) -> None:
                failing(path)
                self.rows.write_parquet(path, source)

        native = vars(store)["_native"]
        wrapped = SimpleNamespace(**{name: getattr(native, name) for name in dir(native) if not name.startswith("__")})
        wrapped.joined = lambda *given: Rows(native.joined(*given))
        setattr(store, "_native", wrapped)  # noqa: B010 - the name is the module's own
        write = results.Table.write_parquet

        def write_parquet(table: Any, path: Any, *rest: Any, **named: Any) -> None:
            failing(os.fspath(path))
            write(table, path, *rest, **named)

        setattr(results.Table, "write_parquet", write_parquet)  # noqa: B010 - another signature


class File:
    """An open file whose reads and writes are counted."""

    def __init__(self, file: Any, shim: Shim, path: Any) -> None:
        self._file, self._shim, self._path = file, shim, path
        with contextlib.suppress(OSError, ValueError):
            shim._own[file.fileno()] = True

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("read", "write")) and name not in ("readable", "writable"):
            self._shim.tell(name[: 5 if name[0] == "w" else 4], self._path)
        return getattr(self._file, name)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        self._shim.tell("read", self._path)
        return iter(self._file)


# Cells.


@dataclass(frozen=True)
class Cell:
    """What fails where."""

    command: str
    call: str
    number: int
    error: int
    goes_on: bool

    def __str__(self) -> str:
        name = errno.errorcode[self.error]
        return f"{self.command}/{self.call}/{self.number}/{name}/{'on' if self.goes_on else 'once'}"


def in_child(folder: Path, words: tuple[str, ...], shim: Shim) -> tuple[int, str, str, dict[str, int]]:
    """The command in a forked process behind the shim: status, standard output, standard error.

    Counts.
    """
    said = folder.with_suffix(".said")
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(said.with_suffix(f".{name}"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY), number)
        sys.stdout, sys.stderr = io.TextIOWrapper(io.FileIO(1, "w")), io.TextIOWrapper(io.FileIO(2, "w"))
        quiet = os.open(said.with_suffix(".counts"), os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
        write = os.write
        setattr(threads, "PART_RUNS", 2)  # noqa: B010 - the name is another module's
        shim.install()
        status = program.main(words)
        write(quiet, json.dumps([status, {**shim.counts, "failed": shim.failed}]).encode())
        os._exit(0)
    deadline = time.monotonic() + WIDTH_S
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return -9, "", f"it took more than {WIDTH_S} s", {}
        time.sleep(0.002)
    out, err = (said.with_suffix(f".{name}").read_text(errors="replace") for name in ("out", "err"))
    try:
        status, counts = json.loads(said.with_suffix(".counts").read_text())
    except ValueError:
        return -1, out, err, {}
    return status, out, err, counts


def prepared(root: Path) -> dict[str, Path]:
    """A folder for each command, as it stands before.

    With an older result where there may be one.
    """
    from fairq import read_store, sweep

    folders = {}
    for name, command in COMMANDS.items():
        folder = folders[name] = root / name.replace(" ", "-")
        folder.mkdir()
        if name in ("run in place",):
            (root / "line.toml").write_text(SCENARIO)
            continue
        (folder / "line.toml").write_text(SCENARIO)
        (folder / "study.toml").write_text(STUDY)
        (folder / "graph.csv").write_text(GRAPH)
        (folder / "packets.pcap").write_bytes(capture())
        if "." in command.target[1:] and name != "qlog":
            (folder / command.target).write_text("before\n")
        if name == "run":
            program.main(["run", str(folder / "line.toml"), "--out", str(folder / "out"), "--quiet"])
        if name in ("sweep", "verify", "damaged"):
            setattr(threads, "PART_RUNS", 1)  # noqa: B010 - the name is another module's
            sweep(folder / "study.toml", part="1/2", workers=1)
        if name == "report":
            sweep(folder / "study.toml", workers=1)
        if name == "damaged":
            (part, *_) = read_store(folder / "study").parts("flows")
            part.path.write_bytes(part.path.read_bytes()[:-3])
    return folders


def capture() -> bytes:
    """A capture of twenty packets."""
    import struct

    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 86, 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    frame = bytes(12) + b"\x08\0" + ip + struct.pack(">HHHH", 1000, 2000, 66, 0) + bytes(58)
    records = [struct.pack("<IIII", 1, 10 * at, len(frame), len(frame)) + frame for at in range(20)]
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(records)


def names_in(folder: Path) -> set[str]:
    """The files below a folder, but those that come and go in a store."""
    passing = re.compile(r"study/(claims|owners|tmp|failed|aside)/")
    names = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return {name for name in names if not passing.match(name)}


def judged(cell: Cell, template: Path, work: Path) -> str | None:
    """What is wrong with a cell; None if it is good."""
    command = COMMANDS[cell.command]
    folder = work / "cell"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder, symlinks=True)
    if cell.command == "run in place":
        command = Command(("run", str(template.parent / "line.toml"), "--out", "."), ".")
    before = {name: (folder / name).read_bytes() for name in names_in(folder)}
    shim = Shim(folder, cell.call, cell.number, cell.error, goes_on=cell.goes_on)
    status, out, err, _ = in_child(folder, command.words, shim)
    left = names_in(folder)
    if status not in (0, 2):
        return f"status {status}: {err.strip().splitlines()[-1] if err.strip() else ''}"
    if status == 2:
        failure = OSError(cell.error, os.strerror(cell.error))
        lines = [line for line in err.splitlines() if not line.startswith("fairq: note: ")]
        if len(lines) != 1:
            return f"not one line: {err.strip()[-300:]}"
        if remedies.reason(failure) not in err or remedies.REMEDIES[cell.error] not in err:
            return f"another failure, or no remedy: {err.strip()}"
    lost = [name for name in before if name not in left and not (cell.command == "damaged" and "study/" in name)]
    if lost and (status == 2 or cell.command in ("sweep", "verify", "report")):
        return f"lost: {lost}"
    if status == 2 and command.target != "study":
        changed = [name for name in before if name in left and (folder / name).read_bytes() != before[name]]
        if changed:
            return f"changed: {changed}"
    hidden = [name for name in left if ".fairq-" in name]
    if hidden and cell.call not in ("unlink", "scandir", "listdir", "open", "stat"):
        return f"left: {hidden}"
    if cell.command in ("sweep", "verify") and (folder / "study" / "aside").exists():
        return "moved aside what was whole"
    had = len(list((folder / "study" / "done").glob("*.json"))) if command.target == "study" else 0
    status, out, err, _ = in_child(folder, command.words, Shim(folder))
    if status != 0:
        return f"does not go on: {err.strip()[-300:]}"
    if command.target == "study":
        ran = re.search(r"4 done, 0 failed, 0 missing; (\d+) run now", out)
        if ran is None:
            return f"not whole: {out.strip()[-200:]}"
        if int(ran[1]) > 4 - had + (cell.command == "damaged"):
            return f"{ran[1]} runs again, {had} markers were there"
    if any(".fairq-" in name for name in names_in(folder)):
        return "left behind by the second command too"
    return None


def cells_of(template: Path, name: str, work: Path, most: int | None) -> list[Cell]:
    """Every cell of a command: its calls are counted first."""
    folder = work / "count"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    words = COMMANDS[name].words
    if name == "run in place":
        words = ("run", str(template.parent / "line.toml"), "--out", ".")
    status, _, err, counts = in_child(folder, words, Shim(folder))
    assert status == 0, f"{name}: {err}"
    found = []
    for call in CALLS:
        count = counts.get(call, 0)
        step = 1 if most is None else max(1, -(-count // most))
        for number in range(1, count + 1, step):
            for error in ERRORS:
                found += [Cell(name, call, number, error, goes_on) for goes_on in (False, True)]
    return found


def main() -> int:
    """Judge cells; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cells", type=int, help="how many, at random (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one cell, as it is printed")
    parser.add_argument("--most", type=int, help="of each call at most this many, evenly spread")
    parser.add_argument("--commands", nargs="*", default=list(COMMANDS), help="of these commands")
    arguments = parser.parse_args()
    bad = 0
    table: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(sys.stderr):
        templates = prepared(Path(root))
        work = Path(root) / "work"
        work.mkdir()
        every = [cell for name in arguments.commands for cell in cells_of(templates[name], name, work, arguments.most)]
        if arguments.only:
            every = [cell for cell in every if str(cell) == arguments.only]
        elif arguments.cells is not None:
            every = random.Random(arguments.seed).sample(every, min(arguments.cells, len(every)))
        for cell in every:
            table[cell.command, cell.call] += 1
            if (wrong := judged(cell, templates[cell.command], work)) is not None:
                bad += 1
                print(f"{cell}: {wrong}", file=sys.__stdout__, flush=True)
    for name in dict.fromkeys(name for name, _ in table):
        print(f"{name}: {', '.join(f'{call} {table[name, call]}' for call in CALLS if table[name, call])}")
    print(f"{len(every)} cells, {bad} not good")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
