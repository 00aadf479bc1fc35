"""A capture of an office for the guide: what a call, work and guests send, by code point."""

import random

from raw_captures import raw, udp

SERVER = (203, 0, 113, 5)
VOICE, WORK, GUESTS = 46, 10, 0
"""Code points."""


def marked(packet, point):
    """The packet with a code point in its type of service."""
    return packet[:1] + bytes([point << 2]) + packet[2:]


def even(start, end, bit_per_s, length, draw):
    """Times of packets at a rate, each up to half a gap late."""
    gap = length * 8 / bit_per_s
    return [start + gap * (n + draw.random() / 2) for n in range(int((end - start) / gap))]


def capture(path):
    """Twenty seconds upwards: a call, an upload and bursts of work, guests from 4 s on."""
    draw = random.Random(1)
    work, call = (192, 168, 1, 7), (192, 168, 1, 8)
    packets = [(at, call, 5004, 200, VOICE) for at in even(0, 20, 80e3, 200, draw)]
    packets += [(at, work, 443, 1500, WORK) for at in even(5, 15, 4e6, 1500, draw)]
    packets += [(burst / 2 + n * 0.0002, work, 8443, 1500, WORK) for burst in range(40) for n in range(40)]
    for guest in range(8):
        host = (192, 168, 2, 10 + guest)
        packets += [(at, host, 443, 1500, GUESTS) for at in even(4 + guest / 8, 16, 700e3, 1500, draw)]
    return raw(path, [
        (100 + at, marked(udp(host, SERVER, (40000, port), length), point)) for at, host, port, length, point in packets
    ])  # fmt: skip
