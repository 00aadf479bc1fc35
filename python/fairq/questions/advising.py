"""Which queue is best for a line, by which criterion, by how much, and how it is set up."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fairq import traffic_control as tc
from fairq.core import quantities
from fairq.core.arguments import read
from fairq.core.declared import LIST, PART, PATH, command_line, said, word
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.output import file
from fairq.questions import advice, asked, kernel, network, own_capture, ranking, rates, sentences, words
from fairq.questions import users as mix
from fairq.questions.answers import Answers, Point, Seeds
from fairq.questions.asked import Group, Question
from fairq.questions.candidates import Candidate, Devices, candidates, commands, grids
from fairq.questions.measures import MEASURES, OF_CALL, OF_CANDIDATE, OF_LINE, intervals, quantity
from fairq.questions.own_capture import Capture
from fairq.questions.question_results import Advice
from fairq.questions.ranking import CRITERIA, IN_TIME, ORDER, Level
from fairq.questions.search import measured
from fairq.questions.steady import Move, Steady
from fairq.questions.turning import Value, sides

if TYPE_CHECKING:
    from fairq.core.progress import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq advise --json` prints."""

BULK = "cubic:4,cubic:2(direction=up)"
"""The flows that fill the line in both directions."""

CALLS = "call(rate=100kbit/s),call(rate=100kbit/s)(direction=up)"
"""A call, both ways."""

WEB = "web"
"""A user of the web, for pages to be completed."""

LONGER = 2.0
"""How many times as long as the first runs the longest may be: there are many candidates."""

MEETS = 0.95
"""The part of the time for which a queue that meets a target has the call within it."""

UTILISATION_MIN, BELOW = 0.95, 0.05
"""The part of the rate set up that a candidate must use, and that by which Linux shapes below the
line."""


@dataclass(frozen=True)
class Wish:
    """What is asked for: the line with its flows, the candidates, and what they are ranked by."""

    question: Question
    """The question of the line with all candidates."""
    candidates: tuple[Candidate, ...]
    levels: tuple[Level, ...]
    criterion: str
    """The name of the first."""
    utilisation_min: float
    capture: Capture | None
    devices: Devices


@dataclass(frozen=True, kw_only=True)
class Line:
    """What is asked, as it was said: the words of `fairq advise`."""

    # fmt: off
    down: str = word("the line's rate to you, as of fairq compare", "RATE", required=True)
    up: str = word("its rate from you, as 10Mbit/s", "RATE", required=True)
    rtt: tuple[str, ...] = word(
        "round trips to your servers without queueing, as 20ms,80ms", "LIST", LIST, read=asked.listed,
        required=True
    )
    capture: str | os.PathLike[str] | None = word(
        "take your own packets of this capture in place of a call", "FILE", PATH
    )
    me: str | None = word("your address in it, or network; several with commas between", "ADDRESS")
    flows: tuple[str, ...] | None = word(
        "the flows, as of fairq compare (default: bulk and calls both ways, web)", "LIST", LIST,
        read=asked.listed
    )
    users: int | None = word("or of these users: calls, web, updates, backups", "N", "int")
    latency_target: str | None = word(
        "rank by the part of time that calls arrive within this, one way", "TIME"
    )
    criterion: str | None = word("rank by this alone, as completion (default: several)", "NAME")
    utilisation_min: str | float | None = word(
        f"rank only what uses this part of the rate set up (default {100 * UTILISATION_MIN:g}%)", "PART",
        PART
    )
    queue: tuple[str, ...] | None = word(
        "rank these queues (default: those of Linux)", "LIST", LIST, read=asked.listed
    )
    buffer: tuple[str, ...] | None = word(
        "give them these rooms, as 100ms,60kB (default: those of Linux)", "LIST", LIST, read=asked.listed
    )
    dev: str = word("the device to the line, in tc commands (default eth0)", default="eth0")
    lan: str = word("the device to your network, in tc commands (default eth1)", "DEV", default="eth1")
    below: str | float | None = word(
        f"let tc shape this part below the line (default {100 * BELOW:g}%)", "PART", PART
    )
    seeds: int = word(
        f"runs of each candidate and round trip (default {asked.SEEDS})", "N", "int", default=asked.SEEDS
    )
    duration: str | None = word("measure this long (default: until shares and delays stand still)", "TIME")
    warm_up: str | None = word("leave out this time at the beginning (default: found by the runs)", "TIME")
    # fmt: on


