"""Which queue is best for a line, by which criterion, by how much, and how it is set up."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from fairq import statistics, tc
from fairq._native import UsageError
from fairq.near import near_miss
from fairq.questions import asked, recorded, words
from fairq.questions.answers import Point, Seeds
from fairq.questions.asked import Group, Question
from fairq.questions.candidates import Candidate, Grid, commands, grids
from fairq.questions.measured import measured
from fairq.questions.measures import MEASURES, OF_CALL, OF_CANDIDATE, OF_LINE
from fairq.questions.recorded import Capture
from fairq.questions.sentences import amount

if TYPE_CHECKING:
    from fairq.api import Tell

SCHEMA_VERSION = 1
"""The version of what `fairq advise --json` prints."""

BULK = "cubic:4,cubic:2(direction=up)"
"""The flows that fill the line in both directions."""

CALLS = "call(rate=100kbit/s),call(rate=100kbit/s)(direction=up)"
"""A call, both ways."""

WEB = "web"
"""The user of the web whose transfers a criterion asks for."""

UTILISATION_MIN, BELOW = 0.95, 0.05
"""The part of the line that a candidate must use, and that by which Linux shapes below it."""


class Criterion(NamedTuple):
    """What candidates are ranked by: a column of theirs, and its words in a sentence."""

    column: str
    said: str
    asks_for: str = ""
    """The flows that give it a value: "call" or "transfer"."""

    @property
    def quantity(self) -> str:
        """The measure that the column is of."""
        return self.column.removeprefix("call_")


CRITERIA = {
    "call_p99": Criterion("call_queueing_s_p99", "99th percentile of the call's queueing delay", "call"),
    "call_mean": Criterion("call_queueing_s_mean", "mean queueing delay of the call", "call"),
    "call_loss": Criterion("call_loss", "the call's loss", "call"),
    "queueing": Criterion("queueing_s_mean", "mean queueing delay of all flows"),
    "completion": Criterion("completion_s_mean", "mean completion time of transfers", "transfer"),
    "jain": Criterion("jain", "Jain's index of the bulk flows"),
    "utilisation": Criterion("utilisation", "utilisation"),
}
"""By name, the default first."""


class Advice(NamedTuple):
    """Which queue is best for a line.

    `candidates` are ranked, the best first, and those that use too little of the line last.
    `winner` is the name of the one that is better than every other beyond chance, `None` if there
    is no such one; `margin` with `low` and `high` is by how much it is better than the second, and
    `best` which is first. `tc` are the commands of the best. `rows` has each candidate at each
    round trip and in each direction. `text` says it in a sentence; `document` is all as `--json`
    prints it.
    """

    criterion: Mapping[str, Any]
    candidates: Sequence[Mapping[str, Any]]
    winner: str | None
    best: str | None
    margin: float | None
    low: float | None
    high: float | None
    tc: Sequence[str]
    rows: Sequence[Mapping[str, Any]]
    notes: Sequence[Mapping[str, Any]]
    text: str
    document: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Advice: candidates {len(self.candidates)}, {self.text}>"


@dataclass(frozen=True)
class Wish:
    """What is asked for: the line with its flows, the candidates, and what they are ranked by."""

    line: Question
    grids: tuple[Grid, ...]
    criterion: str
    utilisation_min: float
    capture: Capture | None
    dev: str
    lan: str
    below: float

    @property
    def questions(self) -> list[Question]:
        """A question for each grid of candidates."""
        return [replace(self.line, queues=grid.queues, buffers=grid.buffers) for grid in self.grids]


def wish(
    *, down: str, up: str, rtt: str | Sequence[str], flows: str | Sequence[str] | None = None,
    capture: str | os.PathLike[str] | None = None, me: str | None = None, criterion: str | None = None,
    utilisation_min: str | float | None = None, queue: str | Sequence[str] | None = None,
    buffer: str | Sequence[str] | None = None, seeds: int = asked.SEEDS, duration: str = asked.DURATION,
    dev: str = "eth0", lan: str = "eth1", below: str | float | None = None,
) -> Wish:  # fmt: skip
    """What these words ask for; UsageError names the word that makes no sense."""
    name = next(iter(CRITERIA)) if criterion is None else criterion
    if name not in CRITERIA:
        raise UsageError(f"--criterion {name} is not known{near_miss(name, CRITERIA)}")
    for option, rate in (("--down", down), ("--up", up)):
        if words.quantity(option, "rate", rate) <= 0:
            raise UsageError(f"{option} {rate}: a line has a rate above 0; write for example 50Mbit/s")
    found = _capture(capture, me)
    said = words.values("--flows", flows)
    if not said:
        asks_for = CRITERIA[name].asks_for
        said = words.values("--flows", BULK if found else f"{BULK},{CALLS}")
        said += [WEB] if asks_for == "transfer" else []
    line = asked.ask(rate=f"{down}/{up}", rtt=rtt, flows=said, seeds=seeds, duration=duration)
    if found is not None:
        line, found = _with_capture(line, found)
    least = (
        UTILISATION_MIN
        if utilisation_min is None
        else words.part("--utilisation-min", utilisation_min, "the line", "95%")
    )
    part = BELOW if below is None else words.part("--below", below, "the rate", "5%")
    for option, device in (("--dev", dev), ("--lan", lan)):
        try:
            tc.write("fifo", device)
        except UsageError as error:
            raise UsageError(f"{option} {str(error).removeprefix('tc: ')}") from None
    if dev == lan:
        raise UsageError(f"--lan {lan}: it is --dev as well; name the device to the line and that to your network")
    made = Wish(line, tuple(grids(line.line_rtts, queue, buffer)), name, least, found, dev, lan, part)
    _check_flows(made)
    for question in made.questions:
        asked.check_queues(question)
    return made


def _capture(capture: str | os.PathLike[str] | None, me: str | None) -> Capture | None:
    if capture is None:
        if me is not None:
            raise UsageError(f"--me {me}: it says which packets of a capture are yours; write --capture FILE as well")
        return None
    if me is None:
        raise UsageError(f"--capture {os.fspath(capture)}: write your address in it as well, as --me 192.168.1.7")
    return recorded.read(capture, me)


def _with_capture(line: Question, capture: Capture) -> tuple[Question, Capture]:
    """The line and the capture, both as long as the shorter of them."""
    seconds = words.quantity("--duration", "time", line.duration)
    if capture.length_s < seconds:
        return replace(line, duration=f"{capture.length_s:.6f} s"), capture
    return line, capture.until(seconds)


def _check_flows(wish: Wish) -> None:
    """Whether the flows give the criterion a value, and fill the line."""
    items = [group.item for group in wish.line.groups]
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


def advise(wish: Wish, workers: int, progress: Tell | None = None) -> Advice:
    """Run the candidates on `workers` threads, and rank them."""
    with _recorded(wish) as questions:
        found = measured(questions, workers, progress)
    weights = _weights(wish)
    tried = []
    for question, answers in zip(questions, found, strict=True):
        for queue in question.queues:
            for buffer in question.buffers or (None,):
                points = [
                    point for point in answers.points if (point.choice.queue, point.choice.buffer) == (queue, buffer)
                ]
                tried.append(_Tried(Candidate(queue, buffer), points, question, weights))
    return _ranked(wish, tried)


@contextmanager
def _recorded(wish: Wish) -> Iterator[list[Question]]:
    """The questions with the capture's flows, whose packets stand in a file for so long."""
    if wish.capture is None:
        yield wish.questions
        return
    with TemporaryDirectory(prefix="fairq-advise-") as folder:
        path = Path(folder) / "capture.csv"
        wish.capture.write(path)
        items = wish.capture.items(path, wish.line.warm_up)
        yield [replace(question, flows=(*question.flows, *items)) for question in wish.questions]


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
        self.rtts_s = [words.quantity("--rtt", "time", point.rtt) for point in points]
        self.ways = [way for way in words.DIRECTIONS if any(group.direction == way for group in self.groups)]
        self._weights = weights
        each = [[self.of_way(point, way) for way in self.ways] for point in points]
        self.seeds: Seeds = [
            {column: _over(column, each, seed) for column in OF_CANDIDATE} for seed in range(len(each[0][0]))
        ]
        """By seed, each column: the worse direction, and the mean over the round trips."""

    def of_way(self, point: Point, way: str) -> Seeds:
        """By seed, what a point gave in one direction."""
        groups = [(at, group) for at, group in enumerate(self.groups) if group.direction == way]
        calls = [(at, group) for at, group in groups if group.item.name in ("call", words.RECORDED)]
        transfers = [(at, group) for at, group in groups if group.item.has_transfers]
        is_full = any(group.item.is_greedy for _, group in groups)
        found: Seeds = []
        for seed, line in enumerate(point.lines[way]):
            row = {f"call_{name}": self._mean(point, calls, name, seed) for name in OF_CALL}
            # A direction that nothing fills has no utilisation to keep.
            row |= {name: line[name] if is_full or name == "queueing_s_mean" else None for name in OF_LINE}
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

    def values(self, column: str) -> list[float | None]:
        """A column by seed."""
        return [seed[column] for seed in self.seeds]

    def row(self) -> dict[str, Any]:
        """The means over the seeds with their intervals."""
        return {
            "candidate": self.candidate.name,
            "queue": self.candidate.queue,
            "limit_down": self.points[-1].limits["down"],
            "limit_up": self.points[-1].limits["up"],
            **_intervals(self.seeds, OF_CANDIDATE),
            "seeds": len(self.seeds),
        }

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each round trip and direction."""
        for point, rtt_s in zip(self.points, self.rtts_s, strict=True):
            for way in self.ways:
                row = {"candidate": self.candidate.name, "rtt_s": rtt_s, "direction": way}
                yield row | _intervals(self.of_way(point, way), OF_CANDIDATE)


def _over(column: str, points: Sequence[Sequence[Seeds]], seed: int) -> float | None:
    """Of one seed the worse direction, and the mean over the points; `None` where one has none."""
    worse = min if MEASURES[column.removeprefix("call_")].is_more_better else max
    found = []
    for ways in points:
        known = [value for way in ways if (value := way[seed][column]) is not None]
        if not known:
            return None
        found.append(worse(known))
    return math.fsum(found) / len(found)


def _intervals(seeds: Seeds, columns: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for column in columns:
        scale = MEASURES[column.removeprefix("call_")].scale
        found = statistics.interval([seed[column] for seed in seeds], scale)
        row |= {column: found.mean, f"{column}_low": found.low, f"{column}_high": found.high}
    return row


def _ranked(wish: Wish, tried: Sequence[_Tried]) -> Advice:
    """The candidates in their order, the best against each other one, and what is said of them."""
    criterion = CRITERIA[wish.criterion]
    is_more_better = MEASURES[criterion.quantity].is_more_better
    rows = {each.candidate.name: each.row() for each in tried}

    def place(each: _Tried) -> tuple[bool, bool, float]:
        row = rows[each.candidate.name]
        value = row[criterion.column]
        return (not _is_full(row, wish), value is None, 0.0 if value is None else -value if is_more_better else value)

    order = sorted(tried, key=place)
    able = [
        each for each in order if _is_full(row := rows[each.candidate.name], wish) and row[criterion.column] is not None
    ]
    gaps = {each.candidate.name: _gap(each, able[0], criterion) for each in able[1:]}
    listed = []
    for rank, each in enumerate(order, 1):
        row = rows[each.candidate.name]
        gap = gaps.get(each.candidate.name)
        listed.append({
            "rank": rank if each in able else None, "candidate": row["candidate"], "is_full": _is_full(row, wish),
            "behind": gap.difference if gap else None, "behind_low": gap.low if gap else None,
            "behind_high": gap.high if gap else None, "is_decided": gap.decided if gap else None,
            **{name: value for name, value in row.items() if name != "candidate"},
        })  # fmt: skip
    best = able[0].candidate if able else None
    second = gaps[able[1].candidate.name] if len(able) > 1 else None
    open_gap = next((gap for gap in gaps.values() if not gap.decided), second)
    winner = best.name if best is not None and all(gap.decided for gap in gaps.values()) else None
    line = wish.line
    document: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "line": {
            "down": line.rates[0],
            "up": line.rates[1],
            "rtt": list(line.line_rtts),
            "flows": [item.text for item in line.flows],
            "capture": None if wish.capture is None else _told(wish.capture),
            "seeds": line.seeds,
            "duration": line.duration,
            "warm_up": line.warm_up,
        },
        "criterion": {
            "name": wish.criterion, "column": criterion.column, "text": _said(criterion, wish.capture),
            "utilisation_min": wish.utilisation_min,
        },
        "candidates": listed,
        "best": best.name if best else None,
        "winner": winner,
        "second": able[1].candidate.name if second else None,
        "margin": second.difference if second else None,
        "low": second.low if second else None,
        "high": second.high if second else None,
        "more_seeds": open_gap.more_seeds if open_gap else None,
        "tc": _tc(wish, able[0]) if able else [],
        "rows": [row for each in order for row in each.rows()],
        "notes": _notes(wish),
    }  # fmt: skip
    document["text"] = _text(document)
    names = ("criterion", "candidates", "winner", "best", "margin", "low", "high", "tc", "rows", "notes", "text")
    return Advice(**{name: document[name] for name in names}, document=document)


def _is_full(row: Mapping[str, Any], wish: Wish) -> bool:
    """Whether a candidate uses as much of the line as is asked for, within its interval."""
    used = row["utilisation"] if row["utilisation_high"] is None else row["utilisation_high"]
    return used is None or used >= wish.utilisation_min


def _gap(other: _Tried, best: _Tried, criterion: Criterion) -> statistics.Paired:
    """By how much another candidate is behind the best, on the same seeds."""
    pair = other, best
    if MEASURES[criterion.quantity].is_more_better:
        pair = best, other
    a, b = (each.values(criterion.column) for each in pair)
    return statistics.paired(a, b, MEASURES[criterion.quantity].scale)


def _tc(wish: Wish, best: _Tried) -> list[str]:
    limits = {way: _as_text(limit) for way, limit in best.points[-1].limits.items()}
    rates = wish.line.rates
    return commands(best.candidate, rates, limits, dev=wish.dev, lan=wish.lan, below=wish.below)


def _as_text(limit: str) -> str:
    """A limit as a queue's text form takes it."""
    return "".join(limit.split())


