"""What a file of a topology gives.

The compiled part makes the document; its JSON Schema says what the fields mean: `fairq schema topology`.
"""

from __future__ import annotations

from fairq.core.pictured import Pictured
from fairq.core.records import Record
from fairq.core.rows import Row, Table


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
    Pictured, Record, told=("nodes", "links", "connected", "parts", "diameter_s", "warnings", "notes"),
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
