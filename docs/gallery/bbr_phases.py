"""The phases of BBRv3 alone on a line.

It starts up, drains, then probes: now and then it sends more to find the bandwidth, and every five
seconds less to find the round trip. The queue shows each of these.
"""

import fairq
from fairq import figures

found = fairq.baseline("bbr3", rate="20Mbit/s", rtt="40ms")
figure = figures.baseline(found.series, "BBRv3 alone: 20 Mbit/s, 40 ms, FIFO of 1 BDP")
