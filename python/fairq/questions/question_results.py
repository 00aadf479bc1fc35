"""What questions give: a type each, of which documents and their JSON Schemas are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairq.core.pictured import Pictured
from fairq.core.records import Beside, Named, Record
from fairq.core.rows import Row, Table
from fairq.questions.measures import MEASURES, OF_CANDIDATE, OF_EFFECT, OF_GROUP, OF_QUEUE, WHOSE, quantity

Direction = Literal["down", "up"]


def _columns(names: Iterable[str]) -> dict[str, Any]:
    """The columns of measures: each with the ends of its interval."""
    columns: dict[str, Any] = {}
    for name in names:
        whose = next((said for start, said in WHOSE.items() if name.startswith(start)), "")
        meaning = MEASURES[quantity(name)].meaning
        columns[name] = Annotated[float | None, f"{whose}{meaning} The mean over the seeds."]
        columns[f"{name}_low"] = Annotated[float | None, "The lower end of its 95 % interval."]
        columns[f"{name}_high"] = Annotated[float | None, "The upper end of its 95 % interval."]
    return columns


class Measured(Row):
    """A row with measures: means over the seeds, each with the ends of its interval behind it."""

    def __init_subclass__(cls, *, measures: Iterable[str] = (), named: str = "") -> None:
        super().__init_subclass__(named=named)
        if measures:
            cls.__annotations__ = _columns(measures)

    if TYPE_CHECKING:
        # Which there are, MEASURES says.
        def __getattr__(self, name: str) -> float | None: ...


class OfGroup(Measured, measures=OF_GROUP):
    """The measures of a group of flows."""


class OfQueue(Measured, measures=OF_QUEUE):
    """The measures of a queue."""


class OfEffect(Measured, measures=OF_EFFECT):
    """The measures that settings may change."""


class OfCandidate(Measured, measures=OF_CANDIDATE):
    """The measures that candidates are judged by."""


class Asked(Row):
    """What every question says first."""

    command: Annotated[str, "The command that asks it."]
    rate: Annotated[str, "The line's rate, DOWN or DOWN/UP."]
    rtt: Annotated[list[str], "Round trips of the line."]
    flows: Annotated[list[str], "The items of --flows."]


class Queueing(Row):
    """What waits, and where."""

    queue: Annotated[list[str], "The queues of the line."]
    host_queue: Annotated[list[str], "The queues of the sending hosts; empty: first in, first out."]
    buffer: Annotated[list[str], "The rooms of the line's queue; empty: the limit of each queue in Linux."]
    ecn: Annotated[bool, "Whether packets are marked in place of being dropped, where both ends can."]


class Measuring(Row):
    """Delays at random, and how it is measured."""

    jitter: Annotated[str | None, "The greatest random delay of a packet."]
    reorder: Annotated[str | None, "The part of the packets that is late, and by how much."]
    seeds: Annotated[int, "Runs of each point."]
    duration: Annotated[str, "The measured time: what was said, or what was found."]
    warm_up: Annotated[str, "The time before it, likewise."]
    profile: Annotated[str, "The system of the hosts."]
    receive_window: Annotated[str | None, "The receive window of all connections; null: the profile's."]


class Hosts(Row):
    """The clients of a question."""

    hosts: Annotated[list[str], "The classes of --hosts."]


class Loss(Row):
    """The one loss of a line."""

    loss: Annotated[float | None, "The part of the packets that the line loses at random, 0 to 1."]
    loss_burst: Annotated[float | None, "The mean number of packets lost in a row; null: each is lost on its own."]


class Losses(Row):
    """The losses of a line, one after the other."""

    loss: Annotated[list[str], "What the line loses, as it was said; empty: nothing."]


# The columns of a row are those of its bases, the last of them first.


class Question(Measuring, Loss, Queueing, Hosts, Asked):
    """The question, with what it left unsaid; quantities are text, with units."""

    rtt: Annotated[list[str], "Round trips of the line; empty if each item has its own."]


class QuestionAlone(Measuring, Losses, Queueing, Asked):
    """The question, with what it left unsaid; quantities are text, with units."""


class Move(Row):
    """What does not stand still: its means over the seeds in the halves of the measured time."""

    point: Annotated[list[str | None], "Its queue, host queue, buffer and round trip of the line; null: none was said."]
    flow: Annotated[str, "The group of flows."]
    quantity: Annotated[str, "The quantity, a column of rows."]
    first: Annotated[float, "Its mean in the first half."]
    second: Annotated[float, "Its mean in the second half."]


class Steady(Row):
    """How long all points were measured, and whether that stood still."""

    warm_up_s: Annotated[float, "The time that was left out, in seconds."]
    duration_s: Annotated[float, "The measured time, in seconds."]
    stands: Annotated[bool | None, "Whether nothing was seen to move; null if transfers of a size come and go."]
    longest_s: Annotated[float, "The length of the longest run that there could have been, in seconds."]
    moves: Annotated[Table[Move], "What still moves, that which moves most first."]


class Value(Row):
    """A choice, or a group of flows, and its mean of the quantity of the answer."""

    name: Annotated[str, "The choice, or the group of flows."]
    mean: Annotated[float, "The mean of the quantity over the seeds."]


class Answer(Row):
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
    values_: Annotated[Table[Value], "All of them, the best first."]
    text: Annotated[str, "The answer as a sentence."]


class Choice(Row):
    """What a reader could choose, at one round trip."""

    queue: Annotated[str, "The queue, as it was written."]
    queue_settings: Annotated[str, "The discipline with those of its settings that are not their defaults."]
    host_queue: Annotated[str | None, "The queue of the sending hosts; null if none was named."]
    buffer: Annotated[str, "How much may wait, as it was written; if that was not, the limit."]
    limit: Annotated[str, "How much may wait: packets or bytes."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]


class Group(Row):
    """A group of flows."""

    flow: Annotated[str, "The group of flows: an item of --flows without its count, on a class of --hosts."]
    control: Annotated[str, "The congestion control, or transport."]
    direction: Annotated[Direction, "The direction of its data."]
    hosts: Annotated[int | None, "Its clients; null without --hosts: each flow has its own."]
    count: Annotated[int, "Its flows; of the web, its users."]


class Seeds(Row):
    """How many runs there are."""

    seeds: Annotated[int, "Runs of which the row is the mean."]


class GroupRow(Seeds, OfGroup, Group, Choice, named="Row"):
    """A group of flows over one queue; goodput, share, marks and retransmissions are of the group together."""


class Way(Row):
    """A direction of the line."""

    direction: Annotated[Direction, "The direction of the line."]


class QueueRow(Seeds, OfQueue, Way, Choice, named="Queue"):
    """A queue of the line, in one direction."""


class Paired(Row):
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


class Note(Row):
    """What a reader should know before he trusts the answer."""

    code: Annotated[str, "Its code, which stays the same."]
    where: Annotated[str, "The part of the scenario or question that it is about."]
    text: Annotated[str, "What was found, and what to write."]


Verdict = Annotated[Literal["agrees", "undecided", "differs"], "Whether both agree; undecided within chance."]


class Recorded(Row):
    """A cell that was run in a Linux kernel."""

    cell: Annotated[str, "Its name in docs/agreement/linux.md."]
    verdict: Verdict
    share: Annotated[float, "The most that a share differs, in parts of the line."]
    queueing: Annotated[float, "How far the queueing delay differs, in parts of the kernel's, or of 5 ms if longer."]


class QueueOfLine(Row):
    """A queue of the line, at one round trip and in one direction."""

    queue: Annotated[str, "The queue, as it was written."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    direction: Annotated[Direction, "The direction of the line."]


class Likened(QueueOfLine):
    """An answer and the recorded cells with its queue and controls, near its rate and round trip."""

    share: Annotated[float | None, "How far from Linux a share may be, in parts of the line; null without cells."]
    queueing: Annotated[float | None, "The same of the queueing delay, in parts of Linux's; null without cells."]
    cells: Table[Recorded]


class FromLinux(Row):
    """How far answers like these are from a Linux kernel."""

    kernel: Annotated[str, "The kernel."]
    answers: Table[Likened]
    text: Annotated[str, "The same in a sentence."]


class Comparison(
    Pictured, Record, named="Compared", told=("rows", "text"),
    places=("answer", "rows", "queues", "paired", "steady", "notes", "scenario", "document"),
):  # fmt: skip
    """What `fairq compare` found.

    `rows` has a row for each queue (with each host queue, buffer and round trip) and group of
    flows, `queues` one for each queue, `paired` the differences on the same seeds, if asked for.
    `times` and, in words, `steady` say how long was measured, and whether that stood still.
    `answer` says which is best by which quantity, by how much, and whether that is decided; its
    `text` is a sentence. `notes` say what to know before it is trusted.
    """

    schema_version: Annotated[int, "The version of this document."]
    question: Question
    times: Annotated[Steady, Named("steady")]
    answer: Answer
    rows: Table[GroupRow]
    queues: Table[QueueRow]
    paired: Annotated[Table[Paired], "With --paired; else empty."]
    linux: FromLinux
    notes: Table[Note]
    steady: Annotated[str, Beside("How long was measured, in words.")]
    scenario: Annotated[str, Beside("What was run, as a file in TOML.")]

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        return self.answer.text


class ByFormula(Row):
    """The loss of a line, and what formulas give for it."""

    line_loss: Annotated[float, "The part of the packets that the line loses, 0 to 1."]
    burst: Annotated[float | None, "The mean number lost in a row; null: each is lost on its own."]
    padhye_bit_per_s: Annotated[
        float | None,
        "What Padhye and others give for Reno at that loss and the measured round trip, at most the line, in bit/s; "
        "null without single losses.",
    ]
    rfc9438_bit_per_s: Annotated[float | None, "The same of CUBIC, by section 5.1 of RFC 9438."]


class RowAlone(GroupRow, ByFormula):
    """An item of --flows on a line of its own."""


class Alone(
    Record, named="ComparedAlone", told=("rows", "text"),
    places=("rows", "text", "steady", "notes", "scenario", "document"),
):  # fmt: skip
    """What `fairq compare --alone` found.

    `rows` has a row for each loss, item, queue, host queue, buffer and round trip; `text` says the
    least of it in sentences, `steady` how long was measured.
    """

    schema_version: Annotated[int, "The version of this document."]
    question: QuestionAlone
    times: Annotated[Steady, Named("steady")]
    rows: Table[RowAlone]
    notes: Table[Note]
    text: Annotated[str, "What each item gets, in sentences."]
    steady: Annotated[str, Beside("How long was measured, in words.")]
    scenario: Annotated[str, Beside("What was run, as a file in TOML.")]


class LeastRow(QueueOfLine):
    """The least buffer of one queue that keeps the part of the line."""

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


class TriedRow(QueueOfLine):
    """What is used of the line with one buffer."""

    products: Annotated[float, "The buffer in bandwidth-delay products."]
    limit: Annotated[str, "How much may wait."]
    utilisation: Annotated[float, "The part of the line's capacity that was used, 0 to 1. The mean over the seeds."]
    utilisation_low: Annotated[float, "The lower end of its 95 % interval."]
    utilisation_high: Annotated[float, "The upper end of its 95 % interval."]


class LeastBuffer(
    Record, named="LeastBuffers", told=("rows", "text"),
    places=("rows", "tried", "text", "steady", "notes", "scenario", "document"),
):  # fmt: skip
    """What `fairq advise --buffer-for` found.

    `rows` has one for each queue, round trip and direction in which flows take what they can get;
    `tried` what was used of the line at each room. `text` says it in sentences, `steady` how long
    was measured.
    """

    schema_version: Annotated[int, "The version of this document."]
    command: Annotated[str, "The command that asks it."]
    part: Annotated[float, "The part of the line that is to be used, 0 to 1."]
    down: Annotated[str, "The line's rate down."]
    up: Annotated[str, "The line's rate up."]
    rtt: Annotated[list[str], "Round trips of the line."]
    flows: Annotated[list[str], "The items of --flows."]
    seeds: Annotated[int, "Runs of each queue and buffer."]
    times: Annotated[Steady, Named("steady")]
    rows: Table[LeastRow]
    tried: Table[TriedRow]
    notes: Table[Note]
    text: Annotated[str, "What each queue needs, in sentences."]
    steady: Annotated[str, Beside("How long was measured, in words.")]
    scenario: Annotated[str, Beside("What was run, as a file in TOML.")]


class Line(Row):
    """What the settings of an entry were tried on; quantities are text, with units."""

    rate: Annotated[str, "The line's rate, DOWN or DOWN/UP."]
    rtt: Annotated[list[str], "The round trip without queueing."]
    flows: Annotated[list[str], "The items of --flows; a congestion control is the first of its own."]
    queue: Annotated[str, "The queue of the line, with its defaults."]
    seeds: Annotated[int, "Runs of each value."]
    duration: Annotated[str, "The measured time."]
    warm_up: Annotated[str, "The time before it."]


class Change(Row):
    """The greatest change that a setting makes of a quantity of a group of flows, beyond chance."""

    flow: Annotated[str, "The group of flows."]
    quantity: Annotated[str, "The quantity, a column of rows."]
    value: Annotated[str, "The value of the setting."]
    at_default: Annotated[float, "The mean of the quantity with the default."]
    at_value: Annotated[float, "The mean with the value."]


class Varied(Row):
    """A setting that was varied alone."""

    setting: Annotated[str, "Its name; limit is how much may wait in all."]
    type: Annotated[str, "Its type, as on its card."]
    default: Annotated[str, "Its default, as text."]
    values_: Annotated[list[str], "The values that were tried, the default among them."]
    doc: Annotated[str, "What its card says of it."]
    has_effect: Annotated[bool, "Whether a value changes delay, share or loss beyond chance, at 5 % for the setting."]
    comparisons: Annotated[int, "The comparisons among which the 5 % are shared (Bonferroni)."]
    changes: Annotated[Table[Change], "What it changes; empty if it has no effect."]


class FixedSetting(Row):
    """A setting that cannot be varied alone."""

    name: Annotated[str, "Its name."]
    reason: Annotated[str, "The reason."]


class Effect(Row):
    """The value of a setting, over a group of flows."""

    setting: Annotated[str, "The setting."]
    value: Annotated[str, "Its value, as text."]
    is_default: Annotated[bool, "Whether that is its default."]
    flow: Annotated[str, "The group of flows."]


class EffectRow(OfEffect, Seeds, Effect):
    """A group of flows where one setting has one value and all others are their defaults."""


class Effects(
    Pictured, Record, named="EffectsOfSettings", told=("settings", "rows"),
    places=("rows", "settings", "fixed", "text", "document"),
):  # fmt: skip
    """What `fairq explain NAME --effects` found.

    `rows` has a row for each setting, value and group of flows, `settings` one for each setting
    that was varied, with whether it changes anything beyond chance, `fixed` those that cannot be
    varied alone, with the reason.
    """

    schema_version: Annotated[int, "The version of this document."]
    name: Annotated[str, "The entry."]
    part: Annotated[str, "The part of a queue that it is, or transport."]
    line: Line
    settings: Table[Varied]
    fixed: Table[FixedSetting]
    rows: Table[EffectRow]
    times: Annotated[Steady, Named("steady")]
    text: Annotated[str, "Which settings change something and which do not, in sentences."]


class CaptureFlow(Row):
    """A flow of the user's own."""

    flow: Annotated[str, "Its direction and its ends."]
    packets: Annotated[int, "Its packets."]


