"""Packets of a capture as an end host has it: when, how long, of which flow, and what tells a packet from all others.

Reads pcap (microseconds or nanoseconds, either byte order) and pcapng, with Ethernet, raw IP, loopback or Linux cooked
frames.
The compiled part reads captures too, for `fairq replay`, but gives nobody its packets.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from fairq._native import CaptureError
from fairq.output import reason

PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""The first bytes of a pcap file: byte order, and nanoseconds of a unit of its fractions."""

PCAPNG = b"\x0a\x0d\x0d\x0a"
SECTION, INTERFACE, ENHANCED = 0x0A0D0D0A, 1, 6
TIME_RESOLUTION = 9
ETHERNET, RAW, COOKED, COOKED_2 = 1, {12, 14, 101, 228, 229}, 113, 276
LOOPBACK = {0, 108}
SUPPORTED = sorted({ETHERNET, COOKED, COOKED_2} | RAW | LOOPBACK)
KEPT_MAX = 1 << 24
"""More bytes no record has, as for the compiled part."""
IDENTIFIED = 64
"""Bytes of a packet, from its IP header on, that tell it from others."""


class Packet(NamedTuple):
    """One packet: nanoseconds since 1970, bytes on the wire, its flow, and the same bytes at both ends of its path."""

    time: int
    length: int
    flow: str
    identity: bytes


def is_one(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a capture does."""
    try:
        with Path(path).open("rb") as file:
            beginning = file.read(4)
    except OSError:
        return False
    return beginning in PCAP or beginning == PCAPNG


def read(path: str | os.PathLike[str]) -> list[Packet]:
    """The IP packets of a capture in their order; others are left out.

    Raises CaptureError.
    """
    try:
        data = Path(path).read_bytes()
    except ValueError:
        raise CaptureError(f"{path!r}: not a file name") from None
    except OSError as error:
        raise CaptureError(f"{path}: cannot be read: {reason(error)}; give a pcap or pcapng file") from None
    try:
        if not data:
            raise CaptureError(f"{path}: is empty; give a pcap or pcapng file")
        frames = _pcapng(data, path) if data[:4] == PCAPNG else _pcap(data, path)
        names: dict[bytes, str] = {}
        return [
            packet
            for time, length, link, frame in frames
            if (packet := _packet(time, length, _network(link, frame), names)) is not None
        ]
    except (struct.error, IndexError, KeyError):
        raise CaptureError(f"{path}: is damaged: a record does not have the form that its length says") from None


def _pcap(data: bytes, path: str | os.PathLike[str]) -> Iterator[tuple[int, int, int, bytes]]:
    if data[:4] not in PCAP:
        raise CaptureError(f"{path}: neither a pcap nor a pcapng file")
    order, unit = PCAP[data[:4]]
    (link,) = struct.unpack_from(order + "I", data, 20)
    _check_link(link & 0xFFFF, path)
    record = struct.Struct(order + "IIII")
    at = 24
    # a capture that was cut off in its last record still has all others
    while at + record.size <= len(data):
        seconds, fraction, kept, length = record.unpack_from(data, at)
        if kept > KEPT_MAX:
            raise CaptureError(f"{path}: is damaged: the record at byte {at} claims a length of {kept}")
        at += record.size
        if at + kept <= len(data):
            yield seconds * 1_000_000_000 + fraction * unit, length, link & 0xFFFF, data[at : at + kept]
        at += kept


def _check_link(link: int, path: str | os.PathLike[str]) -> None:
    if link not in SUPPORTED:
        raise CaptureError(f"{path}: link type {link} is not supported; supported are {', '.join(map(str, SUPPORTED))}")


def _pcapng(data: bytes, path: str | os.PathLike[str]) -> Iterator[tuple[int, int, int, bytes]]:
    interfaces: list[tuple[int, float]] = []
    order, at = "<", 0
    while at + 12 <= len(data):
        if data[at : at + 4] == PCAPNG:
            order, interfaces = ("<" if data[at + 8 : at + 12] == b"\x4d\x3c\x2b\x1a" else ">"), []
        kind, size = struct.unpack_from(order + "II", data, at)
        body = data[at + 8 : at + size - 4]
        if kind == INTERFACE:
            (link,) = struct.unpack_from(order + "H", body)
            _check_link(link, path)
            interfaces.append((link, _nanoseconds(order, body[8:])))
        elif kind == ENHANCED and at + size <= len(data):
            number, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
            link, unit = interfaces[number]
            yield _scaled(high << 32 | low, unit), length, link, body[20 : 20 + kept]
        if size < 12:
            raise IndexError
        at += size


def _scaled(units: int, unit: float) -> int:
    """Nanoseconds; exact where a unit is a whole number of them."""
    return units * int(unit) if unit == int(unit) else int(units * unit)


def _nanoseconds(order: str, options: bytes) -> float:
    """What a unit of an interface's time stamps is: a microsecond unless an option says a power of ten or of two."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(order + "HH", options, at)
        if code == TIME_RESOLUTION:
            power = options[at + 4] & 0x7F
            return float(1_000_000_000 / 2**power if options[at + 4] & 0x80 else 10.0 ** (9 - power))
        if code == 0:
            break
        at += 4 + size + -size % 4
    return 1000


def _network(link: int, frame: bytes) -> bytes:
    """The frame from its IP header on; nothing if it has none."""
    if link == ETHERNET:
        at = 12
        while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
        return frame[at + 2 :] if frame[at : at + 2] in (b"\x08\x00", b"\x86\xdd") else b""
    if link in RAW:
        return frame
    if link in LOOPBACK:
        return frame[4:]
    if link == COOKED:
        return frame[16:] if frame[14:16] in (b"\x08\x00", b"\x86\xdd") else b""
    if link == COOKED_2:
        return frame[20:] if frame[:2] in (b"\x08\x00", b"\x86\xdd") else b""
    return b""


def _packet(time: int, length: int, ip: bytes, names: dict[bytes, str]) -> Packet | None:
    if len(ip) >= 20 and ip[0] >> 4 == 4:
        header = 4 * (ip[0] & 15)
        source, sink, protocol = ip[12:16], ip[16:20], ip[9]
        # without what gateways change: type of service, time to live, header checksum
        fixed = ip[:1] + ip[2:8] + ip[9:10] + ip[12:IDENTIFIED]
    elif len(ip) >= 40 and ip[0] >> 4 == 6:
        header = 40
        source, sink, protocol = ip[8:24], ip[24:40], ip[6]
        fixed = ip[4:7] + ip[8:IDENTIFIED]
    else:
        return None
    ports = ip[header : header + 4] if protocol in (6, 17) and len(ip) >= header + 4 else b""
    key = bytes([protocol]) + source + sink + ports
    name = names.get(key)
    if name is None:
        name = names[key] = _name(protocol, source, sink, ports)
    return Packet(time, length, name, fixed)


def _name(protocol: int, source: bytes, sink: bytes, ports: bytes) -> str:
    kind = {6: "tcp", 17: "udp"}.get(protocol, f"protocol {protocol}")
    first, second = struct.unpack(">HH", ports) if ports else (None, None)
    ends = [
        str(ip_address(address)) + ("" if port is None else f" {port}")
        for address, port in ((source, first), (sink, second))
    ]
    return f"{ends[0]} > {ends[1]} {kind}"
