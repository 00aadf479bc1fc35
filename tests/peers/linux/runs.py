"""A cell of `connections.csv` in fairq, as a scenario, at the starts of each run of the kernel."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from linux.cells import LAWS, Quantities, Verdict, document, judged, read_text, run_by_run
from linux.connections import FRAME, Arrivals, Bursts, Cell, Flow, Greedy, Responses
from linux.truth import Run, Seen

import fairq

CONNECTIONS = 40
"""Of `Arrivals`, more than are ever busy at once."""
AT_ONCE_MBIT = 10_000
"""The rate of a burst: as good as at once."""
ROUNDING = 1e-6
"""Of a period: times are floating-point numbers."""
KNOWN = 0.99
"""Of a round trip: so long after a packet was sent, its sender can know that it is lost."""


def scenario(cell: Cell, window: str, seeds: range, starts_s: Sequence[float]) -> dict[str, Any]:
    """The cell as a scenario; only the flows' names and what the cell says are beside the profile."""
    queue = read_text(cell.queue)
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
    flows = [
        {**_flow(cell, flow, at), "start": f"{start_s:.9f} s"}
        for at, (flow, start_s) in enumerate(zip(cell.each, starts_s, strict=True))
    ]
    return document(cell.name, window, seeds, [path, line], flows)


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
    if flow.tos:
        told["tos"] = flow.tos
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
    """Run a cell at the kernel's starts, `seeds` times in all or more, and compare the means."""
    return judged(seen, run_by_run(seen, seeds, lambda run, some: _ours(seen, run, some, set or {})))


def _ours(seen: Seen, run: Run, seeds: range, set: Mapping[str, str]) -> Quantities:
    cell = seen.cell
    bursts = [(_name(flow, at), flow) for at, flow in enumerate(cell.each) if isinstance(flow.traffic, Bursts)]
    given = scenario(cell, seen.window, seeds, run.starts_s)
    result = fairq.run(given, set=set, packets=bursts[0][0] if bursts else None)
    begin, end = (int(word) for word in seen.window.split("-"))
    rows = {
        _name(flow, at): [row for row in result.flows if row["flow"].partition(".")[0] == _name(flow, at)]
        for at, flow in enumerate(cell.each)
    }
    share = {flow.name: 0.0 for flow in cell.flows}
    for at, flow in enumerate(cell.each):
        packets = sum(row["goodput_packets"] for row in rows[_name(flow, at)])
        share[flow.name] += packets * FRAME * 8 / (end - begin) / cell.rate(flow)
    found: dict[str, float | None] = {f"share.{name}": part for name, part in share.items()}
    found["queue"], found["loss"], found["marks"] = _way(cell, rows, False)
    found["up_queue"], found["up_loss"], _ = _way(cell, rows, True)
    if run.completion_ms is not None:
        found["completion"] = _completion(seen, result, bursts[0][1] if bursts else None)
    return found


def _completion(seen: Seen, result: fairq.Result, bursts: Flow | None) -> float | None:
    """The mean time of a transfer, or of a burst, in milliseconds."""
    if bursts is None:
        return _completion_ms(result)
    # The guest's packets need no time from the line to the receiver: what answers is late for both.
    one_way_ms = seen.cell.delay_ms(bursts) / 2 + 1e3 * FRAME * 8 / seen.cell.rate(bursts)
    took_ms = burst_ms(result.document["packets"], bursts, seen.window, seen.rtt_ms)
    return None if took_ms is None else took_ms - one_way_ms


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


def burst_ms(packets: Sequence[Mapping[str, Any]], flow: Flow, window: str, rtt_ms: float) -> float | None:
    """The mean time from when a burst is given until all of it is received, by bytes in order.

    A burst counts if it was received in the window. The first is given when the connection opens.
    """
    assert isinstance(flow.traffic, Bursts)
    number, every_s = flow.traffic.packets, flow.traffic.every_ms / 1e3
    begin, end = (int(word) for word in window.split("-"))
    seeds: dict[int, list[Mapping[str, Any]]] = {}
    for row in packets:
        seeds.setdefault(row["seed"], []).append(row)
    took = []
    for rows in seeds.values():
        rows.sort(key=lambda row: row["sent_s"])
        zero_s, received, done_s = rows[0]["sent_s"], _received(rows, flow.traffic, rtt_ms), 0.0
        for place in range(len(received)):
            if place not in received:
                break
            done_s = max(done_s, received[place])
            burst, rest = divmod(place + 1, number)
            if rest == 0 and begin <= done_s < end:
                took.append(done_s - zero_s - (burst - 1) * every_s)
    return 1e3 * statistics.mean(took) if took else None


def _received(rows: Sequence[Mapping[str, Any]], bursts: Bursts, rtt_ms: float) -> dict[int, float]:
    """When each packet's data came first, by its place among the data.

    A row of `packets` has no sequence number. The first one sent a round trip or more after a lost
    packet repairs it: a loss can't be known before. If none is due and all data given so far was
    sent, the last packet is sent once more.
    """
    zero_s, sent = rows[0]["sent_s"], 0
    received: dict[int, float] = {}
    lost: list[tuple[int, float]] = []
    for row in rows:
        now_s = row["sent_s"]
        due = [place for place, since_s in lost if now_s >= since_s + KNOWN * rtt_ms / 1e3]
        given = bursts.packets * (int((now_s - zero_s) / (bursts.every_ms / 1e3) + ROUNDING) + 1)
        place = min(due) if due else min(sent, given - 1)
        sent += place == sent
        lost = [one for one in lost if one[0] != place]
        if row["received_s"] is not None:
            received[place] = min(row["received_s"], received.get(place, row["received_s"]))
        elif place not in received:
            lost.append((place, now_s))
    return received
