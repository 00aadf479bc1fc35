"""A CUBIC upload and the queue that it builds.

CUBIC fills a buffer of 200 packets, and the round trip grows from 40 to 240 ms and more.
FQ-CoDel drops early: the round trip stays near 40 ms, and costs some of the line after each drop.
"""

import fairq
from fairq import figures

network = {
    "edition": 2,
    "title": "one CUBIC upload at 10 Mbit/s, round trip 40 ms",
    "measure": {"duration": "20 s"},
    "defaults": {"start": "0 s", "transport": "cubic"},
    "links": [{"name": "up", "from": "home", "to": "net", "rate": "10 Mbit/s", "delay": "20 ms"}],
    "flows": [{"name": "upload", "from": "home", "to": "net", "traffic": "ftp"}],
    "axes": [{"name": "queue", "path": "defaults.queue", "values": ["fifo + 200packets", "fq_codel"]}],
}
figure = figures.of_result(fairq.run(network, series="100 ms"))
