"""A sweep that is killed at any moment loses no run that existed and runs none again.

The moments are between two steps on the disk: the n-th link, rename, removal, new folder or sync
ends the process as kill -9 does. Twenty in the usual run; `FAIRQ_TIMES=10 pytest
python/tests/test_sweep_moments.py` takes 200.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest
from sweep_studies import rows_of, write_study

from fairq.studies import threads
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep

TIMES = int(os.environ.get("FAIRQ_TIMES", "1"))
MOMENTS = 20 * TIMES
RUNS = 24
PART_RUNS = 3
TABLES = ("flows", "links", "queues")

KILLED = f"""
import os, pathlib, signal, sys

left = int(sys.argv[1])


def counted(function):
    def call(*given, **named):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **named)

    return call


for where, names in ((os, ("link", "fsync")), (pathlib.Path, ("rename", "replace", "unlink", "mkdir"))):
    for name in names:
        setattr(where, name, counted(getattr(where, name)))

from fairq.cli import program
from fairq.studies import threads

threads.PART_RUNS = {PART_RUNS}
status = program.main(sys.argv[2:])
print(left, file=sys.stderr)
sys.exit(status)
"""
"""Runs a command that is killed at the step of this number."""


class World:
    """A study, what it gives when it is let be, and how many steps on the disk it takes."""

    def __init__(self, folder):
        self.study = write_study(folder, replications=RUNS // 4)
        self.whole = folder / "whole"
        _, said = self.start(10**9, self.whole).communicate(timeout=120)
        self.steps = 10**9 - int(said)
        self.rows = {table: rows_of(Results(self.whole), table) for table in TABLES}

    def start(self, step, store, *options):
        words = ["sweep", self.study, "--store", store, "--workers", 2, *options]
        command = [sys.executable, "-c", KILLED, step, *words]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check(self, store, told):
        """What was there stays, the rest is run once, and nothing but the store is left."""
        before = existing(store)
        state = sweep(self.study, Options(store=str(store), workers=2))
        assert (state.done, state.failed, state.missing) == (RUNS, 0, 0), told
        assert state.ran == RUNS - len(before), f"{told}: {len(before)} runs existed and {state.ran} were run"
        assert state.damages == [], told
        results = Results(store)
        assert before.items() <= existing(store).items(), f"{told}: a run has another part now"
        assert {table: rows_of(results, table) for table in TABLES} == self.rows, told
        left = [str(path) for name in ("claims", "owners", "tmp") for path in (store / name).iterdir()]
        assert left == [] and not list(store.glob(".*")), told
        markers = [json.loads(path.read_bytes()) for path in (store / "done").iterdir()]
        assert sum(len(marker["runs"]) for marker in markers) == RUNS, told


def existing(store):
    """The part of each run that exists."""
    if not (store / "store.json").exists():
        return {}
    return {run.digest: run.part for run in Results(store).runs() if run.part}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("moments"))


def test_a_sweep_that_is_killed_goes_on_and_runs_nothing_twice(world, tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "PART_RUNS", PART_RUNS)
    drawn = random.Random("moments of a sweep")
    existed = set()
    for number in range(MOMENTS):
        store = tmp_path / f"store {number}"
        # a second process is killed while it goes on, too
        for _ in range(drawn.choice((1, 1, 2))):
            step = drawn.randint(1, world.steps)
            before = existing(store)
            process = world.start(step, store)
            _, said = process.communicate(timeout=60)
            told = f"moment {number}, step {step} of {world.steps}: {process.returncode}, {said}"
            assert process.returncode in (0, -signal.SIGKILL), told
            assert before.items() <= existing(store).items(), told
        existed.add(len(existing(store)))
        world.check(store, told)
    assert min(existed) == 0 and len(existed) > 3, f"the moments are at few places: {existed}"


def test_a_task_of_an_array_that_is_killed_keeps_what_it_did(world, tmp_path, monkeypatch):
    monkeypatch.setattr(threads, "PART_RUNS", PART_RUNS)
    drawn = random.Random("moments of a part")
    for number in range(max(2, MOMENTS // 5)):
        store = tmp_path / f"store {number}"
        step = drawn.randint(1, world.steps // 2)
        killed = world.start(step, store, "--part", "1/2")
        other = world.start(10**9, store, "--part", "2/2")
        for process in (killed, other):
            process.communicate(timeout=60)
        statuses = killed.returncode, other.returncode
        told = f"moment {number}, step {step}: {statuses}"
        assert statuses[0] in (0, -signal.SIGKILL) and statuses[1] == 0, told
        assert len(existing(store)) >= RUNS // 2, told
        world.check(store, told)


def test_a_sweep_that_is_killed_at_any_time_goes_on(tmp_path, monkeypatch):
    """At times and not at steps: while runs are simulated and parts are written."""
    world = World(tmp_path)
    drawn = random.Random("times of a sweep")
    for number in range(2 * TIMES):
        store = tmp_path / f"store {number}"
        process = world.start(10**9, store)
        time.sleep(drawn.uniform(0.1, 1.0))
        process.kill()
        process.communicate(timeout=60)
        world.check(store, f"time {number}")
