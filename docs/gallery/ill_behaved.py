"""A source that ignores congestion, and what it leaves the others.

Behind FIFO a flood takes the whole line. Behind the fair queueing of 1990 the transfer has it:
a flow is charged for its dropped packets too, so that the flood's next ones come later and later.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "ill_behaved.toml"
title = "A flood beside a file transfer"
figure = figures.of_result(fairq.run(scenario), quantities=["throughput_bit_per_s"], title=title)
