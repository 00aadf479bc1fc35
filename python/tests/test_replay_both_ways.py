"""`fairq replay --me … --down … --up …` and `--only`, end to end: captures made here, and those of FAIRQ_DATA."""

import json
import random
import re

import duckdb
import pytest
from raw_captures import raw, udp

import fairq as package
from fairq.replays import replay_tables

ME, SERVER, NEIGHBOUR = (192, 168, 1, 7), (203, 0, 113, 5), (192, 168, 1, 8)
LINES = ("--me", "192.168.1.7", "--down", "8Mbit/s", "--up", "800kbit/s", "--buffer", "20packets")


@pytest.fixture
def call(tmp_path):
    """Ten seconds: a call of 100 packets a second each way, an upload of twice the uplink, packets of a neighbour."""
    draw = random.Random(1)
    packets = [(n / 100, udp(ME, SERVER, (5004, 5004), 200)) for n in range(1000)]
    packets += [(n / 100 + 0.003, udp(SERVER, ME, (5004, 5004), 200)) for n in range(1000)]
    packets += [(draw.uniform(0, 10), udp(ME, SERVER, (6000, 443), 1000)) for _ in range(2000)]
    packets += [(draw.uniform(0, 10), udp(NEIGHBOUR, SERVER, (7000, 443), 500)) for _ in range(50)]
    return raw(tmp_path / "call.pcap", packets)


def test_each_direction_has_its_line_and_its_own_results(document, call):
    found = document("replay", call, *LINES, "--classifier", "port_pair", "--discipline", "fifo,fq_codel")
    assert [(way["direction"], way["rate_bit_per_s"], way["packets"]) for way in found["directions"]] == [
        ("down", 8_000_000, 1000),
        ("up", 800_000, 3000),
    ]
    lanes = {(lane["name"], lane["direction"]): lane for lane in found["disciplines"]}
    assert list(lanes) == [("fifo", "down"), ("fq_codel", "down"), ("fifo", "up"), ("fq_codel", "up")]
    for lane in lanes.values():
        assert lane["packets"] == lane["sent"] + lane["dropped"] == sum(flow["packets"] for flow in lane["flows"])
    # the downlink is idle; in the uplink's FIFO the call waits behind the upload, in its own queue it does not
    down, fifo, fair = (lanes[key] for key in [("fifo", "down"), ("fifo", "up"), ("fq_codel", "up")])
    assert down["delay_s_max"] == pytest.approx(200 * 8 / 8e6)
    assert fifo["flows"][0]["delay_s_p99"] > 0.15 and fair["flows"][0]["delay_s_p99"] < 0.03
    assert (found["capture"]["packets_read"], found["capture"]["packets_elsewhere"]) == (4050, 50)
    assert found["capture"]["note"] == (
        "50 of 4050 packets do not go between 192.168.1.7 and another address and are left out: "
        "udp between 192.168.1.8 and 203.0.113.5 (50 packets)"
    )
    assert "rate_bit_per_s" not in found["capture"]


def test_the_answer_says_who_waited_least_under_what(document, call):
    found = document("replay", call, *LINES, "--classifier", "port_pair", "--discipline", "fifo,fq_codel")
    answer = found["answer"]
    assert (answer["quantity"], answer["decided"]) == ("delay_s_p99", True)
    down, up = answer["parts"]
    assert [(row["disciplines"], row["differs"], row["flows"]) for row in down["least"]] == [
        (["fifo", "fq_codel"], False, 1)
    ]
    of_call = next(row for row in up["least"] if row["disciplines"] == ["fq_codel"])
    assert of_call["busiest"] in ("192.168.1.7:5004 > 203.0.113.5:5004 udp", "192.168.1.7:6000 > 203.0.113.5:443 udp")
    assert answer["text"].startswith("Down: for the only flow no 99th percentile delay differs from another by more")
    assert "\n\nUp: fq_codel gave the least 99th percentile delay to " in answer["text"]
    assert document("replay", call, *LINES, "--discipline", "fq")["answer"] is None


def test_delay_over_time_has_every_packet_of_every_bin(document, call):
    found = document("replay", call, *LINES, "--classifier", "port_pair", "--discipline", "fifo,fq_codel")
    assert {row["bin_s"] for row in found["series"]} == {0.128}
    for lane in found["disciplines"]:
        mine = [row for row in found["series"]
                if (row["discipline"], row["direction"]) == (lane["name"], lane["direction"])]  # fmt: skip
        for flow in [None, *(flow["flow"] for flow in lane["flows"])]:
            bins = [row for row in mine if row["flow"] == flow]
            of = lane if flow is None else next(row for row in lane["flows"] if row["flow"] == flow)
            assert sum(row["sent"] + row["dropped"] for row in bins) == of["packets"]
            assert sum(row["dropped"] for row in bins) == of["dropped"]
            mean = sum(row["delay_s_mean"] * row["sent"] for row in bins if row["sent"])
            assert mean / (of["packets"] - of["dropped"]) == pytest.approx(of["delay_s_mean"])
            assert max(row["delay_s_max"] or 0 for row in bins) == of["delay_s_max"]
    # the same packets in the same bins under each discipline
    by_bin = {}
    for row in found["series"]:
        by_bin.setdefault((row["direction"], row["flow"], row["time_s"]), set()).add(row["sent"] + row["dropped"])
    assert all(len(packets) == 1 for packets in by_bin.values())


