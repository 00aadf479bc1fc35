"""What a replay gives.

The compiled part makes the document; its JSON Schema says what the fields mean: `fairq schema replay`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fairq.core.pictured import Pictured
from fairq.core.records import Beside, Given, Record
from fairq.core.rows import Row, Table

Direction = Literal["down", "up"]


class Traffic(Row):
    """The traffic of a replay."""

    file: str | None
    packets: int
    bytes: int
    flows: int | None
    duration_s: float
    rate_bit_per_s: int | None
    buffer: str | None
    classifier: str | None
    me: str | None
    only: str | None
    packets_read: int
    packets_filtered: int
    packets_elsewhere: int
    gap_max_s: float
    gaps_cut: int
    time_cut_s: float
    backward_steps: int
    restarts: int
    beyond_latest: int
    mended_lengths: int
    note: str | None


class Way(Row):
    """The traffic of a direction."""

    direction: Direction
    rate_bit_per_s: int
    packets: int
    bytes: int


class Delays(Row):
    """Packets under a discipline, and their delays."""

    packets: int
    bytes: int
    dropped: int
    throughput_bit_per_s: float
    delay_s_mean: float | None
    delay_s_p50: float | None
    delay_s_p95: float | None
    delay_s_p99: float | None
    delay_s_max: float | None


class FlowReport(Delays):
    """The results of a discipline for a flow."""

    flow: str


class Shown(Row):
    """A number from the discipline's state."""

    quantity: str
    subqueue: str
    unit: str
    value: float


class DisciplineReport(Delays):
    """The results of a discipline."""

    name: str
    direction: Direction
    note: str
    classifier: str | None
    rows_by: str
    flows: Table[FlowReport]
    sent: int
    bytes_dropped: int
    marked: int
    last_departure_s: float
    jain_index: float | None
    overtakes: int
    late_s_mean: float | None
    late_s_p99: float | None
    late_s_max: float | None
    late_bound_s: float | None
    later_than_bound: int | None
    late_packets: int | None
    late_not_compared: int | None
    states: Table[Shown]


class Bin(Row):
    """The packets of a flow that arrived within a time, under a discipline."""

    discipline: str
    direction: Direction
    flow: str | None
    time_s: float
    bin_s: float
    sent: int
    dropped: int
    delay_s_mean: float | None
    delay_s_max: float | None


class Least(Row):
    """The flows with the least delay under these disciplines."""

    disciplines: list[str]
    differs: bool
    flows: int
    busiest: str


class DropRatio(Row):
    """What a discipline dropped."""

    discipline: str
    ratio: float


class Part(Row):
    """The answer for disciplines whose rows are the same flows."""

    direction: Direction
    rows_by: str
    flows: int
    least: Table[Least]
    dropped: Table[DropRatio]


class Answer(Row):
    """Under which disciplines flows had the least 99th percentile delay."""

    quantity: str
    decided: bool
    parts: Table[Part]
    text: str


class Replay(
    Pictured, Record, told=("disciplines", "directions", "series"),
    places=("capture", "disciplines", "run_info", "document", "directions", "series", "answer")
):  # fmt: skip
    """What became of a capture.

    `capture` describes it, `disciplines` has one table of flows for each discipline. With `me` there
    are `directions`, and a discipline for each. `series` is delay over time, of all packets (flow
    None) and of the flows with most; `answer` says under which discipline flows had the least 99th
    percentile delay.
    """

    capture: Traffic
    directions: Annotated[Table[Way], Given("The traffic of each direction; empty if there is one line only.")]
    disciplines: Table[DisciplineReport]
    series: Table[Bin]
    answer: Answer | None
    run_info: Annotated[Mapping[str, Any], Beside("What differs between machines.")]
