"""What a command ends with: one table in the code, the same in the reference, and the statuses are those."""

import re
import signal
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path

import pytest

from fairq import UsageError
from fairq.cli import commands, program
from fairq.cli.commands import list as list_command
from fairq.core import exit_status, signals

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_has_the_table_of_the_code():
    page = (ROOT / "docs" / "reference" / "exit-status.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert {int(status): meaning for status, meaning in rows} == exit_status.MEANINGS
    assert list(exit_status.MEANINGS) == sorted(exit_status.MEANINGS)


@pytest.mark.parametrize(
    "words",
    [
        ["run", "MISSING.toml"],
        ["run", "MISSING/MISSING.toml", "--out", "o"],
        ["replay", "MISSING.pcap", "--rate", "1Mbit/s", "--buffer", "unlimited"],
        ["replay", "MISSING.pcap", "--rate", "1Mbit/s", "--buffer", "unlimited", "--out", "o"],
        ["detect", "MISSING.pcap", "MISSING.pcap"],
        ["detect", "MISSING.csv"],
        ["detect", "MISSING"],
        ["topology", "MISSING.gml"],
        ["topology", "MISSING.toml"],
        ["tc", "MISSING.toml"],
        ["theory", "max-min", "MISSING.toml"],
        ["reproduce", "MISSING"],
        ["sweep", "MISSING.toml"],
        ["query", "MISSING.toml", "select 1"],
        ["report", "MISSING.toml"],
        ["diff", "MISSING", "MISSING.toml"],
        ["explain", "MISSING"],
        ["audit", "MISSING"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_missing_is_refused(refused, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(*words)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("raised", "status", "said"),
    [
        (commands.Broken("text"), exit_status.FAILED, ""),
        (MemoryError(), exit_status.REFUSED, "not enough memory"),
        (OSError(28, "No space left on device", "x"), exit_status.REFUSED, "x: no space left on device"),
        (ZeroDivisionError("a bug"), exit_status.FAULT, "ZeroDivisionError: a bug\nfairq: this is a fault of fairq"),
        (KeyboardInterrupt(), exit_status.INTERRUPTED, "fairq: interrupted\n"),
        (signals.Ended(signal.SIGTERM), exit_status.TERMINATED, "fairq: terminated\n"),
        (signals.Ended(signal.SIGHUP), exit_status.HUNG_UP, "fairq: hung up\n"),
    ],
)
def test_each_end_has_its_status(fairq, monkeypatch, raised, status, said):
    def listing(_):
        raise raised

    monkeypatch.setattr(list_command, "listing", listing)
    found, _, err = fairq("list", "papers")
    assert found == status and said in err and (said or err == "")


def test_a_failure_under_a_small_limit_of_address_space_is_that_of_the_limit(fairq, monkeypatch):
    import resource

    def listing(_):
        raise ImportError("libgfortran.so: failed to map segment from shared object")

    monkeypatch.setattr(list_command, "listing", listing)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (300_000_000, resource.RLIM_INFINITY))
    said = "fairq: 300 MB of address space are too few; raise the limit, as by: ulimit -v 1000000\n"
    assert fairq("list", "papers") == (exit_status.REFUSED, "", said)


def test_a_signal_that_comes_while_the_result_takes_its_place_waits(tmp_path, monkeypatch):
    """And two of the same request are one."""
    seen = []
    with pytest.raises(signals.Ended) as ended, signals.heard():
        with signals.deferred():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGHUP)
            seen.append("whole")
        pytest.fail("the signal was lost")
    assert seen == ["whole"] and ended.value.status == 143


def test_a_signal_that_is_lost_in_a_callback_is_raised_again():
    """An exception goes no further than the callback of a weak reference, of which the import of modules has many."""

    class Thing:
        pass

    thing = Thing()
    keeps = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(signals.Ended) as ended, signals.heard():
        del thing
        time.sleep(5)
        pytest.fail(f"the signal was lost in {keeps}")
    assert ended.value.status == 143


def test_a_signal_that_became_another_error_is_still_a_signal(fairq, monkeypatch):
    """Python does that while a class is made, and matplotlib's compiled part without a cause."""
    for error in (
        RuntimeError("Error calling __set_name__"),
        ValueError("no matrix"),
        OSError(5, "x"),
        UsageError("x"),
    ):

        def listing(_, error=error):
            with suppress(signals.Ended):
                signal.raise_signal(signal.SIGTERM)
            raise error

        monkeypatch.setattr(list_command, "listing", listing)
        assert fairq("list", "papers") == (143, "", "fairq: terminated\n")
        # and the next command of the same program has its own errors
        monkeypatch.setattr(list_command, "listing", lambda _: int("x"))
        assert fairq("list", "papers")[0] == exit_status.FAULT


def test_handlers_are_given_back(fairq):
    numbers = [*exit_status.BY_SIGNAL, signal.SIGALRM]
    before = [sys.unraisablehook, *map(signal.getsignal, numbers)]
    fairq("list", "papers")
    assert [sys.unraisablehook, *map(signal.getsignal, numbers)] == before


def test_what_the_caller_ignores_stays_ignored(dumbbell):
    """That is nohup."""
    code = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); print('ignored', flush=True);"
        " from fairq.cli import program; sys.exit(program.main())"
    )
    words = ["run", str(dumbbell), "--set", "measure.duration=2000s", "--set", "flows[1].traffic=ftp"]
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ignored\n"
    time.sleep(0.4)
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and out.startswith("Flows")