class OwnCapture(Row):
    """The user's own packets, in place of a call."""

    file: Annotated[str, "The capture."]
    me: Annotated[str, "The user's address."]
    packets: Annotated[int, "The user's packets that are taken."]
    length_s: Annotated[float, "The time that they take, in seconds."]
    flows: Table[CaptureFlow]


class KindOfUsers(Row):
    """A kind of users that shares the line."""

    kind: Annotated[str, "Its name."]
    part: Annotated[float, "The part of the rate set up that it is guaranteed, 0 to 1."]
    dscp: Annotated[int | None, "The code point of its packets; null: what no code point tells."]
    flows: Annotated[list[str], "What it sends, as items of --flows without their code point."]


class AdvisedLine(Row):
    """The user's line and its flows; quantities are text, with units."""

    down: Annotated[str, "The rate down."]
    up: Annotated[str, "The rate up."]
    rtt: Annotated[list[str], "Round trips without queueing."]
    flows: Annotated[list[str], "The items of --flows; the capture's stand beside them."]
    shared: Annotated[Table[KindOfUsers], "The kinds of users; empty without --shared."]
    below: Annotated[float, "The part below the line at which tc shapes."]
    capture: Annotated[OwnCapture | None, "The user's own packets; null without a capture."]
    seeds: Annotated[int, "Runs of each candidate and round trip."]
    duration: Annotated[str, "The measured time."]
    warm_up: Annotated[str, "The time before it."]
    latency_target: Annotated[str | None, "Within which calls are to arrive, one way; null if that was not asked."]


