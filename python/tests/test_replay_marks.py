"""What a replay writes shows the marks: in the frames that left, with a checksum that fits, and in the table."""

import random
import struct

import duckdb
import pytest

IPV4, IPV6 = 0x0800, 0x86DD


def checksum(header):
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def v4(ecn, flow, filled=True, options=0, dscp=0):
    length = 1000
    header = struct.pack(">BBHHHBBH", 0x45 + options, dscp << 2 | ecn, length, flow, 0, 64, 17, 0)
    header += bytes([10, 0, 0, flow, 10, 0, 1, 1]) + bytes(4 * options)
    if filled:
        header = header[:10] + struct.pack(">H", checksum(header)) + header[12:]
    return header + struct.pack(">HHHH", 5000 + flow, 80, length - len(header), 0)


def v6(ecn, flow, dscp=0):
    traffic_class = dscp << 2 | ecn
    header = struct.pack(">IHBB", 6 << 28 | traffic_class << 20 | 0x12345, 960, 17, 64)
    return header + bytes(15) + bytes([flow]) + bytes(15) + bytes([99]) + struct.pack(">HHHH", 5000 + flow, 80, 960, 0)


def ethernet(kind, packet, tags=()):
    head = bytes.fromhex("020000000002020000000001")
    return head + b"".join(struct.pack(">HH", 0x8100, tag) for tag in tags) + struct.pack(">H", kind) + packet


def pcap(path, frames, link_type=1, gap_us=2000):
    """The frames as a capture of their heads, each of 1014 bytes on the line."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type))
        for number, frame in enumerate(frames):
            at = number * gap_us
            file.write(struct.pack("<IIII", at // 10**6, at % 10**6, len(frame), 1014) + frame)
    return path


def frames_of(path):
    """The frames of a pcapng file: the enhanced packet blocks."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            kept = struct.unpack_from("<I", data, at + 20)[0]
            found.append(data[at + 28 : at + 28 + kept])
        at += length
    assert at == len(data)
    return found


def rows_of(folder):
    """The rows of packets.parquet that left, in the order in which they did, and all."""
    table = f"read_parquet('{folder}/packets.parquet', hive_partitioning = false)"
    found = duckdb.sql(f"select packet, departure_ps, marked from {table}").fetchall()
    return sorted((row for row in found if row[1] is not None), key=lambda row: row[1]), found


def network_of(frame, link_type):
    """Where the IP packet begins, which is what the test put there."""
    if link_type == 101:
        return 0
    at = 12
    while frame[at : at + 2] == b"\x81\x00":
        at += 4
    return at + 2


def ecn_of(frame, link_type):
    at = network_of(frame, link_type)
    return frame[at + 1] & 3 if frame[at] >> 4 == 4 else frame[at + 1] >> 4 & 3


def replayed(document, path, tmp_path, discipline):
    words = ["--rate", "2Mbit/s", "--buffer", "unlimited", "--discipline", discipline, "--out", tmp_path / "o"]
    report = document("replay", path, *words)["disciplines"][0]
    (folder,) = (one for one in (tmp_path / "o").iterdir() if one.is_dir())
    return report, folder