def test_a_folder_has_both_directions_with_the_capture_s_numbers(document, call, tmp_path):
    out = tmp_path / "out"
    found = document("replay", call, *LINES, "--only", "port 5004", "--discipline", "fifo,fq", "--out", out)
    folders = sorted(str(path.parent.relative_to(out)) for path in out.glob("*/*/packets.parquet"))
    assert folders == ["fifo/down", "fifo/up", "fq/down", "fq/up"]
    numbers = {}
    for folder in folders:
        table = f"read_parquet('{out / folder}/packets.parquet', hive_partitioning = false)"
        numbers[folder] = {number for (number,) in duckdb.sql(f"select packet from {table}").fetchall()}
        assert len(numbers[folder]) == 1000 and (out / folder / "capture.pcapng").stat().st_size > 0
    assert numbers["fifo/down"] == numbers["fq/down"] and not numbers["fq/down"] & numbers["fq/up"]
    # packets are numbered as in the capture: with 4050 of them, those kept are beyond the first 2000
    assert max(numbers["fifo/down"] | numbers["fifo/up"]) > 4000
    assert json.loads((out / "replay.json").read_text()) == found
    detected = package.detect(out / "fifo" / "up")
    assert [row["packets"] for row in detected] == [1000]


@pytest.mark.parametrize(
    ("expression", "packets"),
    [
        ("port 5004", 2000),
        ("src host 192.168.1.8", 50),
        ("net 192.168.1.0/24 and not host 192.168.1.7", 50),
        ("udp and (port 443 or 5004)", 4050),
        ("dst port 443 and src net 192.168 and not port 7000", 2000),
    ],
)
def test_only_replays_a_part_of_the_capture(document, call, expression, packets):
    found = document("replay", call, "--rate", "1Mbit/s", "--buffer", "9packets", "--only", expression)
    assert found["capture"]["packets"] == packets == found["disciplines"][0]["packets"]
    assert found["capture"]["packets_filtered"] == 4050 - packets
    assert found["capture"]["only"] == expression


def test_up_and_down_are_words_of_the_filter(document, call):
    both = document("replay", call, *LINES)
    up = document("replay", call, *LINES, "--only", "up")
    assert [way["packets"] for way in up["directions"]] == [0, 3000]
    assert "no packet goes down" in up["capture"]["note"]
    of = [[lane for lane in found["disciplines"] if lane["direction"] == "up"] for found in (both, up)]
    assert [lane["delay_s_p99"] for lane in of[0]] == [lane["delay_s_p99"] for lane in of[1]]


