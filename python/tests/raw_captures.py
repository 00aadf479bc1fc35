"""Captures of raw IP packets, for tests."""

import struct


def udp(source, destination, ports, length):
    """An IPv4 packet of `length` bytes."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length, 0, 0, 64, 17, 0) + bytes([*source, *destination])
    return (ip + struct.pack(">HHHH", *ports, length - 20, 0)).ljust(length, b"\0")


def raw(path, packets):
    """Writes raw IP packets, each with its second, as a pcap file in nanoseconds."""
    stamped = sorted((round(at * 1e9), data) for at, data in packets)
    records = [struct.pack("<IIII", *divmod(at, 10**9), len(data), len(data)) + data for at, data in stamped]
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101) + b"".join(records))
    return path