class CriterionSaid(Row):
    """What the candidates are ranked by."""

    name: Annotated[str, "Its name, as --criterion takes it; where none is named the first."]
    column: Annotated[str, "The column of candidates that it is."]
    text: Annotated[str, "Its meaning."]
    then: Annotated[list[str], "Columns by which those are ranked that are equal by the first; empty with --criterion."]
    utilisation_min: Annotated[float, "The part of the rate set up that a candidate must use, 0 to 1."]


class Price(Row):
    """What another candidate is better at than the first."""

    candidate: Annotated[str, "That candidate."]
    criterion: Annotated[str, "At what, as --criterion takes it."]
    better_by: Annotated[float, "By how much, on the same seeds."]
    low: Annotated[float | None, "The lower end of its 95 % interval."]
    high: Annotated[float | None, "The upper end of its 95 % interval."]


class Place(Row):
    """A candidate among the others."""

    rank: Annotated[int | None, "Its place, from 1; null if it uses too little of the rate set up, or has no value."]
    candidate: Annotated[str, "The queue, and the buffer if it is not the limit in Linux."]
    is_full: Annotated[bool, "Whether it uses the part of the rate set up that is asked for, within its interval."]
    worse_by: Annotated[float | None, "By how much it is worse than the best, on the same seeds; null if it is equal."]
    worse_by_low: Annotated[float | None, "The lower end of its 95 % interval."]
    worse_by_high: Annotated[float | None, "The upper end of its 95 % interval."]
    worse_in: Annotated[str | None, "The column in which it is worse, and whose unit that has; null if in none."]
    is_decided: Annotated[bool | None, "Whether zero is outside that interval."]
    queue: Annotated[str, "The queue, in the text form."]
    given_away: Annotated[float, "The part of the line that shaping leaves unused, the greater of both directions."]
    limit_down: Annotated[str, "How much may wait in the way down, at the longest round trip."]
    limit_up: Annotated[str, "The same of the way up."]


