"""One measurement, in a program of its own: what to do as JSON on standard input, what was found on standard output."""

from __future__ import annotations

import json
import signal
import sys
import time
from typing import Any

import fairq
from fairq.core import quantities
from fairq.core.inputs import Text
from fairq.core.memory import growth, peak_memory
from fairq.core.runs import Experiment

SIZE_MIN = 10_000_000
"""Bytes of a table below which its memory is lost in that of the packages beside it."""


def simulate(given: dict[str, Any]) -> dict[str, Any]:
    """Run a scenario on one worker, if nothing else is said."""
    sets = [(path, value) for path, value in given["sets"]]
    experiment = Experiment(Text(given["text"], "benchmark.toml"), sets, given.get("series"))
    result = experiment.run(given.get("workers", 1))
    memory = peak_memory()
    document = result.document
    measure, info = document["scenario"]["measure"], document["run_info"]
    runs = [seed for point in document["points"] for seed in point["seeds"]]
    seconds = quantities.time(measure["warm_up"]) + quantities.time(measure["duration"])
    flows = [flow for one in runs for flow in one["flows"]]
    return {
        "flows": len(runs[0]["flows"]),
        "packet_hops": info["packet_hops"],
        "data_packets": sum(flow["throughput_packets"] for flow in flows),
        "dropped": sum(flow["dropped"] for flow in flows),
        "simulated_s": seconds * len(runs),
        "cpu_s": info["cpu_s"],
        "peak_memory_bytes": memory,
    }


def replay(given: dict[str, Any]) -> dict[str, Any]:
    """Replay a capture through FQ at 10 Gbit/s: departures, and nothing that is ideal beside them."""
    began = time.process_time()
    fairq.replay(given["capture"], rate="10 Gbit/s", buffer="1000 packets", disciplines=["fq"],
               classifier="port_pair", fluid=False)  # fmt: skip
    return {"cpu_s": time.process_time() - began, "peak_memory_bytes": peak_memory()}


def table(given: dict[str, Any]) -> dict[str, Any]:
    """Hand the packets of a run to polars: CPU time and memory of that alone, and how large the table is."""
    experiment = Experiment(
        Text(given["text"], "benchmark.toml"), [(path, value) for path, value in given["sets"]], packets="packets"
    )
    packets = experiment.run(1).packets
    import polars  # loaded before the clock is read

    frames: list[polars.DataFrame] = []

    def hand() -> None:
        began = time.process_time()
        frames.append(packets.to_polars())
        spent.append(time.process_time() - began)

    spent: list[float] = []
    more = growth(hand)
    frame = frames[0]
    size = int(frame.estimated_size())
    at = packets.columns.index("sent_s")
    shares = frame["sent_s"]._s.as_single_ptr() == packets._native.address(at)
    return {
        "rows": frame.height,
        "table_bytes": size,
        **({} if more is None or size < SIZE_MIN else {"table_memory_ratio": (size + more) / size}),
        "cpu_s": spent[0],
        "peak_memory_bytes": peak_memory(),
        "note": "numbers not copied" if shares else "numbers copied",
    }


if __name__ == "__main__":
    # Ctrl-C goes to this program too; the one that started it says so
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    what = {"simulate": simulate, "replay": replay, "table": table}[sys.argv[1]]
    json.dump(what(json.load(sys.stdin)), sys.stdout)
