"""Ctrl-C in Python: the call ends soon, and what the complete runs gave is there."""

import pickle
import signal
import subprocess
import sys

import pytest

import fairq

ENDS_S = 60
"""How long an interrupted call may take on a busy machine; none would end by itself in that time."""

LINE = {"name": "line", "from": "a", "to": "b", "rate": "100 Mbit/s", "delay": "5 ms", "buffer": "100 packets"}
FLOW = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "transport": "cubic"}


def scenario(duration, replications, **more):
    measure = {"duration": duration, "replications": replications, "seed": 1}
    return {"edition": 2, "measure": measure, "links": [LINE], "flows": [FLOW], **more}


def interrupted(call, before=""):
    """What a program prints that gets SIGINT during `call`, as a user's does: it says `began`, then calls."""
    program = f"""
import signal, sys, threading, os, time
import fairq
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
def press():
    time.sleep(1.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    {call}
    print("it came to its end")
except KeyboardInterrupt as stopped:
    print(type(stopped).__name__, "|", stopped, "|", getattr(stopped, "result", None))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=ENDS_S)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_leaves_the_result_of_its_complete_runs(workers):
    before = f"""
scenario = {scenario("2 s", 100_000)!r}
def look(result):
    told = result.run_info
    rows = result.by_seed("flows")
    assert 1 <= told["runs_complete"] == len(rows) < told["runs"] == 100_000, told
    assert [row["seed"] for row in rows][:1] == [1]
    return "looked at"
"""
    call = f"""
    try:
        fairq.run(scenario, workers={workers})
    except fairq.Interrupted as stopped:
        print(look(stopped.result))
        raise"""
    looked, said = interrupted(call, before).splitlines()
    assert looked == "looked at"
    assert said.startswith("Interrupted | interrupted: ") and "of 100000 runs were complete" in said


def test_one_long_run_has_no_result():
    said = interrupted(f"fairq.run({scenario('100000 s', 1)!r}, workers=1)")
    assert said == "Interrupted | interrupted before a run was complete | None"


def test_a_question_leaves_the_runs_of_its_scenario():
    call = "fairq.compare(rate='20Mbit/s', rtt='40ms', flows='cubic,bbr', queue='fifo', seeds=5000,"
    call += " duration='1 s', warm_up='0 s')"
    said = interrupted(call)
    assert said.startswith("Interrupted | interrupted: ") and "<Result: points 1," in said


def test_own_parts_are_interrupted_too():
    before = f"""
class First(fairq.Rank):
    def rank(self, now, flow, packet):
        return now
scenario = {scenario("1 s", 100_000)!r}
scenario["links"][0]["queue"] = "first"
"""
    said = interrupted("fairq.run(scenario, parts={'first': First})", before)
    assert said.startswith("Interrupted | interrupted")


@pytest.mark.parametrize(
    "call",
    [
        "fairq.audit('sfq', seeds=10**6)",
        "fairq.bench()",
        "fairq.bench_disciplines()",
        "fairq.reproduce('demers1990')",
        f"fairq.experiment({scenario('100000 s', 1)!r}).runs()[0].finish()",
    ],
)
def test_other_long_calls_end_at_once(call):
    assert interrupted(call).partition(" |")[0] in ("KeyboardInterrupt", "Interrupted")


def test_an_interrupt_of_the_caller_stays_what_it_is():
    class Enough(KeyboardInterrupt):
        pass

    def tell(fraction, seconds, hops):
        raise Enough

    with pytest.raises(Enough):
        fairq.run(scenario("20 s", 50), workers=1, progress=tell)


def test_it_can_be_sent_to_another_process():
    sent = pickle.loads(pickle.dumps(fairq.Interrupted("interrupted: 1 of 2")))
    assert (str(sent), sent.result) == ("interrupted: 1 of 2", None)
    assert issubclass(fairq.Interrupted, KeyboardInterrupt) and not issubclass(fairq.Interrupted, Exception)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
