"""What measuring disciplines gives.

The compiled part makes the document; its JSON Schema says what the fields mean: `fairq schema bench-disciplines`.
"""

from __future__ import annotations

from typing import Annotated

from fairq.core.records import Document, Given
from fairq.core.rows import Row, Table


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


class Workload(Row):
    """A workload on this machine: the run in the middle by time, of those that were measured."""

    row: Annotated[str, "Its name."]
    about: Annotated[str, "What it runs."]
    flows: Annotated[int, Given("Flows of a run.")]
    packet_hops: Annotated[int, Given("Packets sent, on each line counted, acknowledgements included.")]
    data_packets: Annotated[int, Given("Data packets that reached their sinks.")]
    packets: Annotated[int, Given("Packets of the capture.")]
    rows: Annotated[int, Given("Rows of the table.")]
    table_bytes: Annotated[int, Given("Bytes of the table's columns.")]
    table_memory_ratio: Annotated[float, Given("The most memory for the table, in its own size, while it crosses.")]
    dropped: Annotated[int, Given("Data packets that queues dropped.")]
    simulated_s: Annotated[float, Given("Simulated time of all runs, in seconds.")]
    cpu_s: Annotated[float, Given("CPU time of the run alone, in seconds.")]
    cpu_s_min: Annotated[float, Given("The least CPU time of those measured, in seconds.")]
    cpu_s_max: Annotated[float, Given("The greatest CPU time of those measured, in seconds.")]
    wall_s: Annotated[float, Given("Time on the wall, in seconds.")]
    wall_s_min: Annotated[float, Given("The least time on the wall of those measured, in seconds.")]
    wall_s_max: Annotated[float, Given("The greatest time on the wall of those measured, in seconds.")]
    million_packet_hops_per_cpu_s: Annotated[float, Given("Millions of packet-hops a second of CPU time.")]
    simulated_s_per_cpu_s: Annotated[float, Given("Simulated seconds a second of CPU time.")]
    million_packets_per_cpu_s: Annotated[float, Given("Millions of packets a second of CPU time.")]
    peak_memory_bytes: Annotated[int | None, Given("Greatest memory of the program in bytes; null if unknown.")]
    ratio: Annotated[float, Given("The time of two programs with half of the runs each, over that of one.")]
    note: Annotated[str, Given("What else was seen.")]


class Machine(Row):
    """What was measured, and on what."""

    version: Annotated[str, "The version of fairq."]
    commit: Annotated[str | None, "The commit of the checkout; null if it is none."]
    machine: Annotated[str, "The processor."]
    cores: Annotated[int | None, "Its cores."]
    load: Annotated[float | None, "The load of the system over the last minute."]


class Benchmarks(Document):
    """The speed of this machine."""

    rows: Table[Workload]
    run_info: Machine
