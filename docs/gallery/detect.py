"""Was the bottleneck fair? What `fairq.detect` says from the times of a flow's packets alone.

A probe sends trains of packets beside other flows. Behind FIFO and CoDel its packets stay together,
behind a queue for each flow the others take turns between them: the probability says which it was.
"""

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import fairq
from fairq import figures

SAID = "probability of a queue for each flow"
QUEUES = ("fifo", "codel", "drr", "fq", "fq_codel")
net = fairq.Network(duration="30 s", transport="uncontrolled", access={"rate": "unlimited"})
net.link("net", "home", rate="12 Mbit/s", delay="5 ms", queue="fifo", buffer="100 packets")
net.flow("net", "home", traffic="on_off(rate=40Mbit/s, packet=1000B, on=5ms, off=30ms)", name="probe")
net.flow("net", "home", traffic="on_off(rate=8Mbit/s, packet=1500B, on=40ms, off=60ms)", count=3, name="other")
rows = []
for queue in QUEUES:
    packets = fairq.run(net, set={"links[0].queue": queue}, packets="probe").packets
    with TemporaryDirectory() as folder:
        path = Path(folder) / "times.csv"
        with path.open("w", newline="") as file:
            lines = [(row.bytes, row.sent_s, row.received_s) for row in packets]
            csv.writer(file).writerows([("bytes", "sent_s", "received_s"), *lines])
        rows += [{"queue": queue, SAID: round(each.p_fair, 3)} for each in fairq.detect(path)]
figure = figures.of_rows(rows, ["queue"], [SAID], "Was there a queue for each flow?")