def wish(**given: Any) -> Wish:
    """What these words ask for, those of `Line`; UsageError names the word that makes no sense."""
    asks = read(Line, "advise", given)
    criterion = asks.criterion
    if criterion is not None and criterion not in CRITERIA:
        raise UsageError(f"--criterion {criterion} is not known{near_miss(criterion, CRITERIA)}")
    target = _target(asks.latency_target, criterion, asks.rtt)
    usual = ORDER if target is None else IN_TIME
    levels = usual if criterion is None else (Level(CRITERIA[criterion]),)
    for option, rate in (("--down", asks.down), ("--up", asks.up)):
        if rates.nominal(option, rate) <= 0:
            raise UsageError(f"{option} {rate}: a line has a rate above 0; write for example 50Mbit/s")
    found = _capture(asks.capture, asks.me)
    line = replace(_asked_line(asks, found), latency_target=target)
    if found is not None:
        line, found = _with_capture(line, found)
    least = (
        UTILISATION_MIN
        if asks.utilisation_min is None
        else words.part("--utilisation-min", asks.utilisation_min, "the rate set up", "95%")
    )
    below = BELOW if asks.below is None else words.part("--below", asks.below, "the rate", "5%")
    devices = _devices(asks.dev, asks.lan, below)
    named = grids(line.line_rtts, asks.queue, asks.buffer)
    for grid in named:
        asked.check_queues(replace(line, queues=grid.queues, buffers=grid.buffers))
    tried = tuple(candidates(line, named, devices))
    name = criterion or next(name for name, each in CRITERIA.items() if each == levels[0].criterion)
    question = replace(line, queues=tuple(each.name for each in tried), setups=tuple(each.setup for each in tried))
    made = Wish(question, tried, levels, name, least, found, devices)
    _check_flows(made)
    return replace(made, question=replace(question, asked_by=_command(made, asks)))


def _asked_line(asks: Line, capture: Capture | None) -> Question:
    """The line with its flows: those that are named, or usual ones."""
    if asks.flows is not None and asks.users is not None:
        raise UsageError(f"--users {asks.users}: --flows says what there is; leave one of the two out")
    flows = list(asks.flows) if asks.flows is not None else _of_users(asks.users, capture)
    # Without a criterion, pages of the web tell queues apart that serve a call alike.
    if asks.criterion is None and not any(item.has_transfers for item in words.items(flows)):
        flows.append(WEB)
    return asked.ask(
        rate=f"{asks.down}/{asks.up}", rtt=asks.rtt, flows=flows, seeds=asks.seeds, duration=asks.duration,
        warm_up=asks.warm_up,
    )  # fmt: skip


def _of_users(users: int | None, capture: Capture | None) -> list[str]:
    """The flows where none are named; a capture takes the place of the calls."""
    if users is None:
        return words.values("--flows", f"{BULK},{WEB}" if capture else f"{BULK},{CALLS},{WEB}")
    return [item for item in mix.flows(users) if capture is None or not item.startswith("call")]


