"""What a queue gives and what it costs: use of the line against the delay of a call.

Further right the line is used more, further down the call waits less: the best is at the right
end and low. FIFO is far up; a queue for each flow with CoDel in it is good in both.
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
