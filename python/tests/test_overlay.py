"""Theory beside a run: shares, bounds and formulas where they speak of a flow, nothing where they do not."""

from pathlib import Path

import pytest

import fairq as package
from fairq.theories.delay_bounds import Hop, pgps
from fairq.theories.tcp_throughput import mathis, padhye

PROMISED = Path(__file__).resolve().parents[2] / "docs" / "guide" / "promised.toml"
SHORT = ("--set", "measure.duration=20 s")


@pytest.fixture
def theory(document):
    """Runs the scenario of the guide with changes; gives the rows of the theory by queue and flow."""

    def run(*changes, scenario=PROMISED):
        sets = [part for change in changes for part in ("--set", change)]
        found = document("run", scenario, "--overlay", *SHORT, *sets)
        return {(row.get("queue"), row["flow"]): row for row in found["theory"]}, found

    return run


def test_under_weighted_fair_queueing_flows_get_their_shares_and_under_fifo_not(theory):
    rows, _ = theory()
    for flow, share in {"voice": 5e5, "long.1": 1.5e6, "long.2": 1.5e6, "heavy": 4.5e6}.items():
        row = rows["wfq", flow]
        assert row["max_min_bit_per_s"] == share
        assert row["max_min_gap"] == pytest.approx(row["throughput_bit_per_s"] / share - 1)
        assert abs(row["max_min_gap"]) < 0.1
    assert rows["fifo", "heavy"]["max_min_gap"] < -0.3


def test_times_that_are_no_whole_nanoseconds_are_read(theory):
    rows, _ = theory('defaults.access={rate="100 Mbit/s", delay="1.5 ns"}')
    assert rows["wfq", "long.1"]["max_min_bit_per_s"] == 1.5e6


def test_a_source_that_keeps_to_its_rate_stays_under_its_bound_along_two_lines(theory):
    rows, _ = theory()
    row = rows["wfq", "voice"]
    # the lines' users: voice and two of weight 1; the same and one of weight 3; of its own host, no other
    hops = [Hop(1e7, 1e7 / 3, 8000, 0.005), Hop(8e6, 8e6 / 6, 8000, 0.005), Hop(1e8, 1e8, 0, 0.005)]
    assert row["delay_bound_s"] == pytest.approx(pgps(3200, 1600, hops, rate=5e5).delay)
    assert row["delay_s_max"] < row["delay_bound_s"]
    assert row["delay_bound_gap"] > -0.3, "it comes near"
    assert rows["fifo", "voice"]["delay_bound_s"] is None
    assert rows["wfq", "heavy"]["delay_bound_s"] is None


def test_the_formulas_take_the_loss_and_round_trip_that_were_measured(theory):
    rows, found = theory()
    measured = next(row for row in found["flows"] if (row["queue"], row["flow"]) == ("fifo", "heavy"))
    loss, round_trip = measured["dropped"] / measured["sent"], measured["rtt_s_mean"]
    row = rows["fifo", "heavy"]
    assert row["mathis_bit_per_s"] == pytest.approx(8000 * mathis(round_trip, loss))
    assert row["padhye_bit_per_s"] == pytest.approx(8000 * padhye(round_trip, loss, timeout=0.2))
    assert rows["fifo", "voice"]["mathis_bit_per_s"] is None


def test_the_formulas_have_b_of_one_however_packets_are_acknowledged(theory):
    rows, found = theory('flows.heavy.connection={recovery="sack", acknowledge_every=2}')
    measured = next(row for row in found["flows"] if (row["queue"], row["flow"]) == ("fifo", "heavy"))
    loss = measured["dropped"] / measured["sent"]
    assert rows["fifo", "heavy"]["mathis_bit_per_s"] == pytest.approx(8000 * mathis(measured["rtt_s_mean"], loss))


