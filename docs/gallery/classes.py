"""A tree of classes: HTB gives each class its rate, and lends what is left.

Each class has a rate of its own and borrows up to its ceiling. The bars say what each flow gets.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "scenarios" / "htb.toml"
title = "HTB: classes that borrow"
figure = figures.of_result(fairq.run(scenario), quantities=["throughput_bit_per_s"], samples=False, title=title)