def wait_for_handlers(process):
    """Waits until the command handles SIGTERM, by SigCgt of proc(5): on a busy machine its start
    takes seconds.
    """
    while process.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{process.pid}/status").read_text(), re.MULTILINE)
        if caught is not None and int(caught[1], 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.05)


@pytest.mark.parametrize(("by", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
@pytest.mark.parametrize(
    "words", [["run", "X", "--set", "measure.duration=1000000s"], ["audit", "hfsc", "--seeds", "9999"]]
)
def test_long_work_is_ended_by_a_signal(dumbbell, by, status, words):
    words = [str(dumbbell) if word == "X" else word for word in words]
    process = subprocess.Popen(
        [sys.executable, "-m", "fairq", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a shell in the background may have it ignored
        preexec_fn=lambda: signal.signal(by, signal.default_int_handler if by == signal.SIGINT else signal.SIG_DFL),
    )  # fmt: skip
    wait_for_handlers(process)
    time.sleep(1)
    process.send_signal(by)
    began = time.monotonic()
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said.count("\n")) == (status, "", 1), said
    assert time.monotonic() - began < 10


def test_main_in_another_thread_has_no_signals(capsys):
    """Python gives signals to the main thread alone; a command still runs in another."""
    from threading import Thread

    statuses = []
    thread = Thread(target=lambda: statuses.append(program.main(["list", "papers"])))
    thread.start()
    thread.join()
    assert statuses == [0]


@pytest.mark.parametrize("shown", ["\x1b[31m", "\u202e", "\ufeff", "\r", "\x85", "\u2028"])
def test_what_was_written_into_an_input_steers_no_terminal(refused, tmp_path, shown):
    refusals = [refused("tc", f"fq_{shown}codel"), refused("compare", "--rate", f"1{shown} Mbit/s", "--flows", "reno")]
    (tmp_path / "s.toml").write_text(f'title = "{shown}"\nmeasure = {{ duration = "1{shown} s" }}\n', newline="")
    refusals.append(refused("run", tmp_path / "s.toml"))
    assert all(line.removesuffix("\n").isprintable() for line in refusals)


def test_a_long_input_leaves_what_its_refusal_says(refused):
    line = refused("theory", "tcp", "--rtt", "1" * 100_000, "--loss", "1%")
    assert line.startswith("fairq: --rtt") and "a time needs a unit" in line and len(line) < 2000
