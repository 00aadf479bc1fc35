"""A capture of random flows, as large as wanted: pcap with nanoseconds, headers only."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy

FLOWS = 256
LENGTH = 1000
"""Bytes of a packet on the line; the file has its headers alone."""
GAP_NS = 1000
"""Packets of 1000 bytes at 8 Gbit/s."""
AT_ONCE = 1_000_000
"""Packets in memory at a time."""

ETHERNET = bytes(12) + bytes([8, 0])
UDP = 17


def write_capture(path: Path, packets: int) -> None:
    """Write `packets` packets of random flows, one each microsecond."""
    headers = ETHERNET + struct.pack(">BBHHHBBHII", 0x45, 0, LENGTH - 14, 0, 0, 64, UDP, 0, 0x0A000001, 0x0A000002)
    headers += struct.pack(">HHHH", 0, 5000, LENGTH - 34, 0)
    record = numpy.dtype(
        [("s", "<u4"), ("ns", "<u4"), ("kept", "<u4"), ("length", "<u4"), ("before", f"V{len(headers) - 8}"),
         ("port", ">u2"), ("after", "V6")]
    )  # fmt: skip
    drawn = numpy.random.default_rng(1)
    with path.open("wb") as file:
        # nanoseconds, version 2.4, headers only, Ethernet
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for first in range(0, packets, AT_ONCE):
            many = numpy.empty(min(AT_ONCE, packets - first), record)
            at = (first + numpy.arange(len(many), dtype=numpy.int64)) * GAP_NS
            many["s"], many["ns"] = at // 10**9, at % 10**9
            many["kept"], many["length"] = len(headers), LENGTH
            many["before"], many["after"] = numpy.void(headers[:-8]), numpy.void(headers[-6:])
            many["port"] = 1024 + drawn.integers(FLOWS, size=len(many))
            many.tofile(file)
