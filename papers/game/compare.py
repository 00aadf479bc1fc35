"""The game of congestion control: rates at a line by theory and by simulation, and congestion controls side by side.

No number is printed anywhere for these settings: all measured values are beyond a paper, and the claims are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from fairq.papers.paper_tables import Cell, Runs, Table, Tables, by_seed, seeds
from fairq.papers.papers import Job, Plotted, Results, Setup, curve_rows
from fairq.papers.verdicts import Claim, contains, interval
from fairq.theories import game

if TYPE_CHECKING:
    from fairq.figures import Style

NAME = "game"
TITLE = 'The game of congestion control, after Shenker, "Making Greed Work in Networks" (1994)'
SEEDS = 6
QUICK_SEEDS = 2
STARTS = ("together",)
QUANTITIES: dict[str, str] = {}

COST = 0.25
"""What a waiting packet costs a user of the game of rates, in units of the line."""
USERS = (2, 3, 5, 10)
BOUND = 2.0
"""The delay that the other kind of users wants, in packet times."""
STARTING_POINTS = ((0.02, 0.02), (0.3, 0.05), (0.05, 0.3), (0.4, 0.2), (0.1, 0.6))
DISCIPLINES: dict[str, game.Discipline] = {"FIFO": game.fifo, "fair share": game.fair_share}

LINE_BIT_PER_S = 8e6
DELAY_ALONE_S = 0.021
"""Of a packet that waits for nothing: 5 + 15 ms of lines, 1 ms of sending on 8 Mbit/s."""
ROUND_TRIP_S = 0.04
LAWS = ("Reno", "CUBIC", "BBR", "packet pair")
QUEUES = ("FIFO", "FQ-CoDel", "FQ")
CROWD = 8
NOTICEABLE = 0.05
"""Gains and losses below this part of the line are not noticed; the rules' tolerance of throughputs."""

QUEUE_OF = {"FIFO": "fifo + unlimited", "FQ": "fq + unlimited"}
FACTORS = {"x 0.6": 0.6, "x 0.8": 0.8, "x 1": 1.0, "x 1.25": 1.25, "x 1.6": 1.6}
FLOOD = "sends 2 lines"
"""What user 1 does, as a multiple of the equilibrium's rate, while user 2 keeps to it."""
MOVES = [(queue, move) for queue in QUEUE_OF for move in (*FACTORS, FLOOD)]

CAPTIONS = {
    "table 1": "game of rates at an M/M/1 line, identical users: load and total utility where they climb to",
    "table 2": "game of rates simulated (packets of one length): utilities when user 1 leaves the equilibrium",
    "table 3": "payoff of a congestion control (first) against another (second)",
    "table 4": "equilibria of the choice of a congestion control: with what probability each is played",
    "table 5": "eight users of CUBIC or BBR: throughput by fair share, by the number of those with BBR",
    "table 6": "a user who does not play beside two who do: what he gets of what he sends, and his wait",
}
"""The tables, each with its figure."""


def share(flow: Mapping[str, Any]) -> float:
    """The part of the line that a flow gets."""
    return float(flow["throughput_bit_per_s"]) / LINE_BIT_PER_S


def wait(flow: Mapping[str, Any]) -> float:
    """The mean wait of its packets in round trips of the empty line."""
    return (float(flow["delay_s_mean"] or DELAY_ALONE_S) - DELAY_ALONE_S) / ROUND_TRIP_S


def lost(flow: Mapping[str, Any]) -> float:
    """The part of its packets that were dropped."""
    return float(flow["dropped"]) / max(float(flow["sent"]), 1.0)


PAYOFFS: dict[str, Callable[[Mapping[str, Any]], float]] = {
    "throughput": share,
    "throughput, delay": lambda flow: share(flow) - COST * wait(flow),
    "throughput, delay, loss": lambda flow: share(flow) - COST * wait(flow) - lost(flow),
}
"""What users want: the line 1, less a quarter for each round trip of waiting, less the part of packets lost."""


