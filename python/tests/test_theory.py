"""The paper's delay results against known answers and against one another."""

import pytest

from fairq.theories import fq_delay


@pytest.mark.parametrize(
    ("ftps", "packet", "low", "high"),
    [
        (3, 0.04, 0.5, 0.5),
        (3, 0.5, 0.5, 0.6667),
        (3, 0.8, 0.9, 1.1),
        (3, 1.0, 1.5, 1.5),
        (3, 1.5, 3.0, 3.0),
        (6, 0.2, 0.5, 0.5333),
        (6, 0.6, 0.6, 1.3),
    ],
)
def test_an_isolated_packet_waits_as_long_as_was_averaged_over_arrival_times(ftps, packet, low, high):
    bounds = fq_delay.extra_delay(ftps, packet)
    assert (bounds.low, bounds.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_a_telnet_packet_waits_half_an_ftp_packet():
    waits = fq_delay.extra_delay(3, 40, 1000).low * 8 / 56000
    assert waits == pytest.approx(0.0714, abs=5e-5)
    # and 5.7 ms of its own, 320 bits
    assert waits + 320 / 56000 == pytest.approx(0.0771, abs=5e-5)


@pytest.mark.parametrize("packet", [0.1, 0.35, 0.6, 0.8, 1.0, 1.5])
@pytest.mark.parametrize("preemptive", [False, True])
def test_the_bounds_are_ordered_and_meet_above_one_packet(packet, preemptive):
    bounds = fq_delay.extra_delay(4, packet, preemptive=preemptive)
    assert 0 <= bounds.low <= bounds.high + 1e-12
    assert fq_delay.extra_delay(4, packet).low >= fq_delay.extra_delay(4, packet, preemptive=True).low
    if packet >= 1:
        assert bounds.low == bounds.high == pytest.approx(4 * (packet - 0.5))


@pytest.mark.parametrize("preemptive", [False, True])
@pytest.mark.parametrize("edge", [0.5 * (1 - 1 / 3), 0.5 * (1 + 1 / 3), 1.0])
def test_the_bounds_are_continuous_where_their_cases_meet(edge, preemptive):
    below = fq_delay.extra_delay(3, edge - 1e-9, preemptive=preemptive)
    above = fq_delay.extra_delay(3, edge + 1e-9, preemptive=preemptive)
    assert below.low == pytest.approx(above.low, abs=1e-7)
    assert below.high == pytest.approx(above.high, abs=1e-7)


CURVE = [
    (0.05, 1.6053, 1.5263, 0.6612, 0.5822),
    (0.2, 2.0000, 1.6250, 1.2197, 0.8447),
    (0.5, 3.5000, 2.0000, 3.0300, 1.5300),
    (0.8, 9.5000, 3.5000, 9.3187, 3.3187),
    (0.9, 19.500, 6.0000, 19.411, 5.9105),
]


@pytest.mark.parametrize(("rho", "zero", "zero_printed", "one", "one_printed"), CURVE)
def test_the_poisson_curve_gives_its_known_answers(rho, zero, zero_printed, one, one_printed):
    assert fq_delay.poisson_delay(3, rho, 0.0) == pytest.approx(zero, abs=6e-4)
    assert fq_delay.poisson_delay(3, rho, 0.0, as_printed=True) == pytest.approx(zero_printed, abs=6e-5)
    assert fq_delay.poisson_delay(3, rho, 1.0) == pytest.approx(one, abs=6e-4)
    assert fq_delay.poisson_delay(3, rho, 1.0, as_printed=True) == pytest.approx(one_printed, abs=6e-5)


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("rho", [0.05, 0.5, 0.9])
def test_the_general_relation_gives_the_closed_form_with_the_missing_factor(rho, delta):
    assert fq_delay.poisson_general(3, 1.0, rho, delta).low == pytest.approx(
        fq_delay.poisson_delay(3, rho, delta), abs=1e-4
    )


def test_the_limits_of_the_text_hold():
    assert fq_delay.poisson_delay(3, 1e-9, 0.0) == pytest.approx(1.5)
    assert fq_delay.poisson_delay(3, 1e-9, 1.0) == pytest.approx(0.5)
    assert fq_delay.fcfs_delay(3, 5, 0.0) == 14.5


@pytest.mark.parametrize(
    ("rho", "simulated"), [(0.01, 14.540), (0.5, 16.699), (1.0, 19.640), (2.0, 29.887), (3.0, 60.293), (3.5, 119.610)]
)
def test_fcfs_is_near_what_was_simulated(rho, simulated):
    assert fq_delay.fcfs_delay(3, 5, rho) == pytest.approx(simulated, rel=0.015)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fq_delay.extra_delay(0, 1.0),
        lambda: fq_delay.extra_delay(3, 1.0, 0.0),
        lambda: fq_delay.extra_delay(3, float("nan")),
        lambda: fq_delay.poisson_delay(3, 1.0, 0.0),
        lambda: fq_delay.poisson_delay(3, 0.5, -1.0),
        lambda: fq_delay.fcfs_delay(3, 5, 4.0),
        lambda: fq_delay.poisson_general(3, 1.0, 0.0, 0.0),
    ],
)
def test_what_has_no_answer_is_refused(call):
    with pytest.raises(ValueError):
        call()


@pytest.mark.parametrize("b", [1, 2])
def test_the_rate_of_tcp_says_how_packets_are_acknowledged(fairq, b):
    out = " ".join(fairq("theory", "tcp", "--rtt", "100ms", "--loss", "0.01", "--acknowledged", b)[1].split())
    assert f"With b = {b} packet" in out and "Linux's hosts acknowledge otherwise" in out
