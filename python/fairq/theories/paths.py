"""The lines on the paths of a scenario's flows, for scenarios of plain links; the compiled part finds the paths.

Shapes by name, files of topologies, traces and what is lost or late by chance are left to the simulator: for them there
is no network here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq.core.quantities import size


@dataclass(frozen=True)
class Line:
    """One direction of a link, at one point of the axes."""

    rate: float
    delay: float
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
    scenario: Mapping[str, Any],
    point: Mapping[str, Any],
    entries: Mapping[str, Mapping[str, Any]],
    routes: Mapping[str, Mapping[str, Any]],
) -> Network | None:
    """The lines and paths at one point; None if the scenario does not say all of them. `routes` are rows by flow."""
    if not entries or any(scenario.get(field) for field in ("topology", "multipath", "sessions")):
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
    data, answers = (
        {name: [lines[link, direction] for link, direction in routes[name][way]] for name in entries}
        for way in ("data", "answers")
    )
    # a result's scenario names what its edition decides
    return Network(entries, data, answers, 8 * size(scenario["defaults"]["acknowledgement"]))


def _lines(scenario: Mapping[str, Any], point: Mapping[str, Any]) -> dict[tuple[str, str], Line] | None:
    """Both directions of each link, by the link's name and the direction's."""
    rows = {(row["link"], row["direction"]): row for row in point["links"]}
    lines: dict[tuple[str, str], Line] = {}
    for link in scenario["links"]:
        for name in ((link["name"], direction) for direction in ("forward", "reverse")):
            row = rows.get(name)
            if row is None or row["rate_bit_per_s"] is None:
                return None
            lines[name] = Line(row["rate_bit_per_s"], row["delay_s"], len(lines))
    return lines


def _weight(entry: Mapping[str, Any]) -> float:
    return float(entry["weight"])
