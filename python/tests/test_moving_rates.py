"""Lines whose rate changes, asked in one line: walks and delivery traces."""

import math
import tomllib

import pytest
from sweep_studies import swept

import fairq as package
from fairq.core.inputs import Text
from fairq.questions import asked, network, rates

WALK = "3Mbit/s..12Mbit/s"
SHORT = {"rtt": "20ms", "flows": "cubic", "seeds": 2, "warm_up": "1s", "duration": "4s"}


@pytest.fixture
def steady_trace(tmp_path):
    """12 Mbit/s: an opportunity of 1500 bytes each millisecond."""
    path = tmp_path / "links" / "steady.down"
    path.parent.mkdir()
    path.write_text("".join(f"{ms}\n" for ms in range(1, 1001)))
    return path


def test_the_nominal_rate_is_the_geometric_middle_or_the_mean(steady_trace):
    assert rates.nominal("--rate", WALK) == 6e6 == math.sqrt(3e6 * 12e6)
    assert (rates.least(WALK), rates.greatest(WALK)) == (3e6, 12e6)
    assert rates.nominal("--rate", f"trace:{steady_trace}") == 12e6


def test_a_trace_may_have_another_way_up(steady_trace, tmp_path):
    up = tmp_path / "up"
    up.write_text("5\n10\n")
    down = f"trace:{steady_trace}"
    assert rates.of_ways(down) == (down, down)
    assert rates.of_ways(f"{down}/5Mbit/s") == (down, "5Mbit/s")
    assert rates.of_ways(f"{down}/1Mbit/s..2Mbit/s") == (down, "1Mbit/s..2Mbit/s")
    assert rates.of_ways(f"{down}/trace:{up}") == (down, f"trace:{up}")
    assert rates.of_ways(f"50Mbit/s/trace:{up}") == ("50Mbit/s", f"trace:{up}")


def test_a_scenario_has_the_line_and_gives_the_same_numbers(steady_trace):
    for rate, link in (
        (WALK, {"rate": WALK}),
        (f"{WALK}/1Mbit/s", {"rate": WALK, "reverse_rate": "1Mbit/s"}),
        (f"trace:{steady_trace}", {"trace": str(steady_trace)}),
        (f"trace:{steady_trace}/1Mbit/s", {"trace": str(steady_trace), "reverse_rate": "1Mbit/s"}),
    ):
        made = tomllib.loads(network.scenario(asked.ask(rate=rate, rtt="20ms", flows="cubic")).text)["links"][0]
        assert {name: made[name] for name in link} == link
    found = package.compare(rate=WALK, **SHORT)
    again = package.run(Text(found.scenario, "asked"))
    used = [each["links"][0]["utilisation"] for each in again.document["points"][0]["seeds"]]
    assert found.queues[0]["utilisation"] == pytest.approx(sum(used) / 2, rel=0.02)


def test_a_full_line_is_used_in_full_whatever_it_carries():
    """A FIFO with room for four products: what a walk carries is known from the run of a flood."""
    found = package.compare(rate=WALK, **SHORT | {"flows": "flood(rate=20Mbit/s)"}, buffer="4BDP")
    assert found.queues[0]["utilisation"] > 0.998
    (row,) = found.rows
    assert row["share"] == pytest.approx(1, abs=0.005)
    assert 3e6 < row["goodput_bit_per_s"] < 12e6
    # The walks of two seeds carry two amounts.
    assert row["goodput_bit_per_s_high"] > 1.01 * row["goodput_bit_per_s"]


def test_a_trace_of_one_rate_is_that_rate(steady_trace):
    moving = package.compare(rate=f"trace:{steady_trace}", **SHORT, buffer="1BDP")
    constant = package.compare(rate="12Mbit/s", **SHORT, buffer="1BDP")
    for column, least in (("share", 0.01), ("queueing_s_mean", 0.002)):
        assert moving.rows[0][column] == pytest.approx(constant.rows[0][column], abs=least)


def test_fair_queueing_shares_a_walk_and_keeps_its_queue_short():
    found = package.compare(rate=WALK, **SHORT | {"flows": "cubic:2,call(rate=100kbit/s)"}, queue="fifo,fq_codel")
    waits = {row["queue"]: row["queueing_s_mean"] for row in found.rows if row["flow"].startswith("call")}
    assert waits["fq_codel"] < 0.01 < waits["fifo"]
    assert found.document["linux"]["text"].startswith("No recorded cell")


def test_a_baseline_says_what_it_used_of_a_line_that_moves(fairq, document):
    _, said, _ = fairq("baseline", "cubic", "--rate", WALK, "--rtt", "20ms", "--duration", "8s")
    said = " ".join(said.split())
    assert "% of what it could carry" in said and "nothing stands still" in said
    found = document("baseline", "cubic", "--rate", WALK, "--rtt", "20ms", "--duration", "8s")
    assert (found["rate"], found["rate_bit_per_s"], found["steady"]) == (WALK, 6_000_000, None)
    assert 0.8 < found["utilisation"] <= 1.001


def test_advice_shapes_below_the_lower_end():
    found = package.advise(
        down=WALK, up="4Mbit/s", rtt="20ms", queue="fifo,fq_codel", seeds=2, warm_up="1s", duration="4s"
    )
    assert "rate 2850kbit" in " ".join(found.tc) and "below the lower end of a walk" in found.tc[0]
    assert found.candidates[0]["candidate"] == "fq_codel"
    made = tomllib.loads(found.scenario)["links"]
    # The box stands behind the line, whose rate it cannot follow.
    assert [link["name"] for link in made[:2]] == ["line", "modem"] and made[1]["rate"] == WALK


def test_a_study_has_a_walk(tmp_path):
    question = 'rate = "3Mbit/s..12Mbit/s", rtt = "20ms", flows = "cubic", queue = "fifo,fq_codel"'
    assert swept(tmp_path, question) == (4, 0)


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        ("130Mbit/s..30Mbit/s", "a walk goes from a lower rate to a higher one; write 30 Mbit/s..130 Mbit/s"),
        ("5Mbit/s..5Mbit/s", "a walk goes from a lower rate to a higher one; write 5 Mbit/s"),
        ("0Mbit/s..30Mbit/s", "`0Mbit/s`: a rate is above zero and at most 10 Tbit/s"),
        ("..30Mbit/s", "``: a rate is a number with one of the units bit/s, kbit/s"),
        ("trace:no/such.down", "no/such.down"),
    ],
)
def test_what_is_no_rate_is_refused_in_one_line(refused, rate, said):
    message = refused("compare", "--rate", rate, "--rtt", "20ms", "--flows", "cubic")
    assert "--rate" in message and said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0\n0\n0\n", "the trace takes no time; its last line is above 0"),
        ("1\n50\n900\n90", "the trace goes backwards, from 900 to 90; if its file is cut, leave this line out"),
        ("", "the trace is empty; a line is a millisecond at which 1500 bytes may leave"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(refused, tmp_path, text, said):
    path = tmp_path / "bad.down"
    path.write_text(text)
    assert said in refused("compare", "--rate", f"trace:{path}", "--rtt", "20ms", "--flows", "cubic")
    assert said in refused("baseline", "cubic", "--rate", f"trace:{path}", "--rtt", "20ms")


def test_the_document_says_the_rate_as_it_was_said(document):
    arguments = ("--rtt", "20ms", "--flows", "cubic", "--seeds", "1", "--warm-up", "1s", "--duration", "2s", "--quiet")
    found = document("compare", "--rate", WALK, *arguments)
    assert found["question"]["rate"] == WALK and WALK in found["question"]["command"]
