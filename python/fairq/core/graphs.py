"""Nodes and links of a scenario as a graph of networkx, and back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import fairq._native as _native
from fairq.core import lazy
from fairq.core.errors import ScenarioError, UsageError

Edge = tuple[str, str, dict[str, Any]]
"""Both nodes of a link, and its fields."""


def graph_of(scenario: Mapping[str, Any], positions: Mapping[str, Sequence[float]]) -> Any:
    """A MultiGraph: two nodes may have several links, and a link goes both ways.

    An edge has the fields of its link as they are written, `from` and `to` among them, and with
    `rate_bit_per_s` and `delay_s` as numbers; a node has its `role` and its `pos`.
    """
    if "topology" in scenario:
        raise UsageError("to_networkx: the links of a topology are made when it runs; leave it out, or write them out")
    graph = lazy.networkx.MultiGraph()
    for node in scenario.get("nodes", ()):
        graph.add_node(node["name"], **{key: value for key, value in node.items() if key != "name"})
    for link in scenario.get("links", ()):
        numbers = {"delay_s": _number("time", link.get("delay", "0 s")), "rate_bit_per_s": _rate(link.get("rate"))}
        known = {key: value for key, value in numbers.items() if value is not None}
        graph.add_edge(link["from"], link["to"], key=link["name"], **link, **known)
    for flow in scenario.get("flows", ()):
        graph.add_nodes_from((flow["from"], flow["to"]))
    for node, place in positions.items():
        if node in graph:
            graph.nodes[node]["pos"] = tuple(place)
    return graph


def _rate(rate: str | None) -> float | None:
    if rate is None:
        return None
    return math.inf if rate == "unlimited" else _number("rate", rate)


def _number(kind: str, text: str) -> float | None:
    """A quantity as a number; None for one that is several numbers, as the ends of a moving rate."""
    try:
        return float(_native.quantity(kind, text))
    except (ScenarioError, UsageError, ValueError):
        return None


def links_of(
    graph: Any, rate: str, delay: str, weight: str | None, fields: Sequence[str]
) -> Iterator[Edge]:  # fmt: skip
    """The links of a graph; UsageError with the edge that is none."""
    _check_graph(graph)
    one_way: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for a, b, data in graph.edges(data=True):
        if a == b:
            raise UsageError(f"from_networkx: edge {a}-{b}: a link has two nodes, and this is a loop; remove the edge")
        taken = {"rate": rate, "delay": delay} | ({} if weight is None else {"weight": weight})
        link = {key: value for key, value in data.items() if key in fields and key not in ("from", "to", *taken)}
        link |= {
            field: value for field, at in taken.items() if (value := _taken(data, field, at, f"{a}-{b}")) is not None
        }
        if "rate" not in link and "trace" not in link:
            there = ", ".join(sorted(map(str, data))) or "none"
            raise UsageError(
                f"from_networkx: edge {a}-{b}: has no attribute {rate} (there are: {there}); "
                'name the one that is its rate, or write rate="10 Mbit/s" for all'
            )
        if graph.is_directed():
            one_way.setdefault((a, b), []).append(link)
        elif {data.get("from"), data.get("to")} == {a, b}:
            yield data["from"], data["to"], link
        else:
            yield a, b, link
    yield from _both_ways(one_way)


def _both_ways(one_way: Mapping[tuple[str, str], list[dict[str, Any]]]) -> Iterator[Edge]:
    """The links of a directed graph: a pair of edges, one each way, is a link."""
    done = set()
    for (a, b), links in one_way.items():
        if (b, a) in done:
            continue
        done.add((a, b))
        back = one_way.get((b, a), [])
        if [_nameless(link) for link in links] != [_nameless(link) for link in back]:
            why = "has no edge back" if not back else "differs from the edge back"
            raise UsageError(
                f"from_networkx: edge {a}-{b}: {why}, and a link goes both ways; "
                "give graph.to_undirected(), with reverse_rate on the edges that differ"
            )
        for link in links:
            yield a, b, link


def _nameless(link: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in link.items() if key != "name"}


def _taken(data: Mapping[str, Any], field: str, at: str, edge: str) -> Any:
    """The field of a link that an attribute gives, or the value for all."""
    is_value = at[:1].isdigit() or at == "unlimited"
    value = at if is_value else data.get(at)
    if field == "weight" or value is None or isinstance(value, str):
        return value
    unit = {"_bit_per_s": "bit/s", "_s": "s"}
    for ending, known in unit.items():
        if at.endswith(ending):
            return "unlimited" if value == math.inf else f"{value} {known}"
    example = '"10 Mbit/s"' if field == "rate" else '"20 ms"'
    raise UsageError(
        f"from_networkx: edge {edge}: {at} is {value!r}, a number without a unit; write text, as {example}"
    )


def positions_of(graph: Any) -> dict[str, tuple[float, float]]:
    """Where nodes stand, of their attribute `pos`, or of `x` and `y`."""
    found = {}
    for node, data in graph.nodes(data=True):
        place = data.get("pos", (data.get("x"), data.get("y")))
        if isinstance(place, Sequence) and len(place) == 2 and None not in place:
            found[node] = (float(place[0]), float(place[1]))
    return found


def _check_graph(graph: Any) -> None:
    if not all(hasattr(graph, name) for name in ("edges", "nodes", "is_directed")):
        raise UsageError(f"from_networkx: {type(graph).__name__}: no graph of networkx; give a Graph or MultiGraph")
    for node in graph.nodes:
        if not isinstance(node, str):
            raise UsageError(
                f"from_networkx: node {node!r} is no text, and names are; write networkx.relabel_nodes(graph, str)"
            )
