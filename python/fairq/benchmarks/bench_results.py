"""What measuring disciplines gives.

The compiled part makes the document; its JSON Schema says what the fields mean: `fairq schema bench-disciplines`.
"""

from __future__ import annotations

from fairq.core.records import Document
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
