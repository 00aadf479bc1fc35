"""`fairq detect` where others react: the test networks it was trained on have senders that do not.

    .venv/bin/python scripts/detect_closed_loop.py

My packets are trains at times that are known, beside TCP connections in the simulator; when they were received is read
from samples over time, every 50 µs. Prints a row for each run; docs/design/detect.md sums them up.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import product
from pathlib import Path

import numpy as np

import fairq
from fairq.core.tables import text
from fairq.detection.detection import judged
from fairq.detection.journeys import Journey
from fairq.detection.pairs import Numbers

SECONDS, WARM = 6.0, 1.0
QUEUES = {
    "fifo": False,
    "fifo + codel": False,
    "fq(on_drop=refund)": True,
    "fq": True,
    "drr(quantum=1500B)": True,
    "drr(quantum=15000B)": True,
    "fq_codel": True,
}
OTHERS = {"1 cubic": ["cubic"], "3 newreno": ["newreno"] * 3, "2 cubic, 1 bbr": ["cubic", "cubic", "bbr"]}
COUNTS = (2, 12)
"""Packets of a train of mine, one or the other."""

SCENARIO = """
edition = 1
[measure]
duration = "{seconds} s"
[defaults]
queue = "{queue}"
buffer = "150 packets"
access = {{ rate = "100 Mbit/s", delay = "5 ms" }}
[[links]]
name = "line"
from = "a"
to = "b"
rate = "8 Mbit/s"
delay = "10 ms"
reverse_queue = "fifo"
[[flows]]
name = "mine"
from = "a"
to = "b"
traffic = "csv(file=mine.csv)"
start = "0 s"
access = {{ rate = "unlimited" }}
"""
CONNECTION = """
[[flows]]
name = "other {number}"
from = "a"
to = "b"
traffic = "ftp"
transport = "{transport}"
"""


def journey(folder: Path, queue: str, transports: list[str], seed: int) -> Journey:
    """My packets of one run."""
    random = np.random.default_rng([7, seed])
    starts = np.arange(WARM, SECONDS - 1, 0.1) + random.uniform(0, 0.08, len(np.arange(WARM, SECONDS - 1, 0.1)))
    sent = np.concatenate([start + np.arange(random.choice(COUNTS)) * 2.4e-4 for start in starts])
    # every length is another, so that what was received can be told from what was lost
    sizes = random.permutation(np.arange(800, 1500))[np.arange(len(sent)) % 700]
    rows = "".join(f"{time:.9f},mine,{size}\n" for time, size in zip(sent, sizes, strict=True))
    (folder / "mine.csv").write_text("time,flow,bytes\n" + rows)
    scenario = SCENARIO.format(seconds=SECONDS, queue=queue)
    scenario += "".join(CONNECTION.format(number=k, transport=name) for k, name in enumerate(transports))
    (folder / "x.toml").write_text(scenario)
    result = fairq.run(folder / "x.toml", set={"measure.seed": str(seed)}, series="50 us")
    samples = [
        (row["time_s"], row["throughput_bit_per_s"]) for row in result.document["series"] if row["flow"] == "mine"
    ]
    bins = [(time, round(rate * 50e-6 / 8)) for time, rate in samples if rate]
    return Journey("mine", sent, matched(sizes, bins), sizes.astype(np.float64))


def matched(sizes: Numbers, bins: list[tuple[float, int]]) -> Numbers:
    """When each packet came: one or two in a sample, in their order, those passed over lost."""
    received = np.full(len(sizes), np.nan)
    place = 0
    for time, size in bins:
        for first in range(place, len(sizes)):
            if sizes[first] == size:
                received[first] = time
                place = first + 1
                break
            if first + 1 < len(sizes) and sizes[first] + sizes[first + 1] == size:
                received[first : first + 2] = time
                place = first + 2
                break
    return received


def main() -> None:
    """All queues beside all others."""
    rows = []
    for seed, (queue, others) in enumerate(product(QUEUES, OTHERS)):
        print(f"{queue}, {others}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            found = judged(journey(Path(folder), queue, OTHERS[others], seed))
        rows.append(
            {"queue": queue, "others": others, "verdict": found["verdict"], "p_fair": found["p_fair"],
             "fair": QUEUES[queue], "capacity_bit_per_s": found.get("capacity_bit_per_s"),
             "share_bit_per_s": found.get("share_bit_per_s")}
        )  # fmt: skip
    print(text(rows, wide=True, si=True))


if __name__ == "__main__":
    main()
