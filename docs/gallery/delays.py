"""How long the packets of a call wait, behind four queues.

A curve gives the part of the packets that arrived within a time. Two CUBIC downloads share the
line: behind FIFO the call waits for them, behind a queue for each flow it hardly does.
"""

import fairq
from fairq import figures

sent = {"from": "net", "to": "home"}
network = {
    "edition": 2,
    "title": "a call beside two CUBIC downloads at 10 Mbit/s",
    "measure": {"duration": "20 s", "warm_up": "5 s"},
    "defaults": {"transport": "cubic", "buffer": "200 packets", "access": {"rate": "unlimited"}},
    "links": [{"name": "down", **sent, "rate": "10 Mbit/s", "delay": "20 ms"}],
    "flows": [
        {"name": "download", **sent, "traffic": "ftp", "count": 2},
        {"name": "call", **sent, "traffic": "constant_rate(rate=100kbit/s, packet=200B)"},
    ],
    "axes": [{"name": "queue", "path": "defaults.queue", "values": ["fifo", "codel", "fq", "fq_codel"]}],
}
figure = figures.of_result(fairq.run(network, packets="call"))
