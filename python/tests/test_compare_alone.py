"""Each congestion control on a line of its own, at several losses, beside the formulas."""

import itertools
import tomllib

import pytest
from sweep_studies import swept

import fairq as package
from fairq.core.inputs import Text
from fairq.questions import asked, network
from fairq.theories import tcp_throughput

LINE = {"rate": "100Mbit/s", "rtt": "40ms", "workers": 1}


def test_the_windows_of_cubic_are_those_of_the_table_of_the_rfc():
    """RFC 9438, section 5.2: the table of mean windows at a round trip of 0.1 s, for C = 0.4."""
    for loss, window in ((1e-2, 12), (1e-3, 38), (1e-4, 187), (1e-5, 1054), (1e-6, 5926), (1e-7, 33325)):
        assert 0.1 * tcp_throughput.cubic(0.1, loss) == pytest.approx(window, rel=0.03)


def test_reno_and_cubic_are_near_their_formulas_and_bbr_is_not():
    found = package.compare_alone(
        **LINE, flows="reno,cubic,bbr", loss="0.1%,1%", seeds=4, warm_up="10s", duration="60s"
    )
    rows = {(row["flow"], row["line_loss"]): row for row in found.rows}
    for loss in (0.001, 0.01):
        reno, cubic = rows["reno", loss], rows["cubic", loss]
        # Linux's Reno repairs what Padhye's counts as a timeout.
        assert reno["goodput_bit_per_s"] == pytest.approx(reno["padhye_bit_per_s"], rel=0.35)
        assert cubic["goodput_bit_per_s"] == pytest.approx(cubic["rfc9438_bit_per_s"], rel=0.35)
        assert rows["bbr", loss]["share"] > 0.8
        assert cubic["loss"] == pytest.approx(loss, rel=0.2)


def test_without_a_loss_or_in_bursts_the_formulas_say_nothing():
    found = package.compare_alone(**LINE, flows="cubic", loss="0,2%@burst=5", seeds=2, warm_up="2s", duration="4s")
    assert [(row["line_loss"], row["burst"]) for row in found.rows] == [(0.0, None), (0.02, 5.0)]
    assert all(row["padhye_bit_per_s"] is None and row["rfc9438_bit_per_s"] is None for row in found.rows)


def test_bursts_are_as_long_as_is_said():
    """Counted from the packets of a flood: runs of those that did not come are the bursts."""
    made = asked.ask(
        rate="100Mbit/s", rtt="20ms", flows="flood(rate=12Mbit/s)", loss="5%@burst=4", seeds=1, warm_up="0s",
        duration="60s",
    )  # fmt: skip
    table = package.run(network.scenario(made), packets="flood(rate=12Mbit/s)", workers=1).packets
    arrived = [row["received_s"] is not None for row in sorted(table, key=lambda row: row["sent_s"])]
    gaps = [len(list(run)) for has_come, run in itertools.groupby(arrived) if not has_come]
    # 60000 packets: 750 bursts, whose mean is known to 3 %; three of these.
    assert sum(gaps) / 60_000 == pytest.approx(0.05, rel=0.15)
    assert sum(gaps) / len(gaps) == pytest.approx(4, rel=0.1)


def test_the_scenario_gives_the_same_numbers():
    found = package.compare_alone(
        **LINE, flows="reno:2,bbr", loss="0,1%", queue="fifo,fq_codel", seeds=2, warm_up="2s", duration="3s"
    )
    assert len(found.rows) == 8
    table = package.run(Text(found.scenario, "asked"), workers=1).flows
    for row in found.rows:
        loss = "0" if row["line_loss"] == 0 else "1%"
        mine = [
            each["throughput_bit_per_s"]
            for each in table
            if (each["alone"], each["line loss"], each["queue"]) == (row["flow"], loss, row["queue"])
        ]
        assert len(mine) == row["count"]
        assert sum(mine) == pytest.approx(row["goodput_bit_per_s"], rel=0.05)


def test_a_flow_alone_is_the_same_as_a_question_of_it():
    said = LINE | {"seeds": 2, "warm_up": "2s", "duration": "3s", "loss": "1%"}
    alone = package.compare_alone(flows="reno,cubic", **said).rows[1]
    (row,) = package.compare(flows="cubic", **said).rows
    assert alone["goodput_bit_per_s"] == row["goodput_bit_per_s"]


def test_a_study_has_both_axes(tmp_path):
    question = 'rate = "10Mbit/s", rtt = "20ms", flows = "cubic,bbr", alone = true, loss = "0,1%"'
    assert swept(tmp_path, question) == (8, 0)


def test_losses_in_bursts_stand_in_the_scenario():
    made = tomllib.loads(network.scenario(asked.ask(rate="1Mbit/s", rtt="9ms", flows="reno", loss="2%@burst=5")).text)
    assert made["links"][0]["loss"] == "0.02@burst=5"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--loss", "0,1%"), "--loss 0,1%: several losses go with --alone; write --alone, or one loss"),
        (("--loss", "2%@5"), "--loss 2%@5: write the mean burst behind the part, as 2%@burst=5"),
        (("--loss", "90%@burst=2"), "bursts of 2 lose at most 0.667 of the packets"),
        (("--loss", "2%@burst=0.5"), "a mean burst has from 1 to 1000000 packets, not 0.5"),
        (("--alone", "--hosts", "2x1"), "--alone: an item has no host beside others there; leave --hosts out"),
        (("--alone", "--paired"), "--paired: --alone compares no flows of one line; leave one of the two out"),
        (("--alone", "--flows", "web"), "--alone is for congestion controls"),
        (("--alone", "--flows", "cubic@80ms"), "a line of its own has the round trip of --rtt; write --rtt 80ms"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(refused, more, said):
    flows = () if "--flows" in more else ("--flows", "cubic")
    assert said in refused("compare", "--rate", "10Mbit/s", "--rtt", "20ms", *flows, *more)


def test_the_document_is_as_its_schema_says(document):
    found = document("compare", "--alone", "--rate", "10Mbit/s", "--rtt", "20ms", "--flows", "cubic,bbr", "--loss",
                     "0,1%", "--seeds", "2", "--warm-up", "1s", "--duration", "2s", "--quiet")  # fmt: skip
    assert found["question"]["loss"] == ["0", "1%"]
    assert found["text"].startswith("Without a loss: cubic ")
