"""The programs that are compared: ns-2, ns-3 and fairq, each run as a process that prints one document of JSON."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

HERE = Path(__file__).resolve().parent
NS3_MODULES = ["ns3-core", "ns3-network", "ns3-internet", "ns3-point-to-point", "ns3-traffic-control",
               "ns3-applications"]  # fmt: skip


class Fault(Exception):  # noqa: N818 - as often the user's as the system's
    """What keeps us from comparing, in one line for the user."""


def ended(program: str, work: Callable[[], int | None]) -> int:
    """The exit code of a program: what its work gives, 2 after a fault, 130 after Ctrl-C."""
    try:
        return work() or 0
    except Fault as fault:
        print(f"{program}: {fault}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


@dataclass(frozen=True)
class Finished:
    """What a process printed, and its user time in seconds."""

    document: Mapping[str, Any]
    cpu_s: float


class Ns2:
    """The scripts of ns2/, run by the program ns."""

    name = "ns-2"

    def __init__(self) -> None:
        self._program = shutil.which("ns")
        if self._program is None:
            raise Fault("ns-2 is not installed (there is no program ns): apt-get install ns2")

    def command(self, script: str, arguments: Mapping[str, str]) -> list[str]:
        """The command of one run."""
        assert self._program is not None
        return [self._program, str(HERE / "ns2" / f"{script}.tcl"), *(f"{k}={v}" for k, v in arguments.items())]

    def source(self, script: str) -> bytes:
        """All that a result depends on beside the arguments and the package."""
        return b"".join((HERE / "ns2" / f"{name}.tcl").read_bytes() for name in ("network", script))


class Ns3:
    """The program ns3/peers.cc, built into a folder when it is first wanted."""

    name = "ns-3"

    def __init__(self, folder: Path) -> None:
        source = HERE / "ns3" / "peers.cc"
        self._program = folder / f"ns3-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
        if not self._program.exists():
            _build_ns3(source, self._program)

    def command(self, script: str, arguments: Mapping[str, str]) -> list[str]:
        """The command of one run."""
        return [str(self._program), f"--scenario={script}", *(f"--{k}={v}" for k, v in arguments.items())]

    def source(self, script: str) -> bytes:
        """All that a result depends on beside the arguments and the package."""
        return script.encode() + (HERE / "ns3" / "peers.cc").read_bytes()


Peer = Ns2 | Ns3


def _build_ns3(source: Path, program: Path) -> None:
    needs = "apt-get install libns3-dev libgsl-dev pkg-config g++"
    for tool in ("g++", "pkg-config"):
        if shutil.which(tool) is None:
            raise Fault(f"ns-3 cannot be built (there is no {tool}): {needs}")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *NS3_MODULES], capture_output=True, text=True)
    if flags.returncode != 0:
        raise Fault(f"ns-3 is not installed (pkg-config knows no ns3-core): {needs}")
    print("building the program for ns-3", file=sys.stderr)
    command = ["g++", "-std=c++17", "-O2", "-o", str(program), str(source), *flags.stdout.split()]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        lines = [line for line in built.stderr.splitlines() if "error" in line or "cannot find" in line]
        raise Fault(f"ns-3's program cannot be built: {(lines or ['g++ failed'])[0]} ({needs})")


def find_fairq() -> str:
    """The command of fairq: beside the Python that runs this, else on the path."""
    beside = Path(sys.executable).parent / "fairq"
    found = str(beside) if beside.exists() else shutil.which("fairq")
    if found is None:
        raise Fault("fairq is not installed: run `make setup` and use .venv/bin/python")
    return found


def run_fairq(program: str, scenario: Path, set: Mapping[str, str]) -> Finished:
    """One run of fairq on one core."""
    assignments = [part for path, value in set.items() for part in ("--set", f"{path}={value}")]
    return run([program, "run", str(scenario), "--json", "--workers", "1", *assignments])


def run(command: Sequence[str]) -> Finished:
    """Run a command that prints JSON, and measure its user time."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        with process.stdout:
            out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().strip().splitlines()
    name = Path(command[0]).name
    if process.returncode != 0:
        raise Fault(f"{name} ended with {process.returncode}: {said[-1] if said else 'it said nothing'}")
    try:
        return Finished(json.loads(out), usage.ru_utime)
    except ValueError:
        raise Fault(f"{name} printed something else than JSON: {out[:80]!r}") from None


class Cache:
    """Results of peers in a folder, so that they are not run again; a changed script is another result."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._under_way: defaultdict[Path, Lock] = defaultdict(Lock)

    def run(self, peer: Peer, script: str, arguments: Mapping[str, str]) -> Mapping[str, Any]:
        """What the peer prints, from the folder if it is there."""
        key = hashlib.sha256(peer.source(script) + json.dumps([script, *sorted(arguments.items())]).encode())
        kept = self._folder / f"{peer.name}-{script}-{key.hexdigest()[:24]}.json"
        with self._under_way[kept]:
            if kept.exists():
                document: Mapping[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
                return document
            document = run(peer.command(script, arguments)).document
            new = kept.with_suffix(f".{os.getpid()}-{id(document)}")
            new.write_text(json.dumps(document), encoding="utf-8")
            new.replace(kept)
            return document
