"""A capture replayed: how long its packets would wait behind FIFO and behind FQ-CoDel.

Two hosts send bursts of 8 Mbit/s and one has a call. On 12 Mbit/s the call waits behind FIFO for
the bursts, and behind FQ-CoDel hardly. Here the capture is made; take one of yours.
"""

import struct
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import fairq

random, sent = Random(1), [(at / 50, 3, 200) for at in range(1000)]
for host in (1, 2):
    for start in (number / 10 + random.random() / 20 for number in range(200)):
        sent += [(start + at * 0.0015, host, 1500) for at in range(40)]
with TemporaryDirectory() as folder:
    capture = Path(folder) / "office.pcap"
    with capture.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        for second, host, size in sorted(sent):
            file.write(struct.pack("<IIII", int(second), int(second % 1 * 1e6), 28, size))
            file.write(struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, 0))
            file.write(bytes([10, 0, 0, host, 192, 0, 2, 1]) + struct.pack(">HHHH", 5000, 5000, size - 20, 0))
    found = fairq.replay(capture, rate="12 Mbit/s", buffer="200 packets", queue="fifo,fq_codel")
figure = found.plot()
