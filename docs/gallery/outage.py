"""A line that goes down for a while.

Upright lines are changes: the line is down for a second, comes back slower, and later has another
queue. Throughput follows the line, and the round trip says what waits.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "outage.toml"
title = "A line that goes down and comes back slower"
figure = figures.of_result(fairq.run(scenario, set={"axes": []}, series="100 ms"), title=title)
