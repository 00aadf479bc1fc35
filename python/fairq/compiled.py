"""Results whose documents the compiled part makes: what their fields mean is said in their schemas.

`fairq.schema("replay")`, "audit", "topology" and "bench-disciplines" have the texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fairq.records import Beside, Document, Given, Named, Record
from fairq.rows import Row, Table

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
    Record, told=("disciplines", "directions", "series"),
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


class Law(Row):
    """How an invariant fared."""

    law: str
    runs: int
    checks: int
    verdict: str
    example: str | None
    run: str | None


class Bound(Row):
    """The worst of a measure."""

    measure: str
    worst: float
    bound: float | None
    ratio: float | None
    unit: str
    rounding: float
    of: str
    run: str
    runs: int


class Cost(Row):
    """The cost of a part, as its card claims it and as its instructions were counted."""

    part: str
    few: int | None
    many: int | None
    dearest_few: int | None
    dearest_many: int | None
    cost: str


class Violation(Row):
    """An invariant or a bound that was not kept."""

    of: str
    message: str
    run: str


class Journey(Row):
    """A packet of a run."""

    packet: int
    flow: int
    bytes: int
    arrival_ps: int
    start_ps: int | None
    end_ps: int | None
    fate: str


class Audit(
    Record, told=("discipline", "laws", "bounds", "costs", "violations", "packets"),
    places=("discipline", "laws", "bounds", "costs", "violations", "packets", "document")
):  # fmt: skip
    """What an audit found.

    `laws` say how each invariant fared, `bounds` the worst of each measure beside its bound,
    `violations` what was not kept. `packets` has what became of each packet if one run was
    replayed. `costs` has what the card of each part claims of its cost, and the instructions that
    were counted of it, which is not done here.
    """

    discipline: str
    queue: str
    runs: int
    packet_count: Annotated[int, Named("packets")]
    laws: Table[Law]
    bounds: Table[Bound]
    costs: Table[Cost]
    costs_counted_by: str
    violations: Table[Violation]
    packets: Annotated[Table[Journey], Named("journeys")]

    @property
    def passed(self) -> bool:
        """Whether every invariant and every bound was kept."""
        return not self.violations


class Node(Row):
    """A node of a topology."""

    node: str
    label: str | None
    latitude: float | None
    longitude: float | None
    x: float | None
    y: float | None


class TopologyLink(Row):
    """A link of a topology."""

    link: str
    from_: str
    to: str
    rate_bit_per_s: int
    delay_s: float
    weight: float | None


class Topology(
    Record, told=("nodes", "links", "connected", "parts", "diameter_s", "warnings", "notes"),
    places=("nodes", "links", "connected", "parts", "diameter_s", "warnings", "notes", "node_table", "link_table",
            "document"),
):  # fmt: skip
    """What a file of a topology holds.

    `nodes` and `links` count; `connected` says whether every node has a path to every other, `parts`
    how many parts there are; `diameter_s` is the greatest delay of a shortest path between two nodes
    that have one. `node_table` has the name, label and place of each node, `link_table` the ends,
    rate, delay and weight of each link. `warnings` say what is missing or wrong in the file, `notes`
    what was guessed, as rates from labels.
    """

    file: str
    format: str
    nodes: int
    links: int
    connected: bool
    parts: int
    diameter_s: float
    rates_by_default: int
    rates_guessed: int
    warnings: list[str]
    notes: list[str]
    node_table: Table[Node]
    link_table: Table[TopologyLink]


class FloorRow(Row):
    """The speed of a floor."""

    floor: str
    flows: int
    ns_per_packet: float


class DisciplineRow(Row):
    """The speed and the unfairness of a discipline; all numbers are None if it cannot be measured."""

    discipline: str
    part: str
    flows: int
    given: str | None
    note: str | None
    ns_per_packet: float | None
    floor: str | None
    ratio: float | None
    unfairness_packets: float | None
    idle_flow_bytes: float | None
    backlogged_flow_bytes: float | None
    dropped_share: float | None


class RunInfo(Row):
    """What the numbers depend on besides the machine."""

    version: str
    load: str
    exchanges: int
    turns: int


class Disciplines(Document):
    """The disciplines beside their floors."""

    floors: Table[FloorRow]
    rows: Table[DisciplineRow]
    run_info: RunInfo
