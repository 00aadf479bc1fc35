"""Theory beside a run: what max-min fairness, the delay bounds and the TCP formulas say of each measured flow.

A number is left out (None) where its theory does not speak of the flow; docs/guide/theory.md says when that is. A gap
is measured over theory, less one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairq.core.quantities import rate, size, time
from fairq.theories import paths, tcp_throughput
from fairq.theories.delay_bounds import Hop, pgps

Row = Mapping[str, Any]


def beside(
    scenario: Mapping[str, Any], points: Sequence[Mapping[str, Any]], shares: Sequence[Row], routes: Sequence[Row]
) -> list[Row]:
    """A row for each flow at each point: what was measured, what the theory says, and the gaps.

    `scenario` and `points` are those of a result, `shares` the rows of `fairq.max_min` for the same scenario, `routes`
    what the compiled part says of each flow's path and transport.
    """
    axes = [axis["name"] for axis in scenario.get("axes", [])]
    share_of = {(*(row[axis] for axis in axes), row["flow"]): row["share_bit_per_s"] for row in shares}
    route_of = {(*(row[axis] for axis in axes), row["flow"]): row for row in routes}
    is_known = all(_is_seen_in_tables(path) for path in _varied(scenario))
    rows: list[Row] = []
    for point in points:
        labels = {axis: point["axes"][axis] for axis in axes}
        entries = paths.by_name(scenario, point["flows"]) if is_known else {}
        taken = {flow["flow"]: route_of[(*labels.values(), flow["flow"])] for flow in point["flows"]}
        bounds = delay_limits(scenario, point, entries, taken)
        for flow in point["flows"]:
            name = flow["flow"]
            row = {**labels, "flow": name, "throughput_bit_per_s": flow["throughput_bit_per_s"]}
            row |= _compared(
                row["throughput_bit_per_s"], "max_min", share_of.get((*labels.values(), name)), "bit_per_s"
            )
            row |= {f"delay_s_{part}": flow[f"delay_s_{part}"] for part in ("mean", "p99")}
            row["delay_s_max"] = _worst(point, name)
            # a source that is charged for its own drops waits longer than the bound
            bound = None if flow["dropped"] else bounds.get(name)
            row |= _compared(row["delay_s_max"], "delay_bound", bound, "s")
            for model, expected in tcp_rates(scenario, flow, entries.get(name), taken[name]).items():
                row |= _compared(row["throughput_bit_per_s"], model, expected, "bit_per_s")
            rows.append(row)
    return rows


def delay_limits(
    scenario: Mapping[str, Any],
    point: Mapping[str, Any],
    entries: Mapping[str, Mapping[str, Any]],
    routes: Mapping[str, Row],
) -> dict[str, float]:
    """The bound of each flow that has one, in seconds, from the lines' rates and disciplines at this point.

    A flow has one if its source keeps to a rate, which is within its share of every line on its path, and all of these
    serve it by PGPS or better in a queue of its own. All that may be sent on a line counts, acknowledgements too.
    """
    network = paths.network(scenario, point, entries, routes)
    if network is None:
        return {}
    limits = {}
    for name, entry in entries.items():
        bucket = _bucket(entry)
        route = network.data[name]
        if bucket is None or not network.is_alone(name) or not routes[name]["has_delay_of_pgps"]:
            continue
        burst, sent, packet = bucket
        hops = [Hop(line.rate, network.share(name, line), network.largest(line), line.delay) for line in route]
        hops += [Hop(own, own, 0.0, delay) for own, delay in _accesses(scenario, entry) if own is not None]
        travelled = sum(delay for own, delay in _accesses(scenario, entry) if own is None)
        if hops and sent <= min(hop.share for hop in hops):
            limits[name] = pgps(burst, packet, hops, rate=sent).delay + travelled
    return limits


def tcp_rates(
    scenario: Mapping[str, Any], flow: Row, entry: Mapping[str, Any] | None, route: Row
) -> dict[str, float | None]:
    """What Mathis and Padhye make of the flow's own loss and round trip, in bit/s.

    `route` is its row of what the compiled part says of its path and its transport.
    """
    none: dict[str, float | None] = {"mathis": None, "padhye": None}
    gone = flow["dropped"] + (flow["lost"] or 0)
    if entry is None or not route["keeps_to_tcp_formulas"]:
        return none
    if not gone or not flow["sent"] or not flow["rtt_s_mean"]:
        return none
    if "packet" not in entry["traffic"]:
        return none
    connection = entry.get("connection") or scenario["defaults"].get("connection") or {}
    # a timeout lasts at least a round trip
    timeout = max(time(connection.get("timeout", {}).get("floor", "1 s")), flow["rtt_s_mean"])
    loss, bits = min(1.0, gone / flow["sent"]), 8 * size(entry["traffic"]["packet"])
    return {
        # the window grows by the packets acknowledged: b is 1, however many an acknowledgement
        # covers
        "mathis": bits * tcp_throughput.mathis(flow["rtt_s_mean"], loss),
        "padhye": bits * tcp_throughput.padhye(flow["rtt_s_mean"], loss, timeout=timeout),
    }


def _compared(measured: float | None, name: str, expected: float | None, unit: str) -> dict[str, float | None]:
    gap = measured / expected - 1 if measured is not None and expected else None
    return {f"{name}_{unit}": expected, f"{name}_gap": gap}


def _worst(point: Mapping[str, Any], name: str) -> float | None:
    """The worst delay of any seed."""
    found = [row["delay_s_max"] for seed in point["seeds"] for row in seed["flows"] if row["flow"] == name]
    return max((delay for delay in found if delay is not None), default=None)


def _bucket(entry: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """Burst, rate and packet of a source that keeps to a rate, in bits."""
    traffic = entry["traffic"]
    if traffic["kind"] != "constant_rate" or (entry["transport"] or {}).get("kind", "uncontrolled") != "uncontrolled":
        return None
    # gaps that add up drift from the rate without end
    if traffic.get("adds_up"):
        return None
    packet = 8 * size(traffic["packet"])
    # with jitter it may emit two packets at once
    return packet * (2 if traffic.get("jitter") else 1), rate(traffic["rate"]), packet


def _accesses(scenario: Mapping[str, Any], entry: Mapping[str, Any]) -> list[tuple[float | None, float]]:
    """Rate (None if unlimited) and delay of the lines of the flow's own hosts."""
    found = (entry.get(end) or scenario["defaults"].get(end) for end in ("access", "sink_access"))
    return [
        (None if access["rate"] == "unlimited" else rate(access["rate"]), time(access["delay"]))
        for access in found
        if access is not None
    ]


def _varied(scenario: Mapping[str, Any]) -> Iterable[str]:
    """The fields that the axes change."""
    for axis in scenario.get("axes", []):
        if axis.get("path"):
            yield axis["path"]
        for value in axis["values"]:
            if isinstance(value, Mapping):
                yield from value.get("set", {})


def _is_seen_in_tables(path: str) -> bool:
    """Whether the tables of a point say all that this field changes."""
    first, _, rest = path.partition(".")
    last = rest.rpartition(".")[2]
    if first == "links":
        return last in ("queue", "reverse_queue", "buffer", "rate", "reverse_rate", "delay")
    return first == "measure" or path in ("defaults.queue", "defaults.buffer")
