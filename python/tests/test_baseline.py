"""`fairq baseline`: a control alone on an ideal line, its phases and its picture."""

import json
import statistics
from itertools import pairwise

import pytest

import fairq as package
from fairq.core.records import in_document
from fairq.questions import baseline_results

RATE, RTT = 20e6, 0.1
PRODUCT = RATE * RTT / 8
LINE = ("--rate", "20Mbit/s", "--rtt", "100ms")


def of_phase(found, phase, column):
    """The values of a column in the samples of a phase, those of the start left out."""
    samples = [sample for sample in found["series"] if sample["phase"] == phase and sample["time_s"] > 2.0]
    return [sample[column] for sample in samples]


def begins(found, phase):
    """When each stretch of a phase began."""
    times, before = [], None
    for sample in found["series"]:
        if sample["phase"] == phase != before:
            times.append(sample["time_s"])
        before = sample["phase"]
    return times


# 3. draft-ietf-ccwg-bbr#71: a common set-up; round trip, flight, throughput, window over time.
CRUISES = (0.95, 1.05)
"""Flight over the bandwidth-delay product in ProbeBW_CRUISE (draft-ietf-ccwg-bbr, section of that
name): the pace is the bandwidth less a margin of 1 %, and the queue is empty."""
PROBES_EVERY = (5.0, 5.5)
"""Seconds from a ProbeRTT to the next: ProbeRTTInterval, 5 s, then ProbeRTTDuration, 0.2 s, and a
round trip."""
PROBES_WITH = (0.45, 0.6)
"""Flight over the product in ProbeRTT: ProbeRTTCwndGain is 0.5, and two packets of quantum."""


def is_in(band, value):
    low, high = band
    return low <= value <= high


def test_bbr3_alone_is_the_picture_that_its_draft_draws(document):
    """Bands: the draft's constants. Controls: CUBIC on this line; a BBR with another interval."""
    bbr = document("baseline", "bbr3", *LINE)
    cubic = document("baseline", "cubic", *LINE)
    often = document("baseline", "bbr3(probe_interval=2s)", *LINE)

    def flight(found, phase):
        return statistics.median(of_phase(found, phase, "flight_bytes")) / PRODUCT

    assert is_in(CRUISES, flight(bbr, "ProbeBW_CRUISE"))
    assert not is_in(CRUISES, flight(cubic, "congestion avoidance"))
    # The buffer holds a product: CUBIC's window is between 0.7 (RFC 9438, section 4.6) of two
    # products and two.
    assert is_in((1.4, 2.0), flight(cubic, "congestion avoidance"))

    def gaps(found):
        times = begins(found, "ProbeRTT")
        return [later - earlier for earlier, later in pairwise(times)]

    assert len(gaps(bbr)) >= 4 and all(is_in(PROBES_EVERY, gap) for gap in gaps(bbr))
    assert not any(is_in(PROBES_EVERY, gap) for gap in gaps(often))

    least = [min(of_phase(found, phase, "flight_bytes")) / PRODUCT for found, phase in
             ((bbr, "ProbeRTT"), (cubic, "congestion avoidance"))]  # fmt: skip
    assert is_in(PROBES_WITH, least[0]) and not is_in(PROBES_WITH, least[1])

    # What waits, waits in UP and DOWN: else the round trip is the line's. CUBIC's never is: its
    # window is 0.7 of two products, or less after losses that follow one another.
    cruising = statistics.median(of_phase(bbr, "ProbeBW_CRUISE", "rtt_s"))
    avoiding = of_phase(cubic, "congestion avoidance", "rtt_s")
    assert is_in(CRUISES, cruising / RTT) and not is_in(CRUISES, min(avoiding) / RTT)
    assert is_in((1.4, 2.0), statistics.median(avoiding) / RTT)

    # Half of the rate for 0.2 s and at most two round trips in 5 s, and 1 % of margin.
    after = [sample["throughput_bit_per_s"] / RATE for sample in bbr["series"] if sample["time_s"] > 5]
    assert is_in((0.99 * (1 - 0.5 * 0.4 / 5), 0.99), statistics.fmean(after))
    full = [sample["throughput_bit_per_s"] / RATE for sample in cubic["series"] if sample["time_s"] > 5]
    assert statistics.fmean(full) > 0.99


def test_the_document_is_what_its_type_says(document):
    found = document("baseline", "bbr", *LINE, "--duration", "5s")
    assert set(found) == set(in_document(baseline_results.Baseline))
    assert all(set(sample) == set(in_document(baseline_results.BaselineSample)) for sample in found["series"])
    assert found["command"] == "fairq baseline bbr --rate 20Mbit/s --rtt 100ms --duration 5s"
    assert (found["rate_bit_per_s"], found["rtt_s"], found["product_bytes"]) == (RATE, RTT, PRODUCT)
    assert [phase["phase"] for phase in found["phases"]][:3] == ["Startup", "Drain", "ProbeBW"]
    assert sum(phase["duration_s"] for phase in found["phases"]) == pytest.approx(5.0)
    assert statistics.fmean(sample["throughput_bit_per_s"] for sample in found["series"]) == pytest.approx(
        found["flow"]["throughput_bit_per_s"], rel=1e-6
    )


