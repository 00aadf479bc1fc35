"""A cell of `connections.csv` in fairq: the same description as a scenario, 20 seeds, and how near the means are."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from linux.cells import LAWS, MADE_BEFORE_MS, Verdict, judged
from linux.connections import FRAME, Arrivals, Bursts, Cell, Flow, Greedy, Responses
from linux.order import made_before
from linux.truth import Seen
from programs import Fault

import fairq
from fairq import tc

CONNECTIONS = 40
"""Of `Arrivals`, more than are ever busy at once."""
AT_ONCE_MBIT = 10_000
"""The rate of a burst: as good as at once."""
ROUNDING = 1e-6
"""Of a period: times are floating-point numbers."""


def scenario(cell: Cell, window: str, seeds: int) -> dict[str, Any]:
    """The cell as a scenario; only the flows' names and what the cell says are beside the profile."""
    begin, end = (int(word) for word in window.split("-"))
    queue = made_before(tc.read(f"qdisc add dev r1 root {cell.queue}").text, MADE_BEFORE_MS)
    line = {
        "name": "line", "from": "router", "to": "receiver", "rate": f"{cell.rate_mbit:g} Mbit/s", "queue": queue,
        "reverse_queue": queue if cell.up_mbit else "fifo + unlimited",
    }  # fmt: skip
    if cell.up_mbit:
        line["reverse_rate"] = f"{cell.up_mbit:g} Mbit/s"
    path: dict[str, Any] = {
        "name": "path", "from": "sender", "to": "router", "rate": "unlimited", "queue": "fifo + unlimited",
    }  # fmt: skip
    if cell.loss:
        path["loss"] = cell.loss
    return {
        "edition": 2,
        "title": cell.name,
        "measure": {"warm_up": f"{begin} s", "duration": f"{end - begin} s", "replications": seeds},
        "defaults": {"access": {"rate": "unlimited"}, "acknowledgement": "66 B", "connection": "linux"},
        "links": [path, line],
        "flows": [_flow(cell, flow, at) for at, flow in enumerate(cell.each)],
    }


def _flow(cell: Cell, flow: Flow, at: int) -> dict[str, Any]:
    ends = ["receiver", "sender"] if flow.up else ["sender", "receiver"]
    law = LAWS.get(flow.law, flow.law)
    told: dict[str, Any] = {
        "name": _name(flow, at),
        "from": ends[0],
        "to": ends[1],
        "traffic": _traffic(flow),
        "transport": {"kind": law, "ecn": True} if cell.ecn and law != "dctcp" else law,
        # The delay is where the guest's is, beside the receiver's end of the line.
        "access" if flow.up else "sink_access": {"rate": "unlimited", "delay": f"{cell.delay_ms(flow) / 2:g} ms"},
    }
    if flow.window:
        told["connection"] = {"profile": "linux", "receive_window": flow.window}
    if isinstance(flow.traffic, Arrivals):
        told["count"] = CONNECTIONS
    return told


def _name(flow: Flow, at: int) -> str:
    return f"{flow.name}_{at}"


def _traffic(flow: Flow) -> dict[str, Any]:
    packet = f"{FRAME} B"
    match flow.traffic:
        case Greedy():
            return {"kind": "ftp", "packet": packet}
        case Responses(packets, think_ms):
            size, think = f"{packets * FRAME} B", f"{think_ms:g} ms"
            return {"kind": "request_response", "size": size, "think": think, "packet": packet}
        case Arrivals(packets, mean_gap_ms):
            size, gap = f"{packets * FRAME} B", f"{mean_gap_ms:g} ms"
            return {"kind": "flow_arrivals", "size": size, "mean_gap": gap, "packet": packet}
        case Bursts(packets, every_ms):
            on_us = packets * FRAME * 8 / AT_ONCE_MBIT
            off = f"{every_ms * 1e3 - on_us:.3f} us"
            return {
                "kind": "on_off", "rate": f"{AT_ONCE_MBIT} Mbit/s", "packet": packet, "begins": "on",
                "on": f"{on_us:.3f} us", "off": off,
            }  # fmt: skip


