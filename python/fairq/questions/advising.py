"""Which queue is best for a line, by which criterion, by how much, and how it is set up."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fairq import traffic_control as tc
from fairq.core.arguments import read
from fairq.core.declared import LIST, PART, PATH, command_line, said, word
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.output import file
from fairq.questions import advice, asked, kernel, network, own_capture, ranking, rates, sentences, sharing, words
from fairq.questions import users as mix
from fairq.questions.answers import Answers
from fairq.questions.asked import Question
from fairq.questions.candidates import Candidate, Devices, candidates, commands, for_kinds, grids, shared
from fairq.questions.own_capture import Capture
from fairq.questions.question_results import Advice
from fairq.questions.ranking import CRITERIA, IN_TIME, ORDER, Level
from fairq.questions.search import measured
from fairq.questions.sharing import Kind
from fairq.questions.steady import Move, Steady
from fairq.questions.tried import Runs, Tried
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
    kinds: tuple[Kind, ...] = ()
    """The kinds of users that share the line."""

    def alone(self, times: Question) -> list[Question]:
        """The question of each kind of users alone, with the times of this one."""
        return [
            replace(
                self.question, flows=kind.items, duration=times.duration, warm_up=times.warm_up,
                asked_by=f"{self.question.asked_by} ({kind.name} alone)",
            )
            for kind in self.kinds
        ]  # fmt: skip


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
    shared: tuple[str, ...] | None = word(
        "or of kinds of users, as 'work=70%: 3 downloads + call, guests: 10 downloads'", "LIST", LIST,
        read=asked.listed
    )
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
    others = {"flows": asks.flows, "users": asks.users, "capture": asks.capture, "buffer": asks.buffer}
    kinds = () if asks.shared is None else sharing.kinds(asks.shared, others)
    for option, rate in (("--down", asks.down), ("--up", asks.up)):
        if rates.nominal(option, rate) <= 0:
            raise UsageError(f"{option} {rate}: a line has a rate above 0; write for example 50Mbit/s")
    found = _capture(asks.capture, asks.me)
    line = replace(_asked_line(asks, found, kinds), latency_target=target)
    levels = _levels(criterion, target, line, with_kinds=bool(kinds))
    if found is not None:
        line, found = _with_capture(line, found)
    least = (
        UTILISATION_MIN
        if asks.utilisation_min is None
        else words.part("--utilisation-min", asks.utilisation_min, "the rate set up", "95%")
    )
    below = BELOW if asks.below is None else words.part("--below", asks.below, "the rate", "5%")
    devices = _devices(asks.dev, asks.lan, below)
    tried = tuple(_candidates(line, asks, kinds, devices))
    name = criterion or next(name for name, each in CRITERIA.items() if each == levels[0].criterion)
    question = replace(line, queues=tuple(each.name for each in tried), setups=tuple(each.setup for each in tried))
    made = Wish(question, tried, levels, name, least, found, devices, kinds)
    _check_flows(made)
    return replace(made, question=replace(question, asked_by=_command(made, asks)))


def _asked_line(asks: Line, capture: Capture | None, kinds: Sequence[Kind]) -> Question:
    """The line with its flows: those of all kinds of users, those that are named, or usual ones."""
    ask = partial(
        asked.ask, rate=f"{asks.down}/{asks.up}", rtt=asks.rtt, seeds=asks.seeds, duration=asks.duration,
        warm_up=asks.warm_up,
    )  # fmt: skip
    if kinds:
        return sharing.line(kinds, ask)
    if asks.flows is not None and asks.users is not None:
        raise UsageError(f"--users {asks.users}: --flows says what there is; leave one of the two out")
    flows = list(asks.flows) if asks.flows is not None else _of_users(asks.users, capture)
    # Without a criterion, pages of the web tell queues apart that serve a call alike.
    if asks.criterion is None and not any(item.has_transfers for item in words.items(flows)):
        flows.append(WEB)
    return ask(flows=flows)


def _levels(criterion: str | None, target: str | None, line: Question, *, with_kinds: bool) -> tuple[Level, ...]:
    """What the candidates are ranked by; with kinds of users only what their flows give a value."""
    if criterion is not None:
        return (Level(CRITERIA[criterion]),)
    usual = ORDER if target is None else IN_TIME
    if not with_kinds:
        return usual
    has = {
        "call": any(item.name == "call" for item in line.flows),
        "transfer": any(item.has_transfers for item in line.flows),
        "kinds": any(item.is_greedy for item in line.flows),
    }
    return tuple(level for level in ranking.with_kinds(usual) if has.get(level.criterion.asks_for, has["kinds"]))


def _candidates(line: Question, asks: Line, kinds: Sequence[Kind], devices: Devices) -> Iterator[Candidate]:
    """The candidates: queues with buffers, or also trees of classes for kinds of users."""
    if kinds:
        named = for_kinds(asks.queue, kinds)
        plain = tuple(each for each in named if isinstance(each, str))
        asked.check_queues(replace(line, queues=plain))
        yield from shared(line, named, devices)
        return
    for grid in (found := grids(line.line_rtts, asks.queue, asks.buffer)):
        asked.check_queues(replace(line, queues=grid.queues, buffers=grid.buffers))
    yield from candidates(line, found, devices)


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
        "flows": None if wish.kinds else ",".join(item.text for item in line.flows),
        "shared": ", ".join(kind.text for kind in wish.kinds) or None,
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
    option = "--shared" if wish.kinds else "--flows"
    if asks_for == "call" and wish.capture is None and not any(item.name == "call" for item in items):
        raise UsageError(
            f"--criterion {wish.criterion}: no item of {option} is a call; write call(rate=100kbit/s), or another "
            "criterion, as queueing"
        )
    if asks_for == "kinds" and not wish.kinds:
        raise UsageError(f"--criterion {wish.criterion}: it is of kinds of users; write --shared as well")
    if asks_for == "transfer" and not any(item.has_transfers for item in items):
        raise UsageError(
            f"--criterion {wish.criterion}: no item of {option} has an end; write web, or a size, as cubic(size=1MB)"
        )
    if wish.utilisation_min and not any(item.is_greedy for item in items):
        raise UsageError(
            f"{option}: none takes what it can get, so that the line is not full; write a congestion control as well, "
            "as cubic, or --utilisation-min 0"
        )


def advise(wish: Wish, workers: int, progress: Tell | None = None, table: Path | None = None) -> Advice:
    """Run the candidates on `workers` threads, and rank them; `table` as of `with_packets`."""
    with with_packets(wish, table) as question:
        told = _of_whole(progress, 0, 1 + len(wish.kinds))
        (asked_of,), _, (answers,), steady = measured([question], workers, told, LONGER)
        scenario = network.text(asked_of)
    alone = _alone(wish, asked_of, workers, progress)
    weights = _weights(wish)
    tried = [
        Tried(each, _runs(answers, each), weights, wish.kinds, {name: _runs(of, each) for name, of in alone.items()})
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


def _runs(answers: Answers, candidate: Candidate) -> Runs:
    return Runs(answers.question, [point for point in answers.points if point.choice.queue == candidate.name])


def _alone(wish: Wish, times: Question, workers: int, progress: Tell | None) -> dict[str, Answers]:
    """The answers of each kind of users alone, by its name, with the times of all together."""
    found, parts = {}, 1 + len(wish.kinds)
    for at, (kind, question) in enumerate(zip(wish.kinds, wish.alone(times), strict=True), 1):
        found[kind.name] = measured([question], workers, _of_whole(progress, at, parts)).answers[0]
    return found


def _of_whole(progress: Tell | None, at: int, parts: int) -> Tell | None:
    """Tells the progress of part number `at` as that of the whole."""
    if progress is None or parts == 1:
        return progress

    def tell(fraction: float, seconds: float, hops: int) -> None:
        progress((at + fraction) / parts, seconds, hops)

    return tell


def _weights(wish: Wish) -> dict[str, int]:
    """The packets of each flow of the capture, by name: what it counts in a mean over them."""
    return {flow.name: flow.packets for flow in wish.capture.flows} if wish.capture is not None else {}


def _ranked(
    wish: Wish, question: Question, scenario: str, tried: Sequence[Tried], steady: Steady, answers: Answers
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
    told = ranking.TOLD_OF_KINDS if wish.kinds else ranking.TOLD
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
        "price": ranking.price(best, [each for each, _ in order[1:]], told) if best else [],
        "tc": commands(best.candidate, question.rates, wish.devices) if best else [],
        "kinds": [row for each, _ in [*order, *others] for row in each.of_kinds()],
        "rows": [row for each, _ in [*order, *others] for row in each.rows()],
        "linux": kernel.document(answers, best.name if best else None),
        "notes": [*_notes(wish), *_unmet(wish, listed)],
    }  # fmt: skip
    said_of_all = [advice.text(document), advice.of_kinds(document)]
    document["text"] = " ".join([*filter(None, said_of_all), *sentences.moving(steady, lambda point: point[0])])
    return Advice(document=document, steady=steady.said(question), scenario=scenario)


def _that_counts(steady: Steady, order: Sequence[Tried], level: Level) -> Steady:
    """What moves so far that a candidate could come to be as good as the best, or no longer.

    What has no rank may move: nothing is said to be better than it. Times move as queueing delays
    do, and so do the parts of packets that come too late; parts of the line move as shares do.
    """
    is_late = level.criterion.column == "call_in_time"
    is_time = is_late or "_s_" in level.criterion.column
    costs = {each.name: ranking.cost(each, level.criterion) for each in order}
    part_of = {kind.name: kind.part for each in order[:1] for kind in each.kinds}

    def counts(move: Move) -> bool:
        name = move.of.point[0]
        # What a kind gets alone is measured in other runs.
        if name not in costs or ("_s_" in move.of.quantity) != is_time or level.criterion == CRITERIA["alone"]:
            return False
        by = abs(move.second - move.first)
        if level.criterion == CRITERIA["guarantee"]:
            by /= part_of[order[0].groups[move.of.group].item.kind or ""]
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
        "shared": [
            {"kind": kind.name, "part": kind.part, "dscp": kind.point, "flows": kind.flows} for kind in wish.kinds
        ],
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