def test_samples_are_a_quarter_of_a_round_trip_apart_and_never_of_few_packets():
    def distance(**words):
        series = package.baseline("cubic", **{"rate": "20Mbit/s", "rtt": "100ms", "duration": "20s", **words}).series
        return round(series[1]["time_s"] - series[0]["time_s"], 6)

    assert distance() == 0.025
    assert distance(rate="2Mbit/s") == 0.1, "200 samples at least"
    assert distance(rate="2Mbit/s", duration="60s") == 0.12, "twenty packets"
    assert distance(rtt="1ms") == 0.012
    assert distance(series="50ms") == 0.05


@pytest.mark.parametrize("name", [entry["name"] for entry in package.listing("transports")])
def test_every_transport_has_a_baseline_or_says_why_not(name, fairq):
    status, out, err = fairq("baseline", name, *LINE, "--duration", "6s", "--quiet")
    if name == "uncontrolled":
        assert (status, out) == (2, "") and err.count("\n") == 1
        assert "sends all it has at once; write cubic" in err
    else:
        assert (status, err) == (0, "")
        assert f"\n{name}: " in f"\n{out}" and "bit/s of 20 Mbit/s" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cubicc", *LINE), "cubicc: `cubicc` is not known here; did you mean cubic?"),
        (("cubic(decrase=1)", *LINE), "did you mean decrease?"),
        (("rlm", *LINE), "rlm: it chooses the layers of a multicast session at the receiver"),
        (("red", *LINE), "red: it is a discipline of a queue; write --queue red"),
        (("telnet", *LINE), "telnet: it is a source of traffic"),
        (("cubic", "--rate", "20", "--rtt", "1ms"), "--rate: `20`: a rate needs a unit"),
        (("cubic", "--rate", "20Mbit/s", "--rtt", "0ms"), "--rtt 0ms: it is above 0"),
        (("cubic", *LINE, "--duration", "90ms"), "--duration 90ms: the first answer comes after a round trip"),
        (("cubic", *LINE, "--queue", "fifoo"), "--queue fifoo: `fifoo` is no part of a queue; did you mean fifo?"),
        (("cubic", *LINE, "--buffer", "blue"), "--buffer blue: "),
        (("cubic", *LINE, "--profile", "windows"), "--profile windows: `windows` is not known here"),
        (("cubic", *LINE, "--series", "1us"), "--series 1us: a sample every 1 us gives"),
        (("cubic", *LINE, "--plot", "cubic.gif"), "the name must end in .svg, .png or .pdf"),
        (("cubic", *LINE, "--trace", "nowhere/cubic.json"), "there is no folder nowhere"),
        (("cubic", "--rate", "20Mbit/s"), "required: --rtt"),
    ],
)
def test_a_word_that_makes_no_sense_is_refused_with_what_would(words, said, refused, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert said in refused("baseline", *words)
    assert list(tmp_path.iterdir()) == []


def test_the_scenario_that_is_written_is_the_one_that_ran(document, fairq, tmp_path):
    path = tmp_path / "prague.toml"
    words = ("prague", *LINE, "--queue", "dualpi2", "--duration", "5s")
    status, out, _ = fairq("baseline", *words, "--scenario", path)
    assert status == 0 and out.rstrip().endswith(f"Written: {path}")
    series = document("baseline", *words)["series"]
    again = package.run(path, series="25ms").series
    assert [row["rtt_s"] for row in again if row["flow"]] == [sample["rtt_s"] for sample in series]


def test_a_round_trip_that_grows_behind_an_overshoot_does_not_stand_still(document):
    """The sawtooth of Reno takes two minutes here; ten minutes have a round trip of 462 ms."""
    line = "--rate", "10Mbit/s", "--rtt", "200ms", "--buffer", "2BDP"
    found = document("baseline", "reno", *line)["steady"]
    long = document("baseline", "reno", *line, "--duration", "600s")["steady"]
    assert found["rtt_s"] == pytest.approx(long["rtt_s"], rel=0.05)


def test_less_than_five_round_trips_do_not_stand_still(document):
    line = "--rate", "10Mbit/s", "--rtt", "20ms", "--quiet"
    assert document("baseline", "cubic", *line, "--duration", "30ms")["steady"] is None


def test_a_picture_and_a_trace_are_written_and_named(fairq, tmp_path):
    plot, trace = tmp_path / "bbr3.svg", tmp_path / "bbr3.json"
    status, out, _ = fairq("baseline", "bbr3", *LINE, "--duration", "7s", "--plot", plot, "--trace", trace)
    assert status == 0 and out.rstrip().endswith(f"Written: {plot}\nWritten: {trace}")
    picture = plot.read_text(encoding="utf-8")
    for word in ("bbr3 alone", "ProbeRTT", "ProbeBW_UP", "round trip", "pacing"):
        assert word in picture, word
    phases = {
        event["name"]
        for event in json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
        if event.get("cat") == "phase"
    }
    assert {"Startup", "Drain", "ProbeBW_CRUISE", "ProbeBW_UP", "ProbeRTT"} <= phases
