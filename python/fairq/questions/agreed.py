"""What `fairq agree` gives."""

from __future__ import annotations

from typing import Annotated, Literal

from fairq.core.records import Document
from fairq.core.rows import Row, Table
from fairq.questions.question_results import Verdict


class AgreedName(Row):
    """A discipline or congestion control that was recorded."""

    name: Annotated[str, "Its name."]
    part: Annotated[Literal["discipline", "transport"], "What it is."]
    orders: Annotated[int, "Recorded cases of the order in which it sends packets."]
    orders_agree: Annotated[int, "Those in which it sends and drops as the kernel."]
    cells: Annotated[int, "The recorded cells with it; each window of time counts."]
    agrees: Annotated[int, "Those where both agree."]
    undecided: Annotated[int, "Those where the runs of the kernel differ among themselves by more."]
    differs: Annotated[int, "The others."]
    share_distance: Annotated[float | None, "What a share differs by at most in nine of ten, in parts of the line."]
    queueing_distance: Annotated[float | None, "The same of queueing, in parts of the kernel's, or of 5 ms if longer."]


class AgreedCell(Row):
    """A recorded cell."""

    cell: Annotated[str, "Its name."]
    kind: Annotated[str, "Its kind, as docs/agreement/linux.md groups them."]
    window: Annotated[str, "The time that is measured, in seconds, as 5-20."]
    verdict: Verdict
    rate_bit_per_s: Annotated[float, "The line's rate, in bit/s."]
    rtt_s: Annotated[float, "The round trip of a packet alone, in seconds."]
    share_linux: Annotated[dict[str, float], "The part of the line of each congestion control in the kernel."]
    share_fairq: Annotated[dict[str, float], "The same here."]
    queueing_s_linux: Annotated[float, "The mean queueing delay in the kernel, in seconds."]
    queueing_s_fairq: Annotated[float, "The same here."]
    loss_linux: Annotated[float, "The part of the packets that the kernel drops."]
    loss_fairq: Annotated[float, "The same here."]
    share_distance: Annotated[float, "The most that a share differs, in parts of the line."]
    queueing_distance: Annotated[float, "How far queueing differs, in parts of the kernel's, or of 5 ms if longer."]
    reason: Annotated[str | None, "The rule of a miss; null if it agrees, or no rule is known."]


class AgreedOrder(Row):
    """Packets that came to a discipline at given times."""

    case: Annotated[str, "Its name."]
    kind: Annotated[str, "exact: nothing is random in it; random: counts are compared."]
    verdict: Annotated[Literal["agrees", "undecided", "differs"], "Whether both agree."]
    reason: Annotated[str | None, "The rule of a miss; null if it agrees, or no rule is known."]


class Agreed(Document):
    """How far fairq is from a real kernel."""

    kernel: Annotated[str, "The kernel."]
    name: Annotated[str | None, "The discipline or congestion control; null: all of them."]
    summary: Annotated[Table[AgreedName], "A row for each name; empty if one was given."]
    cells: Annotated[Table[AgreedCell], "The cells of the name; empty without one."]
    orders: Annotated[Table[AgreedOrder], "The cases of order of the name; empty without one."]
    text: Annotated[str, "The same in a sentence."]
