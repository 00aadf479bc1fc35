"""Two equal sources of which one loses nothing: a phase effect.

Their packets come at equal intervals, so that the same source finds the buffer full each time.
Jitter breaks the pattern; real hosts have it.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "phase.toml"
title = "Two equal sources, exact and with jitter"
figure = figures.of_result(fairq.run(scenario), quantities=["throughput_bit_per_s"], samples=False, title=title)
