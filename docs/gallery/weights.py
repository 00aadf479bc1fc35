"""Weights 1, 2 and 4, behind three queues.

Fair queueing divides the line 1 to 2 to 4. Round robin and FIFO know no weights: all three
transfers get the same, because their windows are equal.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "weights.toml"
title = "Three transfers of weights 1, 2 and 4"
figure = figures.of_result(fairq.run(scenario), quantities=["throughput_bit_per_s"], title=title)
