"""`fairq emulate`: what is asked for, what would be made of it, and what becomes of a report.

Runs with namespaces are in tests/emulate; one is here, and is skipped loudly where they are refused.
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairq
from fairq.core.errors import ScenarioError, UsageError
from fairq.emulation import child, emulated, reported, simulated, wish
from fairq.emulation.emulation_results import Emulated

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="emulation needs Linux")

LINE = {"rate": "20Mbit/s", "rtt": "40ms"}
FLOW = {"name": "bulk", "from": "a", "to": "b", "traffic": "ftp", "transport": "cubic"}
NETWORK = {
    "edition": 2,
    "measure": {"duration": "5 s"},
    "links": [{"name": "line", "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms", "queue": "fq"}],
    "flows": [FLOW],
}


def described(network=None, **given):
    return emulated.describe(wish.ask(network, has_shell=True, **given))


def refused(network=None, **given):
    with pytest.raises((UsageError, ScenarioError)) as error:
        described(network, **given)
    return str(error.value)


def test_down_is_from_right_to_left_and_up_the_way_back():
    found = described(rate="50Mbit/s/10Mbit/s", rtt="30ms", queue="cake/fifo", command=["ping", "right"])
    ways = {line["direction"]: line for line in found["lines"]}
    down, up = ways["forward"], ways["reverse"]
    assert (down["from"], down["to"], down["rate_bit_per_s"], down["discipline"]) == ("right", "left", 5e7, "cake")
    assert (up["from"], up["to"], up["rate_bit_per_s"], up["discipline"]) == ("left", "right", 1e7, "fifo")
    assert down["delay_s"] == up["delay_s"] == 0.015


def test_hosts_have_addresses_of_both_families_in_a_prefix_that_no_emulation_around_has(monkeypatch):
    def addresses():
        hosts = described(command=["true"], **LINE)["hosts"]
        return {host["host"]: host["addresses"] for host in hosts}

    monkeypatch.delenv(emulated.INSIDE, raising=False)
    assert addresses() == {"right": ["10.77.1.1", "fd4d::1:1"], "left": ["10.77.2.1", "fd4d::2:1"]}
    monkeypatch.setenv(emulated.INSIDE, "77")
    assert addresses()["right"] == ["10.78.1.1", "fd4e::1:1"]


def test_a_buffer_of_products_is_of_the_lines_own_round_trip():
    found = described(buffer="1BDP", command=["true"], **LINE)
    assert {line["limit"] for line in found["lines"]} == {"100 kB"}


def test_a_command_in_the_terminal_ends_the_run_and_others_do_not():
    found = described(right="iperf3 -s -1", command=["iperf3", "-c", "right"], **LINE)
    assert found["commands"] == [
        {"host": "left", "command": "iperf3 -c right", "ends_run": True},
        {"host": "right", "command": "iperf3 -s -1", "ends_run": False},
    ]
    assert found["ends_s"] is None


def test_without_a_command_and_flows_a_shell_runs(monkeypatch):
    monkeypatch.setenv("SHELL", "/bin/some-shell")
    assert described(**LINE)["commands"][0]["command"] == "/bin/some-shell"
    assert described(duration="3 s", right="true", **LINE)["commands"][0]["host"] == "right"
    assert described(NETWORK)["commands"] == []


def test_the_flows_of_a_scenario_are_connections_and_datagrams():
    flood = {"name": "flood", "from": "a", "to": "b", "traffic": "cbr(rate=12 Mbit/s, packet=1500B)"}
    flood["transport"] = "uncontrolled"
    sized = {**FLOW, "name": "sized", "traffic": "incast(size=10MB, rounds=1)", "transport": "reno", "start": "1 s"}
    found = described({**NETWORK, "flows": [FLOW, flood, sized]})
    bulk, flood, sized = found["flows"]
    assert (bulk["protocol"], bulk["control"], bulk["bytes"], bulk["stop_s"]) == ("tcp", "cubic", None, 5.0)
    assert (flood["protocol"], flood["packet_bytes"], flood["gap_s"]) == ("udp", 1500, 0.001)
    assert (sized["control"], sized["bytes"], sized["start_s"]) == ("reno", 10_000_000, 1.0)
    assert found["ends_s"] == 5.0


def test_flows_with_lines_of_their_own_have_addresses_of_their_own():
    entry = {**FLOW, "count": 3, "access": {"rate": "1 Gbit/s"}}
    found = described({**NETWORK, "flows": [entry]})
    sources = [flow["addresses"][0] for flow in found["flows"]]
    assert len(set(sources)) == 3 and set(sources) < set(found["hosts"][0]["addresses"])
    assert {flow["addresses"][1] for flow in found["flows"]} == {found["hosts"][1]["addresses"][0]}
    assert all(len(flow["lines"][0]) == 2 for flow in found["flows"])


def test_packets_of_commands_find_their_way_over_nodes_that_are_no_hosts():
    links = [
        {"name": "one", "from": "a", "to": "middle", "rate": "unlimited", "delay": "1 ms"},
        {"name": "two", "from": "middle", "to": "b", "rate": "1 Mbit/s"},
    ]
    found = described({**NETWORK, "flows": [], "links": links}, command=["true"])
    assert [host["host"] for host in found["hosts"]] == ["a", "b"]
    assert described({**NETWORK, "links": links}, on={"middle": "true"})["hosts"][1]["host"] == "middle"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"flows": [{**FLOW, "traffic": "telnet"}]}, "flows[0].traffic: telnet is simulated only"),
        ({"flows": [{**FLOW, "transport": "copa"}]}, "flows[0].transport: Linux has no copa"),
        ({"flows": [{**FLOW, "transport": "cubic(decrease=0.8)"}]}, "flows[0].transport: decrease is a setting"),
        ({"flows": [{**FLOW, "deadline": "1 s", "traffic": "cbr(rate=1Mbit/s)", "transport": "none"}]}, "deadline"),
        ({"changes": [{"at": "1 s", "link": "line", "rate": "1 Mbit/s"}]}, "changes: an emulated line"),
        ({"links": [{**NETWORK["links"][0], "ring": 5}]}, "links.line.ring"),
        ({"links": [{**NETWORK["links"][0], "rate": "1Mbit/s..2Mbit/s"}]}, "links.line.rate: a random walk"),
        ({"axes": [{"name": "queue", "path": "links.line.queue", "values": ["fq", "fifo"]}]}, "axes: real hosts"),
        ({"measure": {"duration": "5 s", "replications": 2}}, "measure.replications"),
    ],
)
def test_what_real_hosts_have_not_is_refused_with_its_place(change, said):
    assert said in refused(NETWORK | change)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "there is no network; write --rate and --rtt, or the file of a scenario"),
        ({"rate": "20Mbit/s"}, "there is no --rtt"),
        ({"rate": "20Mbit/s", "rtt": "40ms", "delay": "20ms"}, "--delay: --rtt says the same"),
        ({"rate": "fast", "rtt": "40ms"}, "--rate"),
        ({**LINE, "queue": "fqq"}, "--queue fqq"),
        ({**LINE, "queue": "fq/fifo/fq"}, "--queue fq/fifo/fq: write one value"),
        ({**LINE, "on": {"middle": "true"}}, "--on middle: there are the hosts left and right"),
        ({**LINE, "at": "middle"}, "--at middle"),
        ({**LINE, "mode": "slow"}, "--mode slow"),
        ({**LINE, "loss": "200%"}, "--loss"),
        ({"network": NETWORK, "rate": "20Mbit/s"}, "--rate: the scenario says its hosts and lines"),
        ({"network": NETWORK, "duration": "1 s"}, "--duration: the scenario has one"),
        ({"network": NETWORK, "on": {"c": "true"}}, "--on c: no host is called c"),
        ({**LINE, "set": {"links": []}}, "--set: there is no scenario to change"),
    ],
)
def test_a_wrong_word_is_named_in_one_line(given, said):
    message = refused(**given)
    assert said in message and "\n" not in message


def flow_row(**more):
    row = dict.fromkeys(
        ["plan", "lost", "rtt_s_mean", "share", *(f"{kind}_s_{of}" for kind in ("delay", "queueing")
                                                  for of in ("mean", "p50", "p95", "p99", "max"))]
    )  # fmt: skip
    row |= {"flow": "left:40000 > right:5201 tcp", "is_answer": False, "from": "left", "to": "right"}
    row |= {"source": "10.77.2.1", "destination": "10.77.1.1", "source_port": 40000, "destination_port": 5201}
    row |= {"transport": "tcp", "weight": 1.0, "first_s": 0.0, "last_s": 2.0, "sent": 1100, "sent_bytes": 1_650_000}
    row |= {"retransmitted": 9, "throughput_packets": 1000, "throughput_bytes": 1_500_000, "dropped": 100, "marked": 0}
    row |= {"throughput_bit_per_s": 3e6, "goodput_packets": 990, "goodput_bytes": 1_400_000, "share": 0.3}
    return row | {"queueing_s_mean": 0.004, "delay_s_mean": 0.024} | more


REPORT = {
    "elapsed_s": 4.0,
    "flows": [flow_row(), flow_row(flow="right:5201 > left:40000 tcp", is_answer=True)],
    "links": [
        {"link": "line", "direction": way, "rate_bit_per_s": 20_000_000, "delay_s": 0.02, "packets": 1000,
         "bytes": 1_500_000, "lost": None, "utilisation": 0.15} for way in ("forward", "reverse")
    ],
    "queues": [
        {"link": "line", "direction": way, "discipline": "fifo", "arrived": 1100, "dropped": 100, "marked": 0,
         "waiting_packets_mean": 2.5, "waiting_packets_max": 40, "utilisation": 0.15, "overtaken": 0.0, "jain": 1.0}
        for way in ("forward", "reverse")
    ],
    "series": [{"time_s": 0.1, "flow": "left:40000 > right:5201 tcp", "link": None, "direction": None,
                "throughput_bit_per_s": 3e6, "rtt_s": 0.05, "held_packets": None}],
    "packets": [],
    "refused": {"not_ip": 0, "no_route": 2, "no_room": 0},
    "lateness": {"count": 2000, "p50_s": 1e-5, "p90_s": 2e-5, "p99_s": 3e-5, "p99_9_s": 9e-5, "max_s": 2e-4,
                 "histogram": []},
    "gateway": {"cpu_s": 0.1, "cpu_share": 0.025, "cpu_us_per_packet": 2.5, "reads": 1, "writes": 1, "packets": 2000,
                "wakeups": 1, "late_wakeups": 0, "lost_before": 0, "lost_behind": 0, "behind_share": 0.0,
                "packet_time_s": 0.0006},
    "stamp": {"is_valid": True, "mode": "exact", "verdict": "valid", "reasons": []},
}  # fmt: skip
READY = {"kernel": "6.18", "back_end": "tun", "hosts": [{"name": "left", "control": "cubic"}]}


def made():
    asked = wish.ask(command=["iperf3", "-c", "right"], **LINE)
    what = emulated.describe(asked)
    document = reported.document(what, REPORT, READY)
    document["emulation"] |= {"commands": what["commands"], "status": 0}
    return asked, what, document


def test_a_report_becomes_the_tables_of_a_run(tmp_path):
    _, _, document = made()
    result = Emulated(document)
    (flow,) = result.flows
    assert (flow["flow"], flow["traffic"], flow["transport"]) == ("left:40000 > right:5201 tcp", "command", "tcp")
    assert [queue["limit"] for queue in result.queues] == ["1000 packets"] * 2
    assert result.series[0]["rtt_s"] == 0.05 and len(result.conversations) == 2
    assert result.is_valid and result.stamp == "valid"
    result.write_json(tmp_path / "result.json")
    again = fairq.read_result(tmp_path)
    assert again.flows == result.flows and again["emulation"] == document["emulation"]


def test_its_document_has_the_schema_of_a_result():
    jsonschema = pytest.importorskip("jsonschema")
    _, _, document = made()
    jsonschema.validate(document, fairq.schema("result"))


def test_a_query_reads_the_folder_of_a_run(tmp_path):
    pytest.importorskip("duckdb")
    result = fairq.run(NETWORK, set={"flows[0].traffic": "ftp"}, workers=1)
    for name in ("flows", "queues"):
        getattr(result, name).write_parquet(tmp_path / f"{name}.parquet")
    result.write_json(tmp_path / "result.json")
    found = fairq.query(tmp_path, "select flow, throughput_bit_per_s > 9e6 from flows")
    assert found.rows == [("bulk", True)]
    with pytest.raises(UsageError, match="the folder has no series; it has flows, queues"):
        fairq.query(tmp_path, "select * from series")


def test_a_flow_of_a_command_is_simulated_by_its_bytes():
    asked, what, document = made()
    found = simulated.simulate(asked, what, document)
    rows = {(row["of"], row["quantity"]): row for row in simulated.differences(document, found)}
    rate = rows["left:40000 > right:5201 tcp", "throughput_bit_per_s"]
    # Over the two seconds in which it was active, not the four of the run.
    assert rate["emulated"] == 6e6 and 4e6 < rate["simulated"] < 20e6
    assert rate["difference"] == rate["emulated"] / rate["simulated"] - 1
    assert rows["line reverse", "dropped"]["emulated"] == 100


def test_what_would_be_made_is_said(fairq):
    status, out, _ = fairq("emulate", "--rate", "20Mbit/s", "--rtt", "40ms", "--dry-run", "--", "ping", "-c3", "right")
    assert status == 0
    for word in ("10.77.1.1", "left", "right", "ping -c3 right", "its end ends the run", "fifo"):
        assert word in out


def test_options_of_the_command_behind_are_its_own(fairq):
    status, out, err = fairq("emulate", "--rate", "20Mbit/s", "--rtt", "40ms", "--dry-run", "--json", "--", "x", "-1",
                             "--rate", "--", "y")  # fmt: skip
    assert (status, err) == (0, "")
    assert json.loads(out)["commands"][0]["command"] == "x -1 --rate -- y"


def test_the_scenario_of_the_words_can_be_written_and_read(fairq, tmp_path):
    path = tmp_path / "line.toml"
    words = ("--rate", "20Mbit/s/5Mbit/s", "--rtt", "40ms", "--queue", "fq_codel", "--loss", "1%")
    assert fairq("emulate", *words, "--dry-run", "--scenario", path, "--", "true")[0] == 0
    again = described(path, command=["true"])
    lines = {line["direction"]: (line["rate_bit_per_s"], line["loss"]) for line in again["lines"]}
    assert lines == {"forward": (20_000_000, 0.01), "reverse": (5_000_000, 0.01)}


def test_what_the_gateway_says_is_read_to_its_report(monkeypatch):
    said = [{"ready": READY}, {"watch": {"time_s": 0.5, "rows": []}}, {"report": REPORT}]
    code = f"import os, sys; os.write(int(sys.argv[-1]), {''.join(json.dumps(each) + chr(10) for each in said)!r}"
    monkeypatch.setattr(child, "CODE", f"{code}.encode()); sys.exit(7)")
    told = []
    answer = child.run({"text": ""}, watch=told.append)
    assert (answer.status, answer.report["elapsed_s"], answer.ready) == (7, 4.0, READY)
    assert told == [{"time_s": 0.5, "rows": []}]


def test_a_refusal_of_the_gateway_is_one_line(monkeypatch):
    monkeypatch.setattr(
        child, "CODE", """import os, sys; os.write(int(sys.argv[-1]), b'{"error": {"message": "no right to"}}\\n')"""
    )
    with pytest.raises(UsageError, match=r"^no right to$"):
        child.run({"text": ""})


def test_a_gateway_that_ends_without_a_report_is_said(monkeypatch):
    monkeypatch.setattr(child, "CODE", "import os; os.kill(os.getpid(), 9)")
    with pytest.raises(fairq.FairqError, match="ended without a report \\(signal 9\\)"):
        child.run({"text": ""})


def can_emulate():
    try:
        return fairq.emulate(rate="100Mbit/s", rtt="2ms", command=["true"]).status == 0
    except UsageError as error:
        return str(error)


@pytest.fixture(scope="module")
def namespaces():
    found = can_emulate()
    if found is not True:
        assert os.environ.get("FAIRQ_NAMESPACES") != "required", found
        pytest.skip(f"no namespaces here: {found}")


def test_the_status_of_the_command_is_passed_on(namespaces, capfd):
    found = fairq.emulate(rate="100Mbit/s", rtt="2ms", command="ping -c1 right >&2; exit 7")
    assert found.status == 7 and found.emulation["status"] == 7
    assert "1 received" in capfd.readouterr().err


def test_no_process_is_left_when_it_is_killed(namespaces):
    sleep = f"86{os.getpid()}"
    words = ("--rate", "1Mbit/s", "--rtt", "2ms", "--", "sleep", sleep)
    started = subprocess.Popen([sys.executable, "-m", "fairq", "emulate", *words], stderr=subprocess.DEVNULL)
    try:
        assert reached(lambda: running(sleep) == [True])
    finally:
        started.kill()
        started.wait()
    assert reached(lambda: running(sleep) == [])


def running(word):
    """An entry for each process of `sleep` with this argument."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            found += [True] if path.read_bytes().split(b"\0")[:2] == [b"sleep", word.encode()] else []
    return found


