"""Each result of `fairq theory` beside the simulator, in the setting for which it is derived.

The line sends a packet of 1000 B a second, so that delays are in packets. Intervals hold the true mean with 99.9 %
(one false alarm in a thousand cases, were the seeds not fixed); a test also asserts that its interval is narrow enough
to tell the theory from its neighbours.
"""

import json
import math

import pytest

import fairq
from fairq import _native, theory

SEEDS = 10
T_999 = 4.781 / 2.262
"""Student's t with nine degrees of freedom: a 99.9 % interval is so many times as wide as one of 95 %."""

NO_TIMEOUT = "timeout = { first = '1000000 s', floor = '1000000 s' }"


def beside_ftps(ftps, queue, telnet, start, *, staggered=True, duration=100_000, buffer="unlimited", window=5):
    """A scenario: a Telnet beside FTPs that always have a window of packets at the gateway, all other lines fast."""
    flows = []
    for number in range(ftps):
        # finish numbers 1/N of a packet apart, or equal
        begin = number * (number + 1) / (2 * ftps) if staggered else 0
        flows.append(
            f'[[flows]]\nname = "ftp {number}"\nfrom = "gateway"\nto = "sink"\ntraffic = "ftp"\nstart = "{begin:.9f} s"\n'
            f'transport = {{ kind = "fixed_window", window = {window}, {NO_TIMEOUT} }}\naccess = {{ rate = "unlimited" }}\n'
        )
    return f"""
[measure]
warm_up = "2000 s"
duration = "{duration} s"
replications = {SEEDS}
[defaults]
queue = "{queue}"
buffer = "{buffer}"
[[links]]
name = "line"
from = "gateway"
to = "sink"
rate = "8 kbit/s"
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
    """The Telnet's mean queueing delay of each seed, in packets of 1000 B."""
    document = json.loads(_native.run(text, "theory.toml", [], 2))
    flows = [flow for seed in document["points"][0]["seeds"] for flow in seed["flows"] if flow["flow"] == "telnet"]
    assert len(flows) == SEEDS and all(flow["dropped"] == 0 for flow in flows)
    return [flow["delay_s_mean"] - packet for flow in flows]


def agrees(values, expected, within):
    """Whether the mean of the values is the expected one; `within` is how narrow the interval must be."""
    mean, low, _ = _native.confidence_interval(values)
    half = (mean - low) * T_999
    assert half <= within, f"the interval of {mean:.4f} ± {half:.4f} is too wide to tell anything"
    return abs(mean - expected) <= half + 1e-6


# A Telnet packet every 61.8… s: each is long alone, and their phases fall everywhere between the FTPs' packets.
def isolated(packet):
    return f"kind = 'constant_rate', packet = '{packet * 1000:.0f} B', rate = '{packet * 8000 / 61.803:.0f} bit/s'"


@pytest.mark.parametrize("form", ["fq", "fq(preemptive=true)"])
@pytest.mark.parametrize(
    ("ftps", "packet"), [(3, 0.04), (3, 0.25), (3, 0.5), (3, 0.8), (3, 1.0), (3, 1.5), (6, 0.2), (6, 0.6)]
)
def test_an_isolated_packet_waits_as_long_as_a_of_p_says(form, ftps, packet):
    bounds = theory.extra_delay(ftps, packet, preemptive="preemptive" in form)
    for staggered, expected in ((True, bounds.low), (False, bounds.high)):
        text = beside_ftps(ftps, form, isolated(packet), "drawn", staggered=staggered)
        assert agrees(waits(text, packet), expected, within=0.04), (staggered, expected, waits(text, packet))


def poisson(packet, rho, ftps):
    return f"kind = 'poisson', packet = '{packet * 1000:.0f} B', rate = '{rho * 8000 / (ftps + 1):.6f} bit/s'"


@pytest.mark.parametrize("delta", [0, 1])
@pytest.mark.parametrize("rho", [0.1, 0.5, 0.8])
def test_the_poisson_curve_is_that_of_the_simulator_with_the_factor_and_not_as_printed(rho, delta):
    text = beside_ftps(3, f"fq(delta={delta * 1000}B)", poisson(1.0, rho, 3), "10 s", duration=200_000)
    expected = theory.poisson_delay(3, rho, delta)
    printed = theory.poisson_delay(3, rho, delta, as_printed=True)
    found = waits(text, 1.0)
    assert agrees(found, expected, within=abs(expected - printed) / 2)
    assert not agrees(found, printed, within=math.inf)


@pytest.mark.parametrize(
    ("packet", "delta", "form"),
    [
        (1.5, 0.0, "fq"),
        (1.5, 0.5, "fq"),
        (0.5, 0.0, "fq(preemptive=true)"),
        (0.5, 0.25, "fq(delta=250B, preemptive=true)"),
        (0.8, 0.4, "fq(delta=400B, preemptive=true)"),
    ],
)
def test_the_general_relation_gives_the_delay_of_any_packet_size(packet, delta, form):
    queue = f"fq(delta={delta * 1000:.0f}B)" if form == "fq" else form
    expected = theory.poisson_general(3, packet, 0.5, delta, preemptive="preemptive" in form).low
    found = waits(beside_ftps(3, queue, poisson(packet, 0.5, 3), "10 s", duration=200_000), packet)
    assert agrees(found, expected, within=0.1 * expected), (expected, found)


@pytest.mark.parametrize("rho", [0.1, 0.5, 1.0, 2.0, 3.0])
def test_the_approximation_of_fcfs_is_within_what_it_says(rho):
    text = beside_ftps(3, "fifo", poisson(1.0, rho, 3), "10 s", duration=200_000)
    mean, low, _ = _native.confidence_interval(waits(text, 1.0))
    # it claims 1.5 % of what is simulated
    assert abs(mean - theory.fcfs_delay(3, 5, rho)) <= 0.015 * mean + (mean - low) * T_999


PARKING_LOT = """
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
