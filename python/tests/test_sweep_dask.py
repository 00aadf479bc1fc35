"""A study on a real Dask cluster: a worker is killed, then the driver."""

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from sweep_studies import rows_of, write_study

from fairq.core.errors import UsageError
from fairq.studies import sweeping
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep

TABLES = ("flows", "links", "queues")


@pytest.fixture(scope="module")
def dask():
    return pytest.importorskip("distributed", reason="Dask is not installed: THE ENGINE OF MANY MACHINES IS NOT TESTED")


@pytest.fixture(scope="module")
def cluster(dask, tmp_path_factory):
    """Starts a scheduler and two workers; gives its address and the workers' processes."""
    with started(tmp_path_factory.mktemp("cluster"), workers=2) as (address, processes):
        yield address, processes[1:]


@contextmanager
def started(folder, workers):
    """A cluster's address, and the processes of its scheduler and its workers."""
    processes = []

    def start(*words):
        command = [sys.executable, "-m", "distributed.cli." + words[0], *map(str, words[1:])]
        with (folder / f"{len(processes)}.log").open("w") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder))

    try:
        start("dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard", "--no-jupyter")
        address = said(folder / "0.log", r"Scheduler at:\s+(tcp://127\.0\.0\.1:\d+)")
        words = ("--nthreads", 1, "--no-dashboard", "--no-nanny", "--host", "127.0.0.1", "--local-directory")
        for number in range(1, workers + 1):
            start("dask_worker", address, *words, folder / f"worker {number}")
        for number in range(1, workers + 1):
            said(folder / f"{number}.log", r"Registered to:\s+(tcp://\S+)")
        yield address, processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def said(log, pattern):
    """What a log says, when it says it."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if found := re.search(pattern, log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"{log.name} does not say {pattern}: {log.read_text()}")


def existing(root):
    if not (root / "store.json").exists():
        return {}
    return {run.digest: run.part for run in Results(root).runs() if run.part}


def wait_for(holds, process):
    end = time.monotonic() + 60
    while not holds():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_the_client_of_the_user_is_taken(cluster, dask, tmp_path):
    study = write_study(tmp_path)
    with dask.Client(cluster[0], set_as_default=False) as client:
        assert sweep(study, Options(engine="dask", client=client)).ran == 12


def test_a_worker_and_then_the_driver_are_killed_and_every_run_is_there_once(cluster, tmp_path):
    address, workers = cluster
    study = write_study(tmp_path, replications=60, duration="40 s")
    root = study.with_suffix("")
    words = [sys.executable, "-m", "fairq", "sweep", study, "--engine", "dask", "--address", address, "--json"]
    words = list(map(str, words))
    driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: existing(root), driver)
    workers[0].send_signal(signal.SIGKILL)
    before = len(existing(root))
    wait_for(lambda: len(existing(root)) > before + 20, driver)
    driver.kill()
    driver.communicate()
    kept = existing(root)
    assert 20 < len(kept) < 240
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done
    found = json.loads(done.stdout)
    assert (found["done"], found["failed"], found["missing"]) == (240, 0, 0)
    assert kept.items() <= existing(root).items()
    markers = [json.loads(path.read_bytes())["runs"] for path in (root / "done").iterdir()]
    assert sum(map(len, markers)) == len(set().union(*markers)) == 240
    local = tmp_path / "local"
    sweep(study, Options(store=str(local), workers=2))
    for table in TABLES:
        assert rows_of(Results(root), table) == rows_of(Results(local), table)
    again = sweep(study, Options())
    assert (again.done, again.ran) == (240, 0)
    assert [path.name for folder in ("claims", "owners", "tmp") for path in (root / folder).iterdir()] == []


def test_a_scheduler_that_is_killed_is_one_line_and_what_is_done_stays(dask, tmp_path):
    study = write_study(tmp_path, replications=60, duration="40 s")
    root = study.with_suffix("")
    with started(tmp_path, workers=1) as (address, processes):
        words = [sys.executable, "-c", QUICK, "sweep", str(study), "--engine", "dask", "--address", address]
        driver = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: existing(root), driver)
        processes[0].kill()
        out, err = driver.communicate(timeout=60)
    assert (driver.returncode, out) == (2, "") and err.count("\n") == 1, err
    assert "the Dask cluster has lost runs (its scheduler does not answer)" in err and "the same command goes on" in err
    assert 0 < len(existing(root)) < 240


def test_workers_that_do_not_see_the_store_are_said(cluster, tmp_path, monkeypatch):
    """As if each machine had a disk of its own at the same path."""
    study = write_study(tmp_path)
    job = sweeping._job
    monkeypatch.setattr(sweeping, "_job", lambda *given: job(*given)._replace(root=str(tmp_path / "another disk")))
    with pytest.raises(UsageError, match="none of the 12 runs of the cluster is here"):
        sweep(study, Options(engine="dask", address=cluster[0]))


def test_an_address_where_nobody_answers_is_one_line(dask, tmp_path, monkeypatch):
    study = write_study(tmp_path)
    for address, told in (
        ("tcp://127.0.0.1:9", "no Dask scheduler answers at tcp://127.0.0.1:9"),
        ("nonsense://x", "no address of a scheduler"),
    ):
        done = subprocess.run([sys.executable, "-c", QUICK, "sweep", study, "--engine", "dask", "--address", address],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert told in done.stderr
    assert "needs the scheduler's --address" in refusal(study)


QUICK = (
    "import sys; from fairq.cli import program; from fairq.studies import dask; dask.ANSWER_S = 1;"
    " sys.exit(program.main())"
)


def refusal(study):
    done = subprocess.run(
        [sys.executable, "-m", "fairq", "sweep", study, "--engine", "dask"], capture_output=True, text=True
    )
    assert done.returncode == 2
    return done.stderr
