"""Whether what still moves could turn a verdict."""

import math
from types import SimpleNamespace

import pytest

import fairq as package
from fairq.questions import asked, sentences
from fairq.questions.course import Of
from fairq.questions.steady import Move, Steady, Times
from fairq.questions.turning import FURTHER, Reach, Value, is_turned, sides

KEY = ("fifo", None, None, "40ms")


def by_more_than(least):
    return lambda one, other: abs(one - other) > least


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (Value(0.9), Value(0.5), {1}),
        (Value(0.9, 0.1), Value(0.5, 0.1), {1}),
        (Value(0.9, 0.3), Value(0.5, 0.1), {1, 0}),
        (Value(0.9, 0.5), Value(0.5, 0.5), {1, -1}),
        (Value(0.5, 0.005), Value(0.5), {0}),
    ],
)
def test_the_greater_of_two_is_known_where_neither_reaches_the_other(one, other, found):
    assert sides(one, other, by_more_than(0.02)) == found


@pytest.mark.parametrize(
    ("reach", "turned"),
    [({}, False), ({"b": 0.1}, False), ({"c": 0.3}, False), ({"c": 0.45}, True), ({"b": 0.6}, True)],
)
def test_a_verdict_turns_if_another_comes_to_be_as_good_as_the_best(reach, turned):
    """What is like the best may come to differ from it, but not to be worse than the others."""
    values = {name: Value(mean, reach.get(name, 0.0)) for name, mean in {"a": 1.0, "b": 0.99, "c": 0.55}.items()}
    assert is_turned("a", ["b"], values, by_more_than(0.02), is_more=True) is turned


def test_all_that_are_alike_turn_if_a_difference_comes_to_count():
    values = {"a": Value(1.0), "b": Value(0.99, 0.1)}
    assert is_turned("a", ["b"], values, by_more_than(0.02), is_more=True)
    assert not is_turned("a", ["b"], {**values, "b": Value(0.99)}, by_more_than(0.02), is_more=True)


def test_an_index_goes_as_far_as_the_shares_that_move():
    """Jain's index of 0.6 and 0.4 is 0.9615; with a move of 0.05, of 0.8 and 0.2, it is 0.7353."""
    groups = asked.ask(rate="10Mbit/s", rtt="40ms", flows="cubic,bbr").groups
    moves = [Move(Of(KEY, 0, "share"), "cubic", 0.575, 0.625), Move(Of(KEY, 1, "share"), "bbr", 0.425, 0.375)]
    shares = [[{"share": 0.6, "queueing_s_mean": 0.1}], [{"share": 0.4, "queueing_s_mean": 0.1}]]
    point = SimpleNamespace(key=KEY, groups=shares, lines={"down": [{}]})
    reach = Reach(groups, Steady(Times(40, 80), Times(5, 10), 80, tuple(moves)))
    assert FURTHER == 4
    assert reach.of(point, "down", "jain") == pytest.approx(1 / 1.04 - 1 / 1.36)
    assert reach.of(point, 0, "share") == pytest.approx(0.2)
    assert reach.of(point, "down", "utilisation") == pytest.approx(0)
    assert reach.of(point, "down", "queueing_s_mean") == pytest.approx(0)
    by_hand = Reach(groups, Steady(Times(5, 10), Times(5, 10), 10, tuple(moves)))
    assert math.isinf(by_hand.of(point, 0, "share"))
    other = SimpleNamespace(key=("drr", *KEY[1:]), groups=shares, lines={"down": [{}]})
    assert reach.of(other, "down", "jain") == 0


def test_a_small_move_leaves_a_large_verdict_decided():
    """CUBIC moves by a point behind fair queueing; a FIFO gives it 97 %."""
    found = package.compare(rate="1Mbit/s", rtt="40ms", flows="cubic,bbr", seeds=4, queue="sfq,fq,fifo", paired=True,
                            workers=2)  # fmt: skip
    assert not found.document["steady"]["stands"]
    assert found.answer["decided"] and found.answer["second"] == "fifo"
    assert "cubic with fq from" in found.answer["text"]
    assert "too little to turn the verdict" in found.answer["text"] and "nothing is decided" not in found.answer["text"]
    decided = {(row["quantity"], row["a"], row["b"]): row["decided"] for row in found.paired}
    assert decided["jain", "fq", "fifo"]


@pytest.mark.parametrize(
    ("turned", "said"),
    [
        ([], "that is too little to turn the verdict."),
        ([""], "; nothing is decided."),
        (["at 20ms"], "; at 20ms nothing is decided."),
        (["at 20ms", "at 80ms"], "; at 20ms and at 80ms nothing is decided."),
    ],
)
def test_what_moves_is_said_with_where_it_could_turn_the_verdict(turned, said):
    found = Steady(Times(40, 80), Times(5, 10), 80, (Move(Of(KEY, 0, "share"), "cubic", 0.6, 0.5),))
    (text,) = sentences.moving(found, turned=turned)
    assert said in text and "cubic from 60 % to 50 %" in text
