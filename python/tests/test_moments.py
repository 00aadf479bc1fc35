"""Wherever a command that writes is ended, there is the whole result or what was there before, and nothing beside it.

Four moments of each command and two full disks in the usual run; `FAIRQ_TIMES=50 pytest python/tests/test_moments.py`
takes 200 and 100 of each, which is an hour.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairq.benchmarks.capture import write_capture

TIMES = int(os.environ.get("FAIRQ_TIMES", "1"))
SLOW = {"reproduce"}
"""Commands with half as much in the usual run."""

SCENARIO = """
edition = 2

[measure]
duration = "60 s"

[defaults]
buffer = "20 packets"

[[links]]
name = "line"
from = "a"
to = "b"
rate = "2 Mbit/s"

[[flows]]
name = "file"
from = "a"
to = "b"
traffic = "ftp"
count = 3
"""

COMMANDS = {
    "run": (["run", "s.toml", "--series", "auto", "--packets", "file", "--out", "made"], "made"),
    "replay": (["replay", "c.pcap", "--rate", "9Gbit/s", "--buffer", "unlimited", "--out", "made"], "made"),
    "reproduce": (["reproduce", "game", "--quick", "--out", "made"], "made"),
    "plot": (["run", "s.toml", "--plot", "made.svg"], "made.svg"),
    "topology": (["topology", "fat_tree(k=8)", "--out", "made.png"], "made.png"),
    "explain": (["explain", "reno", "--plot", "made.pdf"], "made.pdf"),
    "theory": (["theory", "delay-curve", "--plot", "made.svg"], "made.svg"),
}  # fmt: skip
"""What each command is called with, and what it writes."""

ENDS = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}


class Case:
    """A command in a folder of its own, with what it writes when it is let be."""

    def __init__(self, name, folder):
        self.folder = folder
        self.moments, self.disks = (4 * TIMES, 2 * TIMES) if name not in SLOW or TIMES > 1 else (2, 1)
        self.arguments, self.made = COMMANDS[name]
        folder.mkdir()
        (folder / "s.toml").write_text(SCENARIO)
        write_capture(folder / "c.pcap", 100_000)
        self.inputs = names(folder)
        began = time.monotonic()
        done = self.start().communicate(timeout=300)
        self.takes_s = time.monotonic() - began
        self.whole = content(folder / self.made)
        assert self.whole, done
        self.kept = folder.parent / f"kept {self.made}"
        copy(folder / self.made, self.kept)

    def start(self):
        return subprocess.Popen(
            command(self.arguments), cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def put(self, is_there):
        """The state before the command: with an earlier result in place, or without."""
        clear(self.folder / self.made)
        if is_there:
            copy(self.kept, self.folder / self.made)


def command(arguments):
    return [sys.executable, "-m", "fairq", *arguments]


def content(path):
    """All that is at a path, by name; of a result what differs from run to run is left out."""
    if not path.exists():
        return None
    if path.is_file():
        return {"": path.read_bytes()}
    return {str(one.relative_to(path)): without_times(one) for one in sorted(path.rglob("*")) if one.is_file()}


def without_times(path):
    if path.suffix != ".json":
        return path.read_bytes()
    document = json.loads(path.read_text())
    if isinstance(document, dict):
        document.pop("run_info", None)
    return document


def names(folder):
    return {entry.name for entry in Path(folder).iterdir()}


def copy(path, to):
    if path.is_dir():
        shutil.copytree(path, to)
    else:
        shutil.copy(path, to)


def clear(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@pytest.fixture(scope="module", params=COMMANDS)
def case(request, tmp_path_factory):
    return Case(request.param, tmp_path_factory.mktemp(request.param) / "work")


def test_a_command_that_is_ended_leaves_the_whole_result_or_what_was_there(case):
    drawn = random.Random(f"ended {case.made}")
    seen = set()
    for number in range(case.moments):
        had = drawn.random() < 0.5
        case.put(had)
        by = (signal.SIGKILL, *ENDS)[number % 4]
        before = names(case.folder)
        process = case.start()
        # One moment at least is before the end, though a machine that is less busy is faster.
        time.sleep(drawn.uniform(0, (1.1 if number else 0.4) * case.takes_s))
        process.send_signal(by)
        _, said = process.communicate(timeout=60)
        told = f"{by!r} at moment {number}: {process.returncode}, {said}"
        # before the command listens it dies as any program of Python does, which shows where Ctrl-C came
        is_early = process.returncode == -by or (process.returncode == 1 and "fairq/" not in said)
        assert is_early or process.returncode in (0, ENDS.get(by)), told
        assert is_early or ("Traceback" not in said and said.count("\n") <= 1), told
        found = content(case.folder / case.made)
        assert found == case.whole or (found is None and not had and process.returncode != 0), told
        # what one left that was killed stays if the next is ended before it begins to write
        beside = names(case.folder) - before - {case.made}
        assert not beside or (by == signal.SIGKILL and all(".fairq-" in name for name in beside)), f"{told}: {beside}"
        seen.add(process.returncode)
    case.start().communicate(timeout=300)
    assert names(case.folder) == case.inputs | {case.made}, "what a killed process left is gone"
    assert seen != {0}, "no moment was before the end"


IN_NAMESPACE = """
import json, subprocess, sys
from pathlib import Path

command, sizes = json.loads(sys.argv[1])
place = Path("disk")
for pages in sizes:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs", place], check=True)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    left = [str(one.relative_to(place)) for one in place.rglob("*") if one.is_file()]
    print(json.dumps([pages, done.returncode, done.stderr, left, sorted(one.name for one in place.iterdir())]))
    subprocess.run(["umount", place], check=True)
"""
"""Runs a command on small disks of its own, which no other process sees, and tells of each what became of it."""


def test_a_disk_that_is_full_has_the_whole_result_or_nothing(case):
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("unshare -rm cannot make a mount namespace here: a FULL DISK is NOT TESTED")
    (case.folder / "disk").mkdir()
    files = [case.kept] if case.kept.is_file() else [one for one in case.kept.rglob("*") if one.is_file()]
    needs = sum(one.stat().st_size // 4096 + 1 for one in files) + 2
    drawn = random.Random(f"full {case.made}")
    sizes = [drawn.randint(1, needs) for _ in range(case.disks)] + [4 * needs + 100]
    # a folder may be the disk itself, as in a container
    for to in [f"disk/{case.made}"] + ["disk"] * ("." not in case.made):
        words = command([to if word == case.made else word for word in case.arguments])
        told = subprocess.run(
            ["unshare", "-rm", sys.executable, "-c", IN_NAMESPACE, json.dumps([words, sizes])],
            cwd=case.folder, capture_output=True, text=True, timeout=60 * len(sizes),
        )  # fmt: skip
        assert told.returncode == 0, told.stderr
        statuses = []
        for line in told.stdout.splitlines():
            _, status, said, left, top = json.loads(line)
            if status == 0:
                inside = left if to == "disk" else [name.removeprefix(case.made).strip("/") for name in left]
                assert sorted(inside) == sorted(case.whole), line
            else:
                assert status == 2 and not left and not top, line
                assert said.startswith("fairq: ") and said.count("\n") == 1, line
                assert "no space left on device" in said.lower() and ".fairq-" not in said, line
            statuses.append(status)
        assert statuses[-1] == 0 and (2 in statuses or TIMES == 1), statuses
    (case.folder / "disk").rmdir()
