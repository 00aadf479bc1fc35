"""The least buffer that keeps a part of a line, beside rules of thumb and theory."""

import math

import pytest

import fairq as package
from fairq.questions import least_buffer

LINE = {"down": "20Mbit/s", "up": "20Mbit/s", "rtt": "40ms", "workers": 1}
TIMES = {"seeds": 3, "warm_up": "10s", "duration": "40s"}


def test_reno_alone_uses_three_quarters_without_a_buffer_and_all_with_a_product():
    """A sawtooth between half of a product and a product: 3/4 of the line (Appenzeller, 2)."""
    found = package.least_buffer("98%", **LINE, **TIMES, flows="reno", queue="fifo")
    (row,) = found.rows
    assert 0.6 < row["products"] < 1.2 and row["rule_products"] == 1.0
    tried = {each["products"]: each["utilisation"] for each in found.tried}
    assert 0.7 < tried[0.05] < 0.85 and tried[2.0] > 0.98
    # With a buffer of b products the window falls from 1 + b to half of that: by hand, what is
    # left idle.
    for part in (0.1, 0.2, 0.4):
        top = 1 + part
        low = top / 2
        # Of a cycle from `low` to `top` the time below one product; rounds with a queue are
        # longer.
        below, above = max(1 - low, 0.0), top - max(low, 1.0)
        sent = (low + 1) / 2 * below + (1 + top) / 2 * above
        took = below + (1 + top) / 2 * above
        assert tried[part] == pytest.approx(sent / took, abs=0.06), part


def test_more_flows_need_less_and_no_more_than_the_rule_says():
    """Appenzeller and others: a product over the square root of the number of flows."""
    one, many = (
        package.least_buffer("97%", **LINE, **TIMES, flows=flows, queue="fifo").rows[0] for flows in ("reno", "reno:16")
    )
    assert many["products"] < 0.5 * one["products"]
    assert many["rule_products"] == 0.25


def test_an_interval_holds_the_least_buffer_of_other_seeds():
    """What two runs of a question say of one truth: their intervals have something in common."""
    say = LINE | TIMES | {"flows": "cubic:4", "queue": "fifo"}
    few, more = (package.least_buffer("98%", **say | {"seeds": seeds}).rows[0] for seeds in (3, 6))
    low, high = few["products_low"] or 0.0, few["products_high"] or math.inf
    assert low <= more["products"] <= high and low <= few["products"] <= high


def test_a_curve_is_crossed_for_good():
    curve = [(0.1, 0.8), (0.2, 0.96), (0.5, 0.94), (1.0, 0.98), (2.0, 0.99)]
    # Between 0.5 and 1, half of the way in the logarithm.
    assert least_buffer._least(0.96, curve) == pytest.approx(math.sqrt(0.5))
    assert least_buffer._least(0.5, curve) == 0.1
    assert least_buffer._least(0.995, curve) is None


def test_a_target_that_no_buffer_meets_is_told_with_what_to_write():
    found = package.least_buffer("99.99%", **LINE, **TIMES | {"duration": "10s"}, flows="reno", queue="fq_codel")
    assert found.rows[0]["products"] is None
    assert found.text.startswith("None of these keeps 99.99 % of the line with up to 4BDP: fq_codel keeps most")
    assert "write for example --buffer-for " in found.text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--buffer", "60kB"), "--buffer: --buffer-for tries rooms alone; leave one of the two out"),
        (("--criterion", "jain"), "--criterion: --buffer-for tries rooms alone"),
        (("--flows", "call(rate=100kbit/s)"), "--flows: none takes what it can get"),
        (("--buffer-for", "0"), "--buffer-for 0: write the part of the line that is to be used, as 99%"),
        (("--buffer-for", "110%"), "a part of the line is from 0 to below 1, as 0.99 or 99%"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(refused, more, said):
    first = () if "--buffer-for" in more else ("--buffer-for", "99%")
    assert said in refused("advise", "--down", "20Mbit/s", "--up", "5Mbit/s", "--rtt", "40ms", *first, *more)


def test_the_document_is_as_its_schema_says_and_a_scenario_is_written(document, tmp_path):
    asked = tmp_path / "asked.toml"
    found = document("advise", "--down", "10Mbit/s", "--up", "10Mbit/s", "--rtt", "20ms", "--queue", "fifo",
                     "--buffer-for", "90%", "--seeds", "2", "--warm-up", "1s", "--duration", "3s", "--scenario",
                     asked, "--quiet")  # fmt: skip
    assert len(found["tried"]) == len(least_buffer.PRODUCTS)
    assert "0.02BDP" in asked.read_text()