def _told(capture: Capture) -> dict[str, Any]:
    return {
        "file": capture.path, "me": capture.me, "packets": capture.packets, "length_s": capture.length_s,
        "flows": [{"flow": flow.name, "packets": flow.packets} for flow in capture.flows],
    }  # fmt: skip


def _notes(wish: Wish) -> list[dict[str, str]]:
    """What a reader should know before he trusts the advice."""
    found = [note for note in asked.notes(wish.line) if note["code"] not in ("buffer", "papers")]
    found += [note for question in wish.questions for note in asked.notes(question) if note["code"] == "papers"]
    return [*found, *(wish.capture.notes() if wish.capture is not None else [])]


def _said(criterion: Criterion, capture: Capture | None) -> str:
    """What the candidates are ranked by; with a capture that takes the place of the call."""
    return criterion.said if capture is None else criterion.said.replace("the call", "the capture")


def _text(found: Mapping[str, Any]) -> str:
    """The advice in sentences."""
    criterion = CRITERIA[found["criterion"]["name"]]
    said = found["criterion"]["text"]
    least = found["criterion"]["utilisation_min"]
    rows = {row["candidate"]: row for row in found["candidates"]}
    used = f" among those that use {100 * least:.3g} % of the line" if least else ""
    best, second = found["best"], found["second"]
    if best is None:
        most = max(rows.values(), key=lambda row: row["utilisation"] or 0.0)
        if most["is_full"]:
            return f"None wins: no packet gives a value to the {said}."
        return (
            f"None uses {100 * least:.3g} % of the line in both directions: {most['candidate']} uses most, "
            f"{amount('utilisation', most['utilisation'])}. Write for example --utilisation-min "
            f"{math.floor(100 * most['utilisation'])}%."
        )
    value = amount(criterion.quantity, rows[best][criterion.column])
    if second is None:
        return f"{best} wins: it is the only one{used}; {said} {value}."
    other = amount(criterion.quantity, rows[second][criterion.column])
    if found["low"] is None:
        return f"None wins, as one seed decides nothing: {best} has {value}, {second} {other} ({said})."
    margin, low, high = (amount(criterion.quantity, found[name]) for name in ("margin", "low", "high"))
    if found["winner"] is not None:
        return (
            f"{best} wins{used}: {said} {value}, better than {second} with {other} by {margin} "
            f"(95 % interval {low} to {high})."
        )
    alike = [name for name, row in rows.items() if row["is_decided"] is False]
    row = rows[alike[0]]
    near = amount(criterion.quantity, row[criterion.column])
    gap, low, high = (amount(criterion.quantity, row[f"behind{end}"]) for end in ("", "_low", "_high"))
    more = f" About {found['more_seeds']} more seeds would tell these two apart." if found["more_seeds"] else ""
    return (
        f"None wins{used}: {found['line']['seeds']} seeds do not tell {_many([best, *alike])} apart. The {said} is "
        f"{value} with {best} and {near} with {alike[0]}, a difference of {gap} (95 % interval {low} to {high}).{more}"
    )


def _many(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"