def test_the_table_has_a_row_for_each_flow_and_a_column_for_each_discipline(fairq, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    status, out, _ = fairq("replay", call, *LINES, "--classifier", "port_pair", "--discipline", "fifo,fq_codel")
    lines = out.splitlines()
    start = lines.index("Flows by port_pair: mean delay/99 %, packets dropped")
    assert lines[start + 1].split() == ["direction", "flow", "packets", "fifo", "fq_codel"]
    row = next(line for line in lines[start:] if ":5004 > 203" in line)
    assert row.startswith("up") and row.count(" ms") == 2
    assert "Flows under" not in out and "Packets dropped: fifo " in " ".join(lines[-3:])
    assert "\nUp: fq_codel gave the least 99th percentile delay to" in out and status == 0
    # where there is no room names are cut, and not what they had
    monkeypatch.setenv("COLUMNS", "72")
    _, out, _ = fairq("replay", call, *LINES, "--classifier", "port_pair", "--discipline", "fifo,fq_codel")
    row = next(line for line in out.splitlines() if line.startswith("up") and "udp" in line)
    assert "…" in row and re.search(r" [\d.]+/[\d.]+ ms, \d+  [\d.]+/[\d.]+ ms, \d+$", row)
    monkeypatch.setenv("COLUMNS", "120")
    _, out, _ = fairq("replay", call, *LINES, "--discipline", "fifo,fq_codel", "--each")
    assert out.count("\nFlows under ") == 4 and "\nFlows under fq_codel up, by port_pair\n" in out
    # disciplines that tell flows apart in two ways have a table for each
    _, out, _ = fairq("replay", call, *LINES, "--discipline", "fifo,fq,fq_codel")
    assert out.count("\nFlows by ") == 2 and "--classifier NAME puts all into one table" in out


def test_disciplines_stand_beside_each_other_for_each_flow(document, call):
    found = document("replay", call, *LINES, "--discipline", "fifo,fq,fq_codel")
    by_pair, by_ports = replay_tables.beside(found["disciplines"])
    assert (by_pair[:2], by_ports[:2]) == (("pair", ["fifo", "fq"]), ("port_pair", ["fq_codel"]))
    assert [(row["direction"], row["packets"]) for row in by_pair[2]] == [("up", 3000), ("down", 1000)]
    assert [row["packets"] for row in by_ports[2]] == [2000, 1000, 1000]
    for row in by_pair[2]:
        assert set(row["disciplines"]) == {"fifo", "fq"}
        assert all(of["flow"] == row["flow"] and of["packets"] == row["packets"] for of in row["disciplines"].values())


def test_a_picture_has_no_more_panels_than_there_is_room_for(document, call, tmp_path):
    rows = document("replay", call, *LINES, "--classifier", "port_pair")["series"]
    drawn = list(dict.fromkeys(row["flow"] for row in replay_tables.over_time(rows, 12)))
    # one flow alone is all packets
    assert [name.split(" ")[0] for name in drawn] == ["down:", "up:", "up:", "up:"]
    assert len({row["flow"] for row in replay_tables.over_time(rows, 4)}) == 3
    (one,) = {row["flow"] for row in replay_tables.over_time([row for row in rows if row["direction"] == "down"], 4)}
    assert one == "down: all packets"
    path = tmp_path / "delay.png"
    document("replay", call, *LINES, "--plot", path)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--buffer", "9packets"], "rate: is missing; give the rate of the line as 300kbit/s, or me, down and up"),
        (["--me", "192.168.1.7", "--buffer", "9packets"], "down: is missing; me needs the rates of both directions"),
        (
            ["--me", "192.168.1.7", "--down", "1Mbit/s", "--buffer", "9packets"],
            "up: is missing; me needs the rates of both directions",
        ),
        (["--down", "1Mbit/s", "--up", "1Mbit/s", "--buffer", "9packets"], "me: is missing: it says which packets go"),
        (["--rate", "1Mbit/s", *LINES], "rate: is of one line for all packets; give rate alone, or me, down and up"),
        (
            ["--me", "192.168.1.77", *LINES[2:]],
            "no packet goes between 192.168.1.77 and another address; most are of 203.0.113.5 (4050 packets), "
            "192.168.1.7 (4000 packets), 192.168.1.8 (50 packets)",
        ),
        (["--me", "laptop", *LINES[2:]], "me: `laptop` is no address; write one as 192.168.1.7"),
        (["--me", "192.168.1.7/24", *LINES[2:]], "write 192.168.1.0/24 for the network or 192.168.1.7 for the address"),
        ([*LINES, "--down", "8"], "down: "),
        ([*LINES, "--only", "port 99"], "only: "),
        (
            [*LINES, "--only", "tcp"],
            "`tcp` keeps none of the 4000 packets to or from 192.168.1.7; most are udp between",
        ),
        ([*LINES, "--only", "udp and prot 53"], "only: at letter 9, `prot` is not understood; did you mean port?"),
        ([*LINES, "--only", "(udp"], "only: at letter 1, `(` is not closed; write )"),
        (
            ["--rate", "1Mbit/s", "--buffer", "9packets", "--only", "up"],
            "`up` asks for up or down, which follow from me",
        ),
        ([*LINES, "--plot", "delay.gif"], "must end in .svg, .png or .pdf"),
    ],
)
def test_what_makes_no_sense_is_said_with_what_would(refused, call, tmp_path, arguments, said):
    assert said in refused("replay", call, *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_python_has_the_same_words(call):
    found = package.replay(call, me="192.168.1.7", down="8 Mbit/s", up="800 kbit/s", buffer="20 packets", only="udp")
    assert [way["direction"] for way in found.directions] == ["down", "up"]
    assert found.answer == found.document["answer"] and found.series == found.document["series"]
    with pytest.raises(package.UsageError, match="up: is missing"):
        package.replay(call, me="192.168.1.7", down="8 Mbit/s", buffer="20 packets")


OWN = {
    "1kxun.pcap": "192.168.2.126", "netflix.pcap": "192.168.1.7", "quic.pcap": "192.168.1.109",
    "teams.pcap": "192.168.1.6", "zoom_p2p.pcapng": "192.168.12.156",
}  # fmt: skip
"""The address with most packets, by capture."""


def test_real_captures_lose_no_packet_in_either_direction(document, data):
    for path in sorted((data / "captures").glob("*.pcap*")):
        line = ("--down", "2Mbit/s", "--up", "500kbit/s", "--buffer", "40packets")
        found = document("replay", path, "--me", OWN[path.name], *line, "--discipline", "fifo,fq_codel,cake")
        read = found["capture"]["packets_read"]
        assert read == document("replay", path, "--rate", "1Gbit/s", "--buffer", "unlimited")["capture"]["packets"]
        assert found["capture"]["packets"] + found["capture"]["packets_elsewhere"] == read
        for lane in found["disciplines"]:
            (way,) = (way for way in found["directions"] if way["direction"] == lane["direction"])
            assert way["packets"] == lane["packets"] == lane["sent"] + lane["dropped"] > 0
