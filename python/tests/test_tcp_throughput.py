"""Mathis and Padhye against known answers, against each other, and beside a simulated connection."""

import math

import pytest

from fairq.core.inputs import Text
from fairq.core.runs import Experiment
from fairq.theories.tcp_throughput import mathis, padhye, padhye_full

SAME = {"timeout": 1.0}


def test_mathis_gives_its_known_answer():
    assert 1000 * mathis(0.1, 0.01) == pytest.approx(122_474, abs=1)
    assert mathis(0.1, 0.01, acknowledged=2) == pytest.approx(86.60, abs=0.01)


@pytest.mark.parametrize(
    ("loss", "delayed", "each"),
    [(1e-4, 864.08, 1222.0), (1e-3, 267.83, 378.78), (0.01, 70.654, 99.920), (0.05, 17.485, 24.728),
     (0.1, 6.898, 9.756)],
)  # fmt: skip
def test_the_approximate_model_gives_its_known_answers(loss, delayed, each):
    assert padhye(0.1, loss, acknowledged=2, **SAME) == pytest.approx(delayed, rel=1e-4)
    assert padhye(0.1, loss, **SAME) == pytest.approx(each, rel=1e-4)


@pytest.mark.parametrize(("loss", "rate"), [(1e-3, 265.57), (0.01, 69.524), (0.05, 18.603), (0.1, 9.106)])
def test_the_full_model_gives_its_known_answers(loss, rate):
    assert padhye_full(0.1, loss, acknowledged=2, **SAME) == pytest.approx(rate, rel=1e-4)


def test_a_receive_window_limits_both_models():
    assert padhye(0.1, 1e-3, acknowledged=2, window=20, **SAME) == 200
    assert padhye_full(0.1, 1e-3, acknowledged=2, window=20, **SAME) == pytest.approx(174.24, rel=1e-4)


@pytest.mark.parametrize("loss", [1e-15, 1e-12, 1e-9])
def test_without_timeouts_all_are_one(loss):
    # the timeouts' share of the time goes to zero with the loss
    rates = [mathis(0.1, loss), padhye(0.1, loss, **SAME), padhye_full(0.1, loss, **SAME)]
    assert max(rates) / min(rates) < 1.001
    assert all(math.isfinite(rate) for rate in rates)


@pytest.mark.parametrize("model", [padhye, padhye_full])
def test_more_loss_is_never_more_throughput(model):
    rates = [model(0.1, 10 ** (-exponent / 4), **SAME) for exponent in range(1, 40)]
    assert rates == sorted(rates)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mathis(0, 0.1),
        lambda: mathis(0.1, 0),
        lambda: mathis(0.1, float("nan")),
        lambda: mathis(0.1, 0.1, acknowledged=0),
        lambda: padhye(0.1, 0.1, timeout=-1),
        lambda: padhye(0.1, 0.1, timeout=1, window=0),
        lambda: padhye_full(0.1, 1, timeout=1),
    ],
)
def test_what_has_no_answer_is_refused(call):
    with pytest.raises(ValueError):
        call()


LOSSY = """
edition = 1
[measure]
warm_up = "50 s"
duration = "1000 s"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "50 ms"
loss = LOSS
[[flows]]
name = "reno"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
connection = { recovery = "sack", timeout = { floor = "200 ms" }MORE }
"""


def lossy(loss, more=""):
    """A Reno connection on a line that loses packets by chance and never fills: packets a second, loss, round trip."""
    row = Experiment(Text(LOSSY.replace("LOSS", str(loss)).replace("MORE", more), "x.toml")).run(1).flows[0]
    return row["throughput_bit_per_s"] / 8000, row["lost"] / row["sent"], row["rtt_s_mean"]


def test_where_losses_are_rare_a_simulated_connection_sends_what_mathis_says():
    measured, loss, round_trip = lossy(0.001)
    assert measured == pytest.approx(mathis(round_trip, loss), rel=0.1)


def test_where_they_are_frequent_its_timeouts_cost_what_padhye_says():
    measured, loss, round_trip = lossy(0.03)
    assert measured < 0.9 * mathis(round_trip, loss)
    assert measured == pytest.approx(padhye(round_trip, loss, timeout=0.2), rel=0.1)
    assert measured == pytest.approx(padhye_full(round_trip, loss, timeout=0.2), rel=0.1)


def test_a_window_that_counts_packets_grows_as_with_b_of_one_however_they_are_acknowledged():
    measured, loss, round_trip = lossy(0.001, ", acknowledge_every = 2, quick_acknowledgements = 16")
    assert measured == pytest.approx(mathis(round_trip, loss), rel=0.1)
    assert measured > 1.2 * mathis(round_trip, loss, acknowledged=2)
