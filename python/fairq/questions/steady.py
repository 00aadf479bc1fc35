"""Whether what is measured stands still, and the times with which it does.

The runs of a question begin with the usual warm-up and duration for its line and grow until the
share and the queueing delay of each group of flows stand still at all points, all seeds together,
or until a limit. Why it is so: docs/design/statistics.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fairq.core import tables
from fairq.core.errors import UsageError
from fairq.core.runs import Experiment
from fairq.questions import network, words
from fairq.questions.asked import DURATION, WARM_UP, Question
from fairq.questions.course import STRETCHES, Course, Halves, Of

USUAL_RATE, ROUND_TRIPS_MIN = 100e6, 125
"""On a faster line the usual times shrink with the rate, but not below a warm-up of this many round
trips."""

TESTED = 0.5
"""What is measured must stand still from this part of the warm-up on; the rest of it is a margin.
The measured time alone must stand still as well."""


class Band(NamedTuple):
    """How much the halves of the measured time may differ."""

    least: float
    """Less than this is no difference that counts."""
    most: float
    """More than this is one, even if the seeds do not tell it from chance."""


BANDS = {"share": Band(0.01, 0.03), "queueing_s_mean": Band(0.05, 0.15)}
"""Of a share in parts of the line; of a queueing delay in parts of its mean."""

DIFFER = 0.6
"""The part of the 95 % interval of the difference of halves outside of which they differ, in favour
of longer runs: 0.6 of it is the 80 % interval of ten seeds."""

FACTOR = 2
"""What a run grows by."""

FULL_ROUND_TRIPS, LONGER_MIN, LONGER_MAX = 1300, 8, 16
"""The longest run: the first number of round trips with full buffers, but no less than the second
and no more than the third times the length of the first run."""

MEASURED_ROUND_TRIPS_MIN = 5
"""The least measured time in round trips without queueing."""


class Times(NamedTuple):
    """A warm-up and the length of a run with it, in seconds."""

    warm_up: float
    length: float

    @property
    def duration(self) -> float:
        """The measured time."""
        return self.length - self.warm_up

    def of(self, question: Question) -> Question:
        """The question with these times."""
        warm_up, duration = (f"{seconds:.6g} s" for seconds in (self.warm_up, self.duration))
        return replace(question, warm_up=question.warm_up or warm_up, duration=question.duration or duration)

    def stretch(self, part: float = 1.0) -> int:
        """The first stretch that begins after this part of the warm-up."""
        return min(math.ceil(part * self.warm_up / self.length * STRETCHES - 1e-9), STRETCHES - 2)


class Move(NamedTuple):
    """What does not stand still: a quantity of a group of flows at a point, in both halves."""

    of: Of
    label: str
    """The group of flows."""
    first: float
    second: float


@dataclass(frozen=True)
class Steady:
    """How long a question was measured, and whether that stood still."""

    times: Times
    first: Times
    """The times of the first run."""
    longest: float
    """The length of the longest run that there could have been; of the first if that was said."""
    moves: tuple[Move, ...]
    """What still moves, that which moves most first."""
    is_tested: bool = True
    """Whether that was looked at: transfers of a size come and go."""

    @property
    def stands(self) -> bool:
        """Whether nothing was seen to move."""
        return not self.moves

    @property
    def is_found(self) -> bool:
        """Whether the runs were to grow until nothing moved, so that what moves did not end."""
        return self.longest > self.first.length

    def said(self, question: Question) -> str:
        """What was done, in a line."""
        profile = f"hosts as {question.profile}"
        warm_up, duration = (tables.value("x_s", seconds) for seconds in (self.times.warm_up, self.times.duration))
        how = ", found by the runs" if self.is_found else ""
        return f"Measured for {duration} after a warm-up of {warm_up}{how}; packets of {network.PACKET} B, {profile}."

    def document(self) -> dict[str, Any]:
        """It as `--json` prints it."""
        return {
            "warm_up_s": self.times.warm_up,
            "duration_s": self.times.duration,
            "stands": self.stands if self.is_tested else None,
            "longest_s": self.longest,
            "moves": [
                {
                    "point": list(move.of.point),
                    "flow": move.label,
                    "quantity": move.of.quantity,
                    "first": move.first,
                    "second": move.second,
                }
                for move in self.moves
            ],
        }


def begin(questions: Sequence[Question]) -> Times:
    """The times that several questions begin with: what they say, or the usual for their lines."""
    each = [_begin(question) for question in questions]
    warm_up = max(times.warm_up for times in each)
    return Times(warm_up, warm_up + max(times.duration for times in each))


def _begin(question: Question) -> Times:
    rate = max(map(question.rate_bit_per_s, words.DIRECTIONS))
    rtt = max(question.rtt_s(item, line) for item in question.flows for line in question.line_rtts)
    usual = [words.quantity("the usual", "time", text) for text in (WARM_UP, DURATION)]
    part = min(1.0, max(ROUND_TRIPS_MIN * rtt / usual[0], USUAL_RATE / rate))
    warm_up, duration = (float(f"{part * seconds:.3g}") for seconds in usual)
    # All flows are there when the warm-up ends.
    warm_up += max(words.quantity("start", "time", item.options.get("start", "0 s")) for item in question.flows)
    if question.warm_up is not None:
        warm_up = words.quantity("--warm-up", "time", question.warm_up)
    if question.duration is not None:
        duration = words.quantity("--duration", "time", question.duration)
        if duration < MEASURED_ROUND_TRIPS_MIN * rtt:
            raise UsageError(
                f"--duration {question.duration}: a measured time is at least {MEASURED_ROUND_TRIPS_MIN} round trips; "
                f"write {MEASURED_ROUND_TRIPS_MIN * rtt * 1000:g}ms or more"
            )
    return Times(warm_up, warm_up + duration)


def is_found(questions: Iterable[Question]) -> bool:
    """Whether the times of some question are to be found: it says one of them at most."""
    return any(question.warm_up is None or question.duration is None for question in questions)


def longest(questions: Sequence[Question], experiments: Iterable[Experiment], first: Times) -> float:
    """The length of the longest run of these questions, in seconds."""
    if not is_found(questions):
        return first.length
    full = FULL_ROUND_TRIPS * max(each.longest_round_trip_s(network.PACKET) for each in experiments)
    return min(max(full, LONGER_MIN * first.length), LONGER_MAX * first.length)


def most(first: Times, longest: float) -> float:
    """How many times the work of the first runs all runs up to the longest may take."""
    lengths = [first.length]
    while lengths[-1] < longest:
        lengths.append(min(FACTOR * lengths[-1], longest))
    return math.fsum(lengths) / first.length


def is_tested(question: Question) -> bool:
    """Whether the question can stand still: not if it has transfers of a size, which end."""
    return not any("size" in item.options or item.name == words.RECORDED for item in question.flows)


def moves(courses: Iterable[Course], first: int, measured: int | None = None) -> list[Move]:
    """What differs between the halves of the time from stretch number `first` on.

    With `measured`, also what differs between the halves of the time from that stretch on. Of a
    quantity that differs in both, the greater difference.
    """
    farthest: dict[Of, tuple[float, Move]] = {}
    for course in courses:
        found = list(_moves(course, first, _differ_with_margin))
        if measured is not None:
            found += _moves(course, measured, _differ_where_measured)
        for how_far, move in found:
            if move.of not in farthest or how_far > farthest[move.of][0]:
                farthest[move.of] = how_far, move
    return [move for _, move in sorted(farthest.values(), key=lambda each: -each[0])]


Differ = Callable[[Halves, float, Band, bool], bool]
"""Whether halves differ: they, how far apart they are, its band, and whether the flows are greedy."""


def _differ_with_margin(halves: Halves, far: float, band: Band, is_greedy: bool) -> bool:
    # What flows that come and go get varies by chance.
    return far > band.least and ((is_greedy and far > band.most) or halves.differ(DIFFER))


def _differ_where_measured(halves: Halves, far: float, band: Band, is_greedy: bool) -> bool:
    # What is less is in the interval, which reaches as far as the halves are apart.
    return far > band.most and (is_greedy or halves.differ())


def _moves(course: Course, first: int, differ: Differ) -> Iterator[tuple[float, Move]]:
    """What moves in one question, each with how far that is, in parts of what counts."""
    if not is_tested(course.question):
        return
    for of in course.runs:
        group = course.question.groups[of.group]
        halves = course.halves(of, first)
        if (means := halves.means) is None:
            continue
        band, (before, after) = BANDS[of.quantity], means
        size = 1.0 if of.quantity == "share" else (before + after) / 2
        far = abs(after - before) / size if size else 0.0
        # What a line carries whose rate changes varies by chance as well.
        if differ(halves, far, band, group.item.is_greedy and not course.question.is_moving):
            yield far / band.least, Move(of, group.label, before, after)


def tested_from(questions: Iterable[Question], times: Times) -> int:
    """The stretch from which on all must stand still; a warm-up that was said has no margin."""
    return times.stretch(1.0 if all(question.warm_up is not None for question in questions) else TESTED)


def longer(times: Times, courses: Sequence[Course], questions: Sequence[Question], most: float) -> Times:
    """The times of the next runs, after these have been seen to move.

    The next warm-up is as long as these runs took to stand still, with its margin, and half of the
    next runs if they never did.
    """
    cut = next((cut for cut in range(1, STRETCHES // 2 + 1) if not moves(courses, cut)), STRETCHES)
    warm_up = float(f"{max(FACTOR * times.warm_up, times.length * cut / STRETCHES / TESTED):.3g}")
    if all(question.duration is not None for question in questions):
        length = min(warm_up + times.duration, most)
        return Times(length - times.duration, length)
    length = min(FACTOR * times.length, most)
    if all(question.warm_up is not None for question in questions):
        return Times(times.warm_up, length)
    return Times(min(warm_up, length / 2), length)
