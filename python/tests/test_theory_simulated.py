"""Each result of `fairq theory` beside the simulator, in the setting for which it is derived.

The line sends a packet a second, so that delays are in packets. A packet is 100 kB: an interrupted transmission
goes on at a whole bit, by which the line falls behind the emulation, and among packets of 1000 B that would be seen.
Intervals hold the true mean with 99.9 % (one false alarm in a thousand cases, were the seeds not fixed); a test also
asserts that its interval is narrow enough to tell the theory from its neighbours.
"""

import pytest

import fairq
from fairq import _native
from fairq.core.inputs import Text
from fairq.core.runs import Experiment
from fairq.theories import fq_delay

SEEDS = 10
T_999 = 4.781 / 2.262
"""Student's t with nine degrees of freedom: a 99.9 % interval over one of 95 %, by width."""

FTP = """
[[flows]]
name = "ftp {number}"
from = "gateway"
to = "sink"
traffic = {{ kind = "ftp", packet = "100 kB" }}
transport = {{ kind = "fixed_window", window = 5, {timeout} }}
access = {{ rate = "unlimited" }}
start = "{begin:.9f} s"
"""
NO_TIMEOUT = "timeout = { first = '1000000 s', floor = '1000000 s' }"


def beside_ftps(ftps, queue, telnet, start, *, staggered=True, duration=30_000):
    """A scenario: a Telnet beside FTPs that always have five packets at the gateway, all other lines fast."""
    flows = []
    for number in range(ftps):
        # finish numbers 1/N of a packet apart, or equal
        begin = number * (number + 1) / (2 * ftps) if staggered else 0
        flows.append(FTP.format(number=number, begin=begin, timeout=NO_TIMEOUT))
    return f"""
edition = 1
[measure]
warm_up = "2000 s"
duration = "{duration} s"
replications = {SEEDS}
[defaults]
queue = "{queue}"
buffer = "unlimited"
[[links]]
name = "line"
from = "gateway"
to = "sink"
rate = "800 kbit/s"
reverse_queue = "fifo + unlimited"
reverse_rate = "unlimited"
{"".join(flows)}
[[flows]]
name = "telnet"
from = "gateway"
to = "sink"
traffic = {{ {telnet} }}
transport = "uncontrolled"
access = {{ rate = "unlimited" }}
start = "{start}"
"""


def waits(text, packet):
    """The Telnet's mean queueing delay of each seed, in packets."""
    document = Experiment(Text(text, "theory.toml")).run(2).document
    flows = [flow for seed in document["points"][0]["seeds"] for flow in seed["flows"] if flow["flow"] == "telnet"]
    assert len(flows) == SEEDS and all(flow["dropped"] == 0 for flow in flows)
    return [flow["delay_s_mean"] - packet for flow in flows]


def interval(values):
    """The mean of the values and half the width of its 99.9 % interval."""
    mean, low, _ = _native.confidence_interval(values)
    return mean, (mean - low) * T_999 + 1e-6


def poisson(packet, per_second):
    return f"kind = 'poisson', packet = '{packet * 100:.0f} kB', rate = '{per_second * packet * 8e5:.0f} bit/s'"


@pytest.mark.parametrize("form", ["fq", "fq(preemptive=true)"])
@pytest.mark.parametrize(("ftps", "packet"), [(3, 0.04), (3, 0.5), (3, 0.8), (3, 1.5), (6, 0.2), (6, 0.6)])
def test_an_isolated_packet_waits_as_long_as_a_of_p_says(form, ftps, packet):
    bounds = fq_delay.extra_delay(ftps, packet, preemptive="preemptive" in form)
    # a packet in a hundred seconds is nearly isolated: what it waits for its like is at most D_0
    size = (ftps + 1) * packet
    others = 0.01 * size * size / (2 * (1 - 0.01 * size))
    for staggered, expected in ((True, bounds.low), (False, bounds.high)):
        found = waits(beside_ftps(ftps, form, poisson(packet, 0.01), "drawn", staggered=staggered), packet)
        mean, half = interval(found)
        assert half < 0.1
        assert expected - half <= mean <= expected + others + half, staggered