def verdict(seen: Seen, seeds: int, set: Mapping[str, str] | None = None) -> Verdict:
    """Run a cell and compare its means with the kernel's."""
    cell = seen.cell
    bursts = [(_name(flow, at), flow) for at, flow in enumerate(cell.each) if isinstance(flow.traffic, Bursts)]
    try:
        given = scenario(cell, seen.window, seeds)
        result = fairq.run(given, set=set or {}, packets=bursts[0][0] if bursts else None)
    except fairq.FairqError as error:
        raise Fault(f"{cell.name}: {error}") from None
    begin, end = (int(word) for word in seen.window.split("-"))
    rows = {
        _name(flow, at): [row for row in result.flows if row["flow"].partition(".")[0] == _name(flow, at)]
        for at, flow in enumerate(cell.each)
    }
    share: dict[str, tuple[float, float]] = {}
    for at, flow in enumerate(cell.each):
        packets = sum(row["goodput_packets"] for row in rows[_name(flow, at)])
        got = packets * FRAME * 8 / (end - begin) / cell.rate(flow)
        linux = seen.goodput_mbit[flow.name] * 1e6 / cell.rate(flow)
        share[flow.name] = (linux, got + share.get(flow.name, (0.0, 0.0))[1])
    down, up = (_way(cell, rows, is_up) for is_up in (False, True))
    completion = None
    # The guest's packets need no time from the line to the receiver: what answers them is late for both ways.
    one_way_ms = cell.delay_ms(bursts[0][1]) / 2 + 1e3 * FRAME * 8 / cell.rate(bursts[0][1]) if bursts else 0.0
    if seen.completion_ms is not None:
        ours = _burst_ms(result, bursts[0][1], seen.window) - one_way_ms if bursts else _completion_ms(result)
        completion = (seen.completion_ms, ours)
    up_queue = up_loss = None
    if seen.up_queue_ms is not None and seen.up_loss is not None:
        up_queue, up_loss = (seen.up_queue_ms, up[0]), (seen.up_loss, up[1])
    return judged(
        seen, share, (seen.queue_ms, down[0]), (seen.loss, down[1]), (seen.marks, down[2]), up_queue, up_loss,
        completion,
    )  # fmt: skip


def _way(cell: Cell, rows: Mapping[str, Sequence[Mapping[str, Any]]], is_up: bool) -> tuple[float, float, float]:
    """The mean wait in milliseconds, loss and marks of the flows of one direction."""
    waited = arrived = sent = dropped = marked = 0.0
    for at, flow in enumerate(cell.each):
        if flow.up != is_up:
            continue
        alone_s = FRAME * 8 / cell.rate(flow) + cell.delay_ms(flow) / 2e3
        for row in rows[_name(flow, at)]:
            waited += row["throughput_packets"] * ((row["delay_s_mean"] or alone_s) - alone_s)
            arrived += row["throughput_packets"]
            sent += row["sent"] - (row["lost"] or 0.0)
            dropped += row["dropped"]
            marked += row["marked"]
    return 1e3 * waited / max(arrived, 1), dropped / max(sent, 1), marked / max(sent, 1)


def _completion_ms(result: fairq.Result) -> float:
    rows = [row for row in result.transfers if row["size"] == "all"]
    return float(1e3 * statistics.mean(row["completion_s_mean"] for row in rows))


def _burst_ms(result: fairq.Result, flow: Flow, window: str) -> float:
    """Of a flow's bursts, from when one is given to when its last packet is received; the next one comes after that.

    The first is given when the connection opens.
    """
    assert isinstance(flow.traffic, Bursts)
    every_s = flow.traffic.every_ms / 1e3
    begin, end = (int(word) for word in window.split("-"))
    first: dict[int, float] = {}
    last: dict[tuple[int, int], float] = {}
    for row in result.document["packets"]:
        seed = row["seed"]
        burst = int((row["sent_s"] - first.setdefault(seed, row["sent_s"])) / every_s + ROUNDING)
        if row["received_s"] is not None:
            last[seed, burst] = max(row["received_s"], last.get((seed, burst), 0.0))
    took = [done - first[seed] - burst * every_s for (seed, burst), done in last.items() if begin <= done < end]
    return 1e3 * statistics.mean(took)
