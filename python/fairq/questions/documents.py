"""The document that `fairq compare --json` prints: a type, of which its JSON Schema is made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypedDict

from fairq.questions.measures import MEASURES, OF_CANDIDATE, OF_EFFECT, OF_GROUP, OF_QUEUE, WHOSE, quantity

Direction = Literal["down", "up"]


def _measured(names: Iterable[str]) -> dict[str, Any]:
    """The columns of measures: each with the ends of its interval."""
    columns: dict[str, Any] = {}
    for name in names:
        whose = next((said for start, said in WHOSE.items() if name.startswith(start)), "")
        meaning = MEASURES[quantity(name)].meaning
        columns[name] = Annotated[float | None, f"{whose}{meaning} The mean over the seeds."]
        columns[f"{name}_low"] = Annotated[float | None, "The lower end of its 95 % interval."]
        columns[f"{name}_high"] = Annotated[float | None, "The upper end of its 95 % interval."]
    return columns


class Question(TypedDict):
    """The question, with what it left unsaid; quantities are text, with units."""

    command: Annotated[str, "The command that asks it."]
    rate: Annotated[str, "The line's rate, DOWN or DOWN/UP."]
    rtt: Annotated[list[str], "Round trips of the line; empty if each item has its own."]
    flows: Annotated[list[str], "The items of --flows."]
    hosts: Annotated[list[str], "The classes of --hosts."]
    queue: Annotated[list[str], "The queues of the line."]
    host_queue: Annotated[list[str], "The queues of the sending hosts; empty: first in, first out."]
    buffer: Annotated[list[str], "The rooms of the line's queue; empty: the limit of each queue in Linux."]
    ecn: Annotated[bool, "Whether packets are marked in place of being dropped, where both ends can."]
    loss: Annotated[float | None, "The part of the packets that the line loses at random, 0 to 1."]
    loss_burst: Annotated[float | None, "The mean number of packets lost in a row; null: each is lost on its own."]
    jitter: Annotated[str | None, "The greatest random delay of a packet."]
    reorder: Annotated[str | None, "The part of the packets that is late, and by how much."]
    seeds: Annotated[int, "Runs of each point."]
    duration: Annotated[str, "The measured time: what was said, or what was found."]
    warm_up: Annotated[str, "The time before it, likewise."]
    profile: Annotated[str, "The system of the hosts."]
    receive_window: Annotated[str | None, "The receive window of all connections; null: the profile's."]


class Move(TypedDict):
    """What does not stand still: its means over the seeds in the halves of the measured time."""

    point: Annotated[list[str | None], "Its queue, host queue, buffer and round trip of the line; null: none was said."]
    flow: Annotated[str, "The group of flows."]
    quantity: Annotated[str, "The quantity, a column of rows."]
    first: Annotated[float, "Its mean in the first half."]
    second: Annotated[float, "Its mean in the second half."]


class Steady(TypedDict):
    """How long all points were measured, and whether that stood still."""

    warm_up_s: Annotated[float, "The time that was left out, in seconds."]
    duration_s: Annotated[float, "The measured time, in seconds."]
    stands: Annotated[bool | None, "Whether nothing was seen to move; null if transfers of a size come and go."]
    longest_s: Annotated[float, "The length of the longest run that there could have been, in seconds."]
    moves: Annotated[list[Move], "What still moves, that which moves most first."]


class Value(TypedDict):
    """A choice, or a group of flows, and its mean of the quantity of the answer."""

    name: Annotated[str, "The choice, or the group of flows."]
    mean: Annotated[float, "The mean of the quantity over the seeds."]


class Answer(TypedDict):
    """The answer: which of the choices, or groups of flows, is best by one quantity."""

    quantity: Annotated[str, "The quantity, a column of rows or of queues; share_per_flow is share over count."]
    of: Annotated[str | None, "The group of flows whose quantity it is; null if it is a queue's."]
    best: Annotated[str | None, "The best; null if none has a value."]
    second: Annotated[str | None, "The best of the others that differ, or of those that do not; null if there is none."]
    alike: Annotated[list[str], "Others that are the same as the best for practical purposes."]
    difference: Annotated[float | None, "The mean difference of the two on the same seeds, best less second."]
    low: Annotated[float | None, "The lower end of its 95 % interval."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]
    decided: Annotated[bool, "Whether zero is outside the interval, the difference counts, and no move could turn it."]
    more_seeds: Annotated[int | None, "About how many more seeds would decide it; 0 if it is decided."]
    values: Annotated[list[Value], "All of them, the best first."]
    text: Annotated[str, "The answer as a sentence."]


Choice: dict[str, Any] = {
    "queue": Annotated[str, "The queue, as it was written."],
    "queue_settings": Annotated[str, "The discipline with those of its settings that are not their defaults."],
    "host_queue": Annotated[str | None, "The queue of the sending hosts; null if none was named."],
    "buffer": Annotated[str, "How much may wait, as it was written; if that was not, the limit."],
    "limit": Annotated[str, "How much may wait: packets or bytes."],
    "rtt_s": Annotated[float, "The round trip without queueing and transmission, in seconds."],
}

GROUP: dict[str, Any] = {
    "flow": Annotated[str, "The group of flows: an item of --flows without its count, on a class of --hosts."],
    "control": Annotated[str, "The congestion control, or transport."],
    "direction": Annotated[Direction, "The direction of its data."],
    "hosts": Annotated[int | None, "Its clients; null without --hosts: each flow has its own."],
    "count": Annotated[int, "Its flows; of the web, its users."],
}

SEEDS: dict[str, Any] = {"seeds": Annotated[int, "Runs of which the row is the mean."]}

Row = TypedDict("Row", {**Choice, **GROUP, **_measured(OF_GROUP), **SEEDS})  # type: ignore[misc]
Row.__doc__ = "A group of flows over one queue; goodput, share, marks and retransmissions are of the group together."

QUEUE: dict[str, Any] = {"direction": Annotated[Direction, "The direction of the line."]}
Queue = TypedDict("Queue", {**Choice, **QUEUE, **_measured(OF_QUEUE), **SEEDS})  # type: ignore[misc]
Queue.__doc__ = "A queue of the line, in one direction."


class Paired(TypedDict):
    """A difference between runs of the same seeds."""

    quantity: Annotated[str, "The quantity, a column of rows or of queues; share_per_flow is share over count."]
    flow: Annotated[str | None, "The group of flows, the direction, or the choice in which two groups are compared."]
    a: Annotated[str, "The first choice or group."]
    b: Annotated[str, "The second."]
    difference: Annotated[float, "The mean of a less b."]
    low: Annotated[float, "The lower end of its 95 % interval."]
    high: Annotated[float, "The upper end of its 95 % interval."]
    decided: Annotated[bool, "Whether zero is outside the interval, and no move could turn it."]
    more_seeds: Annotated[int | None, "About how many more seeds would decide it; null if none would."]


class Note(TypedDict):
    """What a reader should know before he trusts the answer."""

    code: Annotated[str, "Its code, which stays the same."]
    where: Annotated[str, "What it is about."]
    text: Annotated[str, "What it says."]


Verdict = Annotated[Literal["agrees", "undecided", "differs"], "Whether both agree; undecided within chance."]


class Recorded(TypedDict):
    """A cell that was run in a Linux kernel."""

    cell: Annotated[str, "Its name in docs/agreement/linux.md."]
    verdict: Verdict
    share: Annotated[float, "The most that a share differs, in parts of the line."]
    queueing: Annotated[float, "How far the queueing delay differs, in parts of the kernel's, or of 5 ms if longer."]


class Likened(TypedDict):
    """An answer and the recorded cells with its queue and controls, near its rate and round trip."""

    queue: Annotated[str, "The queue, as it was written."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    direction: Annotated[Direction, "The direction of the line."]
    share: Annotated[float | None, "How far from Linux a share may be, in parts of the line; null without cells."]
    queueing: Annotated[float | None, "The same of the queueing delay, in parts of Linux's; null without cells."]
    cells: list[Recorded]


class FromLinux(TypedDict):
    """How far answers like these are from a Linux kernel."""

    kernel: Annotated[str, "The kernel."]
    answers: list[Likened]
    text: Annotated[str, "The same in a sentence."]


class Compared(TypedDict):
    """What `fairq compare` found."""

    schema_version: Annotated[int, "The version of this document."]
    question: Question
    steady: Steady
    answer: Answer
    rows: list[Row]
    queues: list[Queue]
    paired: Annotated[list[Paired], "With --paired; else empty."]
    linux: FromLinux
    notes: list[Note]


class QuestionAlone(TypedDict):
    """The question, with what it left unsaid; quantities are text, with units."""

    command: Annotated[str, "The command that asks it."]
    rate: Annotated[str, "The line's rate, DOWN or DOWN/UP."]
    rtt: Annotated[list[str], "Round trips of the line."]
    flows: Annotated[list[str], "The items of --flows."]
    queue: Annotated[list[str], "The queues of the line."]
    host_queue: Annotated[list[str], "The queues of the sending hosts; empty: first in, first out."]
    buffer: Annotated[list[str], "The rooms of the line's queue; empty: the limit of each queue in Linux."]
    ecn: Annotated[bool, "Whether packets are marked in place of being dropped, where both ends can."]
    loss: Annotated[list[str], "What the line loses, as it was said; empty: nothing."]
    jitter: Annotated[str | None, "The greatest random delay of a packet."]
    reorder: Annotated[str | None, "The part of the packets that is late, and by how much."]
    seeds: Annotated[int, "Runs of each point."]
    duration: Annotated[str, "The measured time: what was said, or what was found."]
    warm_up: Annotated[str, "The time before it, likewise."]
    profile: Annotated[str, "The system of the hosts."]
    receive_window: Annotated[str | None, "The receive window of all connections; null: the profile's."]


BY_FORMULA: dict[str, Any] = {
    "line_loss": Annotated[float, "The part of the packets that the line loses, 0 to 1."],
    "burst": Annotated[float | None, "The mean number lost in a row; null: each is lost on its own."],
    "padhye_bit_per_s": Annotated[
        float | None,
        "What Padhye and others give for Reno at that loss and the measured round trip, at most the line, in bit/s; "
        "null without single losses.",
    ],
    "rfc9438_bit_per_s": Annotated[float | None, "The same of CUBIC, by section 5.1 of RFC 9438."],
}

ROW_ALONE: dict[str, Any] = {**BY_FORMULA, **Choice, **GROUP, **_measured(OF_GROUP), **SEEDS}
RowAlone = TypedDict("RowAlone", ROW_ALONE)  # type: ignore[misc]
RowAlone.__doc__ = "An item of --flows on a line of its own."


class ComparedAlone(TypedDict):
    """What `fairq compare --alone` found."""

    schema_version: Annotated[int, "The version of this document."]
    question: QuestionAlone
    steady: Steady
    rows: list[RowAlone]
    notes: list[Note]
    text: Annotated[str, "What each item gets, in sentences."]


class LeastRow(TypedDict):
    """The least buffer of one queue that keeps the part of the line."""

    queue: Annotated[str, "The queue."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    direction: Annotated[Direction, "The direction."]
    count: Annotated[int, "The flows that take what they can get there."]
    products: Annotated[float | None, "The least buffer in bandwidth-delay products; null: none that was tried."]
    products_low: Annotated[float | None, "The lower end of its 95 % interval; null: below what was tried."]
    products_high: Annotated[float | None, "The upper end; null: above what was tried."]
    bytes: Annotated[float | None, "The least buffer in bytes, at least a packet."]
    rule_products: Annotated[float, "The rule of thumb: a product over the square root of the number of flows."]
    product_bytes: Annotated[float, "The bandwidth-delay product in bytes."]
    utilisation_most: Annotated[float, "The greatest part of the line that was used with some buffer, 0 to 1."]
    most_at_products: Annotated[float, "That buffer in bandwidth-delay products."]
    queueing_s_mean: Annotated[
        float | None, "The mean queueing delay with the first buffer tried that is not less, in seconds."
    ]
    seeds: Annotated[int, "Runs of each buffer."]


class TriedRow(TypedDict):
    """What is used of the line with one buffer."""

    queue: Annotated[str, "The queue."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    direction: Annotated[Direction, "The direction."]
    products: Annotated[float, "The buffer in bandwidth-delay products."]
    limit: Annotated[str, "How much may wait."]
    utilisation: Annotated[float, "The part of the line's capacity that was used, 0 to 1. The mean over the seeds."]
    utilisation_low: Annotated[float, "The lower end of its 95 % interval."]
    utilisation_high: Annotated[float, "The upper end of its 95 % interval."]


class LeastBuffers(TypedDict):
    """What `fairq advise --buffer-for` found."""

    schema_version: Annotated[int, "The version of this document."]
    command: Annotated[str, "The command that asks it."]
    part: Annotated[float, "The part of the line that is to be used, 0 to 1."]
    down: Annotated[str, "The line's rate down."]
    up: Annotated[str, "The line's rate up."]
    rtt: Annotated[list[str], "Round trips of the line."]
    flows: Annotated[list[str], "The items of --flows."]
    seeds: Annotated[int, "Runs of each queue and buffer."]
    steady: Steady
    rows: list[LeastRow]
    tried: list[TriedRow]
    notes: list[Note]
    text: Annotated[str, "What each queue needs, in sentences."]


class Line(TypedDict):
    """What the settings of an entry were tried on; quantities are text, with units."""

    rate: Annotated[str, "The line's rate, DOWN or DOWN/UP."]
    rtt: Annotated[list[str], "The round trip without queueing."]
    flows: Annotated[list[str], "The items of --flows; a congestion control is the first of its own."]
    queue: Annotated[str, "The queue of the line, with its defaults."]
    seeds: Annotated[int, "Runs of each value."]
    duration: Annotated[str, "The measured time."]
    warm_up: Annotated[str, "The time before it."]


class Change(TypedDict):
    """The greatest change that a setting makes of a quantity of a group of flows, beyond chance."""

    flow: Annotated[str, "The group of flows."]
    quantity: Annotated[str, "The quantity, a column of rows."]
    value: Annotated[str, "The value of the setting."]
    at_default: Annotated[float, "The mean of the quantity with the default."]
    at_value: Annotated[float, "The mean with the value."]


class Varied(TypedDict):
    """A setting that was varied alone."""

    setting: Annotated[str, "Its name; limit is how much may wait in all."]
    type: Annotated[str, "Its type, as on its card."]
    default: Annotated[str, "Its default, as text."]
    values: Annotated[list[str], "The values that were tried, the default among them."]
    doc: Annotated[str, "What its card says of it."]
    has_effect: Annotated[bool, "Whether a value changes delay, share or loss beyond chance, at 5 % for the setting."]
    comparisons: Annotated[int, "The comparisons among which the 5 % are shared (Bonferroni)."]
    changes: Annotated[list[Change], "What it changes; empty if it has no effect."]


class FixedSetting(TypedDict):
    """A setting that cannot be varied alone."""

    name: Annotated[str, "Its name."]
    reason: Annotated[str, "The reason."]


EFFECT: dict[str, Any] = {
    "setting": Annotated[str, "The setting."],
    "value": Annotated[str, "Its value, as text."],
    "is_default": Annotated[bool, "Whether that is its default."],
    "flow": Annotated[str, "The group of flows."],
    **SEEDS,
}

EffectRow = TypedDict("EffectRow", {**EFFECT, **_measured(OF_EFFECT)})  # type: ignore[misc]
EffectRow.__doc__ = "A group of flows where one setting has one value and all others are their defaults."


class EffectsOfSettings(TypedDict):
    """What `fairq explain NAME --effects` found."""

    schema_version: Annotated[int, "The version of this document."]
    name: Annotated[str, "The entry."]
    part: Annotated[str, "The part of a queue that it is, or transport."]
    line: Line
    steady: Steady
    settings: list[Varied]
    fixed: list[FixedSetting]
    rows: list[EffectRow]
    text: Annotated[str, "Which settings change something and which do not, in sentences."]


class CaptureFlow(TypedDict):
    """A flow of the user's own."""

    flow: Annotated[str, "Its direction and its ends."]
    packets: Annotated[int, "Its packets."]


