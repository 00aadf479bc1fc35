"""From what the gateway reports to the document of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import fairq._native as _native
from fairq.core.columns import described as described_columns

COMMAND = "command"
"""The traffic of a flow that a command made."""


def document(described: Mapping[str, Any], said: Mapping[str, Any], ready: Mapping[str, Any]) -> dict[str, Any]:
    """The document of the tables of what the gateway `said`; `described` is what was to be made."""
    scenario = dict(described["scenario"])
    seed = scenario.get("measure", {}).get("seed", 1)
    tables: dict[str, list[dict[str, Any]]] = {
        "flows": list(_flows(described, said)),
        "links": [_row("links", row) for row in said["links"]],
        "queues": list(_queues(described, said)),
        "transfers": [],
        "sessions": [],
        "series": [{"seed": seed} | _row("series", row) for row in said["series"]],
        "packets": [{"seed": seed} | _row("packets", row) for row in said["packets"]],
        "states": [],
    }
    averaged = {name: tables[name] for name in ("flows", "links", "queues", "transfers", "sessions")}
    point = {"axes": {}, **averaged, "seeds": [{"seed": seed, **averaged}]}
    return {
        "schema_version": _schema_version(),
        "scenario": scenario,
        "flows": tables["flows"],
        "links": tables["links"],
        "queues": tables["queues"],
        "points": [point],
        "notes": list(_notes(scenario, said, ready)),
        "run_info": {"version": _native.version(), "cpu_s": said["gateway"]["cpu_s"]},
        "transfers": [],
        "sessions": [],
        "series": tables["series"],
        "packets": tables["packets"],
        "states": [],
        "emulation": {
            **{name: said[name] for name in ("stamp", "elapsed_s", "lateness", "gateway", "refused")},
            "machine": dict(ready),
            "conversations": said["flows"],
        },
    }


def _notes(scenario: Mapping[str, Any], said: Mapping[str, Any], ready: Mapping[str, Any]) -> Iterable[dict[str, str]]:
    """What limited the run that may not have been meant."""
    for text in ready.get("notes", ()):
        yield {"code": "machine", "where": "emulation", "text": text}
    for text in said.get("faults", ()):
        yield {"code": "flow", "where": "emulation", "text": text}
    if scenario.get("measure", {}).get("warm_up", "0 s") not in ("0 s", "0 ms", 0):
        text = "real hosts are measured from the start, so that the warm-up is in the tables"
        yield {"code": "warm-up", "where": "measure.warm_up", "text": text}


def _schema_version() -> int:
    version: int = json.loads(_native.schema("result"))["properties"]["schema_version"]["const"]
    return version


def _columns(table: str) -> list[str]:
    return [column["name"] for column in described_columns()[table]["columns"]]


def _row(table: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A row with the columns of the table called so; what is not known is None."""
    return {name: values.get(name) for name in _columns(table)}


def _flows(described: Mapping[str, Any], said: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The flows of data: answers have no row, as in a simulation."""
    planned = {flow["flow"]: flow for flow in described["flows"]}
    for row in said["flows"]:
        if row["is_answer"]:
            continue
        known = planned.get(row["plan"], {"traffic": COMMAND, "from": row["from"], "to": row["to"]})
        told = {name: known[name] for name in ("from", "to", "traffic", "transport") if name in known}
        yield _row("flows", {**row, **told})
    seen = {row["plan"] for row in said["flows"]}
    for name, flow in planned.items():
        if name not in seen:
            yield _row("flows", {**_NOTHING, **flow})


_NOTHING = dict.fromkeys(
    ("throughput_packets", "throughput_bit_per_s", "goodput_packets", "sent", "retransmitted", "dropped", "marked"), 0
)
"""The counts of a flow that sent no packet."""


def _queues(described: Mapping[str, Any], said: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    told = {(line["link"], line["direction"]): line for line in described["lines"]}
    for row in said["queues"]:
        line = told.get((row["link"], row["direction"]), {})
        more = {name: line.get(name) for name in ("discipline_settings", "limit")}
        yield _row("queues", {**row, **more})
