"""`fairq replay`, end to end: a capture of a few packets made here, and every file of FAIRQ_DATA/captures."""

import json
import random
import shutil
import struct
import subprocess
from itertools import pairwise

import duckdb
import pytest
from raw_captures import raw, udp

import fairq as package
from fairq.questions import own_capture

REPLAY = ("--rate", "1Mbit/s", "--buffer", "30packets")
BOTH = (*REPLAY, "--discipline", "fifo,fq")
NAMES = "fifo, fq, fq(delta=1000B, on_drop=refund)"
COLUMNS = ["packet", "flow", "bytes", "arrival_ps", "departure_ps", "reason", "marked"]


def tshark(path):
    """What tshark reads: for each packet its time less that of the first, in nanoseconds, and its length."""
    if shutil.which("tshark") is None:
        pytest.skip(
            "tshark is not installed (Debian: tshark): capture.pcapng is NOT READ BACK by an independent reader"
        )
    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len"]
    done = subprocess.run(["tshark", "-r", path, *fields], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(int(epoch.replace(".", "")), int(length)) for epoch, length in rows]


def packets(folder):
    """The rows of packets.parquet in order of arrival."""
    # a folder named fq(delta=1000B) is not a partition by a column fq(delta
    table = f"read_parquet('{folder}/packets.parquet', hive_partitioning = false)"
    found = duckdb.sql(f"select * from {table} order by packet")
    assert found.columns == COLUMNS
    return [dict(zip(COLUMNS, row, strict=True)) for row in found.fetchall()]


def test_every_packet_of_the_capture_has_one_fate(document, capture, tmp_path):
    found = document("replay", capture, *REPLAY, "--discipline", NAMES, "--out", tmp_path / "out")
    assert [entry["name"] for entry in found["disciplines"]] == ["fifo", "fq", "fq(delta=1000B, on_drop=refund)"]
    folders = [path for path in (tmp_path / "out").iterdir() if path.is_dir()]
    assert {path.name for path in folders} == {"fifo", "fq", "fq(delta=1000B,on_drop=refund)"}
    for entry in found["disciplines"]:
        rows = packets(tmp_path / "out" / entry["name"].replace(" ", ""))
        assert [row["packet"] for row in rows] == list(range(42))
        assert all((row["departure_ps"] is None) == (row["reason"] is not None) for row in rows)
        for flow in entry["flows"]:
            mine = [row for row in rows if row["flow"] == flow["flow"]]
            assert (len(mine), sum(row["bytes"] for row in mine)) == (flow["packets"], flow["bytes"])
            assert sum(row["reason"] is not None for row in mine) == flow["dropped"]
    assert json.loads((tmp_path / "out" / "replay.json").read_text()) == found


def test_a_tree_of_classes_has_a_text_form_however_long(document, capture, tmp_path):
    leaves = ", ".join(f"(name=class_{n}, weight={n})" for n in range(1, 9))
    trees = [f"hpfq(classes=[{leaves}])", f"hpfq(scheduler=scfq, classes=[{leaves}])"]
    found = document("replay", capture, *REPLAY, "--discipline", ",".join(["fifo", *trees]), "--out", tmp_path / "out")
    assert [entry["name"] for entry in found["disciplines"]] == ["fifo", *trees]
    folders = sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir())
    assert [name[-2:] for name in folders] == ["fo", "_2", "_3"] and max(map(len, folders)) == 102
    # all of one class: as first in, first out
    fifo, tree = (packets(tmp_path / "out" / name) for name in folders[:2])
    assert [row["departure_ps"] for row in fifo] == [row["departure_ps"] for row in tree]


def test_a_lone_packet_passes_a_burst_under_fair_queueing_only(document, capture, tmp_path):
    document("replay", capture, *BOTH, "--out", tmp_path / "out")
    # number 40 is the packet of 100 bytes that comes 1 ms after a burst that takes 8 ms a packet
    waits = {}
    for name in ("fifo", "fq"):
        row = packets(tmp_path / "out" / name)[40]
        waits[name] = None if row["departure_ps"] is None else row["departure_ps"] - row["arrival_ps"]
    assert waits["fifo"] is None, "the buffer of 30 packets is full of the burst"
    assert waits["fq"] <= 9_000_000_000


