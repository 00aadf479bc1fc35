"""What the target of FQ-CoDel does: delay and use of the line.

A larger target lets the downloads keep a longer queue. Their packets wait longer; the line is used
a little better, because fewer packets are lost.
"""

import fairq
from fairq import figures

queues = [f"fq_codel(target={target})" for target in ("1ms", "2ms", "5ms", "10ms", "20ms", "40ms")]
found = fairq.compare(
    rate="20Mbit/s", rtt="40ms", flows=["cubic:2"], queue=queues, seeds=3, duration="10s", warm_up="5s"
)
title = "FQ-CoDel by its target: two CUBIC flows, 20 Mbit/s, 40 ms"
figure = figures.compared(list(found.rows), title, quantities=["queueing_s_mean", "share"])
