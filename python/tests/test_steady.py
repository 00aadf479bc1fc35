"""Whether what is measured stands still: the times that are found, and what is said if none are."""

import json
import math
import sys
from pathlib import Path

import pytest

import fairq as package
from fairq.core.errors import UsageError
from fairq.questions import asked, network, steady
from fairq.questions.course import STRETCHES
from fairq.questions.search import Search, measured
from fairq.questions.steady import Times

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

SMALL = {"rate": "5Mbit/s", "rtt": "20ms", "seeds": 3}


class Straight:
    """A course in which the only group's share and delay are what a function of time says."""

    def __init__(self, share, spread=0.0):
        self.question = asked.ask(rate="10Mbit/s", rtt="20ms", flows="cubic")
        self.runs = {(("fifo",), 0, "share"): None}
        self._share, self._spread = share, spread
        self.runs = {steady.Of(("fifo",), 0, "share"): None}

    def halves(self, of, first):
        from fairq.questions.course import Halves

        middle = (first + STRETCHES) // 2
        means = [
            math.fsum(self._share(at / STRETCHES) for at in range(a, b)) / (b - a)
            for a, b in ((first, middle), (middle, STRETCHES))
        ]
        seeds = [self._spread * (seed - 4.5) / 4.5 for seed in range(10)]
        return Halves([means[0] + each for each in seeds], [means[1] - each for each in seeds])


@pytest.mark.parametrize(
    ("share", "spread", "moves"),
    [
        (lambda _: 0.5, 0.0, False),
        (lambda t: 0.5 + 0.004 * t, 0.0, False),  # less than counts
        (lambda t: 0.5 + 0.05 * t, 0.0, True),
        (lambda t: 0.5 + 0.05 * t, 0.2, False),  # chance: less than 3 points, and the seeds differ by more
        (lambda t: 0.5 + 0.2 * t, 0.2, True),  # too much to be left to chance
        (lambda t: 0.9 * math.exp(-5 * t) + 0.1, 0.0, True),
    ],
)
def test_what_differs_between_the_halves_moves(share, spread, moves):
    assert bool(steady.moves([Straight(share, spread)], 0)) is moves


def test_the_measured_time_is_tested_as_well_as_the_time_with_a_margin():
    """Halves with half of the warm-up are alike: the first has a peak in the warm-up."""
    peaks = Straight(lambda t: 0.9 if t < 23 / 56 or t >= 47 / 56 else 0.5)
    times = Times(28, 56)
    tested = steady.tested_from([peaks.question], times)
    assert not steady.moves([peaks], tested)
    (move,) = steady.moves([peaks], tested, times.stretch())
    assert move.second > move.first


def test_a_small_difference_of_the_measured_halves_is_left_to_the_interval():
    course = Straight(lambda t: 0.5 + 0.04 * t)
    assert steady.moves([course], 0) and not steady.moves([course], STRETCHES - 2, 0)


def test_a_sawtooth_of_a_minute_is_not_said_to_stand():
    """Reno behind two bandwidth-delay products: 265 ms in 900 s after 300 s.

    An interval reaches as far as the halves differ, which must not be by much.
    """
    found = package.compare(rate="10Mbit/s", rtt="200ms", flows="reno", buffer="2BDP", workers=2)
    (line,) = found.queues
    low, mean, high = (line[f"queueing_s_mean{end}"] for end in ("_low", "", "_high"))
    assert low <= 0.265 <= high <= 1.15 * mean


def test_the_next_warm_up_is_as_long_as_it_took_to_stand_with_its_margin():
    until = Straight(lambda t: 0.9 if t < 0.25 else 0.5)
    question = [until.question]
    found = steady.longer(Times(5, 35), [until], question, 1000)
    assert found.length == 70 and found.warm_up == pytest.approx(2 * 35 * 0.25, abs=1.5)
    never = steady.longer(Times(5, 35), [Straight(lambda t: t)], question, 1000)
    assert never == Times(35, 70)


@pytest.mark.parametrize("words", [{}, {"duration": "1.94s"}, {"warm_up": "3.333s"}])
def test_runs_that_never_stand_end_at_the_longest(words):
    never = Straight(lambda t: t)
    question = [asked.ask(rate="10Mbit/s", rtt="20ms", flows="cubic", **words)]
    times, longest = steady.begin(question), 53.947
    for _ in range(10):
        if times.length >= longest:
            break
        times = steady.longer(times, [never], question, longest)
    assert times.length == longest and times.warm_up > 0


