"""tc's commands as text forms: units, defaults, trees of classes, and what is wrong in one line."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import fairq
from fairq import traffic_control as tc
from fairq.traffic_control import units

PLAIN = '"fifo + 1000packets"'
"""What Linux has in a class where nothing is said."""


def read(*words):
    return tc.read("qdisc add dev eth0 root " + " ".join(words))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("pfifo", "fifo + 1000packets"),
        ("pfifo limit 50", "fifo + 50packets"),
        ("bfifo limit 30k", "fifo + 30720B"),
        ("pfifo_head_drop limit 7", "fifo + head_drop + 7packets"),
        ("sfq", "linux_sfq + 127packets"),
        ("sfq limit 20 headdrop quantum 3000", "linux_sfq(quantum=3000B, headdrop=true) + 20packets"),
        ("fq_codel", "fq_codel + 10240packets"),
        ("fq_codel limit 100 flows 64 target 3ms interval 50ms noecn quantum 300",
         "fq_codel(queues=64, quantum=300B, target=3ms, interval=50ms, ecn=false) + 100packets"),
        ("codel", "fifo + codel(ecn=false) + 1000packets"),
        ("codel ecn target 5000us", "fifo + codel(target=5ms, ecn=true) + 1000packets"),
        ("fq", "linux_fq + 10000packets"),
        ("fq flow_limit 5 maxrate 1mbit ce_threshold 2ms",
         "linux_fq(flow_limit=5, maxrate=1Mbit/s, ce_threshold=2ms) + 10000packets"),
        ("pie", "fifo + pie(ecn=false) + 1000packets"),
        ("fq_pie limit 500 ecn", "fq_pie(pie=(ecn=true)) + 500packets"),
        ("red limit 400000 min 15000 max 45000 avpkt 1000 burst 25 probability 0.1 bandwidth 1mbit",
         "fifo + red(min=15000B, max=45000B, probability=0.1, weight=0.0625, ecn=false)"
         " + 400000B"),
        ("tbf rate 1mbit burst 5kb latency 50ms", "token_bucket(rate=1Mbit/s, burst=5120B) + 11370B"),
        ("ets bands 4 strict 1 quanta 4542 1514 3028 priomap 3",
         "ets(strict=1, quanta=[4542B, 1514B, 3028B], map=[3, 3, 3, 3, 3, 3, 3, 3],"
         f" queues=[{', '.join([PLAIN] * 4)}])"),
        ("cake bandwidth 20mbit docsis lan diffserv8 ack-filter",
         "cake(rate=20Mbit/s, preset=docsis, tins=diffserv8, rtt=lan, ack_filter=conservative)"),
        ("cake unlimited besteffort dual-dsthost rtt 1000s",
         "cake(tins=best_effort, isolation=dual_destination, rtt=1000s)"),
        ("cake bandwidth 10mbit overhead 44 atm mpu 64 ingress memlimit 4mb",
         "cake(rate=10Mbit/s, overhead=44, mpu=64, framing=atm, memory=4194304B, ingress=true)"),
    ],
)  # fmt: skip
def test_a_qdisc_is_its_text_form_and_that_runs(line, text, capture):
    assert read(line).text == text
    fairq.replay(capture, rate="1Mbit/s", buffer="100packets", disciplines=[text], fluid=False)


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    import struct

    path = tmp_path_factory.mktemp("tc") / "one.pcap"
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 28, 0, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
    frame = ip + struct.pack("!HHHH", 1, 2, 8, 0)
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    path.write_bytes(header + struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    return path


def test_htb_with_one_leaf_is_the_line_of_what_stands_below():
    found = tc.read(
        "tc qdisc add dev eth0 root handle 1: htb default 1\n"
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 95mbit  # the modem\n"
        "sudo tc qdisc add dev eth0 parent 1:1 \\\n  fq_codel"
    )
    assert (found.text, found.rate, found.differs) == ("fq_codel + 10240packets", "95Mbit/s", [])


def test_a_tree_has_its_classes_in_order_of_their_numbers_with_parents_and_code_points(capture):
    found = tc.read(
        "qdisc add dev r1 root handle 1: htb default 20; class add dev r1 parent 1: classid 1:1 htb rate 10mbit;"
        "class add dev r1 parent 1:1 classid 1:20 htb rate 4mbit ceil 10mbit prio 1 burst 15k;"
        "class add dev r1 parent 1:1 classid 1:10 htb rate 6mbit overhead 10 linklayer atm;"
        "filter add dev r1 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10"
    )
    assert found.text == (
        "htb(classes=[(name=c1, rate=10Mbit/s, burst=1600B, cburst=1600B), (name=c10, parent=c1, rate=6Mbit/s,"
        f" burst=1600B, cburst=1600B, overhead=10, linklayer=atm, dscp=[46], queue={PLAIN}), (name=c20, parent=c1,"
        f" rate=4Mbit/s, ceil=10Mbit/s, burst=15360B, cburst=1600B, priority=1, queue={PLAIN})], default=c20)"
    )
    fairq.replay(capture, rate="10Mbit/s", buffer="100packets", disciplines=[found.text], fluid=False)


def test_curves_of_hfsc_are_those_that_tc_makes_of_umax_and_dmax():
    lines = (
        "qdisc add dev r1 root handle 1: hfsc default 1;"
        "class add dev r1 parent 1: classid 1:1 hfsc sc umax 1500b dmax 10ms rate 1mbit;"
        "class add dev r1 parent 1: classid 1:2 hfsc ls rate 2mbit rt umax 1500b dmax 30ms rate 1mbit"
    )
    # 1500 B in 10 ms are 1.2 Mbit/s, above the rate: first that. In 30 ms they wait 18 ms for a line of 1 Mbit/s.
    assert tc.read(lines).text == (
        "hfsc(classes=[(name=c1, real_time=(m1=1200kbit/s, d=10ms, m2=1Mbit/s),"
        f" link_share=(m1=1200kbit/s, d=10ms, m2=1Mbit/s), queue={PLAIN}),"
        f" (name=c2, real_time=(d=18ms, m2=1Mbit/s), link_share=(m2=2Mbit/s), queue={PLAIN})], default=c1)"
    )


def test_a_rate_without_a_unit_is_in_bits_and_a_size_in_bytes_and_kilobytes_are_1024():
    assert [units.rate(word) for word in ("1000", "1kbit", "1kbps", "1Mbit", "1mibit")] == [
        1000,
        1000,
        8000,
        10**6,
        2**20,
    ]
    assert [units.size(word) for word in ("1000", "1k", "1kb", "2m")] == [1000, 1024, 1024, 2**21]
    assert [units.time_us(word) for word in ("5", "5us", "5ms", "1s")] == [5, 5, 5000, 10**6]


def test_what_is_left_out_is_said():
    found = read("cake bandwidth 1mbit nat wash")
    assert [row["setting"] for row in found.differs] == ["nat", "wash"]
    assert [row["setting"] for row in read("fq defrate 1mbit").differs] == ["defrate"]
    leaf = (
        "qdisc add dev r1 root handle 1: htb default 1; class add dev r1 parent 1: classid 1:1 htb rate 1mbit;"
        "class add dev r1 parent 1: classid 1:2 htb rate 1mbit; qdisc add dev r1 parent 1:2 cake nat"
    )
    assert [row["setting"] for row in tc.read(leaf).differs] == ["class 1:2: nat"]


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ("qdisc add dev eth0 root fq_codle", "did you mean fq_codel"),
        ("qdisc add dev eth0 root fq_codel targt 5ms", "did you mean target"),
        ("qdisc add dev eth0 root fq_codel target", "target has no value"),
        ("qdisc add dev eth0 root fq_codel target 5mz", "mz is no unit of a time"),
        ("qdisc add dev eth0 root cake bandwith 1mbit", "did you mean bandwidth"),
        ("qdsc add dev eth0 root fq", "did you mean qdisc"),
        ("qdisc addd dev eth0 root fq", "did you mean add"),
        ("class add dev eth0 parent 1: classid 1:1 htb rate 1mbit", "no command sets up a qdisc"),
        ("", "no command sets up a qdisc"),
        ("qdisc add dev eth0 root tbf rate 1mbit", "no burst"),
        ("qdisc add dev eth0 root 'fq", "No closing quotation"),
        ("qdisc add dev eth0 root handle 1: qfq; class add dev eth0 parent 1: classid 1:1 qfq;"
         "filter add dev eth0 parent 1: u32 match ip tos 0 0xff flowid 1:9", "no class 1:9"),
        ("qdisc add dev eth0 root red limit 400000 min 30000 max 90000 avpkt 1000 burst 5", "burst of 5 packets"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(commands, said):
    with pytest.raises(fairq.UsageError, match="tc: ") as raised:
        tc.read(commands)
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_the_command_reads_an_argument_or_standard_input():
    command = [sys.executable, "-m", "fairq", "tc", "--read"]
    line = "qdisc add dev eth0 root fq_codel limit 7"
    plain = subprocess.run([*command, line], capture_output=True, text=True)
    assert (plain.returncode, plain.stdout) == (0, "fq_codel + 7packets\n")
    piped = subprocess.run([*command, "-", "--json"], input=line, capture_output=True, text=True)
    assert json.loads(piped.stdout) == {"text": "fq_codel + 7packets", "rate": None, "differs": [], "warns": []}
    wrong = subprocess.run([*command, "qdisc add dev eth0 root nosuch"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr.count("\n")) == (2, 1)


def truth():
    """The tc lines of the recorded cases of order, each once."""
    import csv
    from pathlib import Path

    path = Path(__file__).parents[2] / "tests" / "peers" / "linux" / "truth" / "order" / "cells.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return sorted({row["tc"] for row in csv.DictReader(file)})


def test_what_is_read_is_written_and_read_as_the_same():
    lines = truth()
    assert len(lines) > 40
    for line in lines:
        text = tc.read(line).text
        written = tc.write(text, "r1")
        assert all(command.startswith("tc ") and " dev r1 " in command for command in written.commands)
        again = tc.read("\n".join(written.commands)).text
        if "sport" in line and "classes=" not in text:
            # A class for each port: flows here, and tc has none without classes.
            assert any(row["setting"] == "discipline" for row in written.differs)
            assert fairq_queue(tc.read("\n".join(tc.write(again, "r1").commands)).text) == fairq_queue(again)
            continue
        assert fairq_queue(again) == fairq_queue(text), line


def fairq_queue(text):
    from fairq import _native

    queue = json.loads(_native.queue(text))
    # A flow is the five-tuple in Linux, whether that is said or not.
    queue.pop("classifier", None)
    return queue


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("fq_codel(target=3ms) + 1000packets",
         ["tc qdisc replace dev eth0 root handle 1: fq_codel limit 1000 target 3ms"]),
        ("fifo + 30000B", ["tc qdisc replace dev eth0 root handle 1: bfifo limit 30000"]),
        ("cake(rate=20Mbit/s, preset=docsis, rtt=lan)",
         ["tc qdisc replace dev eth0 root handle 1: cake bandwidth 20mbit docsis diffserv3 triple-isolate lan"]),
        ("htb(classes=[(name=a, rate=1Mbit/s, dscp=[46])]) + 10packets",
         ["tc qdisc replace dev eth0 root handle 1: htb default 10",
          "tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit burst 3028 cburst 3028",
          "tc filter add dev eth0 parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:10",
          "tc filter add dev eth0 parent 1: protocol ipv6 u32 match ip6 priority 0xb8 0xfc flowid 1:10"]),
        ("hfsc(classes=[(name=a, real_time=(umax=1500B, dmax=10ms, rate=1Mbit/s))]) + 10packets",
         ["tc qdisc replace dev eth0 root handle 1: hfsc default 10",
          "tc class add dev eth0 parent 1: classid 1:10 hfsc rt m1 1200kbit d 10ms m2 1mbit"]),
        ("tbf(rate=1Mbit/s, peak_rate=2Mbit/s, overhead=4) + 10000B",
         ["tc qdisc replace dev eth0 root handle 1: tbf rate 1mbit burst 3028 peakrate 2mbit mtu 1514 overhead 4"
          " limit 10000"]),
        ("fq_codel(target=1234567us, interval=5s) + 1000packets",
         ["tc qdisc replace dev eth0 root handle 1: fq_codel limit 1000 target 1234567us interval 5s"]),
        ("fifo + pie(alpha=0.25, delay=departure_rate) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: pie limit 9 alpha 4 dq_rate_estimator noecn"]),
        ("fq_pie(pie=(ecn_threshold=0.2, ecn=true)) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: fq_pie limit 9 ecn_prob 20 ecn"]),
        ("fq_codel(ce_threshold=1ms, ce_threshold_mask=3, ce_threshold_selector=1) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: fq_codel limit 9 ce_threshold 1ms ce_threshold_selector 1/3"]),
        ("linux_fq(weights=[100kB, 200kB, 300kB]) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: fq limit 9 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"
          " weights 100000 200000 300000"]),
        ("pfifo_fast + 1000packets", ["tc qdisc replace dev eth0 root handle 1: pfifo_fast"]),
        ("ets(strict=3, quanta=[], priomap=[1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])",
         ["tc qdisc replace dev eth0 root handle 1: prio bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"]),
        ("linux_sfq(perturb=10s, red=(min=6kB, max=18kB, weight=0.125, ecn=true)) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: sfq limit 9 perturb 10 redflowlimit 18000 min 6000 max 18000"
          " avpkt 1000 burst 9 probability 0.02 ecn"]),
        ("linux_fq(timer_slack=1ms) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: fq limit 9 timer_slack 1ms"]),
        ("hhf(admit_bytes=5000B, evict_timeout=2s, non_hh_weight=3) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: hhf limit 9 admit_bytes 5000 evict_timeout 2s non_hh_weight 3"]),
        ("skbprio + 9packets", ["tc qdisc replace dev eth0 root handle 1: skbprio limit 9"]),
        ("fifo + pie(byte_mode=true) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: pie limit 9 bytemode noecn"]),
        ("fifo + sfb(bin_max=100) + port_pair + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: sfb limit 9 target 20 max 100"]),
        ("fifo + red(min=5kB, max=15kB, weight=0.125, mean_packet=1500B) + 60kB",
         ["tc qdisc replace dev eth0 root handle 1: red limit 60000 min 5000 max 15000 avpkt 1500 burst 6"
          " probability 0.1 bandwidth 10mbit"]),
        ("dualpi2(alpha=0.25, at=enqueue, classic_share=0.2) + 9packets",
         ["tc qdisc replace dev eth0 root handle 1: dualpi2 limit 9 alpha 0.25 classic_protection 20 drop_enqueue"]),
        ("cake(preset=raw, overhead=10)",
         ["tc qdisc replace dev eth0 root handle 1: cake unlimited overhead 10 diffserv3 triple-isolate internet"]),
        ("htb(classes=[(name=x, parent=y, rate=1Mbit/s), (name=y, rate=2Mbit/s)])",
         ["tc qdisc replace dev eth0 root handle 1: htb default 10",
          "tc class add dev eth0 parent 1: classid 1:20 htb rate 2mbit burst 3028 cburst 3028",
          "tc class add dev eth0 parent 1:20 classid 1:10 htb rate 1mbit burst 3028 cburst 3028"]),
    ],
)  # fmt: skip
def test_a_text_form_is_commands(text, commands):
    assert tc.write(text).commands == commands
    again = tc.write(tc.read("\n".join(commands)).text).commands
    # What Linux has of itself, as the names of classes and their queues, is said from then on.
    said = [command for command in again if not command.endswith(" pfifo limit 1000")]
    assert len(said) == len([command for command in commands if not command.endswith(" pfifo limit 1000")])
    found = tc.read("\n".join(again))
    # Where one class holds packets, that is the line of what stands in it.
    assert found.rate is not None or tc.write(found.text).commands == again


@pytest.mark.parametrize("dev", ["", "a b;rm", "eth0;reboot", "$(id)", "a/b", "..", "sixteen-letters!", "x" * 16])
def test_what_is_no_name_of_a_device_is_refused(dev):
    with pytest.raises(fairq.UsageError, match="is no name of a device") as raised:
        tc.write("fifo + 9packets", dev)
    assert "\n" not in str(raised.value)


LINK = """
[[links]]
name = "down"
from = "isp"
to = "home"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "fq_codel + 100packets"
"""
FLOW = """
[[flows]]
name = "f"
from = "isp"
to = "home"
traffic = "ftp"
"""
AXES = f"""{LINK}{FLOW}
[[axes]]
name = "rate"
path = "links[0].rate"
values = ["10 Mbit/s", "20 Mbit/s"]
[[axes]]
name = "queue"
path = "links[0].queue"
values = ["fq_codel + 100packets", "cake"]
"""


def test_a_line_that_axes_change_has_a_title_for_each_way_it_is():
    titles = [line for line in tc.of_scenario(AXES, "axes.toml").commands if line.startswith("#")]
    assert len(set(titles)) == len(titles) == 8
    assert titles[0] == "# line down, forward, 1 of 4, 10mbit"


@pytest.mark.parametrize(
    ("text", "setting", "said"),
    [
        ("wfq + 50packets", "discipline", "sfq shares by hashed flows"),
        ("wfq + 1packets", "limit", "at least 2 packets"),
        ("linux_sfq + 1500B", "limit", "packets: 2"),
        ("fifo + blue + 50packets", "buffer", "drops what arrives"),
        ("fq_codel(rfc=true) + 50packets", "rfc", "no such option"),
        ("fq_codel", "limit", "10240 packets"),
        ("fq_codel + source + 5packets", "classifier", "five-tuple"),
        ("fifo + red + 50packets", "limit", "bytes: 50000"),
        ("drr + 50packets", "discipline", "drr wants a class and a filter for each flow"),
        ("linux_drr + 50packets", "discipline", "drr wants a class"),
        ("linux_qfq + 50packets", "discipline", "qfq wants a class"),
        ("fifo + pie(alpha=0.3) + 50packets", "alpha", "5, in whole sixteenths"),
        ("fifo + pie(alpha=5) + 50packets", "alpha", "32"),
        ("fifo + pie(beta=0) + 50packets", "beta", "0 is the default"),
        ("fq_pie(pie=(ecn_threshold=1)) + 50packets", "ecn_threshold", "99"),
        ("fq_codel(target=1500ns) + 50packets", "target", "2us, in whole microseconds"),
        ("fq_codel(quantum=100B) + 50packets", "quantum", "at least 256 B"),
        ("fifo + sfb(rehash=700500us, warmup=1ms) + 50packets", "rehash", "700, in whole milliseconds"),
        ("token_bucket(rate=1Mbit/s, peak_rate=1Mbit/s) + 9kB", "peak_rate", "above the rate"),
        ("linux_fq(weights=[100B, 200B, 300B]) + 50packets", "weights", "from 16384 on"),
        ("linux_sfq(perturb=1500ms) + 50packets", "perturb", "2, in whole seconds"),
        ("skbprio(by=dscp) + 50packets", "by", "skbedit inheritdsfield"),
        ("hhf(quantum=100B) + 50packets", "quantum", "at least 256 B"),
        ("hhf(hh_limit=0) + 50packets", "hh_limit", "0 is the default"),
        ("pfifo_fast + 50packets", "limit", "usually 1000"),
        ("dualpi2(coupling=2.5) + 50packets", "coupling", "2, in whole numbers"),
    ],
)
def test_what_differs_is_said(text, setting, said):
    rows = {row["setting"]: row["linux"] for row in tc.write(text).differs}
    assert said in rows[setting]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fq_coddel", "did you mean fq_codel"),
        ("htb", "class all has no rate, and tc wants one; write rate="),
        ("token_bucket", "no rate, and tc wants one; write token_bucket(rate=1Mbit/s)"),
    ],
)
def test_what_has_no_commands_is_said_in_one_line(text, said):
    with pytest.raises(fairq.UsageError) as error:
        tc.write(text)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_scenario_has_a_class_of_the_rate_of_each_line(tmp_path):
    path = tmp_path / "home.toml"
    path.write_text(f'{LINK}reverse_rate = "2 Mbit/s"\nreverse_queue = "cake"\n{FLOW}', encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "fairq", "tc", str(path), "--json"], capture_output=True, text=True, check=True
    )
    document = json.loads(found.stdout)
    assert document["commands"] == [
        "# line down, forward",
        "tc qdisc replace dev eth0 root handle 1: htb default 1",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 20mbit ceil 20mbit",
        "tc qdisc add dev eth0 parent 1:1 handle 10: fq_codel limit 100",
        "# line down, reverse",
        "tc qdisc replace dev eth0 root handle 1: cake bandwidth 2mbit diffserv3 triple-isolate internet",
    ]
    assert {"setting": "line down, forward: delay", "here": "0.01 s",
            "linux": "the path's own; netem on another device makes one"} in document["differs"]  # fmt: skip


@pytest.mark.parametrize(
    "queue",
    ["fifo + 4294967296packets", "fifo + 9GB", "tos_priority + 4294967296packets", "choke + 9999999999packets",
     "choke + 200GB", "cake(memory=9GB)", "token_bucket(rate=1Mbit/s, burst=9GB)", "codel + 4294967296packets",
     "sfb + 4294967296packets", "hhf + 4294967296packets", "red(min=3GB, max=6GB) + 9GB",
     "linux_fq + 4294967296packets", "fq_codel + 4294967296packets", "head_drop + 4294967296packets"],
)  # fmt: skip
def test_a_number_that_the_kernel_has_no_room_for_is_written_as_its_greatest(queue):
    written = tc.write(queue)
    assert any("at most" in row["linux"] for row in written.differs)
    assert tc.read("\n".join(written.commands))


def test_a_threshold_that_the_kernel_has_no_room_for_is_one_line(refused):
    assert "4 GB" in refused("tc", "red(min=5GB, max=6GB) + 9GB")


ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = sorted([*(ROOT / "scenarios").glob("*.toml"), *(ROOT / "papers").glob("*/*.toml")])


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_commands_of_each_scenario_are_given_or_refused(path):
    """Also of one whose points give a line a rate and take it away."""
    try:
        assert fairq.tc(path).commands
    except fairq.FairqError as error:
        assert str(error).count("\n") == 0