class OwnCapture(TypedDict):
    """The user's own packets, in place of a call."""

    file: Annotated[str, "The capture."]
    me: Annotated[str, "The user's address."]
    packets: Annotated[int, "The user's packets that are taken."]
    length_s: Annotated[float, "The time that they take, in seconds."]
    flows: list[CaptureFlow]


class AdvisedLine(TypedDict):
    """The user's line and its flows; quantities are text, with units."""

    down: Annotated[str, "The rate down."]
    up: Annotated[str, "The rate up."]
    rtt: Annotated[list[str], "Round trips without queueing."]
    flows: Annotated[list[str], "The items of --flows; the capture's stand beside them."]
    below: Annotated[float, "The part below the line at which tc shapes."]
    capture: Annotated[OwnCapture | None, "The user's own packets; null without a capture."]
    seeds: Annotated[int, "Runs of each candidate and round trip."]
    duration: Annotated[str, "The measured time."]
    warm_up: Annotated[str, "The time before it."]
    latency_target: Annotated[str | None, "Within which calls are to arrive, one way; null if that was not asked."]


class CriterionSaid(TypedDict):
    """What the candidates are ranked by."""

    name: Annotated[str, "Its name, as --criterion takes it; where none is named the first."]
    column: Annotated[str, "The column of candidates that it is."]
    text: Annotated[str, "Its meaning."]
    then: Annotated[list[str], "Columns by which those are ranked that are equal by the first; empty with --criterion."]
    utilisation_min: Annotated[float, "The part of the rate set up that a candidate must use, 0 to 1."]