def _target(said: str | None, criterion: str | None, rtts: Sequence[str]) -> str | None:
    """The target of the call's latency; UsageError for one that no queue can meet."""
    if said is None:
        if criterion == "call_in_time":
            raise UsageError("--criterion call_in_time: within what? Write --latency-target as well, as 20ms")
        return None
    target = words.quantity("--latency-target", "time", said)
    if criterion not in (None, "call_in_time"):
        raise UsageError(f"--criterion {criterion}: --latency-target ranks by the call; leave one of the two out")
    for rtt in rtts:
        least = words.quantity("--rtt", "time", rtt) / 2
        if target <= least:
            raise UsageError(
                f"--latency-target {said}: no queue meets it, as one way of a round trip of {rtt} takes "
                f"{1000 * least:g} ms where nothing waits; write more"
            )
    return said


def _command(wish: Wish, asks: Line) -> str:
    """The command that asks it, without its times."""
    line = wish.question
    found = {
        "down": line.rates[0],
        "up": line.rates[1],
        "flows": ",".join(item.text for item in line.flows),
        "capture": wish.capture.path if wish.capture else None,
        "utilisation_min": f"{wish.utilisation_min:g}",
        "below": f"{wish.devices.below:g}",
    }
    texts = {name: [text] if text is not None else [] for name, text in found.items()}
    kept = [each for each in said(asks) if each[0].name not in ("users", "dev", "lan", "duration", "warm_up")]
    return command_line("fairq advise", [(option, texts.get(option.name, value)) for option, value in kept])


def _devices(dev: str, lan: str, below: float) -> Devices:
    for option, device in (("--dev", dev), ("--lan", lan)):
        try:
            tc.write("fifo", device)
        except UsageError as error:
            raise UsageError(f"{option} {error.fault}") from None
    if dev == lan:
        raise UsageError(f"--lan {lan}: it is --dev as well; name the device to the line and that to your network")
    return Devices(dev, lan, below)


def _capture(capture: str | os.PathLike[str] | None, me: str | None) -> Capture | None:
    if capture is None:
        if me is not None:
            raise UsageError(f"--me {me}: it says which packets of a capture are yours; write --capture FILE as well")
        return None
    if me is None:
        raise UsageError(f"--capture {os.fspath(capture)}: write your address in it as well, as --me 192.168.1.7")
    return own_capture.read(capture, me)


def _with_capture(line: Question, capture: Capture) -> tuple[Question, Capture]:
    """The line and the capture, both as long as the shorter of them."""
    line = replace(line, warm_up=line.warm_up or asked.WARM_UP, duration=line.duration or asked.DURATION)
    seconds = words.quantity("--duration", "time", line.duration or asked.DURATION)
    if capture.length_s < seconds:
        return replace(line, duration=f"{capture.length_s:.6f} s"), capture
    return line, capture.until(seconds)


def _check_flows(wish: Wish) -> None:
    """Whether the flows give the criterion a value, and fill the line."""
    items = [group.item for group in wish.question.groups]
    asks_for = CRITERIA[wish.criterion].asks_for
    if asks_for == "call" and wish.capture is None and not any(item.name == "call" for item in items):
        raise UsageError(
            f"--criterion {wish.criterion}: no item of --flows is a call; write call(rate=100kbit/s), or another "
            "criterion, as queueing"
        )
    if asks_for == "transfer" and not any(item.has_transfers for item in items):
        raise UsageError(
            f"--criterion {wish.criterion}: no item of --flows has an end; write web, or a size, as cubic(size=1MB)"
        )
    if wish.utilisation_min and not any(item.is_greedy for item in items):
        raise UsageError(
            "--flows: none takes what it can get, so that the line is not full; write a congestion control as well, as "
            "cubic, or --utilisation-min 0"
        )


def advise(wish: Wish, workers: int, progress: Tell | None = None, table: Path | None = None) -> Advice:
    """Run the candidates on `workers` threads, and rank them; `table` as of `with_packets`."""
    with with_packets(wish, table) as question:
        (asked_of,), _, (answers,), steady = measured([question], workers, progress, LONGER)
        scenario = network.text(asked_of)
    weights = _weights(wish)
    tried = [
        _Tried(each, [point for point in answers.points if point.choice.queue == each.name], answers.question, weights)
        for each in wish.candidates
    ]
    return _ranked(wish, asked_of, scenario, tried, steady, answers)


