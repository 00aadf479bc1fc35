"""Two captures of one path: the cases of public reports, and others of each kind, through `fairq detect`.

Every path here is a FIFO of 10 Mbit/s with others at 60 % of it, unless a test says otherwise.
"""

import random
import socket
import struct
import subprocess
import sys

import numpy as np
import pytest

import fairq as package
from fairq.detection import journeys, pairs

BASE = 1_700_000_000
MINE = "10.0.0.1 1000 > 10.0.0.2 2000 udp"


def checksum(data):
    """The complement of the sum in ones' complement (RFC 1071)."""
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(payload, *, number=0, protocol=17, ttl=64, place=0, source="10.0.0.1", sink="10.0.0.2", tos=0):
    ends = socket.inet_aton(source) + socket.inet_aton(sink)
    head = struct.pack(">BBHHHBBH", 0x45, tos, 20 + len(payload), number & 0xFFFF, place, ttl, protocol, 0) + ends
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ipv6(payload, *, protocol=17, hops=64):
    ends = bytes(15) + b"\x01" + bytes(15) + b"\x02"
    return struct.pack(">IHBB", 6 << 28, len(payload), protocol, hops) + ends + payload


def udp(data, *, check=0, ports=(1000, 2000)):
    return struct.pack(">HHHH", *ports, 8 + len(data), check) + data


def tcp(data, *, number=0, flags=0x10, check=0, options=b""):
    offset = (20 + len(options)) << 2 << 8
    return struct.pack(">HHIIHHHH", 1000, 2000, number, 7, offset | flags, 500, check, 0) + options + data


def ethernet(packet, *, kind=0x0800, around=b"", pad=0):
    frame = bytes.fromhex("020000000002020000000001") + struct.pack(">H", kind) + around + packet
    return frame + bytes(max(0, pad - len(frame)))