def equilibrium(discipline: game.Discipline, line: game.Line, users: int = 2) -> list[float]:
    """Where identical users climb to from a tenth of the line together."""
    return game.hill_climb([0.1 / users] * users, [game.linear(COST)] * users, discipline, line)[-1]


@cache
def simulated_rates() -> dict[str, float]:
    """The equilibrium rate of each of two users with packets of one length, by queue; FQ stands for fair share."""
    return {
        "FIFO": equilibrium(game.fifo, game.deterministic)[0],
        "FQ": equilibrium(game.fair_share, game.deterministic)[0],
    }


def jobs(setup: Setup) -> dict[str, Job]:
    """The pairs of controls, the crowd (not under --quick), the bystander, and each point of the game of rates."""
    short = (("measure.duration", "20 s"),) if setup.quick else ()
    found = {name: Job(f"{name}.toml", seeds(setup, *short)) for name in ("pairs", "bystander")}
    if not setup.quick:
        found["crowd"] = Job("crowd.toml", seeds(setup))
    short = (("measure.duration", "20000 s"),) if setup.quick else ()
    for queue, move in MOVES:
        rate = simulated_rates()[queue]
        first = 2.0 if move == FLOOD else rate * FACTORS[move]
        found[f"{queue} {move}"] = Job("rates.toml", seeds(
            setup, *short, ("links.line.queue", QUEUE_OF[queue]),
            ("flows.1.traffic.rate", _rate(first)), ("flows.2.traffic.rate", _rate(rate)),
        ))  # fmt: skip
    return found


def _rate(packets: float) -> str:
    return f"{round(8000 * packets)} bit/s"


Flows = Mapping[str, Mapping[str, Any]]
"""The measured flows of one run, by name."""


def points_of(document: Mapping[str, Any]) -> list[dict[tuple[str, ...], Flows]]:
    """Of each seed the flows of each point, by the point's place on the axes."""
    return by_seed(document, lambda seed: {str(flow["flow"]): flow for flow in seed["flows"]})


def _known(_run: Any, value: float) -> float:
    """What is computed, not measured."""
    return value


def _at(run: Mapping[Any, Any], place: tuple[Any, ...], which: Any) -> float:
    return float(run[place][which])


# The game of rates by theory.


def _climbed(_runs: Sequence[Any]) -> Iterator[Cell]:
    for name, discipline in DISCIPLINES.items():
        for users in USERS:
            rates = equilibrium(discipline, game.exponential, users)
            total = sum(game.utilities(rates, [game.linear(COST)] * users, discipline, game.exponential))
            yield Cell(name, "load", f"{users} users", _known, (sum(rates),))
            yield Cell(name, "utility", f"{users} users", _known, (total,))


def _rests_at(discipline: game.Discipline, users: int, load: float) -> bool:
    return abs(sum(equilibrium(discipline, game.exponential, users)) - load) < 1e-4


def climbs(name: str, utility: game.Utility) -> list[list[list[float]]]:
    """The ways of two users up their hills, from each starting point."""
    return [game.hill_climb(start, [utility] * 2, DISCIPLINES[name], game.exponential) for start in STARTING_POINTS]


def _apart(name: str, utility: game.Utility) -> float:
    """How far the ends of the climbs lie from each other."""
    ends = np.array([way[-1] for way in climbs(name, utility)])
    return float(np.ptp(ends, axis=0).max())


def _settles(discipline: game.Discipline, users: int) -> bool:
    """Whether best responses of all at once come to rest within as many rounds as there are users."""
    start = [0.1 * (user + 1) / users for user in range(users)]
    way = game.best_responses(start, [game.linear(COST)] * users, discipline, game.exponential, users + 1)
    return bool(np.allclose(way[-1], way[-2], atol=1e-4))


def _utility_at_rest(name: str, users: int) -> float:
    rates = equilibrium(DISCIPLINES[name], game.exponential, users)
    return min(game.utilities(rates, [game.linear(COST)] * users, DISCIPLINES[name], game.exponential))


MIXED = (0.1, 0.25, 0.5)
"""Costs of three users that differ."""


