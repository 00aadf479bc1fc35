"""Max-min shares of a parking lot, and what fair queueing gives.

An upright line is the max-min share of a flow. With a fair queue at each link throughput comes to
it; with FIFO the flow over all links gets less.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "parking_lot.toml"
title = "Parking lot: throughput and max-min shares"
figure = figures.of_result(fairq.run(scenario, overlay=True), title=title)
