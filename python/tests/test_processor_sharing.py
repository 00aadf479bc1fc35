"""Processor sharing against known answers, a slow second computation, and the simulator."""

import math

import pytest

from fairq.core.inputs import Text
from fairq.core.runs import Experiment
from fairq.theories import processor_sharing as sharing


@pytest.mark.parametrize(("load", "beyond"), [(0.8, 1.6e-10), (0.9, 2.39e-5), (0.95, 5.6e-3)])
def test_more_than_a_hundred_transfers_are_as_rare_as_is_known(load, beyond):
    assert sharing.more_than(100, load) == pytest.approx(beyond, rel=0.02)
    assert sharing.more_than(100, load) == pytest.approx(load**101)
    assert sharing.more_than(20, 0.9) == pytest.approx(0.109, abs=5e-4)


@pytest.mark.parametrize(("load", "thousandth", "millionth"), [(0.8, 30, 61), (0.9, 65, 131), (0.95, 134, 269)])
def test_the_least_numbers_are_those_known(load, thousandth, millionth):
    assert sharing.least_number(1e-3, load) == thousandth
    assert sharing.least_number(1e-6, load) == millionth


@pytest.mark.parametrize(
    ("full", "load", "waits", "mean", "throughput"),
    [
        (50, 0.5, 7.20e-6, 25.00, 1.0),
        (50, 0.8, 0.08695, 40.35, 0.991),
        (50, 0.9, 0.3639, 48.27, 0.932),
        (50, 0.95, 0.6291, 59.45, 0.799),
        (10, 0.9, 0.6687, 15.02, 9 / 15.02),
        (1, 0.9, 0.9, 9.0, 0.1),
    ],
)
def test_with_a_peak_rate_the_numbers_are_those_known(full, load, waits, mean, throughput):
    assert sharing.waiting(load, full) == pytest.approx(waits, rel=1e-3)
    assert sharing.mean_in_progress(load, full) == pytest.approx(mean, rel=1e-3)
    assert 1 / sharing.slowdown(load, full) == pytest.approx(throughput, rel=1e-3)


@pytest.mark.parametrize(("full", "load"), [(1, 0.5), (3, 0.7), (10, 0.9), (4, 0.05)])
def test_the_law_is_that_of_its_balance_equations(full, load):
    # births at rate load * full, deaths at min(n, full): solved one state after another
    weights = [1.0]
    for state in range(1, 3000):
        weights.append(weights[-1] * load * full / min(state, full))
    whole = math.fsum(weights)
    for number in (0, 1, 2, 5, full, full + 7):
        assert sharing.exactly(number, load, full) == pytest.approx(weights[number] / whole, rel=1e-9, abs=1e-15)
        assert sharing.more_than(number, load, full) == pytest.approx(
            math.fsum(weights[number + 1 :]) / whole, rel=1e-9, abs=1e-300
        )
    mean = math.fsum(number * weight for number, weight in enumerate(weights)) / whole
    assert sharing.mean_in_progress(load, full) == pytest.approx(mean)


def test_a_light_load_on_a_wide_line_is_no_trouble():
    assert sharing.more_than(4000, 0.1, 50_000) == pytest.approx(1.0)
    assert sharing.more_than(6000, 0.1, 50_000) < 1e-30
    assert sharing.slowdown(0.1, 50_000) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sharing.mean_in_progress(1.0),
        lambda: sharing.waiting(0.0),
        lambda: sharing.waiting(float("nan")),
        lambda: sharing.more_than(-1, 0.5),
        lambda: sharing.more_than(1, 0.5, 10**9),
        lambda: sharing.least_number(0.0, 0.5),
        lambda: sharing.least_number(1.0, 0.5),
        lambda: sharing.filled_by(1e6, 0.0),
    ],
)
def test_what_has_no_answer_is_refused(call):
    with pytest.raises(ValueError):
        call()


ARRIVALS = """
edition = 1
[measure]
warm_up = "200 s"
duration = "2000 s"
[defaults]
queue = "fq"
transport = "fixed_window(window=1000)"
[[links]]
name = "line"
from = "servers"
to = "users"
rate = "10 Mbit/s"
reverse_queue = "fifo"
[[flows]]
name = "transfers"
from = "servers"
to = "users"
traffic = "flow_arrivals(rate=10Mbit/s, load=0.6, size=exponential(mean=100kB))"
count = 100
access = { rate = "PEAK" }
"""


@pytest.mark.parametrize(("peak", "full"), [("unlimited", 1), ("1 Mbit/s", 10)])
def test_behind_fair_queueing_transfers_are_as_many_as_the_theory_says(peak, full):
    row = Experiment(Text(ARRIVALS.replace("PEAK", peak), "x.toml")).run(1).transfers[0]
    assert row["refused"] == 0
    # 15,000 transfers: chance moves the mean by some 2 %
    assert row["in_progress_mean"] == pytest.approx(sharing.mean_in_progress(0.6, full), rel=0.06)