def _greatest_envy(discipline: game.Discipline) -> float:
    """The most by which one of the users MIXED at rest would rather have the rate and the congestion of another."""
    of = [game.linear(cost) for cost in MIXED]
    rates = game.hill_climb([0.02] * len(of), of, discipline, game.exponential)[-1]
    got = list(zip(rates, discipline(rates, game.exponential), strict=True))
    return max(wants(*other) - wants(*own) for wants, own in zip(of, got, strict=True) for other in got)


def _could_both_gain() -> bool:
    """Whether two unlike users at rest under fair share both gain by a trade: one gives rate for shorter waits."""
    patient, hasty = 0.1, 0.4
    of = [game.linear(patient), game.linear(hasty)]
    rates = game.hill_climb([0.02, 0.02], of, game.fair_share, game.exponential)[-1]
    congestion = game.fair_share(rates, game.exponential)
    less = congestion[1] / 10
    rate = less * (patient + hasty) / 2
    after = ((rates[0] + rate, congestion[0] + less), (rates[1] - rate, congestion[1] - less))
    # a line can serve this: the load is the same, and no user's packets are fewer than if he were alone
    can_be = all(number >= game.exponential(load) for load, number in after)
    gains = [u(*new) - u(*old) for u, new, old in zip(of, after, zip(rates, congestion, strict=True), strict=True)]
    return can_be and min(gains) > 0


LINEAR, LATE, FAIR = game.linear(COST), game.bounded(BOUND), game.fair_share

THEORY: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("FIFO", "climbing ends at the load R of 1 - R + R/N = (1 - R)²/cost, with 2, 3, 5 and 10 users",
     lambda _: all(_rests_at(game.fifo, n, game.fifo_load(n, COST)) for n in USERS)),
    ("fair share", "climbing ends at the load of the greatest total utility, for identical users (Pareto optimal)",
     lambda _: all(_rests_at(FAIR, n, game.efficient_load(COST)) for n in USERS)),
    ("FIFO against fair share", "each user is worse off at FIFO's equilibrium (not Pareto optimal)",
     lambda _: all(_utility_at_rest("FIFO", n) < _utility_at_rest("fair share", n) for n in USERS)),
    ("fair share", "climbs from five starting points end in one place, for both kinds of users (unique)",
     lambda _: max(_apart("fair share", LINEAR), _apart("fair share", LATE)) < 1e-3),
    ("FIFO", "climbs of users who want a delay end in several places (not unique)",
     lambda _: _apart("FIFO", LATE) > 0.1),
    ("fair share", "if all answer at once with their best rate, N users are at rest in N rounds",
     lambda _: all(_settles(FAIR, n) for n in USERS)),
    ("FIFO", "if all answer at once, 3 users and more never come to rest",
     lambda _: not any(_settles(game.fifo, n) for n in USERS[1:])),
    ("fair share", "none of three unlike users at rest would rather be another (no envy)",
     lambda _: _greatest_envy(FAIR) < 1e-6),
    ("FIFO", "at rest the user that sends less envies the one that sends more",
     lambda _: _greatest_envy(game.fifo) > 0.01),
    ("fair share", "unlike users at rest can both gain by a trade (in general not Pareto optimal)",
     lambda _: _could_both_gain()),
    ("fair share", "a user that keeps to 0.1 has one congestion beside 0.2 and beside 2 lines (protected)",
     lambda _: game.fair_share([0.1, 0.2], game.exponential)[0] == game.fair_share([0.1, 2.0], game.exponential)[0]),
)  # fmt: skip
"""Discipline, sentence, and what computes whether it holds."""


# The game of rates simulated: what each user of one run has of it, by queue and by what user 1 does.

Rates = Mapping[tuple[str, str], tuple[float, ...]]


def rates_of(*documents: Mapping[str, Any]) -> list[Rates]:
    """The utilities of users 1 and 2 in each seed; the documents are those of MOVES."""
    points = zip(*map(points_of, documents), strict=True)
    return [
        {move: tuple(_linear_of(point[()][user]) for user in "12") for move, point in zip(MOVES, seed, strict=True)}
        for seed in points
    ]


