"""The network of three levels in data/ as a scenario of fairq; ns2/legout.tcl is the same."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from typing import Any

from programs import HERE

DATA = HERE / "data"
QUEUES = {
    "DropTail": "fifo + 49packets",
    "DRR": "drr(quantum=1000B) + longest_queue_drop(from=front) + port_pair + 50000B",
}
"""ns-2's queues of 50 packets; in DRR each connection has queues of its own."""


def scenario(connections: int, duration: int, queues: Sequence[str]) -> dict[str, Any]:
    """The first connections, for a time in seconds, with each of these queues."""
    links = [
        {"name": row["link"], "from": row["a"], "to": row["b"], "rate": f"{row['bits_per_s']} bit/s",
         "delay": f"{row['delay_s']} s"}
        for row in _read("legout_links")
    ]  # fmt: skip
    flows = [
        {"name": row["flow"], "from": row["src"], "to": row["dst"], "traffic": "ftp", "start": f"{row['start_s']} s"}
        for row in _read("legout_flows")[:connections]
    ]
    return {
        "title": "legout",
        "measure": {"duration": f"{duration} s"},
        "defaults": {"transport": "reno", "connection": _connection()},
        "edition": 1,
        "links": links,
        "flows": flows,
        "axes": [
            {"name": "queue", "values": [{"name": name, "set": {"defaults.queue": QUEUES[name]}} for name in queues]}
        ],
    }


def _connection() -> Any:
    """What ns-2's connections are, as the dumbbell of the comparison has it."""
    dumbbell = tomllib.loads((HERE / "scenarios" / "dumbbell.toml").read_text(encoding="utf-8"))
    return dumbbell["defaults"]["connection"]


def _read(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