@contextmanager
def with_packets(wish: Wish, table: Path | None = None) -> Iterator[Question]:
    """The question with the capture's flows, whose packets stand in the file `table`.

    Without `table` they stand in a temporary one.
    """
    if wish.capture is None:
        yield wish.question
        return
    with TemporaryDirectory(prefix="fairq-advise-") as folder:
        path = (table or Path(folder) / "capture.csv").absolute()
        with file(path) as place:
            wish.capture.write(place)
        items = wish.capture.items(path, wish.question.warm_up or asked.WARM_UP)
        yield replace(wish.question, flows=(*wish.question.flows, *items))


def _weights(wish: Wish) -> dict[str, int]:
    """The packets of each flow of the capture, by name: what it counts in a mean over them."""
    return {flow.name: flow.packets for flow in wish.capture.flows} if wish.capture is not None else {}


class _Tried:
    """A candidate and what each seed gave."""

    def __init__(
        self, candidate: Candidate, points: Sequence[Point], question: Question, weights: Mapping[str, int]
    ) -> None:
        self.candidate = candidate
        self.points = points
        self.groups = question.groups
        self.name = candidate.name
        self.rtts_s = [words.quantity("--rtt", "time", point.rtt) for point in points]
        self.ways = [way for way in words.DIRECTIONS if any(group.direction == way for group in self.groups)]
        self._weights = weights
        self._rates = {
            way: (quantities.rate(rate), rates.nominal("--rate", line))
            for way, rate, line in zip(words.DIRECTIONS, candidate.setup.rates, question.rates, strict=True)
        }
        each = [[self.of_way(point, way) for way in self.ways] for point in points]
        self.seeds: Seeds = [
            {column: _over(column, each, seed) for column in OF_CANDIDATE} for seed in range(len(each[0][0]))
        ]
        """The columns of each seed: the worse direction, averaged over the round trips."""

    def of_way(self, point: Point, way: str) -> Seeds:
        """The results of each seed at a point in one direction."""
        groups = [(at, group) for at, group in enumerate(self.groups) if group.direction == way]
        calls = [(at, group) for at, group in groups if group.item.name in ("call", words.RECORDED)]
        transfers = [(at, group) for at, group in groups if group.item.has_transfers]
        bulk = [(at, group) for at, group in groups if group.item.is_greedy]
        found: Seeds = []
        for seed, line in enumerate(point.lines[way]):
            row = {f"call_{name}": self._mean(point, calls, name, seed) for name in OF_CALL}
            # A direction that nothing fills has no utilisation to keep.
            row |= {name: line[name] if bulk or name == "queueing_s_mean" else None for name in OF_LINE}
            if row["utilisation"] is not None:
                # Of the rate that is set up: a CAKE shapes below the rate of its line.
                row["utilisation"] = min(row["utilisation"] * self._rates[way][0] / self.candidate.shaped[way], 1.0)
            row["bulk_queueing_s_mean"] = self._mean(point, bulk, "queueing_s_mean", seed)
            row["completion_s_mean"] = self._mean(point, transfers, "completion_s_mean", seed)
            found.append(row)
        return found

    def _mean(self, point: Point, groups: Sequence[tuple[int, Group]], name: str, seed: int) -> float | None:
        """The mean over groups of flows, of those of a capture weighted by their packets."""
        known = [
            (self._weights.get(group.label, group.count), value)
            for at, group in groups
            if (value := point.groups[at][seed][name]) is not None
        ]
        whole = sum(weight for weight, _ in known)
        return math.fsum(weight * value for weight, value in known) / whole if whole else None

    @property
    def given_away(self) -> float:
        """The part of the line that shaping leaves unused, in the direction where that is more."""
        return max((line - self.candidate.shaped[way]) / line for way, (_, line) in self._rates.items())

    def values(self, column: str) -> list[float | None]:
        """A column by seed."""
        return [seed[column] for seed in self.seeds]

    def row(self) -> dict[str, Any]:
        """The means over the seeds with their intervals."""
        return {
            "candidate": self.candidate.name,
            "queue": self.candidate.queue,
            "given_away": self.given_away,
            "limit_down": self.points[-1].limits["down"],
            "limit_up": self.points[-1].limits["up"],
            **intervals(OF_CANDIDATE, self.seeds),
            "seeds": len(self.seeds),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each round trip and direction."""
        for point, rtt_s in zip(self.points, self.rtts_s, strict=True):
            for way in self.ways:
                row = {"candidate": self.candidate.name, "rtt_s": rtt_s, "direction": way}
                yield row | intervals(OF_CANDIDATE, self.of_way(point, way))


def _over(column: str, points: Sequence[Sequence[Seeds]], seed: int) -> float | None:
    """The value of one seed: that of the worse direction, averaged over the points; `None` if one has none."""
    worse = min if MEASURES[quantity(column)].is_more_better else max
    found = []
    for ways in points:
        known = [value for way in ways if (value := way[seed][column]) is not None]
        if not known:
            return None
        found.append(worse(known))
    return math.fsum(found) / len(found)


def _ranked(
    wish: Wish, question: Question, scenario: str, tried: Sequence[_Tried], steady: Steady, answers: Answers
) -> Advice:
    """The candidates in their order, the best against each other one, and what is said of them."""
    rows = {each.name: each.row() for each in tried}
    first = wish.levels[0].criterion
    able = [each for each in tried if (row := rows[each.name])[first.column] is not None and _is_full(row, wish)]
    order = ranking.in_order(able, wish.levels)
    steady = _that_counts(steady, [each for each, _ in order], wish.levels[0])
    others = ranking.in_order([each for each in tried if each not in able], (Level(first),))
    worse = {
        each.name: ranking.worse(each, order[0][0], wish.levels[wish.levels.index(level) :])
        for each, level in order
        if level is not None
    }
    listed = []
    for rank, (each, _) in enumerate([*order, *others], 1):
        row, (by, gap) = rows[each.name], worse.get(each.name, (None, None))
        listed.append({
            "rank": rank if each in able else None, "candidate": each.name, "is_full": _is_full(row, wish),
            "worse_by": gap.difference if gap else None, "worse_by_low": gap.low if gap else None,
            "worse_by_high": gap.high if gap else None, "worse_in": by.column if by else None,
            "is_decided": gap.decided and steady.stands if gap else None, **row,
        })  # fmt: skip
    best, second = ([each for each, _ in order] + [None, None])[:2]
    by, margin = worse.get(second.name, (None, None)) if second else (None, None)
    is_won = (
        steady.stands
        and best is not None
        and all(gap.decided for _, gap in worse.values())
        and len(worse) == len(order) - 1
    )
    open_gap = next((gap for _, gap in worse.values() if not gap.decided), margin)
    said = first.said if wish.capture is None else first.said.replace("the call", "the capture")
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "line": _line(wish, question),
        "steady": steady.document(),
        "criterion": {
            "name": wish.criterion, "column": first.column, "text": said,
            "then": [level.criterion.column for level in wish.levels[1:]], "utilisation_min": wish.utilisation_min,
        },
        "candidates": listed,
        "best": best.name if best else None,
        "winner": best.name if best and is_won else None,
        "second": second.name if second else None,
        "margin": margin.difference if margin else None,
        "low": margin.low if margin else None,
        "high": margin.high if margin else None,
        "margin_in": by.column if by else None,
        "more_seeds": open_gap.more_seeds if open_gap else None,
        "price": ranking.price(best, [each for each, _ in order[1:]]) if best else [],
        "tc": commands(best.candidate, question.rates, wish.devices) if best else [],
        "rows": [row for each, _ in [*order, *others] for row in each.rows()],
        "linux": kernel.document(answers, best.name if best else None),
        "notes": [*_notes(wish), *_unmet(wish, listed)],
    }  # fmt: skip
    document["text"] = " ".join([advice.text(document), *sentences.moving(steady, lambda point: point[0])])
    return Advice(document=document, steady=steady.said(question), scenario=scenario)


def _that_counts(steady: Steady, order: Sequence[_Tried], level: Level) -> Steady:
    """What moves so far that a candidate could come to be as good as the best, or no longer.

    What has no rank may move: nothing is said to be better than it. Times move as queueing delays
    do, and so do the parts of packets that come too late; parts of the line move as shares do.
    """
    is_late = level.criterion.column == "call_in_time"
    is_time = is_late or "_s_" in level.criterion.column
    costs = {each.name: ranking.cost(each, level.criterion) for each in order}

    def counts(move: Move) -> bool:
        name = move.of.point[0]
        if name not in costs or ("_s_" in move.of.quantity) != is_time:
            return False
        by = abs(move.second - move.first)
        if is_time:
            by *= (1 + costs[name] if is_late else costs[name]) / max(move.first, move.second)
        values = {each: Value(mean, by if each == name else 0.0) for each, mean in costs.items()}
        best = order[0].name
        others = [each for each in costs if (name == best) != (each == name)]
        return any(
            len(sides(values[best], values[other], lambda one, two: abs(one - two) > level.band)) > 1
            for other in others
        )

    return replace(steady, moves=tuple(filter(counts, steady.moves)))


def _is_full(row: Mapping[str, Any], wish: Wish) -> bool:
    """Whether a candidate uses as much of the rate set up as is asked for, within its interval."""
    used = row["utilisation"] if row["utilisation_high"] is None else row["utilisation_high"]
    return used is None or used >= wish.utilisation_min


def _line(wish: Wish, question: Question) -> dict[str, Any]:
    return {
        "down": question.rates[0],
        "up": question.rates[1],
        "below": wish.devices.below,
        "rtt": list(question.line_rtts),
        "flows": [item.text for item in wish.question.flows],
        "capture": None if wish.capture is None else _told(wish.capture),
        "seeds": question.seeds,
        "duration": question.duration,
        "warm_up": question.warm_up,
        "latency_target": question.latency_target,
    }


def _told(capture: Capture) -> dict[str, Any]:
    return {
        "file": capture.path, "me": capture.me, "packets": capture.packets, "length_s": capture.length_s,
        "flows": [{"flow": flow.name, "packets": flow.packets} for flow in capture.flows],
    }  # fmt: skip


def _unmet(wish: Wish, candidates: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    """Says that no candidate meets the target, if that is so."""
    target, known = wish.question.latency_target, [row for row in candidates if row["call_in_time"] is not None]
    if target is None or not known:
        return
    most = max(known, key=lambda row: row["call_in_time"])
    if most["call_in_time"] < MEETS:
        part = sentences.amount("in_time", most["call_in_time"])
        text = f"no candidate meets it for {100 * MEETS:g} % of the time; {most['candidate']} does for {part}"
        yield {"code": "target", "where": f"--latency-target {target}", "text": text}


def _notes(wish: Wish) -> list[dict[str, str]]:
    """What a reader should know before he trusts the advice."""
    named = replace(wish.question, queues=tuple(dict.fromkeys(each.queue for each in wish.candidates)), setups=())
    found = [note for note in asked.notes(named) if note["code"] not in ("buffer", "tail")]
    for each in wish.candidates:
        if each.is_other:
            text = f"Linux has none; what its commands set up is run: {each.setup.queues[0]}"
            found.append({"code": "tc", "where": f"--queue {each.queue}", "text": text})
    return [*found, *(wish.capture.notes() if wish.capture is not None else [])]
