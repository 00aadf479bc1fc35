"""Packets and the fluid: fair queueing sends what bit-by-bit service would finish first.

Each packet has a start and a finish number, and the least finish number leaves first. The dashed
curves are the fluid, which serves all flows at once; no packet ends later than it by more than one.
"""

from pathlib import Path

import fairq
from fairq import figures

scenario = Path(__file__).parents[2] / "docs" / "background" / "three_flows.toml"
with fairq.live(scenario, set={"defaults.queue": "wfq"}) as run:
    found = run.timeline("line", from_s=0, until_s=8)
title = "WFQ: packets of three flows, and the fluid"
figure = figures.timeline(list(found.packets), title, fluid=list(found.fluid))