def _linear_of(flow: Mapping[str, Any]) -> float:
    # a packet of 1000 bytes a second is the line; Little's theorem gives the packets there
    rate = float(flow["throughput_bit_per_s"]) / 8000
    return game.linear(COST)(rate, rate * float(flow["delay_s_mean"]))


UTILITIES = ("utility of user 1", "utility of user 2")


def _by_formula(discipline: game.Discipline, first: float, second: float) -> list[float]:
    return game.utilities([first, second], [game.linear(COST)] * 2, discipline, game.deterministic)


def _gain_of_leaving(run: Rates, queue: str) -> float:
    return max(run[queue, move][0] for move in FACTORS) - run[queue, "x 1"][0]


def _as_computed(runs: Sequence[Rates]) -> bool:
    """Judged once for all seeds: near a full line one run says little."""
    rate = simulated_rates()["FIFO"]
    return all(
        contains(computed, interval([run["FIFO", move][user] for run in runs]), WITHIN)
        for move, factor in FACTORS.items()
        for user, computed in enumerate(_by_formula(game.fifo, rate * factor, rate))
    )


def _bound_beside_flood() -> float:
    """The utility of a user at fair share's equilibrium that has half of the line alone, as a fluid gives it."""
    rate = simulated_rates()["FQ"]
    # alone on half of a line he has the number of packets that he would have at load 2 r
    return game.linear(COST)(rate, game.deterministic(2 * rate))


WITHIN = 0.02
"""Utilities as near as this are equal."""

RATE_CLAIMS = (
    Claim("table 2", "FIFO", f"the formula of M/D/1 lies in each interval of one run, widened by {WITHIN}",
          _as_computed, "all rates", "all seeds together"),
    Claim("table 2", "FIFO", "no user gains more than 0.01 by leaving FIFO's equilibrium",
          lambda r: _gain_of_leaving(r, "FIFO") < 0.01),
    Claim("table 2", "FQ", "no user gains more than 0.01 by leaving fair share's equilibrium",
          lambda r: _gain_of_leaving(r, "FQ") < 0.01),
    Claim("table 2", "FQ against FIFO", "both users have more at FQ's equilibrium than at FIFO's",
          lambda r: min(r["FQ", "x 1"]) > max(r["FIFO", "x 1"])),
    Claim("table 2", "FIFO", "a flood takes all from the user who keeps to his rate (utility below 0)",
          lambda r: r["FIFO", FLOOD][1] < 0),
    Claim("table 2", "FQ", "beside a flood the user who keeps to his rate has at least half of his utility",
          lambda r: r["FQ", FLOOD][1] > r["FQ", "x 1"][1] / 2),
    Claim("table 2", "FQ", "beside a flood he has what half of the line to himself would give him, or more",
          lambda r: r["FQ", FLOOD][1] > _bound_beside_flood() - WITHIN),
)  # fmt: skip


# Congestion controls side by side.


@dataclass(frozen=True)
class Pairs:
    """One seed: by queue and by what users want, the payoff of each control (row) against each (column)."""

    payoff: Mapping[tuple[str, str], game.Matrix]

    def of(self, queue: str, law: str, other: str, wanted: str = "throughput") -> float:
        """The payoff of a congestion control against another."""
        return float(self.payoff[queue, wanted][LAWS.index(law), LAWS.index(other)])


def pairs_of(seeds: Sequence[Mapping[tuple[str, ...], Flows]]) -> list[Pairs]:
    """The matrices of each seed: a control against another was run in both places, and the two are averaged."""
    return [
        Pairs({
            (queue, wanted): np.array([
                [(value(run[queue, row, column]["row"]) + value(run[queue, column, row]["column"])) / 2
                 for column in LAWS] for row in LAWS])
            for queue in QUEUES for wanted, value in PAYOFFS.items()
        })
        for run in seeds
    ]  # fmt: skip


