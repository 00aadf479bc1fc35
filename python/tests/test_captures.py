"""Packets of a capture, read back against what was written, what the compiled part wrote, and what is not a capture."""

import struct
from pathlib import Path

import duckdb
import pytest

import fairq as package
from fairq import captures


def frame(link, vlan=b""):
    """One UDP packet over IPv4 in the framing of a link type."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 60, 7, 0, 64, 17, 0) + bytes([10, 0, 0, 1, 10, 0, 0, 2])
    packet = ip + struct.pack(">HHHH", 1000, 2000, 40, 0) + b"data"
    head = {
        0: b"\x02\0\0\0",
        108: b"\0\0\0\x02",
        1: bytes(12) + vlan + b"\x08\x00",
        101: b"",
        113: bytes(14) + b"\x08\x00",
        276: b"\x08\x00" + bytes(18),
    }
    return head[link] + packet


def pcap(frames, link=1, order="<", magic=0xA1B2C3D4):
    records = [struct.pack(order + "IIII", 5, 250, len(data), 999) + data for data in frames]
    return struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link) + b"".join(records)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "unit"), [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
@pytest.mark.parametrize("link", [0, 1, 101, 108, 113, 276])
def test_each_form_of_pcap_gives_the_same_packet(tmp_path, order, magic, unit, link):
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([frame(link)], link, order, magic))
    (packet,) = captures.read(path)
    assert packet[:3] == (5_000_000_000 + 250 * unit, 999, "10.0.0.1 1000 > 10.0.0.2 2000 udp")


def test_tags_of_a_vlan_are_passed_over(tmp_path):
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([frame(1, b"\x81\x00\x00\x05"), frame(1)]))
    first, second = captures.read(path)
    assert first.identity == second.identity


def test_what_gateways_change_does_not_change_who_a_packet_is(tmp_path):
    path = tmp_path / "x.pcap"
    changed = bytearray(frame(101))
    changed[1], changed[8], changed[10] = 3, 57, 200
    other = bytearray(frame(101))
    other[5] = 8
    path.write_bytes(pcap([frame(101), bytes(changed), bytes(other)], 101))
    plain, marked, next_one = captures.read(path)
    assert plain.identity == marked.identity != next_one.identity


def test_ipv6_and_what_is_no_ip(tmp_path):
    path = tmp_path / "x.pcap"
    six = struct.pack(">IHBB", 0x60000000, 8, 17, 64) + bytes(15) + b"\x01" + bytes(15) + b"\x02"
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    path.write_bytes(pcap([bytes(12) + b"\x86\xdd" + six + struct.pack(">HHHH", 5, 6, 8, 0), arp]))
    assert [packet.flow for packet in captures.read(path)] == ["::1 5 > ::2 6 udp"]


def test_a_capture_that_fairq_wrote_has_the_times_of_its_table(capture, tmp_path):
    package.replay(capture, rate="1 Mbit/s", buffer="30 packets", disciplines=["fq"], out=tmp_path / "out")
    departures = duckdb.sql(
        f"select departure_ps from read_parquet('{tmp_path}/out/fq/packets.parquet') "
        "where departure_ps is not null order by 1"
    ).fetchall()
    packets = captures.read(tmp_path / "out" / "fq" / "capture.pcapng")
    zero = 1_000_000_000
    assert [packet.time - zero for packet in packets] == [ps // 1000 for (ps,) in departures]


def test_real_captures_are_read_whole(data):
    for path in sorted(Path(data / "captures").iterdir()):
        packets = captures.read(path)
        known = package.replay(path, rate="1 Gbit/s", buffer="unlimited", disciplines=["fifo"], fluid=False).capture
        # the replay counts what is not IP too
        assert 0.9 * known["packets"] <= len(packets) <= known["packets"]


def test_a_capture_that_was_cut_off_has_its_whole_records(tmp_path):
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([frame(1), frame(1)])[:-10])
    assert len(captures.read(path)) == 1


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x0a\x0d\x0d\x0a" + bytes(40)])
def test_what_is_no_capture_is_refused(tmp_path, content):
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(package.CaptureError) as caught:
        captures.read(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (pcap([frame(1)], 105), "link type 105 is not supported"),
        (pcap([frame(1)]) + struct.pack("<IIII", 5, 250, 1 << 30, 60), "claims a length of 1073741824"),
    ],
)
def test_what_a_replay_refuses_is_not_read_as_far_as_it_goes(tmp_path, content, message):
    path = tmp_path / "x.pcap"
    path.write_bytes(content)
    with pytest.raises(package.CaptureError, match=message):
        captures.read(path)