class Price(TypedDict):
    """What another candidate is better at than the first."""

    candidate: Annotated[str, "That candidate."]
    criterion: Annotated[str, "At what, as --criterion takes it."]
    better_by: Annotated[float, "By how much, on the same seeds."]
    low: Annotated[float | None, "The lower end of its 95 % interval."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]


PLACE: dict[str, Any] = {
    "rank": Annotated[int | None, "Its place, from 1; null if it uses too little of the rate set up, or has no value."],
    "candidate": Annotated[str, "The queue, and the buffer if it is not the limit in Linux."],
    "is_full": Annotated[bool, "Whether it uses the part of the rate set up that is asked for, within its interval."],
    "worse_by": Annotated[
        float | None, "By how much it is worse than the best, on the same seeds; null if it is equal."
    ],
    "worse_by_low": Annotated[float | None, "The lower end of its 95 % interval."],
    "worse_by_high": Annotated[float | None, "The upper end of its 95 % interval."],
    "worse_in": Annotated[str | None, "The column in which it is worse, and whose unit that has; null if in none."],
    "is_decided": Annotated[bool | None, "Whether zero is outside that interval."],
    "queue": Annotated[str, "The queue, in the text form."],
    "given_away": Annotated[float, "The part of the line that shaping leaves unused, the greater of both directions."],
    "limit_down": Annotated[str, "How much may wait in the way down, at the longest round trip."],
    "limit_up": Annotated[str, "The same of the way up."],
    **SEEDS,
}

