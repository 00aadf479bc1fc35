"""Delay by share of the line: FIFO, fair queueing, and fair queueing with a promptness bonus.

The less of its share a source sends, the less its packets wait in a fair queue; in FIFO they wait
for the greedy sources. The bonus δ favours short conversations more.
"""

import fairq

figure = fairq.theory("delay-curve", ftps=3, delta=1).plot()