def mean_payoff(runs: Sequence[Pairs]) -> dict[tuple[str, str], game.Matrix]:
    """The mean over seeds."""
    return {key: np.mean([run.payoff[key] for run in runs], axis=0) for key in runs[0].payoff}


def _equilibria(payoffs: Sequence[Mapping[tuple[str, str], game.Matrix]]) -> Iterator[Cell]:
    """The equilibria of the mean payoffs; of two that differ by an exchange of the users, one."""
    for (queue, wanted), payoff in payoffs[0].items():
        seen: list[tuple[list[float], list[float]]] = []
        for x, y in game.equilibria(payoff, payoff.T):
            mixtures = (x.tolist(), y.tolist())
            if mixtures[::-1] not in seen:
                seen.append(mixtures)
        for number, (first, second) in enumerate(seen, start=1):
            alike = np.allclose(first, second)
            for who, mixture in (("both", first),) if alike else (("one", first), ("the other", second)):
                for law, weight in zip(LAWS, mixture, strict=True):
                    yield Cell(queue, f"{wanted}: {number}, {who}", law, _known, (weight,))


def _greedier_gains(run: Pairs, queue: str, law: str) -> bool:
    """Whether a user that leaves Reno gains beside Reno, and the other loses, both noticeably."""
    gains = run.of(queue, law, "Reno") - run.of(queue, "Reno", "Reno")
    costs = run.of(queue, "Reno", "Reno") - run.of(queue, "Reno", law)
    return min(gains, costs) > NOTICEABLE


def greatest_gain_of(run: Pairs, queue: str, wanted: str = "throughput") -> float:
    """The most that a user gains by changing its congestion control, in payoff."""
    return game.greatest_gain(run.payoff[queue, wanted])


ALL_WANTED = "throughput, delay, loss"

PAIR_CLAIMS = (
    *(Claim("table 3", "FIFO", f"beside Reno {law} gains more than 5 % of the line, and Reno loses as much",
            lambda r, law=law: _greedier_gains(r, "FIFO", law)) for law in LAWS[1:]),  # type: ignore[misc]
    Claim("table 3", "FQ", "no change gains more than 5 % of the line, beside any",
          lambda r: greatest_gain_of(r, "FQ") < NOTICEABLE),
    Claim("table 3", "FQ-CoDel", "no change gains more than 5 % of the line, beside any",
          lambda r: greatest_gain_of(r, "FQ-CoDel") < NOTICEABLE),
    Claim("table 3", "FQ, FQ-CoDel against FIFO", "what can be gained by changing is less than a quarter of FIFO's",
          lambda r: max(greatest_gain_of(r, "FQ"), greatest_gain_of(r, "FQ-CoDel")) < greatest_gain_of(r, "FIFO") / 4),
    Claim("table 3", "FQ", "packet pair is the best answer to each other if delay counts (a short queue pays)",
          lambda r: bool((r.payoff["FQ", ALL_WANTED].argmax(axis=0) == LAWS.index("packet pair")).all())),
    Claim("table 4", "FIFO", "two with packet pair are an equilibrium if throughput alone counts",
          lambda r: r.payoff["FIFO", "throughput"][:, -1].argmax() == LAWS.index("packet pair"), "pairs"),
    Claim("table 3", "FIFO", "two with packet pair have less than two with Reno if delay and loss count (a dilemma)",
          lambda r: r.of("FIFO", "packet pair", "packet pair", ALL_WANTED) < r.of("FIFO", "Reno", "Reno", ALL_WANTED)),
    Claim("table 3", "FQ", "two with packet pair have more than two with any other if delay and loss count",
          lambda r: r.payoff["FQ", ALL_WANTED].diagonal().argmax() == LAWS.index("packet pair")),
)  # fmt: skip


# A crowd: what one user of each control gets, by queue and number of those with BBR, in fair shares.

Crowd = Mapping[tuple[str, int], Mapping[str, float]]


def crowds_of(seeds: Sequence[Mapping[tuple[str, ...], Flows]]) -> list[Crowd]:
    """The mean throughput of each control's users in each seed, in fair shares."""
    return [
        {(queue, int(number)): _crowd(list(flows.values()), int(number)) for (queue, number), flows in run.items()}
        for run in seeds
    ]