KINDS = {
    "IPv4": (1, lambda ecn, n: ethernet(IPV4, v4(ecn, n % 3 + 1))),
    "IPv4 whose checksum the card fills in": (1, lambda ecn, n: ethernet(IPV4, v4(ecn, n % 3 + 1, filled=False))),
    "IPv4 with options": (1, lambda ecn, n: ethernet(IPV4, v4(ecn, n % 3 + 1, options=5))),
    "IPv4 with a code point": (1, lambda ecn, n: ethernet(IPV4, v4(ecn, n % 3 + 1, dscp=46))),
    "IPv4 behind two tags": (1, lambda ecn, n: ethernet(IPV4, v4(ecn, n % 3 + 1), tags=(7, 9))),
    "IPv4 without a link": (101, lambda ecn, n: v4(ecn, n % 3 + 1)),
    "IPv6": (1, lambda ecn, n: ethernet(IPV6, v6(ecn, n % 3 + 1))),
    "IPv6 with a code point": (1, lambda ecn, n: ethernet(IPV6, v6(ecn, n % 3 + 1, dscp=63))),
    "IPv6 without a link": (101, lambda ecn, n: v6(ecn, n % 3 + 1)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("discipline", ["fifo + codel(ecn=true)", "fq_codel"])
def test_what_was_marked_has_ce_and_nothing_else_is_changed(document, tmp_path, kind, discipline):
    link_type, frame = KINDS[kind]
    drawn = random.Random(kind)
    sent = [frame(drawn.choice([2, 2, 2, 1, 0, 3]), number) for number in range(1500)]
    report, folder = replayed(document, pcap(tmp_path / "c.pcap", sent, link_type), tmp_path, discipline)
    left, fates = rows_of(folder)
    written = frames_of(folder / "capture.pcapng")
    assert len(written) == len(left) and sum(marked for *_, marked in fates) == report["marked"] > 50
    for after, (packet, _, marked) in zip(written, left, strict=True):
        before = sent[packet]
        was, now = ecn_of(before, link_type), ecn_of(after, link_type)
        assert (now == 3) == (marked or was == 3)
        assert not marked or was in (1, 2, 3)
        at = network_of(after, link_type)
        if not marked or was == 3:
            assert after == before
        elif after[at] >> 4 == 4:
            length = 4 * (after[at] & 15)
            assert checksum(after[at : at + length]) == 0
            assert (after[: at + 1], after[at + 1] >> 2) == (before[: at + 1], before[at + 1] >> 2)
            assert (after[at + 2 : at + 10], after[at + 12 :]) == (before[at + 2 : at + 10], before[at + 12 :])
        else:
            assert after == before[: at + 1] + bytes([before[at + 1] | 0x30]) + before[at + 2 :]


MARKING = [
    "fifo + red(ecn=true)", "fifo + pie(ecn=true, first=15ms)", "fifo + step(at=20packets)", "cake", "dualpi2",
    "fq_pie(pie=(ecn=true, first=15ms))", "fq_codel(ce_threshold=1ms)", "fifo + cobalt",
    "fifo + codel(ecn=true) + 60packets", "fifo + blue + 30packets",
]  # fmt: skip


@pytest.mark.parametrize("discipline", MARKING)
def test_the_table_has_as_many_marks_as_the_report(document, tmp_path, discipline):
    """Of every discipline that marks, packets that it drops behind the mark included."""
    sent = [ethernet(IPV4, v4(2 if number % 4 else 1, number % 3 + 1)) for number in range(1500)]
    report, folder = replayed(document, pcap(tmp_path / "c.pcap", sent), tmp_path, discipline)
    left, fates = rows_of(folder)
    assert sum(marked for *_, marked in fates) == report["marked"] > 0
    written = [ecn_of(frame, 1) == 3 for frame in frames_of(folder / "capture.pcapng")]
    assert written == [marked for *_, marked in left]


def test_senders_that_do_not_listen_are_never_marked(document, tmp_path):
    sent = [ethernet(IPV4, v4(0, 1)) if number % 2 else ethernet(0x0806, bytes(28)) for number in range(1500)]
    report, folder = replayed(document, pcap(tmp_path / "c.pcap", sent), tmp_path, "fifo + codel(ecn=true)")
    left, fates = rows_of(folder)
    assert report["marked"] == 0 and not any(marked for *_, marked in fates)
    assert frames_of(folder / "capture.pcapng") == [sent[packet] for packet, *_ in left]


def test_a_header_that_is_cut_short_is_marked_as_far_as_it_goes(document, tmp_path):
    """A snaplen within the IP header: the checksum is changed by what was changed (RFC 1624)."""
    whole = v4(2, 1)
    cut = ethernet(IPV4, whole)[: 14 + 20]
    report, folder = replayed(document, pcap(tmp_path / "c.pcap", [cut] * 1500), tmp_path, "fifo + codel(ecn=true)")
    assert report["marked"] > 50
    for frame in frames_of(folder / "capture.pcapng"):
        assert len(frame) == 34 and checksum(frame[14:]) == 0