@pytest.mark.parametrize(
    "change",
    [
        "flows.voice.traffic=poisson(rate=500kbit/s)",
        "flows.voice.traffic=constant_rate(rate=3Mbit/s)",
        "flows.voice.traffic=constant_rate(rate=500kbit/s, jitter=0.1, adds_up=true)",
        "links.second.queue=wfq + source + tail_drop",
        "links.second.queue=drr",
        "links.second.queue=fq(delta=1500B)",
        "links.second.queue=fq(preemptive=true)",
        "links.second.loss=0.01",
        "multipath=true",
        "flows.heavy.transport=cubic",
        "flows.heavy.transport=reno(decrease=0.7)",
    ],
)
def test_where_the_theory_does_not_speak_of_a_flow_there_is_no_number(theory, change):
    rows, _ = theory(change)
    if "transport" in change:
        assert rows["wfq", "heavy"]["mathis_bit_per_s"] is None
    else:
        assert rows["wfq", "voice"]["delay_bound_s"] is None


def test_a_delay_is_bounded_wherever_the_schedulers_promise_it(theory):
    rows, _ = theory()
    for scheduler in ("fq", "wf2q", "wf2q_plus", "leap_forward_virtual_clock"):
        mixed, _ = theory(f"links.second.queue={scheduler}")
        assert mixed["wfq", "voice"]["delay_bound_s"] == rows["wfq", "voice"]["delay_bound_s"]
        assert mixed["wfq", "voice"]["delay_s_max"] < mixed["wfq", "voice"]["delay_bound_s"]


def test_an_axis_that_changes_a_flow_leaves_shares_only(theory, tmp_path):
    path = tmp_path / "x.toml"
    text = PROMISED.read_text().replace('path = "defaults.queue"', 'path = "flows.voice.traffic"')
    path.write_text(text.replace('["fifo", "wfq"]', '["constant_rate(rate=500kbit/s)"]'))
    rows, _ = theory("defaults.queue=wfq", scenario=path)
    (row,) = [row for (_, flow), row in rows.items() if flow == "voice"]
    assert (row["delay_bound_s"], row["max_min_bit_per_s"]) == (None, 5e5)


def test_the_figure_and_the_folder_have_the_theory(fairq, tmp_path):
    out = ("--plot", tmp_path / "x.svg", "--out", tmp_path / "out")
    status, printed, err = fairq("run", PROMISED, "--overlay", *SHORT, *out)
    assert (status, err) == (0, "")
    assert "  delay bound  " in printed
    figure = (tmp_path / "x.svg").read_text()
    assert "max-min share" in figure and "Padhye" in figure and "bound" in figure
    assert (tmp_path / "out" / "theory.csv").read_text().startswith("queue,flow,")


def test_no_axis_hides_a_column_of_the_theory(theory):
    rows, _ = theory()
    shares = package.max_min(PROMISED)
    columns = {*rows["wfq", "voice"], *shares[0]} - {"queue"}
    assert {"mathis_gap", "delay_bound_s", "share_bit_per_s", "demand_bit_per_s"} <= columns
    for column in columns:
        with pytest.raises(package.ScenarioError, match=f"{column} is a column of the results"):
            package.run(PROMISED, set={"axes.0.name": column})


def test_the_bound_is_that_of_the_route_that_was_taken(theory, tmp_path):
    detour = """
[[links]]
name = "over"
from = "a"
to = "d"
rate = "20 Mbit/s"
delay = "7 ms"
[[links]]
name = "back"
from = "d"
to = "b"
rate = "20 Mbit/s"
delay = "2 ms"
"""
    path = tmp_path / "x.toml"
    text = PROMISED.read_text().replace('name = "voice"', 'name = "voice"\nroute = ["over", "back", "second"]')
    path.write_text(text + detour)
    rows, _ = theory(scenario=path)
    row = rows["wfq", "voice"]
    # alone on the detour, with two of weight 1 and one of 3 behind it
    hops = [Hop(2e7, 2e7, 1600, 0.007), Hop(2e7, 2e7, 1600, 0.002), Hop(8e6, 8e6 / 6, 8000, 0.005)]
    assert row["delay_bound_s"] == pytest.approx(pgps(3200, 1600, [*hops, Hop(1e8, 1e8, 0, 0.005)], rate=5e5).delay)
    assert row["delay_s_max"] < row["delay_bound_s"]
