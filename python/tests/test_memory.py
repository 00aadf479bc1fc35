"""Memory is estimated before a network is built, and signals are heard while it is."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fairq import _native, estimate

MANY = """
edition = 2
[measure]
duration = "1 s"
[defaults]
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[links]]
name = "line"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"
"""
FLOWS = """
[[flows]]
name = "file%d"
from = "a"
to = "b"
traffic = "ftp"
transport = "cubic"
count = 1000000
"""


@pytest.fixture
def many(tmp_path):
    """Writes a scenario with some million flows."""

    def write(millions):
        path = tmp_path / "many.toml"
        path.write_text(MANY + "".join(FLOWS % number for number in range(millions)))
        return path

    return write


def test_what_needs_more_memory_than_there_is_is_refused_with_the_number(many, refused):
    path = many(100)
    began = time.process_time()
    for words in (["run"], ["run", "--dry-run"], ["theory", "max-min"]):
        line = refused(*words, path)
        assert "about 100000000 flows need about 6" in line and "GB of memory, and" in line
        assert "GB are there; write a smaller count" in line
    assert time.process_time() - began < 3


def test_a_study_that_needs_more_memory_than_there_is_is_refused(many, refused):
    many(100)
    study = many(100).with_name("study.toml")
    study.write_text('[study]\nscenario = "many.toml"\n')
    assert "GB are there" in refused("sweep", study)


def test_a_dry_run_of_much_says_the_memory_and_tries_nothing(many, document, fairq):
    path = many(1)
    began = time.process_time()
    found = document("run", path, "--dry-run")
    assert found["time_s"] is None and found["packet_hops"] is None and not found["is_exact"]
    assert 3e9 < found["memory_bytes"] < 12e9
    assert "1 run: about" in fairq("run", path, "--dry-run")[1]
    assert time.process_time() - began < 25


MEASURED = """
import sys
from pathlib import Path
from fairq import _native
def peak():
    # of this program alone, unlike getrusage(2)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))
before = peak()
experiment = _native.Experiment(open(sys.argv[1]).read(), "many.toml", [("flows.0.count", "50000")])
experiment.outcome(1)
print(peak() - before, experiment.memory_bytes(1))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux's proc(5)")
def test_the_estimate_is_near_what_is_measured(many):
    """The constants of crates/experiment/src/memory.rs."""
    done = subprocess.run([sys.executable, "-c", MEASURED, many(1)], capture_output=True, text=True, check=True)
    measured, estimated = map(int, done.stdout.split())
    assert 0.6 < measured / estimated < 1.6, (measured, estimated)


def test_a_small_run_is_estimated_as_before(dumbbell):
    found = estimate(dumbbell, set={"measure.duration": "1 s"}, workers=1)
    assert found.is_exact and found.time_s is not None and found.packet_hops
    text = dumbbell.read_text()
    assert _native.Experiment(text, "dumbbell.toml", []).memory_bytes(1) < 1e6


@pytest.mark.parametrize("words", [["run"], ["run", "--dry-run"], ["theory", "max-min"]])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_are_heard_while_a_scenario_is_built(many, words, number):
    """docs/guide/outputs.md: within a second or so, also then."""
    path = many(3)
    process = subprocess.Popen(
        [sys.executable, "-m", "fairq", *words, path], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        preexec_fn=lambda: os.nice(5),
    )  # fmt: skip
    time.sleep(1.5)
    if process.poll() is not None:
        pytest.skip("it ended before the signal")
    began = time.monotonic()
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number and time.monotonic() - began < 2.5, said
    assert said.count(b"\n") == 1
