"""Prague beside CUBIC with ECN, behind three queues.

Where one queue marks both alike, the scalable control takes the line. DualPI2 couples two queues,
and CUBIC keeps a third; a queue for each flow needs no coupling and divides equally.
"""

import fairq
from fairq import figures

found = fairq.compare(
    rate="40Mbit/s",
    rtt="20ms",
    flows=["prague", "cubic"],
    queue=["codel", "dualpi2", "fq_codel"],
    ecn=True,
    seeds=3,
    duration="10s",
    warm_up="5s",
)
title = "Prague and CUBIC with ECN: 40 Mbit/s, 20 ms"
figure = figures.compared(list(found.rows), title, quantities=["share", "queueing_s_mean"])