def _crowd(flows: Sequence[Mapping[str, Any]], number: int) -> dict[str, float]:
    # the crowd's line is as many fair shares as there are users, each of half of the pair's line
    shares = [2 * share(flow) for flow in flows]
    return {law: fmean(of) for law, of in (("BBR", shares[:number]), ("CUBIC", shares[number:])) if of}


def at_rest(crowd: Crowd, queue: str) -> list[int]:
    """The numbers of users with BBR at which none gains noticeably by changing."""
    return [
        number
        for number in range(CROWD + 1)
        if (number == 0 or crowd[queue, number - 1]["CUBIC"] <= crowd[queue, number]["BBR"] + NOTICEABLE)
        and (number == CROWD or crowd[queue, number + 1]["BBR"] <= crowd[queue, number]["CUBIC"] + NOTICEABLE)
    ]


CROWD_CLAIMS = (
    Claim("table 5", "FIFO", "one with BBR among CUBIC has more than 1.5 fair shares",
          lambda r: r["FIFO", 1]["BBR"] > 1.5),
    Claim("table 5", "FIFO", "all with CUBIC is no equilibrium", lambda r: 0 not in at_rest(r, "FIFO")),
    Claim("table 5", "FIFO", "the advantage ends: among many with BBR, each has less than 1.1 fair shares",
          lambda r: r["FIFO", CROWD - 1]["BBR"] < 1.1),
    Claim("table 5", "FQ-CoDel", "every number of users with BBR is an equilibrium, to 5 % of a fair share",
          lambda r: len(at_rest(r, "FQ-CoDel")) == CROWD + 1),
    Claim("table 5", "FQ", "every number of users with BBR is an equilibrium, to 5 % of a fair share",
          lambda r: len(at_rest(r, "FQ")) == CROWD + 1),
)  # fmt: skip


# A user that does not play: the part of its packets that arrive, and its wait in round trips.

Bystander = Mapping[tuple[str, str], tuple[float, float]]


def bystanders_of(seeds: Sequence[Mapping[tuple[str, ...], Flows]]) -> list[Bystander]:
    """What becomes of him in each seed, by queue and by what the players play."""
    return [
        {(queue, players): (1 - lost(flows["bystander"]), wait(flows["bystander"]))
         for (queue, players), flows in run.items()}
        for run in seeds
    ]  # fmt: skip


def _worst(run: Bystander, queue: str) -> tuple[float, float]:
    mine = [values for (name, _), values in run.items() if name == queue]
    return min(arrives for arrives, _ in mine), max(waits for _, waits in mine)


BYSTANDER_CLAIMS = (
    Claim("table 6", "FIFO", "beside two floods he loses more than half of what he sends",
          lambda r: r["FIFO", "flood"][0] < 0.5),
    Claim("table 6", "FIFO", "even two with packet pair cost him more than a tenth of it",
          lambda r: r["FIFO", "packet pair"][0] < 0.9),
    Claim("table 6", "FQ, FQ-CoDel", "whatever others play, all that he sends arrives",
          lambda r: min(_worst(r, queue)[0] for queue in QUEUES[1:]) > 0.999),
    Claim("table 6", "FQ, FQ-CoDel", "and he waits less than a fifth of a round trip",
          lambda r: max(_worst(r, queue)[1] for queue in QUEUES[1:]) < 0.2),
)  # fmt: skip

