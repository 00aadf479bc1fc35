"""CUBIC beside BBR, by the size of the buffer.

In a small buffer of a FIFO BBR takes most of the line, in a large one CUBIC does. Fair queueing
gives each half, whatever the buffer.
"""

import fairq
from fairq import figures

found = fairq.compare(
    rate="20Mbit/s",
    rtt="40ms",
    flows=["cubic", "bbr"],
    queue=["fifo", "fq"],
    buffer=["0.5BDP", "1BDP", "2BDP", "4BDP", "8BDP"],
    seeds=3,
    duration="20s",
    warm_up="5s",
)
title = "CUBIC beside BBR: 20 Mbit/s, 40 ms, means of 3 seeds"
figure = figures.compared(list(found.rows), title, quantities=["share"])