def test_times_are_those_of_the_capture_and_long_gaps_are_cut(document, capture, tmp_path):
    found = document("replay", capture, *BOTH, "--out", tmp_path / "out", "--gap-max", "2 s")
    rows = packets(tmp_path / "out" / "fifo")
    assert [row["arrival_ps"] for row in rows[:3]] == [0, 10_000_000, 20_000_000]
    assert rows[41]["arrival_ps"] - rows[40]["arrival_ps"] == 2_000_000_000_000
    assert (found["capture"]["gaps_cut"], found["capture"]["time_cut_s"]) == (1, 28.0)


def test_what_left_is_a_capture_that_tshark_reads(document, capture, tmp_path):
    document("replay", capture, *BOTH, "--out", tmp_path / "out")
    sent = [row for row in packets(tmp_path / "out" / "fq") if row["departure_ps"] is not None]
    sent.sort(key=lambda row: row["departure_ps"])
    read = tshark(tmp_path / "out" / "fq" / "capture.pcapng")
    assert [length for _, length in read] == [row["bytes"] for row in sent]
    first = 1_000_000_000
    assert [epoch - first for epoch, _ in read] == [row["departure_ps"] // 1000 for row in sent]


def test_a_replay_of_what_left_is_a_capture_too(document, capture, tmp_path):
    document("replay", capture, *BOTH, "--out", tmp_path / "out")
    again = document(
        "replay", tmp_path / "out" / "fq" / "capture.pcapng", "--rate", "10Mbit/s", "--buffer", "unlimited"
    )
    assert again["disciplines"][0]["dropped"] == 0


def test_a_capture_that_is_cut_in_its_last_record_is_read_with_a_note(fairq, document, capture, tmp_path):
    whole = capture.read_bytes()
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(whole[:-3])
    packets = document("replay", capture, *REPLAY, "--discipline", "fifo")["capture"]["packets"]
    found = document("replay", cut, *REPLAY, "--discipline", "fifo")["capture"]
    said = f"{cut}: cut in the middle of a record after {packets - 1} packets, at byte {len(whole) - 3}"
    assert found["packets"] == packets - 1
    assert said in found["note"] and "the packets before are taken" in found["note"]
    # advise and detect read it too, and say so
    assert said in own_capture.read(cut, "10.0.0.1").notes()[-1]["text"]
    # traffic is taken whole
    text = (
        'edition = 2\n[measure]\nduration = "1 s"\n[[links]]\nname = "l"\nfrom = "a"\nto = "b"\nrate = "1 Mbit/s"\n'
        'delay = "1 ms"\n[[flows]]\nname = "f"\nfrom = "a"\nto = "b"\ntransport = "uncontrolled"\n'
        'traffic = {kind = "capture", file = "cut.pcap"}\n'
    )
    (tmp_path / "s.toml").write_text(text)
    status, _, error = fairq("run", tmp_path / "s.toml")
    assert status == 2 and "cut in the middle of a record" in error and error.count("\n") == 1


def test_without_the_fluid_no_lateness_is_told(document, capture):
    with_fluid = document("replay", capture, *BOTH)["disciplines"][1]
    without = document("replay", capture, *BOTH, "--no-fluid")["disciplines"][1]
    assert with_fluid["flows"] == without["flows"]
    assert with_fluid["late_s_max"] is not None and without.get("late_s_max") is None


def test_a_replay_tells_what_each_discipline_counted(document, capture):
    found = document("replay", capture, *REPLAY, "--discipline", "cake(tins=diffserv3), fifo")
    cake, fifo = found["disciplines"]
    states = {(row["subqueue"], row["quantity"]): row["value"] for row in cake["states"]}
    sent = sum(states[tin, "sent_packets"] for tin in ("bulk", "best_effort", "voice"))
    assert sent == cake["packets"] - cake["dropped"]
    assert fifo["states"] == []


def test_a_replay_says_where_rates_are_more_than_the_line_has(document, capture):
    tree = "htb(classes=[(name=a, rate=800kbit/s, dscp=[0]), (name=b, rate=400kbit/s)], default=b)"
    (found,) = document("replay", capture, *REPLAY, "--discipline", tree)["disciplines"]
    assert "the line has 1 Mbit/s, and the rates below it are 1200 kbit/s together" in found["note"]


def test_the_table_has_a_line_for_each_flow(fairq, capture):
    status, out, err = fairq("replay", capture, *BOTH)
    assert (status, err) == (0, "")
    assert "Flows by pair" in out and "10.0.0.1 > 10.0.0.2" in out


def udp_from(host, port, length):
    """An IPv4 packet of `length` bytes from `host`."""
    return udp((10, 0, 0, host), (10, 0, 0, 99), (port, 53), length)


def test_cake_tells_flows_apart_by_five_tuples_unless_a_classifier_is_named(document, tmp_path):
    flows = [(1, 1001), (1, 1002), (1, 1003), (2, 1001)]
    packets = [(n * 8e-4 + at * 1.37e-4, udp_from(*flow, 1000)) for n in range(5000) for at, flow in enumerate(flows)]
    capture = raw(tmp_path / "hosts.pcap", packets)
    line = ("--rate", "10Mbit/s", "--buffer", "200packets", "--no-fluid")

    def rates(*options):
        (found,) = document("replay", capture, *line, "--discipline", "cake(isolation=flows)", *options)["disciplines"]
        rate = {host: 0.0 for host in ("10.0.0.1", "10.0.0.2")}
        for flow in found["flows"]:
            rate[flow["flow"].split()[0].split(":")[0]] += flow["throughput_bit_per_s"] / 1e6
        return found["classifier"], found["rows_by"], list(rate.values())

    assert rates() == ("port_pair", "port_pair", pytest.approx([7.5, 2.5], abs=0.15))
    assert rates("--classifier", "pair") == ("pair", "pair", pytest.approx([5.0, 5.0], abs=0.15))


def test_the_disciplines_of_a_replay_that_names_none_are_fair_to_those_who_send_little(document, fairq, tmp_path):
    draw = random.Random(1)
    packets = []
    for host in range(1, 11):
        at = 0.0
        while (at := at + draw.expovariate(host * 1e6 / 8000)) < 6:
            packets.append((at, udp_from(host, 7, 1000)))
    capture = raw(tmp_path / "poisson.pcap", packets)
    line = ("--rate", "10Mbit/s", "--buffer", "64packets", "--no-fluid")
    fifo, fair = document("replay", capture, *line)["disciplines"]
    assert fifo["jain_index"] < 0.9 and fair["jain_index"] > 0.98 and "note" not in fair
    # the rule of 1990 shuts out a flow that goes on sending above its share, and the table says so
    _, out, _ = fairq("replay", capture, *line, "--discipline", "fq")
    assert "fq: fq charges a flow for packets that were dropped" in out and "fq(on_drop=refund)" in out


def test_a_bad_capture_is_said_and_nothing_is_written(refused, capture, tmp_path):
    whole = capture.read_bytes()
    capture.unlink()
    bad = {"empty": b"", "text": b"hello, this is a letter", "header cut": whole[:10], "no packet": whole[:24],
           "first record cut": whole[:50]}  # fmt: skip
    for name, data in bad.items():
        path = tmp_path / f"{name}.pcap"
        path.write_bytes(data)
        assert str(path) in refused("replay", path, *REPLAY, "--out", tmp_path / "out")
        path.unlink()
    assert str(tmp_path) in refused("replay", tmp_path, *REPLAY)
    assert "none.pcap" in refused("replay", tmp_path / "none.pcap", *REPLAY)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (["--rate", "0bit/s", "--buffer", "4packets"], "above zero"),
        (["--rate", "1000", "--buffer", "4packets"], "1000 bit/s"),
        (["--rate", "1Mbit/s", "--buffer", "4"], "15 packets"),
        (["--rate", "1Mbit/s", "--buffer", "0packets"], "at least 1 packet"),
        ([*REPLAY, "--discipline", "fqq"], "did you mean fq?"),
        ([*REPLAY, "--discipline", "fifo,fq,fcfs"], "fifo and fcfs: the same discipline twice"),
        ([*REPLAY, "--discipline", ""], "name at least one"),
        ([*REPLAY, "--classifier", "pairs"], "did you mean pair?"),
        (
            [*REPLAY, "--discipline", "pifo(rank=shortest_remaining)"],
            "what remains of a transfer, which no capture tells",
        ),
        ([*REPLAY, "--discipline", "fifo + aifo(rank=deadline)"], "packets' deadlines, which no capture tells"),
        ([*REPLAY, "--gap-max", "10"], "10 s"),
    ],
)
def test_a_bad_option_is_said_with_its_remedy(refused, capture, tmp_path, arguments, remedy):
    assert remedy in refused("replay", capture, *arguments, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_disciplines_are_a_list(capture):
    with pytest.raises(package.UsageError, match=r"disciplines: .* write a list"):
        package.replay(capture, rate="1 Mbit/s", buffer="4 packets", disciplines="fifo")


def test_a_foreign_folder_is_refused(refused, capture, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("years of work")
    refused("replay", capture, *REPLAY, "--out", tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["thesis.tex"]


def test_every_real_capture_is_replayed_whole(document, data, tmp_path):
    files = sorted(path for path in (data / "captures").iterdir() if path.suffix in (".pcap", ".pcapng"))
    assert files
    for path in files:
        out = tmp_path / path.stem
        found = document(
            "replay", path, "--rate", "2Mbit/s", "--buffer", "40packets", "--discipline", "fifo,fq", "--out", out
        )
        for entry in found["disciplines"]:
            rows = packets(out / entry["name"])
            assert [row["packet"] for row in rows] == list(range(found["capture"]["packets"]))
            assert sum(row["bytes"] for row in rows) == found["capture"]["bytes"]
            assert all(a["arrival_ps"] <= b["arrival_ps"] for a, b in pairwise(rows))
            sent = sorted((row for row in rows if row["reason"] is None), key=lambda row: row["departure_ps"])
            assert entry["dropped"] == len(rows) - len(sent)
            assert [n for _, n in tshark(out / entry["name"] / "capture.pcapng")] == [row["bytes"] for row in sent]


def test_a_queue_has_one_name_everywhere_and_its_older_one_stays(capture, document):
    line = ("--rate", "300kbit/s", "--buffer", "9packets")
    new = document("replay", capture, *line, "--queue", "fifo,drr")
    assert [each["name"] for each in new["disciplines"]] == ["fifo", "drr"]
    assert document("replay", capture, *line, "--discipline", "fifo,drr")["disciplines"] == new["disciplines"]
    words = {"rate": "300kbit/s", "buffer": "9packets"}
    for queue in ({"queue": "fifo, drr"}, {"queue": ["fifo", "drr"]}, {"disciplines": ["fifo", "drr"]}):
        assert package.replay(capture, **words, **queue).disciplines == new["disciplines"]
    with pytest.raises(package.UsageError, match="queue: disciplines is its older name"):
        package.replay(capture, **words, queue="fifo", disciplines=["fifo"])


def test_a_buffer_is_a_time_or_products_of_the_line(capture, document, refused):
    line = ("--rate", "300kbit/s", "--queue", "fifo", "--buffer")
    of_bytes = document("replay", capture, *line, "1875B")["disciplines"]
    assert document("replay", capture, *line, "50ms")["disciplines"] == of_bytes
    assert document("replay", capture, *line, "1bdp", "--rtt", "50ms")["disciplines"] == of_bytes
    assert "1BDP is of a round trip" in refused("replay", capture, *line, "1BDP")
    assert "9packets needs none" in refused("replay", capture, *line, "9packets", "--rtt", "50ms")


def test_packets_that_are_there_twice_are_told_wherever_a_capture_is_read(tmp_path, document):
    data = [udp_from(1, 7, 200)[:-4] + struct.pack(">I", at) for at in range(499)]
    raw(tmp_path / "once.pcap", [(0.002 * at, each) for at, each in enumerate(data)])
    raw(tmp_path / "twice.pcap", [(0.002 * at + k, each) for at, each in enumerate(data) for k in (0, 1e-5)])
    line = ("--rate", "1Mbit/s", "--buffer", "40packets")
    notes = [document("replay", tmp_path / f"{name}.pcap", *line)["capture"].get("note") for name in ("once", "twice")]
    assert notes[0] is None and notes[1].startswith("499 of 998 packets are there twice within 1 ms")
    codes = [{note["code"] for note in own_capture.read(tmp_path / f"{name}.pcap", "10.0.0.1").notes()}
             for name in ("once", "twice")]  # fmt: skip
    assert codes[1] - codes[0] == {"doubles"}
