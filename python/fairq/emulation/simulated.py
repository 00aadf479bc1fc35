"""The same network simulated, with the hosts of the profile `linux`, and how far the two are apart.

Flows of a scenario are simulated as they stand there. Of a command, the flows that were seen are
written into the scenario: TCP by its start and its bytes, UDP by its rate and its packets.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import fairq._native as _native
from fairq.core.inputs import Text, pairs
from fairq.core.results import Result
from fairq.core.runs import Experiment, cores
from fairq.emulation.wish import Emulation
from fairq.questions import words

FLOWS_MAX = 200
"""The most flows of commands that are simulated, those with most bytes."""

HEADERS = 52
"""Bytes of the headers of IP and TCP with time stamps."""

PACKETS_MIN = 100
"""The fewest packets of a flow that is compared: the rates of others are those of their starts."""

OURS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr", "dctcp": "dctcp", "highspeed": "hstcp", "htcp": "htcp",
        "hybla": "hybla", "scalable": "scalable", "vegas": "vegas", "westwood": "westwood_plus"}  # fmt: skip
"""Congestion controls of Linux, and their names here."""

OF_FLOWS = ("throughput_bit_per_s", "share", "delay_s_mean", "queueing_s_mean", "queueing_s_p99", "loss")
OF_QUEUES = ("utilisation", "jain", "waiting_packets_mean", "dropped", "marked")
"""What is compared."""


def simulate(asked: Emulation, described: Mapping[str, Any], document: Mapping[str, Any]) -> Result:
    """Run the same network, with the flows that were seen."""
    text, _ = _native.toml_tree(asked.text, asked.name)
    tree: dict[str, Any] = json.loads(text)
    elapsed_s = document["emulation"]["elapsed_s"]
    flows = [*tree.get("flows", []), *_of_commands(described, document, elapsed_s)]
    measure = dict(tree.get("measure", {}))
    # Nothing is left out of an emulation.
    measure |= {"warm_up": "0 s", "duration": f"{elapsed_s:.6f} s"}
    tree |= {"measure": measure, "flows": flows}
    tree["defaults"] = {**tree.get("defaults", {}), "connection": "linux"}
    sets = [each for each in asked.sets if not each[0].startswith(("measure.duration", "measure.warm_up"))]
    return Experiment(Text(json.dumps(tree), asked.name), pairs(sets)).run(cores())


def _of_commands(
    described: Mapping[str, Any], document: Mapping[str, Any], elapsed_s: float
) -> Iterator[dict[str, Any]]:
    controls = {host["host"]: host["control"] for host in described["hosts"]}
    made = {host["name"]: host.get("control") for host in document["emulation"]["machine"].get("hosts", ())}
    has_ecn = any(host.get("ecn") for host in document["emulation"]["machine"].get("hosts", ()))
    seen = [row for row in document["emulation"]["conversations"] if row["plan"] is None and not row["is_answer"]]
    for row in sorted(seen, key=lambda row: -row["sent_bytes"])[:FLOWS_MAX]:
        flow: dict[str, Any] = {"name": row["flow"], "from": row["from"], "to": row["to"]}
        start_s = max(row["first_s"], 0.0)
        flow["start"] = f"{start_s:.6f} s"
        if row["transport"] == "tcp" and row["goodput_bytes"] > 0:
            packets = max(row["goodput_packets"], 1)
            bytes_ = row["goodput_bytes"] + HEADERS * packets
            control = made.get(row["from"]) or controls.get(row["from"]) or "cubic"
            flow |= {
                "traffic": f"incast(size={bytes_}B, rounds=1)",
                "transport": _transport(OURS.get(control, "cubic"), ecn=has_ecn),
            }
            yield flow
        elif row["transport"] == "udp" and row["sent"] > 0:
            lasts_s = max(min(row["last_s"], elapsed_s) - start_s, 1e-3)
            packet = round(row["sent_bytes"] / row["sent"])
            rate = max(round(row["sent_bytes"] * 8 / lasts_s), 1)
            traffic = f"constant_rate(rate={rate} bit/s, packet={packet}B)"
            flow |= {"traffic": traffic, "transport": "uncontrolled", "stop": f"{start_s + lasts_s:.6f} s"}
            yield flow


def _transport(control: str, *, ecn: bool) -> str:
    return f"{control}(ecn=true)" if ecn and words.takes(control, ("transport",), "ecn") else control


def differences(document: Mapping[str, Any], simulated: Result) -> list[dict[str, Any]]:
    """Each quantity of each flow and queue that both have; flows of a few packets are left out."""
    elapsed_s = document["emulation"]["elapsed_s"]
    spans = {
        row["flow"]: row["last_s"] - row["first_s"]
        for row in document["emulation"]["conversations"]
        if row["plan"] is None
    }
    ends = {row["flow"]: row for row in simulated.transfers if row["size"] == "all"}
    theirs = {row["flow"]: row for row in simulated.flows}
    found: list[dict[str, Any]] = []
    for row in document["flows"]:
        if (other := theirs.get(row["flow"])) is None or row["sent"] < PACKETS_MIN:
            continue
        mine, its = dict(row), dict(other)
        if row["flow"] in spans:
            _while_active(mine, spans[row["flow"]], elapsed_s)
            end = ends.get(row["flow"])
            completed = end is not None and end["completion_s_mean"]
            _while_active(its, completed or spans[row["flow"]], elapsed_s)
        found += _rows(row["flow"], OF_FLOWS, _with_loss(mine), _with_loss(its))
    queues = {(row["link"], row["direction"]): dict(row) for row in simulated.queues}
    for row in document["queues"]:
        simulated_queue = queues.get((row["link"], row["direction"]))
        if simulated_queue is not None:
            found += _rows(f"{row['link']} {row['direction']}", OF_QUEUES, row, simulated_queue)
    return found


def _while_active(row: dict[str, Any], lasts_s: float, elapsed_s: float) -> None:
    """Make rates of a flow those of the time in which it was active."""
    if lasts_s > 0:
        for name in ("throughput_bit_per_s", "share"):
            if row[name] is not None:
                row[name] *= elapsed_s / lasts_s


def _with_loss(row: Mapping[str, Any]) -> dict[str, Any]:
    lost = row["dropped"] + (row["lost"] or 0)
    return {**row, "loss": lost / row["sent"] if row["sent"] else None}


def _rows(
    of: str, quantities: Iterable[str], mine: Mapping[str, Any], other: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    for quantity in quantities:
        emulated, simulated = mine[quantity], other[quantity]
        if emulated is None and simulated is None:
            continue
        apart = emulated / simulated - 1 if emulated is not None and simulated else None
        yield {
            "of": of,
            "quantity": quantity,
            "emulated": emulated,
            "simulated": simulated,
            "difference": 0.0 if emulated == simulated else apart,
        }
