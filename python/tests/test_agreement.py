"""How far answers are from a Linux kernel: the recorded cells that are like a question."""

from dataclasses import replace

import pytest

from fairq.api import agree
from fairq.core.errors import UsageError
from fairq.questions import agreement, kernel
from fairq.questions.kernel import Asked

FQ_CODEL = Asked(frozenset({"fq_codel"}), frozenset({"cubic"}), False, 20e6, (0.02,))


def plain():
    """The cells that a question may be like."""
    return [cell for cell in agreement.cells() if cell.is_plain and cell.window == kernel.STEADY]


def asked_of(cell):
    return Asked(cell.queue, cell.controls, cell.ecn, cell.rate_bit_per_s, (cell.rtt_s,))


def test_a_cell_is_near_with_the_same_queue_and_controls_within_a_factor_of_two():
    found = {cell.name for cell in kernel.near(FQ_CODEL)}
    assert {"20M.20ms.fq_codel.4c", "10M.20ms.fq_codel.1c"} <= found
    assert not found & {
        "20M.60ms.fq_codel.4c",
        "20M.20ms.codel.1c",
        "20M.20ms.fq_codel.2r2c",
        "20M.20ms.fq_codel.4c.ecn",
    }
    between = {cell.name for cell in kernel.near(replace(FQ_CODEL, rtts_s=(0.035,)))}
    assert {"20M.20ms.fq_codel.4c", "20M.60ms.fq_codel.4c"} <= between


def test_fewer_than_three_cells_say_nothing():
    assert kernel.distance(plain()[:2]) is None
    assert kernel.distance(plain()[:3]) is not None


def test_the_greatest_of_few_distances_is_widened_and_of_nineteen_it_is_not():
    factors = [kernel.factor(count) for count in (3, 9, 19, 40)]
    assert factors == sorted(factors, reverse=True) and factors[2] == pytest.approx(1.0, abs=1e-6)
    for count in (3, 9):
        exceeds = 1.0
        for k in range(1, count + 1):
            exceeds *= k / (k + kernel.factor(count))
        assert exceeds == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize(("factor", "least"), [(2.0, 15), (3.0, 55)])
def test_the_distance_holds_for_nine_of_ten_recorded_cells_that_are_left_out(monkeypatch, factor, least):
    """Within a factor of two few cells have three others; round trips of 20 and 60 ms are within three."""
    monkeypatch.setattr(kernel, "NEAR", factor)
    within = [
        (cell.share_distance <= found.share and cell.queueing_distance <= found.queueing)
        for cell in plain()
        if (found := kernel.distance([other for other in kernel.near(asked_of(cell)) if other.name != cell.name]))
    ]
    assert len(within) >= least
    assert sum(within) >= 0.9 * len(within), (sum(within), len(within))


def test_an_answer_ends_with_what_cells_like_it_say(document, fairq):
    line = ("compare", "--rate", "20Mbit/s", "--rtt", "20ms", "--flows", "cubic:4", "--queue", "fq_codel,drr",
            "--seeds", "2", "--warm-up", "5s", "--duration", "5s")  # fmt: skip
    found = document(*line)["linux"]
    by_queue = {each["queue"]: each for each in found["answers"]}
    assert len(by_queue["fq_codel"]["cells"]) >= 3 and by_queue["drr"]["cells"] == []
    count = len(by_queue["fq_codel"]["cells"])
    assert found["text"].startswith(f"In {count} recorded cells of Linux 6.1 like these, shares were within ")
    assert found["text"].endswith("No recorded cell is like drr.")
    assert fairq(*line, "--quiet")[1].split()[-len(found["text"].split()) :] == found["text"].split()


@pytest.mark.parametrize(
    "more",
    [
        ("--loss", "1%"), ("--profile", "rfc"), ("--flows", "cubic(decrease=0.8)"),
        ("--flows", "cubic,flood(rate=1Mbit/s)"), ("--receive-window", "100packets"),
    ],
)  # fmt: skip
def test_what_was_not_recorded_is_like_no_cell(document, more):
    flows = () if "--flows" in more else ("--flows", "cubic")
    found = document("compare", "--rate", "20Mbit/s", "--rtt", "20ms", *flows, "--queue", "fq_codel", "--seeds", "2",
                     "--warm-up", "5s", "--duration", "1s", *more, "--quiet")  # fmt: skip
    assert found["linux"]["text"] == "No recorded cell of Linux 6.1 is like this."


def test_a_name_has_its_cells_and_all_names_a_row_each(document, fairq, refused):
    cells = document("agree", "linux", "bbr")["cells"]
    assert cells and all("bbr" in cell["share_linux"] for cell in cells)
    summary = {row["name"]: row for row in document("agree", "linux")["summary"]}
    assert summary["bbr"]["cells"] == len(cells)
    assert summary["bbr"]["differs"] == sum(cell["verdict"] == "differs" for cell in cells)
    _, out, _ = fairq("agree", "linux", "bbr")
    assert "What differs, and why" in out or summary["bbr"]["differs"] == 0
    assert "did you mean fq_codel?" in refused("agree", "linux", "fq_codl")
    assert "'bsd' is not known" in refused("agree", "bsd")
    with pytest.raises(UsageError, match="write linux"):
        agree("bsd")


def test_a_card_ends_with_a_line_of_its_agreement(fairq):
    assert "fq_codel agrees with Linux 6.1: the order of departures in" in fairq("explain", "fq_codel")[1]
    assert "agrees with Linux" not in fairq("explain", "cbq")[1]
