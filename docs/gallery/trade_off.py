"""What a queue gives and what it costs: use of the line against the delay of a call.

Up and to the left of the figure is better for both. A large FIFO fills the line and makes the call
wait; the queues that `fairq advise` ranks first keep both.
"""

import fairq
from fairq import figures

found = fairq.advise(
    down="20Mbit/s",
    up="5Mbit/s",
    rtt="40ms",
    queue=["fifo", "codel", "pie", "fq_codel", "cake"],
    seeds=3,
    duration="10s",
    warm_up="5s",
)
rows = list(found.candidates)
title = "four downloads, two uploads, a call and the web: 20/5 Mbit/s, 40 ms"
figure = figures.trade_off(rows, "utilisation", found.criterion["column"], "candidate", title, winner=found.winner)
