"""A line whose rate moves between 5 and 20 Mbit/s: three queues.

FIFO holds what no longer fits when the rate falls, and a call waits for all of it. A queue for each
flow keeps the call in time, and a shaper at the lowest rate gives away the rest of the line.
"""

import fairq
from fairq import figures

found = fairq.compare(
    rate="5Mbit/s..20Mbit/s/5Mbit/s",
    rtt="40ms",
    flows=["cubic:2", "call(rate=100kbit/s)"],
    queue=["fifo", "fq_codel", "cake(rate=5Mbit/s)"],
    seeds=3,
    duration="20s",
    warm_up="5s",
)
title = "Two CUBIC flows and a call on a line of 5 to 20 Mbit/s"
figure = figures.compared(list(found.rows), title, quantities=["share", "queueing_s_mean"])
