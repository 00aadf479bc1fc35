"""The same arrivals behind self-clocked fair queueing, which keeps no fluid.

Its virtual time is the finish number of the packet on the line, here ahead of the fluid: flow c
leaves a packet later than in WFQ. The numbers at the packets are those of the fluid.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "docs" / "background" / "three_flows.toml"
with fairq.live(scenario, set={"defaults.queue": "scfq"}) as run:
    found = run.timeline("line", from_s=0, until_s=8)
title = "SCFQ: packets of three flows, and the fluid"
figure = figures.timeline(list(found.packets), title, fluid=list(found.fluid))
