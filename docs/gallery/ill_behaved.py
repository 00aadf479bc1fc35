"""A source that ignores congestion, and what it leaves the others.

Behind FIFO a flood takes the line and the transfers get what is left. Behind fair queueing the
flood keeps its share and loses the rest of its own packets.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(fairq.__file__).parents[2] / "scenarios" / "ill_behaved.toml"
figure = figures.of_result(fairq.run(scenario), quantities=["throughput_bit_per_s"])
