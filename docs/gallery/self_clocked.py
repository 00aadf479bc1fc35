"""The same arrivals behind self-clocked fair queueing, which keeps no fluid.

Its virtual time is the finish number of the packet on the line. It jumps ahead of the fluid, so
that a packet which comes then has a larger number and leaves later than in WFQ.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(fairq.__file__).parents[2] / "docs" / "background" / "three_flows.toml"
with fairq.live(scenario, set={"defaults.queue": "scfq"}) as run:
    found = run.timeline("line", from_s=0, until_s=8)
title = "SCFQ: packets of three flows, and the fluid"
figure = figures.timeline(list(found.packets), title, fluid=list(found.fluid))