def write(path, packets, *, link=1, kept=65535, base=BASE):
    """A capture in nanoseconds of (seconds, frame)."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, kept, link))
        for time, frame in sorted(packets, key=lambda packet: packet[0]):
            stamp = round(time * 1e9)
            seconds, fraction = base + stamp // 10**9, stamp % 10**9
            file.write(struct.pack("<IIII", seconds, fraction, min(kept, len(frame)), len(frame)) + frame[:kept])


def fifo(count, *, seed=1, rate=10e6, sizes=(1014,)):
    """When each of my packets was sent and received, and its number: a line that others load too."""
    chance = random.Random(seed)
    events, now = [], 0.0
    for k in range(count):
        now += chance.choice([0, 0.2, 0.5, 1, 2, 20]) * 1e-3
        events.append((now, k))
    last, now = now, 0.0
    while now < last:
        now += chance.expovariate(0.6 * rate / 8000)
        events.append((now, None))
    free, found = 0.0, []
    for time, k in sorted(events, key=lambda event: event[0]):
        free = max(time, free) + 8 * (1000 if k is None else sizes[k % len(sizes)]) / rate
        if k is not None:
            found.append((time, free + 0.01, k))
    return found


def counted(k, length=972):
    return struct.pack(">I", k) + b"x" * (length - 4)


def plain(k, **changed):
    return ethernet(ipv4(udp(counted(k)), number=k, **changed))


@pytest.fixture
def detected(tmp_path, document):
    """Writes two captures of what a path did to frames, and gives the rows that are said of them."""

    def run(sent, received, *, path=None, lost=(), **options):
        path = fifo(300) if path is None else path
        here, there = ({name.removeprefix(end): value for name, value in options.items() if name.startswith(end)}
                       for end in ("sent_", "received_"))  # fmt: skip
        write(tmp_path / "sent.pcap", [(time, sent(k)) for time, _, k in path], **here)
        arrived = [(time, received(k)) for _, time, k in path if k not in lost]
        write(tmp_path / "received.pcap", arrived, **there)
        return document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")

    return run


def is_the_fifo(row, capacity=10e6):
    return row["verdict"] == "FIFO" and row["capacity_bit_per_s"] == pytest.approx(capacity, rel=0.01)


CASES = {
    "control": "pcap",
    "offload": "pcap",
    "directions": "pcap",
    "padding": "pcap",
    "fragments": "pcap",
    "unused": "pcapng",
}


@pytest.fixture(scope="module")
def cases(data, tmp_path_factory):
    """The captures of the public reports."""
    folder = tmp_path_factory.mktemp("cases")
    subprocess.run([sys.executable, data / "cases" / "detect_cases.py", folder], check=True)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_a_case_of_a_public_report_is_a_fifo(cases, document, name):
    rows = document("detect", *(cases / f"{name}_{end}.{CASES[name]}" for end in ("sent", "received")))
    assert [row["verdict"] for row in rows] == ["FIFO"] * len(rows)
    assert len(rows) == (2 if name == "directions" else 1)
    if name != "fragments":
        # the second fragments of that case left in no time
        assert all(is_the_fifo(row) and row["unmatched"] == 0 for row in rows)


def test_packets_that_are_all_alike_are_no_verdict_once_one_is_lost(cases, document):
    (row,) = document("detect", cases / "alike_sent.pcap", cases / "alike_received.pcap")
    assert row["verdict"] == "cannot tell" and "400 of 400 packets are alike" in row["why"]


def test_stamps_of_any_resolution_give_one_capacity(cases, document):
    for name in ("fast_ns", "fast_2e-32"):
        (row,) = document("detect", cases / f"{name}_sent.pcapng", cases / f"{name}_received.pcapng")
        assert is_the_fifo(row, 10e9)


OPTIONS = bytes([2, 4, 5, 0xB4, 1, 1, 1, 1])
CLAMPED = bytes([2, 4, 5, 0x8C, 1, 1, 1, 1])

HONEST = {
    "checksum of UDP left to the card": (
        lambda k: ethernet(ipv4(udp(counted(k), check=77), number=k)),
        lambda k: ethernet(ipv4(udp(counted(k), check=k), number=k, ttl=57)),
    ),
    "checksum of TCP left to the card": (
        lambda k: ethernet(ipv4(tcp(counted(k), number=972 * k, check=5), protocol=6, number=k)),
        lambda k: ethernet(ipv4(tcp(counted(k), number=972 * k, check=k), protocol=6, number=k, ttl=57)),
    ),
    "checksum of UDP over IPv6": (
        lambda k: ethernet(ipv6(udp(counted(k), check=9)), kind=0x86DD),
        lambda k: ethernet(ipv6(udp(counted(k), check=k), hops=60), kind=0x86DD),
    ),
    "congestion experienced and another class": (lambda k: plain(k, tos=2), lambda k: plain(k, tos=0x2F, ttl=9)),
    "segments clamped": (
        lambda k: ethernet(ipv4(tcp(counted(k), number=k, options=OPTIONS), protocol=6, number=k)),
        lambda k: ethernet(ipv4(tcp(counted(k), number=k, options=CLAMPED), protocol=6, number=k, ttl=63)),
    ),
    "a tag at one end": (plain, lambda k: ethernet(ipv4(udp(counted(k)), number=k, ttl=60), kind=0x8100,
                                                   around=b"\x00\x05\x08\x00")),
    "PPPoE at one end": (
        lambda k: ethernet(ipv4(udp(counted(k)), number=k), kind=0x8864, around=b"\x11\0\0\1\3\xea\0\x21"),
        lambda k: plain(k, ttl=60),
    ),
    "labels at one end": (
        plain,
        lambda k: ethernet(ipv4(udp(counted(k)), number=k, ttl=60), kind=0x8847, around=b"\0\1\1\x40"),
    ),
    "padding behind the packet": (plain, lambda k: plain(k, ttl=60) + b"\x55" * 30),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_what_an_honest_path_changes_changes_no_verdict(detected, name):
    (row,) = detected(*HONEST[name])
    assert row["unmatched"] == 0 and row["verdict"] == "FIFO"
    assert row["capacity_bit_per_s"] == pytest.approx(10e6, rel=0.03)


@pytest.mark.parametrize(("kept", "other"), [(64, 65535), (65535, 64), (96, 64), (200, 1500), (54, 500)])
def test_captures_of_any_snap_length_are_compared_as_far_as_both_kept(detected, kept, other):
    (row,) = detected(plain, lambda k: plain(k, ttl=60), sent_kept=kept, received_kept=other)
    assert row["unmatched"] == 0 and is_the_fifo(row)


def test_short_packets_are_found_though_padded_at_one_end(detected):
    def short(k, **changed):
        return ethernet(ipv4(udp(counted(k, 4 + k % 14)), number=k), **changed)

    (row,) = detected(short, lambda k: short(k, pad=60), path=fifo(300, sizes=(60,)))
    assert row["unmatched"] == 0 and row["pairs"] > 100


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [0.0, 0.003, 0.01, 0.03])
def test_a_fifo_of_packets_that_are_alike_is_never_called_fair(detected, seed, loss):
    chance = random.Random(seed)
    lost = {k for k in range(400) if chance.random() < loss}
    alike = ethernet(ipv4(udp(b"c" * 972), place=0x4000))
    (row,) = detected(lambda k: alike, lambda k: alike, path=fifo(400, seed=seed), lost=lost)
    assert row["verdict"] == ("cannot tell" if lost else "FIFO")
    assert bool(lost) == ("are alike" in row["why"])


def test_packets_that_are_told_apart_give_a_verdict_whatever_others_are_alike(detected):
    # every fourth is silence, and some of that is lost
    def frame(k):
        return ethernet(ipv4(udp(b"c" * 972), place=0x4000)) if k % 4 == 0 else plain(k)

    (row,) = detected(frame, frame, path=fifo(600), lost={40, 200, 360})
    assert is_the_fifo(row) and any("150 of 600 packets are alike" in note for note in row["notes"])


def test_a_packet_that_came_twice_is_taken_as_it_first_came(tmp_path, document):
    path = fifo(300)
    write(tmp_path / "sent.pcap", [(time, plain(k)) for time, _, k in path])
    write(tmp_path / "received.pcap", [(time + late, plain(k)) for _, time, k in path for late in (0, 1e-5)])
    (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
    assert is_the_fifo(row) and row["unmatched"] == 0


def both_ways(ttl, offset=0.0):
    """What two captures with a flow each way hold, whose routers count down `ttl`."""
    here, there = [], []
    for (source, sink), near, far, seed in (
        (("10.0.0.1", "10.0.0.2"), here, there, 11),
        (("10.0.0.2", "10.0.0.1"), there, here, 12),
    ):
        ports = (1000, 2000) if near is here else (2000, 1000)
        for sent, received, k in fifo(400, seed=seed):
            for end, time, left in ((near, sent, 64), (far, received, 64 - ttl)):
                packet = ipv4(udp(counted(k), ports=ports), number=k, source=source, sink=sink, ttl=left)
                end.append((time + (offset if end is there else 0.0), ethernet(packet)))
    return here, there


@pytest.mark.parametrize("offset", [0.0, 5.0, -5.0, 1e9])
@pytest.mark.parametrize("ttl", [0, 4])
def test_each_of_two_directions_is_judged_by_the_times_of_its_own_sender(tmp_path, document, ttl, offset):
    here, there = both_ways(ttl, offset if offset < 1e9 else 0.0)
    write(tmp_path / "a.pcap", here)
    write(tmp_path / "b.pcap", there, base=BASE - (10**9 if offset == 1e9 else 0))
    rows = {row["flow"]: row for row in document("detect", tmp_path / "a.pcap", tmp_path / "b.pcap")}
    assert set(rows) == {MINE, "10.0.0.2 2000 > 10.0.0.1 1000 udp"}
    assert all(is_the_fifo(row) for row in rows.values())
    assert not any("sent at the end of" in note for note in rows[MINE]["notes"])
    assert "sent at the end of" in rows["10.0.0.2 2000 > 10.0.0.1 1000 udp"]["notes"][0]


@pytest.mark.parametrize("ttl", [0, 4])
def test_captures_in_the_wrong_order_are_turned_round(tmp_path, document, ttl):
    path = fifo(300)
    write(tmp_path / "sent.pcap", [(time, plain(k)) for time, _, k in path])
    write(tmp_path / "received.pcap", [(time, plain(k, ttl=64 - ttl)) for _, time, k in path])
    (row,) = document("detect", tmp_path / "received.pcap", tmp_path / "sent.pcap")
    assert is_the_fifo(row) and "sent at the end of" in row["notes"][0]


def test_a_clock_that_is_behind_turns_nothing_round(detected):
    (row,) = detected(plain, plain, path=[(time + 50, received, k) for time, received, k in fifo(300)])
    assert is_the_fifo(row) and "before they were sent" in row["notes"][0]


def test_packets_of_equal_distance_at_both_ends_before_their_sending_have_no_direction(detected):
    path = [(0.01 * k, 0.01 * k - 0.5 + 0.001 * (k % 2), k) for k in range(100)]
    (row,) = detected(plain, plain, path=path)
    assert row["verdict"] == "cannot tell"
    assert "wrong order" in row["why"] or "fewer than" in row["why"]


def test_segments_that_a_card_cut_are_named(tmp_path, document):
    chance = random.Random(3)
    sent, received, now, number = [], [], 0.0, 0
    for k in range(300):
        now += chance.choice([2, 5, 20]) * 1e-3
        count = 1 + k % 2 * 3
        data = bytes([k % 251]) * (1000 * count)
        sent.append((now, ethernet(ipv4(tcp(data, number=number), protocol=6, number=k))))
        for part in range(count):
            piece = tcp(data[:1000], number=number + 1000 * part)
            received.append((now + 0.01 + part * 8e-4, ethernet(ipv4(piece, protocol=6, number=k, ttl=60))))
        number += 1000 * count
    write(tmp_path / "sent.pcap", sent)
    write(tmp_path / "received.pcap", received)
    (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
    assert row["verdict"] == "cannot tell" and row["unmatched"] == 0.5
    assert "150 of 300 packets were received with another length" in row["why"] and "gro off" in row["why"]


def test_datagrams_in_fragments_are_packets_of_their_flow(tmp_path, document):
    def pieces(k, **changed):
        whole = udp(counted(k, 1480))
        return [
            ethernet(ipv4(whole[:1000], number=k, place=0x2000, **changed)),
            ethernet(ipv4(whole[1000:], number=k, place=125, **changed)),
        ]

    # fragment by fragment over the line, 1034 and 522 bytes on it
    path = fifo(400, sizes=(1034, 522))
    for order in ((0, 1), (1, 0)):
        sent = [(time, pieces(k // 2)[order[k % 2]]) for time, _, k in path]
        received = [(time, pieces(k // 2, ttl=60)[order[k % 2]]) for _, time, k in path]
        write(tmp_path / "sent.pcap", sent)
        write(tmp_path / "received.pcap", received)
        (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
        assert (row["flow"], row["packets"], row["unmatched"]) == (MINE, 200, 0)
        assert "400 of 400 packets are fragments" in row["notes"][0]
    write(tmp_path / "sent.pcap", sent[:1] + sent[2:])
    (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
    assert row["packets"] in (199, 200)
    # without a first fragment nothing tells the flow
    late = [frame for k, frame in enumerate(sent) if k % 2 == 0] + sent[1:2]
    write(tmp_path / "sent.pcap", late)
    (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
    assert any("199 fragments are left out" in note for note in row["notes"])


def test_a_datagram_that_came_in_part_is_not_known_to_have_come():
    times = np.array([0.0, 0.1, 1.0, 1.1, 2.0])
    received = np.array([0.5, 0.7, np.nan, 1.9, 2.5])
    packets = pairs.Sent(times, received, np.full(5, 100.0), np.zeros(5, dtype=bool))
    whole = pairs.whole_datagrams(packets, np.array([1, 1, 2, 2, 0]))
    assert whole.sent.tolist() == [0.0, 1.0, 2.0] and whole.size.tolist() == [200, 200, 100]
    assert whole.received[[0, 2]].tolist() == [0.7, 2.5] and np.isnan(whole.received[1])
    assert whole.unknown.tolist() == [False, True, False]


def test_the_part_that_was_lost_is_told(detected):
    (row,) = detected(plain, plain, lost=set(range(0, 300, 3)))
    assert row["unmatched"] == pytest.approx(1 / 3)
    assert any("100 of 300 packets were not found" in note for note in row["notes"])


def test_packets_inside_others_are_said_not_to_have_been_looked_into(detected, refused, tmp_path):
    inner = bytes.fromhex("00000800")
    (row,) = detected(
        lambda k: ethernet(ipv4(inner + ipv4(udp(counted(k))), protocol=47, number=k)),
        lambda k: ethernet(ipv4(inner + ipv4(udp(counted(k))), protocol=47, number=k, ttl=60)),
    )
    assert row["flow"] == "10.0.0.1 > 10.0.0.2 protocol 47"
    assert any("300 packets carry others (GRE)" in note for note in row["notes"])
    wires = [(0.001 * k, ethernet(bytes(4) + plain(k), kind=0x8847, around=b"\0\1\1\x40")) for k in range(5)]
    write(tmp_path / "wires.pcap", wires)
    assert "5 packets carry others (MPLS)" in refused("detect", tmp_path / "wires.pcap", tmp_path / "received.pcap")


@pytest.mark.parametrize("kind", ["PPPoE", "MPLS"])
def test_a_replay_tells_flows_in_pppoe_and_behind_labels_apart(document, tmp_path, kind):
    frames = []
    for k in range(40):
        packet = ipv4(udp(counted(k), ports=(1000 + k % 2, 2000)), number=k)
        ether, around = (0x8864, b"\x11\0\0\1\3\xea\0\x21") if kind == "PPPoE" else (0x8847, b"\0\1\1\x40")
        frames.append((0.001 * k, ethernet(packet, kind=ether, around=around)))
    write(tmp_path / "x.pcap", frames)
    found = document("replay", tmp_path / "x.pcap", "--rate", "1Mbit/s", "--buffer", "50packets", "--discipline",
                     "fq_codel")  # fmt: skip
    assert {flow["flow"] for flow in found["disciplines"][0]["flows"]} == {
        "10.0.0.1:1000 > 10.0.0.2:2000 udp",
        "10.0.0.1:1001 > 10.0.0.2:2000 udp",
    }
    assert "note" not in found["capture"]


def test_a_replay_says_which_tunnels_it_did_not_look_into(document, tmp_path):
    frames = [(0.001 * k, ethernet(ipv4(bytes(4) + plain(k), protocol=47, number=k))) for k in range(5)]
    write(tmp_path / "x.pcap", [*frames, (1.0, plain(9))])
    found = document("replay", tmp_path / "x.pcap", "--rate", "1Mbit/s", "--buffer", "50packets")
    assert "5 of 6 packets carry others (GRE)" in found["capture"]["note"]


def test_both_commands_refuse_the_same_files_in_the_same_words(refused, capture, tmp_path):
    whole = capture.read_bytes()
    bad = {
        "empty": b"",
        "text": b"hello, world",
        "first record cut": whole[:50],
        "long": whole + struct.pack("<IIII", 5, 250, 1 << 30, 60),
        "link": whole[:20] + struct.pack("<I", 105) + whole[24:],
        "section": b"\x0a\x0d\x0d\x0a" + struct.pack("<IIHHqI", 28, 0x1A2B3C4D, 2, 0, -1, 28),
    }
    for name, content in bad.items():
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(content)
        replayed = refused("replay", path, "--rate", "1Mbit/s", "--buffer", "50packets")
        assert refused("detect", path, capture) == replayed == refused("detect", capture, path)


@pytest.mark.parametrize("length", [0, 0xFFFFFFFF])
def test_a_length_on_the_wire_that_cannot_be_is_not_believed(tmp_path, document, length):
    write(tmp_path / "sent.pcap", [(time, plain(k)) for time, _, k in fifo(300)])
    write(tmp_path / "received.pcap", [(time, plain(k)) for _, time, k in fifo(300)])
    content = bytearray((tmp_path / "sent.pcap").read_bytes())
    content[36:40] = struct.pack("<I", length)
    (tmp_path / "sent.pcap").write_bytes(content)
    (row,) = document("detect", tmp_path / "sent.pcap", tmp_path / "received.pcap")
    assert is_the_fifo(row) and row["unmatched"] == 0
    (found,) = journeys.of([tmp_path / "sent.pcap", tmp_path / "received.pcap"])
    assert set(found.size) == {1014}


def test_real_captures_are_read_whole_and_are_the_same_as_themselves(data, tmp_path):
    for path in sorted((data / "captures").iterdir()):
        again = tmp_path / path.name
        again.write_bytes(path.read_bytes())
        known = package.replay(path, rate="1 Gbit/s", buffer="unlimited", disciplines=["fifo"], fluid=False).capture
        found = pairs.read(path, again)
        assert found.counts[0] == found.counts[1]
        # the replay counts what is not IP too
        assert 0.9 * known["packets"] <= found.counts[0]["paired"] <= found.counts[0]["packets"] == known["packets"]
        assert all(np.array_equal(flow.first, flow.second) for flow in found.flows)


@pytest.mark.parametrize("zero", [0, 1_700_000_000, -86_400])
def test_a_table_of_any_epoch_in_any_order_says_the_same(tmp_path, document, zero):
    path = fifo(300)
    lines = [
        f"{zero + int(sent)}{f'{sent % 1:.12f}'[1:]},{zero + int(received)}{f'{received % 1:.12f}'[1:]},1014"
        for sent, received, _ in path
    ]
    said = []
    for shuffled in (lines, random.Random(1).sample(lines, len(lines))):
        table = tmp_path / "mine.csv"
        table.write_text("sent_s,received_s,bytes\n" + "\n".join(shuffled) + "\n")
        (row,) = document("detect", table)
        said.append(row)
    assert said[0] == said[1]
    assert is_the_fifo(said[0])


def test_a_table_of_a_line_of_10_gigabits_keeps_its_nanoseconds(tmp_path, document):
    path = [(sent / 1000, received / 1000, k) for sent, received, k in fifo(300)]
    lines = [f"1700000000{f'{sent:.12f}'[1:]},1700000000{f'{received:.12f}'[1:]},1014" for sent, received, _ in path]
    (tmp_path / "mine.csv").write_text("sent_s,received_s,bytes\n" + "\n".join(lines) + "\n")
    (row,) = document("detect", tmp_path / "mine.csv")
    assert is_the_fifo(row, 10e9)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,inf,100", ":2: received_s must be a number"),
        ("1,-Infinity,100", ":2: received_s must be a number"),
        ("inf,2,100", ":2: sent_s and bytes"),
        ("1,2,inf", ":2: sent_s and bytes"),
        ("1e300,2,100", ":2: 1E+300 is no time in seconds"),
        ("1,1e999999,100", ":2: 1E+999999 is no time in seconds"),
        ("1,2,nan", ":2: sent_s and bytes"),
    ],
)
def test_times_that_are_none_are_refused(refused, tmp_path, row, message):
    (tmp_path / "x.csv").write_text(f"sent_s,received_s,bytes\n{row}\n")
    assert message in refused("detect", tmp_path / "x.csv")


def test_a_column_that_numbers_the_packets_is_no_run(refused, tmp_path):
    lines = "".join(f"{k},{k},{k + 1},100\n" for k in range(30))
    (tmp_path / "x.csv").write_text("packet,sent_s,received_s,bytes\n" + lines)
    assert "no two rows have the same packet" in refused("detect", tmp_path / "x.csv")


def test_no_bytes_break_the_reading_of_a_table(fairq, tmp_path):
    chance = random.Random(1)
    words = ["1", "nan", "inf", "-0", "1e9", "", ",", "\n", '"', "\0", "x", "1_0", "é", "\r", "1e-400", "9" * 400]
    for _ in range(300):
        text = "sent_s,received_s,bytes\n" + "".join(chance.choice(words) for _ in range(chance.randrange(40)))
        (tmp_path / "x.csv").write_bytes(text.encode())
        status, out, err = fairq("detect", tmp_path / "x.csv")
        assert status in (0, 2) and bool(out) == (status == 0) and err.count("\n") == (status == 2)
