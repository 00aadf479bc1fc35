"""Claims: which process runs what, told by hard links in a folder that the processes share.

A process has one owner file; a claim on a run is a hard link to it, named by the run's digest.
link(2) makes a name only if there is none, on NFS too; where its answer is lost, the count of links
tells whether the name was made. No clock is compared with another: an owner that beats changes the
time of its file, and is taken for dead if that has not changed for a lease of the observer's own
steady clock. Where the file system has no hard links a claim is a file of its own, made by O_EXCL,
that names its owner. An owner on the same machine is looked for by its process number instead, so
that the runs of a killed process are free at once.

Claims save work and decide nothing: if two processes run the same, the reader takes one of the two
(store.py).
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Container
from pathlib import Path
from typing import NamedTuple

from fairq.core.signals import deferred
from fairq.studies.linking import NO_LINKS, give_name

LEASE_S = 60.0
"""How long an owner that does not beat is waited for."""
BEATS = 4
"""Beats in a lease: one may come late."""


class Process(NamedTuple):
    """What tells a process from all others: none of it says anything on another machine."""

    host: str
    boot: str
    """The machine and its start; empty where the system does not say."""
    space: str
    """In which process numbers count: a container has its own."""
    number: int
    started: str

    def is_near(self, other: Process) -> bool:
        """Whether the other's number means the same here."""
        return bool(self.boot) and (self.boot, self.space) == (other.boot, other.space)

    def lives(self) -> bool:
        """Whether this process is still there; asked of one that is near."""
        state, started = _state(self.number)
        return state not in ("", "Z", "X") and started == self.started


def this_process() -> Process:
    """The process that asks."""
    number = os.getpid()
    return Process(socket.gethostname(), _said("/proc/sys/kernel/random/boot_id"), _space(), number, _state(number)[1])


