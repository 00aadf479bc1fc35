"""A server that a greedy tenant fills, beside a small one: what each waits and gets, by policy.

First come, first served, both wait as long. The others serve the small one within a second; of two
of them it is proven how far it may fall behind (the upright lines, right).
"""

import fairq

found = fairq.serve(
    tenants="greedy:rate=40/s,cost=exponential(mean=200ms);small:rate=1/s,cost=100ms",
    seats=4,
    policy="fcfs,round_robin,sfq_d,vtc",
    duration="60s",
)
figure = found.plot()
