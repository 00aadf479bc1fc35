"""The game of congestion control: known answers of its theory, equilibria of small games, a short run for real."""

import doctest
import json
import math

import numpy as np
import pytest

from fairq.theories import game

COST = 0.25
STARTS = ([0.01, 0.01], [0.5, 0.1], [0.1, 0.5], [0.2, 0.7])


def test_the_examples_hold():
    assert doctest.testmod(game).failed == 0


def test_fair_share_divides_the_same_number_as_fifo():
    rates = [0.3, 0.1, 0.2]
    fair = game.fair_share(rates, game.exponential)
    assert sum(fair) == pytest.approx(sum(game.fifo(rates, game.exponential))) == pytest.approx(1.5)
    assert fair == pytest.approx([0.928571, 0.142857, 0.428571], abs=1e-6)


def test_an_overload_is_borne_by_those_who_make_it():
    assert game.fair_share([0.1, 2.0, 0.2], game.exponential) == pytest.approx([0.142857, math.inf, 0.428571], abs=1e-6)
    assert game.fifo([0.1, 2.0], game.exponential) == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("users", "load", "utility"),
    [(2, 0.578465, 0.235395), (3, 0.616204, 0.214816), (5, 0.655051, 0.180306), (10, 0.693448, 0.127926),
     (100, 0.742781, 0.020847)],
)  # fmt: skip
def test_under_fifo_more_users_send_more_and_have_less_of_it(users, load, utility):
    assert game.fifo_load(users, COST) == pytest.approx(load, abs=1e-6)
    rates = [load / users] * users
    of = [game.linear(COST)] * users
    assert sum(game.utilities(rates, of, game.fifo, game.exponential)) == pytest.approx(utility, abs=2e-6)
    # under fair share half of the line is sent, and a quarter of it had, by any number
    fair = game.utilities([0.5 / users] * users, of, game.fair_share, game.exponential)
    assert sum(fair) == pytest.approx(0.25)
    assert game.fifo_load(10**9, COST) == pytest.approx(0.75)


def test_a_line_of_packets_of_one_length_holds_what_is_known():
    for load, number in [(0.5, 0.75), (0.8, 2.40), (0.9, 4.95), (0.95, 9.975)]:
        assert game.deterministic(load) == pytest.approx(number)
    # a mean of one packet, where DECbit gateways mark: half of an M/M/1 line, 2 - sqrt 2 of this
    assert [game.exponential(0.5), game.deterministic(2 - math.sqrt(2))] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize(("discipline", "rate"), [(game.fifo, 0.289232), (game.fair_share, 0.25)])
def test_a_climb_ends_at_the_equilibrium(start, discipline, rate):
    way = game.hill_climb(start, [game.linear(COST)] * 2, discipline, game.exponential)
    assert way[0] == start and way[-1] == pytest.approx([rate, rate], abs=1e-5)


def test_nobody_has_a_better_answer_where_a_climb_ends():
    of = [game.linear(cost) for cost in (0.1, 0.2, 0.3)]
    for discipline in (game.fifo, game.fair_share):
        rates = game.hill_climb([0.1] * 3, of, discipline, game.exponential)[-1]
        for user, utility in enumerate(of):
            best = game.best_response(user, rates, utility, discipline, game.exponential)
            assert best == pytest.approx(rates[user], abs=1e-4)


def test_users_with_a_bound_rest_anywhere_under_fifo_and_in_one_place_under_fair_share():
    ends = {
        discipline: [game.hill_climb(s, [game.bounded(2.0)] * 2, discipline, game.exponential)[-1] for s in STARTS]
        for discipline in (game.fifo, game.fair_share)
    }
    assert all(sum(end) == pytest.approx(0.5, abs=1e-5) for each in ends.values() for end in each)
    assert np.ptp(ends[game.fifo], axis=0).max() > 0.1 > 1e-4 > np.ptp(ends[game.fair_share], axis=0).max()


def test_answers_at_once_come_to_rest_under_fair_share_only():
    of = [game.linear(COST)] * 3
    fair = game.best_responses([0.1, 0.2, 0.3], of, game.fair_share, game.exponential, 4)
    assert fair[-1] == pytest.approx([1 / 6] * 3, abs=1e-4)
    fifo = game.best_responses([0.1, 0.2, 0.3], of, game.fifo, game.exponential, 20)
    assert np.abs(np.subtract(fifo[-1], fifo[-2])).max() > 0.1


def test_equilibria_of_known_games():
    dilemma = np.array([[3.0, 0.0], [5.0, 1.0]])
    assert [(x.tolist(), y.tolist()) for x, y in game.equilibria(dilemma, dilemma.T)] == [([0, 1], [0, 1])]
    scissors = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    ((x, y),) = game.equilibria(scissors, scissors.T)
    assert x == pytest.approx(1 / 3) and y == pytest.approx(1 / 3)
    # hawk and dove: a prize of 2, a fight costs 4
    doves = np.array([[-1.0, 2.0], [0.0, 1.0]])
    found = [x.tolist() for x, _ in game.equilibria(doves, doves.T)]
    assert found == [[1, 0], [0, 1], [pytest.approx(0.5), pytest.approx(0.5)]]
    assert game.greatest_gain(dilemma) == 2.0


def test_no_mixture_of_an_equilibrium_can_be_bettered():
    draw = np.random.default_rng(1)
    for _ in range(50):
        first, second = draw.normal(size=(2, 4, 4))
        found = game.equilibria(first, second)
        # games without ties have an odd number
        assert len(found) % 2 == 1
        for x, y in found:
            assert x.sum() == pytest.approx(1.0) and y.sum() == pytest.approx(1.0)
            assert (first @ y).max() <= x @ first @ y + 1e-8
            assert (x @ second).max() <= x @ second @ y + 1e-8


def test_a_short_run_shows_what_fair_queueing_changes(process, tmp_path):
    done = process("reproduce", "game", "--quick", "--json", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    claims = [row for row in rows if row["item"] == "claim"]
    assert all(row["verdict"] == "agrees" for row in claims if row["note"] == "computed")
    held = [row for row in claims if row["verdict"] == "agrees"]
    assert len(claims) == 32 and len(held) >= 26
    payoff = {(row["policy"], row["source"]): row["measured"] for row in rows if row["quantity"] == "throughput"}
    assert payoff["FIFO", "CUBIC against Reno"] > payoff["FQ", "CUBIC against Reno"] + 0.05
    assert {"table1.png", "table3.png"} <= {path.name for path in (tmp_path / "out").iterdir()}