@pytest.mark.parametrize("delta", [0, 1])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.8])
def test_the_poisson_curve_is_that_of_the_simulator_with_the_factor_and_not_as_printed(rho, delta):
    text = beside_ftps(3, f"fq(delta={delta * 100}kB)", poisson(1.0, rho / 4), "10 s", duration=100_000)
    mean, half = interval(waits(text, 1.0))
    assert abs(mean - fq_delay.poisson_delay(3, rho, delta)) <= half
    assert abs(mean - fq_delay.poisson_delay(3, rho, delta, as_printed=True)) > 2 * half


@pytest.mark.parametrize(
    ("packet", "delta", "form"),
    [
        (1.5, 0.0, "fq"),
        (1.5, 0.5, "fq(delta=50kB)"),
        (1.5, 0.5, "fq(delta=50kB, preemptive=true)"),
        (0.5, 0.0, "fq(preemptive=true)"),
        (0.5, 0.25, "fq(delta=25kB, preemptive=true)"),
        (0.8, 0.4, "fq(delta=40kB, preemptive=true)"),
    ],
)
def test_the_general_relation_gives_the_delay_of_any_packet_size(packet, delta, form):
    expected = fq_delay.poisson_general(3, packet, 0.5, delta, preemptive="preemptive" in form).low
    mean, half = interval(waits(beside_ftps(3, form, poisson(packet, 0.125 / packet), "10 s", duration=50_000), packet))
    assert half < 0.1 * expected
    # below P_F it is an upper bound: a packet that waits behind its like can begin before the fluid begins it
    early = 0.5 * fq_delay.extra_delay(3, packet, preemptive=True).low if packet < 1 else 0.0
    assert expected - early - half <= mean <= expected + half


@pytest.mark.parametrize("rho", [0.1, 0.5, 1.0, 2.0, 3.0])
def test_the_approximation_of_fcfs_is_within_what_it_says(rho):
    mean, half = interval(waits(beside_ftps(3, "fifo", poisson(1.0, rho / 4), "10 s", duration=100_000), 1.0))
    # it claims 1.5 % of what is simulated
    assert abs(mean - fq_delay.fcfs_delay(3, 5, rho)) <= 0.015 * mean + half


PARKING_LOT = """
edition = 1
[measure]
warm_up = "20 s"
duration = "200 s"
[defaults]
queue = "fq"
transport = { kind = "fixed_window", window = 40 }
[[links]]
name = "A"
from = "1"
to = "2"
rate = "1 Mbit/s"
[[links]]
name = "B"
from = "2"
to = "3"
rate = "400 kbit/s"
[[links]]
name = "C"
from = "3"
to = "4"
rate = "1 Mbit/s"
"""


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (3, 1, 2, 1)])
def test_fair_queueing_gives_file_transfers_their_max_min_shares(tmp_path, weights):
    paths = [("long", "1", "4"), ("a", "1", "2"), ("b", "2", "3"), ("c", "3", "4")]
    text = PARKING_LOT + "".join(
        f'[[flows]]\nname = "{name}"\nfrom = "{start}"\nto = "{end}"\ntraffic = "ftp"\nweight = {weight}\n'
        for (name, start, end), weight in zip(paths, weights, strict=True)
    )
    path = tmp_path / "lot.toml"
    path.write_text(text)
    shares = {row["flow"]: row["share_bit_per_s"] for row in fairq.max_min(path)}
    measured = {row["flow"]: row["throughput_bit_per_s"] for row in fairq.run(path).flows}
    long = 400e3 * weights[0] / (weights[0] + weights[2])
    assert shares == pytest.approx({"long": long, "a": 1e6 - long, "b": 400e3 - long, "c": 1e6 - long})
    # at either end of what is measured a flow's packets may be a window off its share
    for name, share in shares.items():
        assert abs(measured[name] - share) <= 40 * 8000 / 200, name