class Candidate(OfCandidate, Seeds, Place):
    """A queue: numbers are the worse of both directions, and the mean over the round trips."""


class Where(Row):
    """Where a candidate was measured."""

    candidate: Annotated[str, "The candidate."]
    rtt_s: Annotated[float, "The round trip without queueing and transmission, in seconds."]
    direction: Annotated[Direction, "The direction."]


class OfKind(Row):
    """A kind of users behind a candidate."""

    candidate: Annotated[str, "The candidate."]
    kind: Annotated[str, "The kind of users."]
    part: Annotated[float, "The part of the rate set up that it is guaranteed, 0 to 1."]


class KindRow(Seeds, OfCandidate, OfKind):
    """A kind of users behind a candidate: the worse direction, the mean over the round trips."""


class WhereOfKind(Where):
    """Where a candidate was measured, and of which users."""

    kind: Annotated[str | None, "The kind of users; null without --shared."]


class AdvisedRow(OfCandidate, WhereOfKind):
    """A candidate at one round trip, in one direction, and of one kind of users."""


class Advice(
    Pictured, Record, named="Advised", told=("candidates", "text"),
    places=("criterion", "candidates", "winner", "best", "margin", "low", "high", "margin_in", "price", "tc", "kinds",
            "rows", "notes", "text", "steady", "scenario", "document"),
):  # fmt: skip
    """What `fairq advise` found.

    `candidates` are ranked, the best first, and those that use too little of the rate set up last.
    `winner` is the name of the one that is better than every other beyond chance, `None` if there
    is no such one; `margin` with `low` and `high` is by how much it is better than the second, in
    the column `margin_in`, and `best` which is first. `price` has what others are better at. `tc`
    are the commands of the best. `rows` has each candidate at each round trip and in each
    direction; `kinds` each kind of users behind each candidate, if kinds share the line.
    """

    schema_version: Annotated[int, "The version of this document."]
    line: AdvisedLine
    times: Annotated[Steady, Named("steady"), "How long was measured; what moves is of candidates that have a rank."]
    criterion: CriterionSaid
    candidates: Annotated[Table[Candidate], "The best first; those that use too little of the rate set up last."]
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
    price: Annotated[Table[Price], "What others are better at than the first, beyond chance."]
    tc: Annotated[list[str], "The commands of Linux's tc that set up the first; lines with # are comments."]
    kinds: Annotated[Table[KindRow], "Each kind of users behind each candidate; empty without --shared."]
    rows: Table[AdvisedRow]
    linux: Annotated[FromLinux, "Of the first."]
    notes: Table[Note]
    text: Annotated[str, "The advice in sentences."]
    steady: Annotated[str, Beside("How long was measured, in words.")]
    scenario: Annotated[str, Beside("What was run, as a file in TOML.")]