RATE_JOBS = tuple(f"{queue} {move}" for queue, move in MOVES)
TABLES = Tables(
    NAME,
    CAPTIONS,
    {
        "theory": Runs((), lambda: [None]),
        "rates": Runs(RATE_JOBS, rates_of),
        "all rates": Runs(RATE_JOBS, lambda *documents: [rates_of(*documents)]),
        "pairs": Runs(("pairs",), lambda document: pairs_of(points_of(document))),
        "mean payoffs": Runs(("pairs",), lambda document: [mean_payoff(pairs_of(points_of(document)))]),
        "crowd": Runs(("crowd",), lambda document: crowds_of(points_of(document))),
        "bystander": Runs(("bystander",), lambda document: bystanders_of(points_of(document))),
    },
    [
        Table("table 1", "theory", _climbed),
        Table("table 2", "rates", lambda _: [
            Cell(queue, quantity, move, _at, ((queue, move), user))
            for queue, move in MOVES for user, quantity in enumerate(UTILITIES)]),
        Table("table 2", "all rates", lambda _: [
            Cell(f"{name}, formula", quantity, move, _known, (utility,))
            for (name, discipline), rate in zip(DISCIPLINES.items(), simulated_rates().values(), strict=True)
            for move, factor in FACTORS.items()
            for quantity, utility in zip(UTILITIES, _by_formula(discipline, rate * factor, rate), strict=True)]),
        Table("table 3", "pairs", lambda _: [
            Cell(queue, wanted, f"{law} against {other}", Pairs.of, (queue, law, other, wanted))
            for law in LAWS for other in LAWS for wanted in PAYOFFS for queue in QUEUES]),
        Table("table 4", "mean payoffs", _equilibria),
        Table("table 5", "crowd", lambda runs: [
            Cell(queue, law, f"{number} BBR", _at, ((queue, number), law))
            for queue in QUEUES for law in ("CUBIC", "BBR") for number in range(CROWD + 1)
            if law in runs[0][queue, number]]),
        Table("table 6", "bystander", lambda runs: [
            Cell(queue, quantity, players, _at, ((queue, players), place))
            for place, quantity in enumerate(("arrives", "wait (round trips)")) for queue, players in runs[0]]),
    ],
    [
        *(Claim("table 1", policy, text, holds, note="computed") for policy, text, holds in THEORY),
        *RATE_CLAIMS, *PAIR_CLAIMS, *CROWD_CLAIMS, *BYSTANDER_CLAIMS,
    ],
    jobs=jobs,
)  # fmt: skip
captions, needs, lines = TABLES.captions, TABLES.needs, TABLES.lines


def figures(_rows: Sequence[Mapping[str, Any]], results: Results, style: Style) -> Iterator[Plotted]:
    """The climbs, the payoffs as heat maps, and the crowd."""
    from fairq import figures as draw

    kinds = {"a waiting packet costs 1/4": game.linear(COST), f"a delay of {BOUND:g} packet times": game.bounded(BOUND)}
    ways = {f"{name}: {kind}": climbs(name, utility) for kind, utility in kinds.items() for name in DISCIPLINES}
    figure = draw.ways("Two selfish users climb their hills", ways, "rate of user 1", "rate of user 2", style=style)
    climbed = {f"{panel}, climb {n}": way for panel, of in ways.items() for n, way in enumerate(of, 1)}
    yield Plotted("table1", "table 1", figure, curve_rows(climbed, "climb", "rate_of_user_1", "rate_of_user_2"))
    if "pairs" in results:
        payoff = mean_payoff(pairs_of(points_of(results["pairs"])))
        panels = {f"{queue}: {wanted}": payoff[queue, wanted].tolist() for wanted in PAYOFFS for queue in QUEUES}
        title = "Payoff of the control at the left against that below"
        yield Plotted("table3", "table 3", draw.payoffs(title, panels, LAWS, len(QUEUES), style=style))
    if "crowd" in results:
        runs = crowds_of(points_of(results["crowd"]))
        curves = {
            f"{law}, {queue}": [
                (float(number), fmean(run[queue, number][law] for run in runs))
                for number in range(CROWD + 1)
                if law in runs[0][queue, number]
            ]
            for queue in ("FIFO", "FQ")
            for law in ("BBR", "CUBIC")
        }
        figure = draw.curves_of_choices(
            "Eight users of CUBIC or BBR", curves, "users with BBR", "throughput of a user / fair share", 1.0,
            style=style,
        )  # fmt: skip
        yield Plotted("table5", "table 5", figure)