@pytest.mark.parametrize(
    ("words", "times"),
    [
        ({"rate": "100Mbit/s", "rtt": "40ms"}, (5, 35)),
        ({"rate": "10Gbit/s", "rtt": "400us"}, (0.05, 0.35)),
        ({"rate": "10Gbit/s", "rtt": "20ms"}, (2.5, 17.5)),
        ({"rate": "1Mbit/s", "rtt": "1ms"}, (5, 35)),
        ({"rate": "1Mbit/s", "rtt": "1ms", "warm_up": "2s"}, (2, 32)),
        ({"rate": "1Mbit/s", "rtt": "1ms", "duration": "2s"}, (5, 7)),
        ({"rate": "10Mbit/s", "rtt": "10ms", "flows": "cubic,cubic(start=20s)"}, (25, 55)),
    ],
)
def test_a_question_begins_with_the_times_of_its_line(words, times):
    question = asked.ask(**{"flows": "cubic", **words})
    assert steady.begin([question]) == pytest.approx(times)


def test_a_short_warm_up_has_its_starts_within_it():
    short = network.scenario(asked.ask(**SMALL, flows="cubic", warm_up="50ms", duration="1s")).text
    assert 'start = "drawn(within=50ms)"' in short
    for warm_up in ("0s", "1s", "5s"):
        assert "drawn" not in network.scenario(asked.ask(**SMALL, flows="cubic", warm_up=warm_up, duration="1s")).text


@pytest.fixture(scope="module")
def found():
    """A question whose shares do not stand still within the usual times."""
    return package.compare(rate="10Mbit/s", flows="cubic@10ms,cubic@100ms", queue="fifo", buffer="200packets", seeds=3,
                           workers=2)  # fmt: skip


def in_seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3}[unit]


def test_times_are_found_and_the_scenario_has_them(found, tmp_path):
    """`fairq run` of the scenario gives the same table, and so does asking with these times."""
    said = found.document["steady"]
    assert said["stands"] and said["warm_up_s"] > 5
    question = found.document["question"]
    path = tmp_path / "asked.toml"
    path.write_text(found.scenario)
    result = package.run(path)
    assert in_seconds(result.scenario["measure"]["warm_up"]) == pytest.approx(in_seconds(question["warm_up"]))
    shares = {row.flow: row.share for row in result.flows}
    for row in found.rows:
        assert shares[row["flow"]] == pytest.approx(row["share"], rel=1e-12)
    again = package.compare(rate="10Mbit/s", flows="cubic@10ms,cubic@100ms", queue="fifo", buffer="200packets", seeds=3,
                            warm_up=question["warm_up"], duration=question["duration"], workers=1)  # fmt: skip
    assert again.rows == found.rows and again.scenario == found.scenario


def test_any_number_of_workers_finds_the_same(found):
    one = package.compare(rate="10Mbit/s", flows="cubic@10ms,cubic@100ms", queue="fifo", buffer="200packets", seeds=3,
                          workers=1)  # fmt: skip
    assert json.dumps(one.document) == json.dumps(found.document)


def test_what_does_not_stand_is_said_with_both_values_and_nothing_is_decided():
    found = package.compare(rate="10Mbit/s", flows="cubic@10ms,cubic@100ms", queue="fifo", buffer="200packets", seeds=3,
                            paired=True, warm_up="1s", duration="10s", workers=2)  # fmt: skip
    assert found.document["steady"]["stands"] is False
    assert not found.answer["decided"] and not any(row["decided"] for row in found.paired)
    move = found.document["steady"]["moves"][0]
    assert "still move" in found.answer["text"] and "nothing is decided" in found.answer["text"]
    for half in (move["first"], move["second"]):
        assert f"{100 * half:.3g} %" in found.answer["text"] or move["quantity"] != "share"


def test_late_flows_are_all_there_when_the_measured_time_begins():
    """Two that are alike share alike, however late one starts."""
    found = package.compare(rate="5Mbit/s", rtt="20ms", flows="cubic,cubic(start=20s)", queue="fq_codel", seeds=3,
                            workers=2)  # fmt: skip
    assert found.document["steady"]["warm_up_s"] >= 25
    assert found.queues[0]["jain"] > 0.99


def test_a_start_after_the_warm_up_that_was_said_has_a_note():
    line = {"rate": "5Mbit/s", "rtt": "20ms", "flows": "cubic,cubic(start=20s)"}
    codes = [[note["code"] for note in asked.notes(asked.ask(**line, warm_up=said))] for said in (None, "20s", "1s")]
    assert ["start" in each for each in codes] == [False, False, True]


