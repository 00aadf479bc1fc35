"""Keystrokes beside two file transfers, behind FIFO and fair queueing.

Behind FIFO each keystroke waits for all packets of the transfers that came before it. Behind fair
queueing it waits for the rest of one packet, and the transfers lose nothing by that.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "dumbbell.toml"
result = fairq.run(scenario, packets="terminal")
title = "Delay of keystrokes beside two file transfers"
figure = figures.of_result(result, title=title)
