"""The counters of a dispatcher in the text format of Prometheus.

Source: Prometheus, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Samples = Iterable[tuple[Mapping[str, str], float]]

ENDS = {
    "admitted": "Requests that were admitted.",
    "completed": "Requests that ran to their end.",
    "failed": "Requests that ended by an exception, or whose worker left its loop.",
    "forsaken": "Requests that stopped waiting.",
}
"""The counters of requests, in the order of the compiled part."""


def text(native: Any, seats: int, tenants_max: int, steps: int) -> str:
    """All metrics; those of tenants are of the `tenants_max` busiest that are remembered."""
    waiting, running, taken, tenants = native.state()
    counts, refused, cost = native.counts()
    waits = native.waits(tenants_max)
    lines = [
        *_metric("seats", "gauge", "Seats of the server.", [({}, seats)]),
        *_metric("seats_taken", "gauge", "Seats that are taken.", [({}, taken)]),
        *_metric("waiting", "gauge", "Requests that wait.", [({}, waiting)]),
        *_metric("running", "gauge", "Requests that run.", [({}, running)]),
        *_metric("tenants", "gauge", "Tenants that have requests here or owe service.", [({}, tenants)]),
        *(line for (name, says), count in zip(ENDS.items(), counts, strict=True)
          for line in _metric(f"{name}_total", "counter", says, [({}, count)])),
        *_metric("refused_total", "counter", "Requests that were refused.",
                 [({"reason": reason}, count) for reason, count in refused.items()]),
        *_metric("cost_total", "counter", "What the requests that ended cost together.", [({}, cost / steps)]),
        *_metric("started_total", "counter", "Requests of a tenant that got a seat.",
                 [({"tenant": tenant}, started) for tenant, started, _, _ in waits]),
        *_metric("waited_seconds_total", "counter", "How long they waited for it together.",
                 [({"tenant": tenant}, total / steps) for tenant, _, total, _ in waits]),
        *_metric("waited_seconds_max", "gauge", "The longest that one of them waited.",
                 [({"tenant": tenant}, most / steps) for tenant, _, _, most in waits]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, says: str, samples: Samples) -> list[str]:
    name = f"fairq_dispatcher_{name}"
    return [
        f"# HELP {name} {says}",
        f"# TYPE {name} {kind}",
        *(f"{name}{_labels(labels)} {value!r}" for labels, value in samples),
    ]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    quoted = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(quoted) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