def test_shares_of_a_sentence_are_as_uncertain_as_those_of_the_table():
    """What moves by 20 points has no interval of 5, wherever it is printed."""
    found = package.compare(rate="10Mbit/s", rtt="40ms", flows="cubic,cubic(start=5s)", queue="fifo", seeds=3,
                            warm_up="1s", duration="10s", workers=2)  # fmt: skip
    for row in found.rows:
        low, high = (f"{100 * row[f'share_{end}']:.3g}" for end in ("low", "high"))
        assert f"({low}–{high})" in found.answer["text"]


def test_the_queueing_of_a_line_is_as_uncertain_as_that_of_its_flows():
    found = package.compare(rate="10Mbit/s", rtt="200ms", flows="reno", buffer="2BDP", seeds=2, warm_up="20s",
                            duration="20s", workers=2)  # fmt: skip
    (flow,), (line,) = found.rows, found.queues
    ends = ("queueing_s_mean_low", "queueing_s_mean_high")
    assert [line[end] for end in ends] == pytest.approx([flow[end] for end in ends], rel=1e-3)
    assert line["queueing_s_mean_high"] > 1.02 * line["queueing_s_mean"]


def test_transfers_that_have_ended_do_not_move():
    """All seeds have the same goodput, and none of it in the second half."""
    found = package.compare(rate="10Mbit/s", rtt="40ms", flows="cubic(size=1MB):4", seeds=2, workers=2)
    assert found.rows[0]["share_high"] == pytest.approx(found.rows[0]["share"])


def test_transfers_of_a_size_are_measured_until_they_have_ended():
    found = package.compare(rate="2Mbit/s", rtt="20ms", flows="cubic(size=10MB)", seeds=2, workers=2)
    assert found.document["steady"]["stands"] is None and found.document["steady"]["duration_s"] > 30
    assert "unfinished" not in [note["code"] for note in found.notes]


def test_the_longest_run_follows_from_the_round_trip_with_full_buffers():
    def longest(**words):
        search = Search([asked.ask(flows="cubic", **words)], 1)
        return search.longest / search.first.length

    assert longest(rate="100Mbit/s", rtt="10ms", buffer="1BDP") == 8
    assert longest(rate="1Mbit/s", rtt="10ms", queue="fifo") == 16
    assert 8 < longest(rate="50Mbit/s", rtt="100ms", queue="fifo") < 16
    assert longest(rate="50Mbit/s", rtt="100ms", queue="fifo", warm_up="5s", duration="9s") == 1


def test_a_measured_time_of_less_than_five_round_trips_is_refused():
    with pytest.raises(UsageError, match=r"^--duration 100ms: a measured time is at least 5 round trips; write 200ms"):
        package.compare(rate="10Mbit/s", rtt="40ms", flows="cubic", duration="100ms")


def test_a_dry_run_says_at_least_and_at_most(fairq):
    _, out, _ = fairq("compare", "--rate", "5Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--seeds", "2", "--dry-run")
    assert "That is at least; at most 31 times as much" in out


def test_the_times_are_printed_under_the_tables(fairq):
    _, out, _ = fairq("compare", "--rate", "5Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--seeds", "2", "--warm-up",
                      "5s", "--duration", "5s")  # fmt: skip
    line = "Measured for 5 s after a warm-up of 5 s; packets of 1500 B, hosts as linux."
    assert line in " ".join(out.split())


def test_cubic_at_10_and_200_ms_shares_as_rfc_9438_says():
    """RFC 9438, section 5.6 has 65.5 and 34.5 % of a line; the first 30 s after 5 s had 88.2 %."""
    found = package.compare(rate="50Mbit/s", flows="cubic@10ms,cubic@200ms", queue="fifo", seeds=4)
    near = next(row for row in found.rows if row["flow"] == "cubic@10ms")
    assert 0.62 <= near["share"] <= 0.69
    assert near["share_low"] <= 0.663 + 0.04 and near["share_high"] >= 0.655 - 0.03


@pytest.mark.parametrize("name", ["two CUBIC, one Reno", "Reno at 20 and 60 ms, CoDel"])
def test_intervals_hold_the_steady_answer(name):
    """Ten groups of seeds; the other questions and groups: docs/design/statistics.md."""
    import steady_coverage

    answers = json.loads((Path(__file__).parent / "data" / "steady_answers.json").read_text())
    groups = [steady_coverage.group(name, number, 2) for number in range(10)]
    held = [row["low"] <= answers[name] <= row["high"] for row in groups]
    assert sum(held) >= 8, groups


def test_several_questions_have_the_same_times():
    words = {"rate": "5Mbit/s", "rtt": "20ms", "seeds": 2, "flows": "cubic", "duration": "5s", "warm_up": "1s"}
    found = measured([asked.ask(**words, queue=queue) for queue in ("fifo", "drr")], 2)
    assert len({(question.warm_up, question.duration) for question in found.questions}) == 1
