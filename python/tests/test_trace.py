"""`--trace`: what each packet of a run did, for viewers; crates/experiment/tests/traced.rs too."""

import json
from itertools import pairwise

import pytest

import fairq as package


def events_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["traceEvents"]


def test_the_trace_of_a_run_has_its_queueing_its_samples_and_slices_that_do_not_overlap(document, tmp_path, dumbbell):
    path = tmp_path / "trace.json"
    sets = ("--set", "measure.warm_up=0s", "--set", "defaults.transport=cubic", "--set", "defaults.queue=fq")
    found = document("run", dumbbell, *sets, "--series", "100ms", "--trace", path)
    events = events_of(path)
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert {"flow ftp.1", "flow telnet", "link bottleneck forward"} <= set(names.values())

    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"]))
    for slices in threads.values():
        slices.sort()
        for (start, lasts), (following, _) in pairwise(slices):
            assert start + lasts <= following

    telnet = next(row for row in found["flows"] if row["flow"] == "telnet")
    assert telnet["dropped"] == 0 < telnet["throughput_packets"]
    waits = [event["dur"] for event in events if event.get("cat") == "wait" and names[event["pid"]] == "flow telnet"
             and event["args"]["of"] == "data"]  # fmt: skip
    expected = telnet["queueing_s_mean"] * telnet["throughput_packets"] * 1e6
    # Packets that wait at the end have waited too, but did not arrive.
    assert sum(waits) == pytest.approx(expected, rel=0.05) and expected > 1e5

    of_first = [event for event in events if event["ph"] == "C" and names[event["pid"]] == "flow ftp.1"]
    windows = {event["ts"]: event["args"]["value"] for event in of_first if event["name"] == "window_packets"}
    samples = {round(row["time_s"] * 1e6): row["window_packets"] for row in found["series"] if row["flow"] == "ftp.1"}
    assert windows == samples


def test_a_trace_is_written_whole_or_not_at_all(fairq, monkeypatch, tmp_path, dumbbell):
    path = tmp_path / "trace.json"
    path.write_text("before")

    def write_trace(self, write):
        write('{"traceEvents": [')
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fairq.core.results.Result.write_trace", write_trace)
    status, out, err = fairq("run", dumbbell, "--trace", path)
    assert (status, out) == (2, "") and err.startswith(f"fairq: {path}: cannot be written: no space left")
    assert path.read_text() == "before" and {file.name for file in tmp_path.iterdir()} == {path.name, dumbbell.name}


def test_of_several_runs_the_first_is_traced_and_a_note_says_so(fairq, tmp_path, dumbbell):
    path = tmp_path / "trace.json"
    status, _, err = fairq("run", dumbbell, "--trace", path, "--set", "measure.replications=3")
    assert status == 0 and "the trace is of the first of 3 runs [trace]" in err
    assert path.exists()


def test_a_result_without_a_trace_says_how_to_have_one(dumbbell):
    with pytest.raises(package.UsageError, match="trace"):
        package.run(dumbbell).write_trace(print)
