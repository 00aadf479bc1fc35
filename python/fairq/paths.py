"""The paths of a scenario's flows, for scenarios of plain links: the fewest links, as the simulator takes them.

Shapes by name, files of topologies, given routes, traces and what is lost or late by chance are left to the simulator:
for them there is no network here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq.quantities import size


@dataclass(frozen=True)
class Line:
    """One direction of a link, at one point of the axes."""

    start: str
    end: str
    rate: float
    delay: float
    discipline: str
    number: int


@dataclass(frozen=True)
class Network:
    """The lines that the data of each flow takes, and its acknowledgements; by the flow's name."""

    entries: Mapping[str, Mapping[str, Any]]
    data: Mapping[str, Sequence[Line]]
    answers: Mapping[str, Sequence[Line]]
    acknowledgement: float

    def share(self, name: str, line: Line) -> float:
        """What the flow is guaranteed of the line: by weight among all that may use it."""
        users = [flow for paths in (self.data, self.answers) for flow, path in paths.items() if line in path]
        return line.rate * _weight(self.entries[name]) / sum(_weight(self.entries[flow]) for flow in users)

    def largest(self, line: Line) -> float:
        """The longest packet that may be on the line, in bits."""
        data = [8 * size(self.entries[name]["traffic"]["packet"]) for name, path in self.data.items() if line in path]
        return max([*data, self.acknowledgement])

    def is_alone(self, name: str) -> bool:
        """Whether no other flow goes between the same two hosts, so that the two would be one conversation."""
        mine = self.entries[name]
        if mine["has_host"]:
            return True
        ends = {mine["from"], mine["to"]}
        return not any(
            {entry["from"], entry["to"]} == ends and not entry["has_host"]
            for other, entry in self.entries.items()
            if other != name
        )


def by_name(scenario: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the scenario says of each flow of a table; a flow with a count stands for several."""
    said: dict[str, Mapping[str, Any]] = {}
    for flow in scenario["flows"]:
        names = (
            [flow["name"]] if flow.get("count") is None else [f"{flow['name']}.{k + 1}" for k in range(flow["count"])]
        )
        said |= dict.fromkeys(names, flow)
    defaults = scenario["defaults"]
    found = {}
    for row in flows:
        flow = said[row["flow"]]
        has_host = any(flow.get(end) or defaults.get(end) for end in ("access", "sink_access"))
        found[row["flow"]] = {
            **flow,
            "weight": row["weight"],
            "transport": flow.get("transport") or defaults.get("transport"),
            "has_host": has_host,
        }
    return found


def network(
    scenario: Mapping[str, Any], point: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]
) -> Network | None:
    """The lines and paths at one point; None if the simulator may take others than the fewest links."""
    if not entries or any(scenario.get(field) for field in ("topology", "multipath", "sessions")):
        return None
    if scenario.get("routing", "hops") != "hops" or any(entry.get("route") for entry in entries.values()):
        return None
    if any("packet" not in entry["traffic"] for entry in entries.values()):
        return None
    # what is by chance or by a file, and framing, which the formulas do not know
    others = ("trace", "reverse_trace", "loss", "jitter", "reorder", "link_header")
    if any(link.get(field) for link in scenario["links"] for field in others):
        return None
    lines = _lines(scenario, point)
    if lines is None:
        return None
    data = {name: _shortest(lines, entry["from"], entry["to"]) for name, entry in entries.items()}
    answers = {name: _shortest(lines, entry["to"], entry["from"]) for name, entry in entries.items()}
    # a result's scenario names what its edition decides
    return Network(entries, data, answers, 8 * size(scenario["defaults"]["acknowledgement"]))


def _lines(scenario: Mapping[str, Any], point: Mapping[str, Any]) -> list[Line] | None:
    rows = {(row["link"], row["direction"]): row for row in point["links"]}
    disciplines = {(row["link"], row["direction"]): row["discipline"] for row in point["queues"]}
    lines: list[Line] = []
    for link in scenario["links"]:
        for direction, (start, end) in {"forward": ("from", "to"), "reverse": ("to", "from")}.items():
            row = rows.get((link["name"], direction))
            if row is None or row["rate_bit_per_s"] is None:
                return None
            discipline = disciplines.get((link["name"], direction), "fifo")
            lines.append(Line(link[start], link[end], row["rate_bit_per_s"], row["delay_s"], discipline, len(lines)))
    return lines


def _shortest(lines: Sequence[Line], start: str, end: str) -> list[Line]:
    """The fewest lines; of equally few, at each node, the one that stands first."""
    left = {end: 0}
    reached = deque([end])
    while reached:
        node = reached.popleft()
        for line in lines:
            if line.end == node and line.start not in left:
                left[line.start] = left[node] + 1
                reached.append(line.start)
    path: list[Line] = []
    node = start
    while node != end:
        step = next(line for line in lines if line.start == node and left.get(line.end, -1) == left[node] - 1)
        path.append(step)
        node = step.end
    return path


def _weight(entry: Mapping[str, Any]) -> float:
    return float(entry["weight"])
