"""What an audit gives.

The compiled part makes the document; its JSON Schema says what the fields mean: `fairq schema audit`.
"""

from __future__ import annotations

from typing import Annotated

from fairq.core.pictured import Pictured
from fairq.core.records import Named, Record
from fairq.core.rows import Row, Table


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
    fluid_ps: int | None
    fate: str


class Audit(
    Pictured, Record, told=("discipline", "laws", "bounds", "costs", "violations", "packets"),
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
