"""The virtual time of WFQ, SCFQ and SFQ on the same arrivals.

WFQ's is the round number of the fluid, which grows slower when flow c comes. SCFQ's is the finish
number of the packet on the line and runs ahead of it; SFQ's is the start number and stays behind.
"""

from pathlib import Path

import numpy as np

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "docs" / "background" / "three_flows.toml"
with fairq.live(scenario) as run:
    fluid = [row for row in run.timeline("line", from_s=0, until_s=7).fluid if row["flow"] == "a"]
# flow a has weight 2, and packets all the time
times, rounds = [row["time_s"] for row in fluid], [row["served_bytes"] / 2 for row in fluid]
curves = {"WFQ": [(time, np.interp(time, times, rounds)) for time in np.linspace(0, 7, 701)]}
for queue in ("scfq", "sfq"):
    with fairq.live(scenario, links="line", set={"defaults.queue": queue}) as run:
        sent = [event for event in run.decisions("line", until="7 s") if event.direction == "forward"]
    curves[queue.upper()] = [(second, sent[max(second - 1, 0)].decision.value) for second in range(8)]
title = "Virtual time of the same arrivals"
figure = figures.steps({"V": curves}, 1, "time (s)", "bytes of a flow of weight 1", title)