Candidate = TypedDict("Candidate", {**PLACE, **_measured(OF_CANDIDATE)})  # type: ignore[misc]
Candidate.__doc__ = "A queue: numbers are the worse of both directions, and the mean over the round trips."

WHERE: dict[str, Any] = {
    "candidate": Annotated[str, "The candidate."],
    "rtt_s": Annotated[float, "The round trip without queueing and transmission, in seconds."],
    "direction": Annotated[Direction, "The direction."],
}

AdvisedRow = TypedDict("AdvisedRow", {**WHERE, **_measured(OF_CANDIDATE)})  # type: ignore[misc]
AdvisedRow.__doc__ = "A candidate at one round trip and in one direction."


class Advised(TypedDict):
    """What `fairq advise` found."""

    schema_version: Annotated[int, "The version of this document."]
    line: AdvisedLine
    steady: Annotated[Steady, "How long was measured; what moves is of candidates that have a rank."]
    criterion: CriterionSaid
    candidates: Annotated[list[Candidate], "The best first; those that use too little of the rate set up last."]
    best: Annotated[str | None, "The first; null if none uses enough of the rate set up."]
    winner: Annotated[str | None, "The first, if it is better than every other beyond chance; else null."]
    second: Annotated[str | None, "The second; null if there is none."]
    margin: Annotated[float | None, "By how much the first is better than the second, on the same seeds."]
    low: Annotated[float | None, "The lower end of its 95 % interval."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]
    margin_in: Annotated[str | None, "The column that the margin is of."]
    more_seeds: Annotated[
        int | None, "About how many more seeds would tell the first from the next like it; null if none would."
    ]
    price: Annotated[list[Price], "What others are better at than the first, beyond chance."]
    tc: Annotated[list[str], "The commands of Linux's tc that set up the first; lines with # are comments."]
    rows: list[AdvisedRow]
    linux: Annotated[FromLinux, "Of the first."]
    notes: list[Note]
    text: Annotated[str, "The advice in sentences."]
