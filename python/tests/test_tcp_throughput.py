"""Mathis and Padhye against known answers, against each other, and beside a simulated connection."""

import json
import math

import pytest

from fairq import _native
from fairq.tcp_throughput import mathis, padhye, padhye_full

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
[measure]
warm_up = "50 s"
duration = "1000 s"
[[links]]
name = "line"
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "50 ms"
loss = 0.01
[[flows]]
name = "reno"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
connection = { recovery = "sack" }
"""


def test_a_simulated_connection_on_a_lossy_line_sends_what_the_models_say():
    # independent losses, one by one: the constant is about 1.31 instead of 1.2247; the line never fills
    row = json.loads(_native.run(LOSSY, "x.toml", [], 1, None, None))["flows"][0]
    loss, round_trip = row["lost"] / row["sent"], row["rtt_s_mean"]
    measured = row["throughput_bit_per_s"] / 8000
    assert loss == pytest.approx(0.01, rel=0.1)
    assert measured / mathis(round_trip, loss) == pytest.approx(1.31 / 1.2247, rel=0.1)
    assert measured / padhye_full(round_trip, loss, timeout=1) == pytest.approx(1.1, abs=0.35)
