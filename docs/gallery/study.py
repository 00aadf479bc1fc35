"""A study: the share of a BBR download by buffer and queue, over seeds.

A study runs each combination of its axes with several seeds and keeps them all in a store, of which
tables, reports and figures are made. Bars are 95 % intervals.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import fairq

STUDY = """
[study]
replications = 5
[study.compare]
rate = "10 Mbit/s"
rtt = "40 ms"
flows = "cubic,bbr"
queue = ["fifo", "fq_codel"]
buffer = ["0.5bdp", "1bdp", "2bdp", "4bdp"]
duration = "20 s"
warm_up = "5 s"
"""
with TemporaryDirectory() as folder:
    study = Path(folder) / "buffers.toml"
    study.write_text(STUDY)
    figure = fairq.sweep(study).plot("flows.throughput_bit_per_s")
