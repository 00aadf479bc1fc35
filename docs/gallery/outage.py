"""A line that goes down for a while.

The window of the sender closes while the line is down. The time until it sends again is that of its
timer, which doubles at each try.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(fairq.__file__).parents[2] / "scenarios" / "outage.toml"
figure = figures.of_result(fairq.run(scenario, set={"axes": []}, series="100 ms"))