def _said(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _space() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _state(number: int) -> tuple[str, str]:
    """The state of a process and when it started, of proc(5); empty texts if there is none."""
    # the name of the program, in brackets, may hold anything
    fields = _said(f"/proc/{number}/stat").rpartition(")")[2].split()
    return (fields[0], fields[19]) if len(fields) > 19 else ("", "")


class Claim(NamedTuple):
    """A claim on a run."""

    process: Process | None
    """The owner; None if it has ended, a process without fields if it is not known."""
    beat: os.stat_result
    """Status of the heartbeat file, whose time the owner changes."""
    file: os.stat_result
    """Status of the file of the claim itself."""


class Owner:
    """The process as an owner of claims in a store; a context manager that gives them up."""

    def __init__(self, root: Path, lease_s: float = LEASE_S) -> None:
        self.process = this_process()
        self.name = f"{self.process.host[:40].replace('/', '_')}-{self.process.number}-{secrets.token_hex(4)}"
        self._claims = root / "claims"
        self._file = root / "owners" / self.name
        self.folder = root / "tmp" / self.name
        self._inode = (0, 0)
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._lease_s = lease_s
        self._seen: dict[str, tuple[int, float, bool]] = {}
        self._stopped = threading.Event()

    def __enter__(self) -> Owner:
        with deferred():
            try:
                # the file first: a folder without one was left by a process that died
                self._file.write_text(json.dumps(self.process._asdict()) + "\n", encoding="utf-8")
                stat = self._file.stat()
                self._inode = stat.st_dev, stat.st_ino
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError:
                # the disk is full
                self._file.unlink(missing_ok=True)
                raise
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with deferred():
            self._stopped.set()
            with self._lock:
                for digest in list(self._held):
                    self._release(digest)
            with contextlib.suppress(OSError):
                self._file.unlink()
            _remove_folder(self.folder)

    def _beat(self) -> None:
        while not self._stopped.wait(self._lease_s / BEATS):
            with contextlib.suppress(OSError):
                os.utime(self._file)

    def claim(self, digest: str) -> bool:
        """Claim a run; False if another process has it. A claim whose owner died is taken over."""
        with self._lock:
            # a thread may still ask when the others have ended
            if self._stopped.is_set():
                return False
            return self._link(digest) or (self._take_over(digest) and self._link(digest))

    def holds(self, digest: str) -> bool:
        """Whether the claim is still its own: an owner that was taken for dead has lost it.

        OSError if that cannot be found out.
        """
        claim = self._claims / digest
        try:
            stat = claim.stat()
            # not by the owner file's name, which may have been removed
            return (stat.st_dev, stat.st_ino) == self._inode or _named(claim) == self.name
        except FileNotFoundError:
            return False

    def release(self, digest: str) -> None:
        """Give a claim up."""
        with self._lock:
            self._release(digest)

    def may_get(self, digest: str) -> bool:
        """Whether to ask again: the run is free, or it is not known if its owner lives."""
        with self._lock:
            claim = self._claim_of(digest)
            return claim is None or self._is_dead(claim) is not False

    def _link(self, digest: str) -> bool:
        links = len(self._held) + 1
        try:
            os.link(self._file, self._claims / digest)
        except FileExistsError:
            return False
        except OSError as error:
            # the answer may be lost and the link be made: open(2) on O_EXCL and NFS
            if self._file.stat().st_nlink <= links:
                if error.errno not in NO_LINKS:
                    raise
                if not self._write(digest):
                    return False
        self._held.add(digest)
        return True

    def _write(self, digest: str) -> bool:
        """Claim a run where there are no hard links; False if another process has it."""
        claim = self._claims / digest
        try:
            with claim.open("x", encoding="utf-8") as file:
                file.write(json.dumps({"owner": self.name}))
        except FileExistsError:
            return False
        except OSError:
            # without its owner's name it would be waited for
            with contextlib.suppress(OSError):
                claim.unlink()
            raise
        return True

    def _release(self, digest: str) -> None:
        if digest in self._held:
            with contextlib.suppress(OSError):
                if self.holds(digest):
                    (self._claims / digest).unlink()
            # last: what ends the process before has it released again
            self._held.discard(digest)

    def _claim_of(self, digest: str) -> Claim | None:
        """The claim on a run, if there is one."""
        path = self._claims / digest
        try:
            with path.open(encoding="utf-8") as file:
                said, stat = json.load(file), os.fstat(file.fileno())
            if "owner" not in said:
                return Claim(Process(**said), stat, stat)
            name = str(said["owner"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, RecursionError):
            # left by another program, or by a machine that stopped before the file was written
            with contextlib.suppress(OSError):
                stat = path.stat()
                return Claim(Process("", "", "", 0, ""), stat, stat)
            return None
        try:
            with (self._file.parent / Path(name).name).open(encoding="utf-8") as file:
                return Claim(Process(**json.load(file)), os.fstat(file.fileno()), stat)
        except FileNotFoundError:
            # its owner has ended
            return Claim(None, stat, stat)
        except (OSError, ValueError, TypeError, RecursionError):
            return Claim(Process("", "", "", 0, ""), stat, stat)

    def _is_dead(self, claim: Claim) -> bool | None:
        """Whether the owner of a claim is dead; None if that is not known yet."""
        process, stat = claim.process, claim.beat
        if process is None:
            return True
        if self.process.is_near(process):
            return not process.lives()
        key, now = f"{stat.st_dev} {stat.st_ino}", time.monotonic()
        beat, since, has_beaten = self._seen.get(key, (None, now, False))
        if beat != stat.st_mtime_ns:
            # seen for the first time: it may have stopped long ago
            has_beaten = beat is not None
            self._seen[key] = (stat.st_mtime_ns, now, has_beaten)
        elif now - since >= self._lease_s:
            return True
        return False if has_beaten else None

    def _take_over(self, digest: str) -> bool:
        """Remove a claim whose owner died; whether the run may be free now."""
        claim = self._claim_of(digest)
        if claim is None:
            return True
        if self._is_dead(claim) is not True:
            return False
        # another process may take it over too, and claim it: only what was looked at is removed
        aside = self.folder / f"claim {digest}"
        try:
            (self._claims / digest).rename(aside)
        except FileNotFoundError:
            return True
        if aside.stat().st_ino != claim.file.st_ino:
            with contextlib.suppress(OSError):
                give_name(aside, self._claims / digest)
        aside.unlink(missing_ok=True)
        return True

    def sweep(self, is_done: Container[str]) -> None:
        """Remove what dead processes of this machine left: claims, owner files, folders."""
        for file in list(self._file.parent.iterdir()):
            try:
                with file.open(encoding="utf-8") as opened:
                    process = Process(**json.load(opened))
            except (OSError, ValueError, TypeError, RecursionError):
                continue
            if self.process.is_near(process) and not process.lives():
                _remove_folder(self.folder.parent / file.name)
                file.unlink(missing_ok=True)
        for folder in list(self.folder.parent.iterdir()):
            if not (self._file.parent / folder.name).exists():
                _remove_folder(folder)
        for claim in list(self._claims.iterdir()):
            if claim.name in is_done:
                with self._lock:
                    self._take_over(claim.name)


def _named(claim: Path) -> str | None:
    """The owner that a claim names, where there are no hard links."""
    try:
        said = json.loads(claim.read_bytes())
    except (ValueError, RecursionError):
        return None
    return str(said["owner"]) if isinstance(said, dict) and "owner" in said else None


def _remove_folder(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