def reached(condition):
    """Whether a condition comes to hold within half a minute."""
    end = time.monotonic() + 30
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def test_a_replay_of_what_came_to_a_line_gives_the_order_in_which_it_left(namespaces, tmp_path):
    flood = {"name": "flood", "from": "a", "to": "b", "traffic": "cbr(rate=8 Mbit/s, packet=500B)"}
    network = NETWORK | {"measure": {"duration": "1500 ms"}, "flows": [FLOW, flood | {"transport": "uncontrolled"}]}
    network["links"] = [NETWORK["links"][0] | {"buffer": "60 packets"}]
    found = fairq.emulate(network, capture=tmp_path / "seen")
    assert {row["flow"] for row in found.flows} == {"bulk", "flood"}
    came, left = (tmp_path / "seen" / f"line.forward.{which}.pcapng" for which in ("arrivals", "departures"))
    replayed = fairq.replay(came, rate="10Mbit/s", buffer="60packets", queue="fq", fluid=False, out=tmp_path / "again")
    assert replayed.disciplines[0]["dropped"] == found.queues[0]["dropped"] > 0
    (again,) = (tmp_path / "again").rglob("capture.pcapng")
    sent = in_order(left)
    # What waited at the end is sent by the replay alone.
    assert len(sent) > 500 and in_order(again)[: len(sent)] == sent


def in_order(capture):
    """The packets of a capture, each by its addresses, ports, identity and sequence."""
    found, data, at = [], capture.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            (size,) = struct.unpack_from("<I", data, at + 20)
            packet = data[at + 28 : at + 28 + size]
            # Marks change the type of service, and with it the header's checksum.
            found.append(packet[4:8] + packet[12:28])
        at += length
    return found
