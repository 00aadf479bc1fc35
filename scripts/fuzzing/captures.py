"""Captures: pcap and pcapng in both byte orders, frames of many kinds, records that are cut."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from fuzzing.drawing import Case, Draw

MAGIC = {0xA1B2C3D4: 1_000_000, 0xA1B23C4D: 1_000_000_000, 0xA1B2CD34: 1_000_000}
"""The formats of pcap and the parts of a second that their stamps count."""
LINKS = {1: 8, 101: 2, 12: 1, 14: 1, 113: 1, 276: 1, 0: 1, 108: 1, 228: 1, 229: 1, 147: 0.1}
"""Link types, and how often each is."""
ADDRESSES = (b"\x0a\0\0\1", b"\x0a\0\0\2", b"\xc0\xa8\1\7", b"\x08\x08\x08\x08")
SIX = tuple(b"\xfd" + bytes(14) + bytes([at]) for at in range(3))

Packets = Sequence[tuple[int, bytes]]


def captures(draw: Draw) -> Case:
    """A capture that is replayed; or two that are paired."""
    packets = frames(draw)
    if draw.chance(0.3):
        later = [(when + 20_000_000 + draw.up_to(5_000_000), frame) for when, frame in packets if draw.chance(0.97)]
        kind = draw.weighted(LINKS)
        files = {"a.pcap": written(draw, packets, kind, 0.2), "b.pcap": written(draw, later, kind, 0.2)}
        return Case((("detect", "a.pcap", "b.pcap", *draw.some(("--json", "--all"))),), files)
    buffer = draw.one(("20packets", "9kB", "unlimited", "50ms"))
    line: tuple[str, ...] = ("--rate", "5Mbit/s")
    if draw.chance(0.3):
        line = ("--me", draw.one(("10.0.0.1", "10.0.0.0/8", "fd00::1")), "--down", "5Mbit/s", "--up", "1Mbit/s")
    options = draw.some((("--each",), ("--json",), ("--classifier", draw.one(("pair", "port_pair", "source", "tos"))),
                         ("--no-fluid",), ("--gap-max", "1ms"), ("--out", "out"), ("--under", "class"),
                         ("--queue", draw.one(("fifo", "fq_codel,cake", "drr"))),
                         ("--only", draw.one(("udp", "not tcp", "ip or ip6")))), 0.2)  # fmt: skip
    words = ("replay", "c.pcap", *line, "--buffer", buffer, *(word for one in options for word in one))
    return Case((words,), {"c.pcap": capture(draw)})


def capture(draw: Draw, damage: float = 0.25) -> bytes:
    """A capture of some packets."""
    return written(draw, frames(draw), draw.weighted(LINKS), damage)


def frames(draw: Draw) -> list[tuple[int, bytes]]:
    """Packets of the network layer with the nanoseconds of their times."""
    now, found = draw.one((0, 10**18)), []
    for _ in range(draw.up_to(draw.one((4, 20, 60)))):
        now += draw.one((0, 1000, 1_000_000, 10**9 if draw.chance(0.05) else 7))
        found.append((now, ip(draw)))
    return found


def ip(draw: Draw) -> bytes:
    """A packet of IPv4 or IPv6; rarely another."""
    inner, protocol = transport(draw)
    if draw.chance(0.03):
        return draw.randbytes(draw.up_to(40))
    tos = draw.one((0, 0, 184, 2, 3))
    if draw.chance(0.7):
        options = bytes(4 * draw.one((0, 0, 0, 1, 10)))
        fragment = draw.one((0, 0, 0, 0, 0x2000, 0x0010, 0x4000))
        words, length = 5 + len(options) // 4, 20 + len(options) + len(inner)
        fields = (0x40 + words, tos, length, draw.up_to(65535), fragment, 64, protocol, 0)
        head = struct.pack(">BBHHHBBH", *fields)
        return head + draw.one(ADDRESSES) + draw.one(ADDRESSES) + options + inner
    for kind in draw.some((0, 43, 44, 60), 0.1):
        inner, protocol = bytes([protocol, 0, 0, draw.one((0, 0, 1, 8))]) + bytes(4) + inner, kind
    head = struct.pack(">IHBB", 0x60000000 | tos << 20 | draw.up_to(0xFFFFF), len(inner), protocol, 64)
    return head + draw.one(SIX) + draw.one(SIX) + inner


def transport(draw: Draw) -> tuple[bytes, int]:
    """A datagram and its protocol."""
    ports = struct.pack(">HH", draw.one((80, 443, 1234, 0)), draw.one((80, 50000)))
    data = bytes(draw.one((0, 1, 6, 100, 536, 1400)))
    match draw.one((6, 6, 17, 17, 1, 58, 47, 50)):
        case 6:
            options = draw.one(
                (b"", b"\1\1\x08\x0a" + bytes(8), b"\1\1\5\x0a" + bytes(8), b"\2\4\5\xb4", b"\xfe\0\0\0")
            )
            flags = draw.one((0x10, 0x10, 0x18, 2, 0x12, 0x50, 0xFF))
            sequence, words = (draw.up_to(2**32 - 1), draw.up_to(2**32 - 1)), 5 + len(options) // 4
            numbers = struct.pack(">IIBBHHH", *sequence, words << 4, flags, 100, 0, 0)
            return ports + numbers + options + data, 6
        case 17:
            return ports + struct.pack(">HH", 8 + len(data), 0) + data, 17
        case other:
            return bytes([8, 0, 0, 0]) + data, other


def framed(draw: Draw, packet: bytes, kind: int) -> bytes:
    """A packet of the network layer as a frame of a link type."""
    six = packet[:1] >= b"\x60"
    ether = b"\x86\xdd" if six else b"\x08\0"
    if kind in (1, 276, 113) and draw.chance(0.2):
        if draw.chance(0.3):
            packet, ether = (
                b"\x11\0\0\1" + struct.pack(">H", 2 + len(packet)) + (b"\0\x57" if six else b"\0\x21") + packet,
                b"\x88\x64",
            )
        if draw.chance(0.3):
            packet, ether = bytes([0, 1, 1 if draw.chance(0.8) else 0, 64]) + packet, b"\x88\x47"
        for _ in range(draw.one((0, 1, 1, 2, 9))):
            packet, ether = struct.pack(">H", draw.up_to(0xFFFF)) + ether + packet, draw.one((b"\x81\0", b"\x88\xa8"))
    match kind:
        case 1:
            return bytes(6) + bytes(5) + b"\1" + ether + packet + bytes(draw.one((0, 0, 6)))
        case 113:
            return b"\0\0\0\1\0\6" + bytes(8) + ether + packet
        case 276:
            return ether + b"\0\0\0\0\0\1\0\1\0\6" + bytes(8) + packet
        case 0 | 108:
            family = draw.one((24, 28, 30, 10)) if six else 2
            return struct.pack("<I" if kind == 0 and draw.chance(0.5) else ">I", family) + packet
    return packet


def written(draw: Draw, packets: Packets, kind: int, damage: float) -> bytes:
    """The file of packets; in a part of the cases with a change of a field or of its end."""
    order = draw.one("<>")
    pieces = (pcap if draw.chance(0.5) else pcapng)(draw, packets, kind, order)
    if draw.chance(damage):
        for _ in range(draw.one((1, 1, 2, 4))):
            at = draw.up_to(len(pieces) - 1)
            pieces[at] = changed(draw, pieces[at], order)
        if draw.chance(0.2):
            pieces.insert(draw.up_to(len(pieces)), draw.one(pieces))
    whole = b"".join(pieces)
    return whole[: draw.up_to(len(whole))] if draw.chance(damage / 4) else whole


def changed(draw: Draw, piece: bytes, order: str) -> bytes:
    """A piece with another number or other bytes in it."""
    if not piece:
        return piece
    at = draw.up_to(len(piece) - 1)
    match draw.up_to(3):
        case 0:
            at -= at % 4
            number = draw.one((0, 1, 3, 4, 12, 28, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(piece) + 4, 65536, 262145))
            return piece[:at] + struct.pack(f"{order}I", number) + piece[at + 4 :]
        case 1:
            return piece[:at] + bytes([piece[at] ^ 1 << draw.up_to(7)]) + piece[at + 1 :]
        case 2:
            return piece[:at] + draw.randbytes(draw.up_to(8)) + piece[at + draw.up_to(8) :]
    # Near its end is most often what a packet carries.
    at = max(0, len(piece) - 1 - draw.up_to(30))
    return piece[:at] + draw.randbytes(1) + piece[at + 1 :]


def pcap(draw: Draw, packets: Packets, kind: int, order: str) -> list[bytes]:
    """The pieces of a pcap file: its header and its records."""
    magic = draw.weighted({0xA1B2C3D4: 4, 0xA1B23C4D: 4, 0xA1B2CD34: 0.3})
    snap = draw.one((65535, 262144, 96, 0))
    pieces = [struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap, kind)]
    for when, packet in packets:
        frame = framed(draw, packet, kind)
        kept = frame[: draw.one((96, 40, 20, 14))] if draw.chance(0.1) else frame
        second, rest = divmod(when, 10**9)
        head = struct.pack(f"{order}IIII", second & 0xFFFFFFFF, rest * MAGIC[magic] // 10**9, len(kept), len(frame))
        pieces.append(head + (struct.pack(f"{order}IHBB", 1, 2048, 0, 0) if magic == 0xA1B2CD34 else b"") + kept)
    return pieces


def pcapng(draw: Draw, packets: Packets, kind: int, order: str) -> list[bytes]:
    """The blocks of a pcapng file."""

    def block(number: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        length = struct.pack(f"{order}I", 12 + len(body))
        return struct.pack(f"{order}I", number) + length + body + length

    def option(code: int, content: bytes) -> bytes:
        return struct.pack(f"{order}HH", code, len(content)) + content + bytes(-len(content) % 4)

    def interface(link: int, power: int) -> bytes:
        options = [option(9, bytes([power]))] if power != 6 else []
        options += draw.some([option(14, struct.pack(f"{order}q", draw.one((0, -1, 10**9)))), option(2, b"eth0"),
                              option(13, bytes([4])), option(1, b"x")], 0.15)  # fmt: skip
        return block(1, struct.pack(f"{order}HHI", link, 0, draw.one((0, 262144))) + b"".join(options) + option(0, b""))

    powers = [draw.one((6, 9, 9, 3, 0x80 | 20))]
    pieces = [block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1)), interface(kind, powers[0])]
    if draw.chance(0.2):
        powers.append(6)
        pieces.append(interface(kind, 6))
    for when, packet in packets:
        frame = framed(draw, packet, kind)
        kept = frame[: draw.one((96, 40, 20, 14))] if draw.chance(0.1) else frame
        at = draw.up_to(len(powers) - 1)
        units = when << (powers[at] & 0x7F) if powers[at] & 0x80 else when * 10 ** powers[at]
        units //= 10**9
        stamp = struct.pack(f"{order}II", units >> 32 & 0xFFFFFFFF, units & 0xFFFFFFFF)
        match draw.one((6, 6, 6, 6, 6, 6, 6, 2, 3, 5, 0xBAD)) if draw.chance(0.3) else 6:
            case 6:
                body = struct.pack(f"{order}I", at) + stamp + struct.pack(f"{order}II", len(kept), len(frame)) + kept
                body += bytes(-len(body) % 4) + (option(2, bytes(4)) + option(0, b"") if draw.chance(0.1) else b"")
                pieces.append(block(6, body))
            case 2:
                head = struct.pack(f"{order}HH", at, 0) + stamp + struct.pack(f"{order}II", len(kept), len(frame))
                pieces.append(block(2, head + kept))
            case 3:
                pieces.append(block(3, struct.pack(f"{order}I", len(frame)) + frame))
            case other:
                pieces.append(block(other, draw.randbytes(draw.up_to(40))))
    return pieces
