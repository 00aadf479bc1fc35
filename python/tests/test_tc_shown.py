"""What `tc qdisc`, `class` and `filter show` print is read as the commands that set it up."""

import json
import random
import re
import struct

import pytest

import fairq
from fairq import _native
from fairq import traffic_control as tc
from fairq.cli import program
from fairq.traffic_control import beside

PLAIN = '"fifo + 1000packets"'


def read(*lines):
    return tc.read("\n".join(lines))


@pytest.mark.parametrize(
    ("line", "command"),
    [
        # What nothing was said of; the lines are what tc prints of these commands (tc/q_*.c).
        ("pfifo 8001: root refcnt 2 limit 1000p", "pfifo"),
        ("bfifo 8001: root refcnt 2 limit 30Kb", "bfifo limit 30k"),
        ("pfifo_fast 0: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1", "pfifo_fast"),
        ("fq_codel 8001: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb"
         " ecn drop_batch 64", "fq_codel"),
        ("fq_codel 8001: root refcnt 2 limit 10240p flows 1024 quantum 300 target 4.99ms ce_threshold 1ms"
         " ce_threshold_selector 0x1/0x3 interval 100.0ms memory_limit 4Mb drop_batch 64",
         "fq_codel quantum 300 target 4990us ce_threshold 1ms ce_threshold_selector 1/3 memory_limit 4mb noecn"),
        ("codel 8001: root refcnt 2 limit 1000p target 5ms interval 100ms", "codel"),
        ("codel 8001: root refcnt 2 limit 90p target 5ms ce_threshold 2ms interval 100ms ecn",
         "codel limit 90 ce_threshold 2ms ecn"),
        ("pie 8001: root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20", "pie"),
        ("pie 8001: root refcnt 2 limit 1000p target 15ms tupdate 16ms alpha 4 beta 20 ecn bytemode dq_rate_estimator",
         "pie alpha 4 ecn bytemode dq_rate_estimator"),
        ("fq_pie 8001: root refcnt 2 limit 10240p flows 1024 target 15ms tupdate 16ms alpha 2 beta 20 quantum 1514b"
         " memory_limit 32Mb ecn_prob 10", "fq_pie"),
        ("fq 8001: root refcnt 2 limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 bands 3 priomap 1 2 2 2 1 2"
         " 0 0 1 1 1 1 1 1 1 1 weights 589824 196608 65536 quantum 3028b initial_quantum 15140b"
         " low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us horizon 10s horizon_drop offload_horizon 0us",
         "fq"),
        ("fq 8001: root refcnt 2 limit 10000p flow_limit 5p buckets 1024 orphan_mask 1023 quantum 3028b"
         " initial_quantum 15140b maxrate 1Mbit low_rate_threshold 550Kbit refill_delay 40ms timer_slack 10us"
         " horizon 10s horizon_drop", "fq flow_limit 5 maxrate 1mbit"),
        ("sfq 8001: root refcnt 2 limit 127p quantum 1514b depth 127 divisor 1024", "sfq"),
        ("sfq 8001: root refcnt 2 limit 20p quantum 3000b depth 127 headdrop flows 128 divisor 1024 perturb 10sec",
         "sfq limit 20 quantum 3000 headdrop perturb 10"),
        ("sfq 8001: root refcnt 2 limit 127p quantum 1514b depth 127 flows 128 divisor 1024 ewma 3 min 6000b max 18000b"
         " probability 0.02 ecn", "sfq redflowlimit 18000 min 6000 max 18000 avpkt 1000 burst 10 probability 0.02 ecn"),
        ("hhf 8001: root refcnt 2 limit 1000p quantum 1514b hh_limit 2048 reset_timeout 40ms admit_bytes 128Kb"
         " evict_timeout 1s non_hh_weight 2", "hhf"),
        ("skbprio 8001: root refcnt 2 limit 64", "skbprio"),
        ("cake 8001: root refcnt 2 bandwidth unlimited diffserv3 triple-isolate nonat nowash no-ack-filter split-gso"
         " rtt 100ms raw overhead 0", "cake"),
        ("cake 8001: root refcnt 2 bandwidth 20Mbit besteffort dual-srchost nat nowash ingress ack-filter split-gso"
         " rtt 50ms noatm overhead 18 mpu 64 memlimit 4Mb",
         "cake bandwidth 20mbit besteffort dual-srchost nat ingress ack-filter rtt 50ms overhead 18 mpu 64"
         " memlimit 4mb"),
        ("cake 8001: root refcnt 2 bandwidth 9Mbit diffserv4 flows nonat nowash no-ack-filter no-split-gso rtt 100ms"
         " ptm overhead 30", "cake bandwidth 9mbit diffserv4 flows no-split-gso ptm overhead 30"),
        ("red 8001: root refcnt 2 limit 400000b min 15000b max 45000b ewma 4 probability 0.1 Scell_log 15",
         "red limit 400000 min 15000 max 45000 avpkt 1000 burst 25 probability 0.1"),
        ("sfb 8001: root refcnt 2 rehash 600s db 60s limit 1000p max 25p target 20p increment 0.000503548"
         " decrement 4.57771e-05 penalty_rate 10pps penalty_burst 20p", "sfb target 20 max 25"),
        ("dualpi2 8001: root refcnt 2 limit 10000p memlimit 100B target 15ms tupdate 16ms alpha 0.160156 beta 3.199219"
         " step_thresh 1ms min_qlen_step 0p coupling_factor 2 drop_on_overload drop_dequeue classic_protection 10%"
         " l4s_ect split_gso", "dualpi2 memlimit 100"),
        ("prio 1: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1 multiqueue: off ", "prio"),
        ("ets 1: root refcnt 2 bands 3 strict 1 quanta 5000 1514 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2",
         "ets strict 1 quanta 5000 1514"),
        ("tbf 1: root refcnt 2 rate 1Mbit burst 5Kb lat 50ms", "tbf rate 1mbit burst 5k latency 50ms"),
        ("tbf 1: root refcnt 2 rate 1Mbit burst 5Kb/8 mpu 64b peakrate 2Mbit mtu 1540b/8 mpu 64b limit 3000b overhead 4"
         " linklayer atm",
         "tbf rate 1mbit burst 5k mpu 64 peakrate 2mbit mtu 1540 limit 3000 overhead 4 linklayer atm"),
        ("cbs 1: root refcnt 2 hicredit 30 locredit -120 sendslope -80000 idleslope 20000 offload 0",
         "cbs hicredit 30 locredit -120 sendslope -80000 idleslope 20000"),
        ("netem 1: root refcnt 2 limit 50 delay 10ms  1ms", "netem limit 50 delay 10ms 1ms"),
    ],
)  # fmt: skip
def test_a_line_is_the_command_that_it_is_printed_of(line, command):
    found, same = tc.read(f"qdisc {line}"), tc.read(f"qdisc add dev eth0 root {command}")
    assert queue(found.text) == queue(same.text)
    # It does not say what a command need not.
    assert len(found.text) <= len(same.text) + 60
    own = [row for row in found.differs if row not in same.differs]
    assert [row["setting"] for row in own] == (["limit of tbf"] if " lat " in line else [])


def queue(text):
    found = json.loads(_native.queue(text))
    penalties = found.get("buffer") or {}
    if penalties.get("kind") == "sfb":
        # They are printed, and of six digits.
        found["buffer"] = {name: round(one, 7) if isinstance(one, float) else one for name, one in penalties.items()}
    return found


HTB = """\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30 direct_packets_stat 3 direct_qlen 1000
 Sent 30000 bytes 150 pkt (dropped 2, overlimits 100 requeues 0)
 backlog 12Kb 3p requeues 0
qdisc fq_codel 10: dev eth0 parent 1:10 limit 10240p flows 1024 quantum 1514 target 5ms \
interval 100ms memory_limit 32Mb ecn drop_batch 64
 Sent 10000 bytes 50 pkt (dropped 2, overlimits 0 requeues 0)
 backlog 12Kb 3p requeues 0
  maxpacket 1514 drop_overlimit 0 new_flow_count 5 ecn_mark 12
  new_flows_len 0 old_flows_len 0
qdisc prio 20: dev eth0 parent 1:20 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
 Sent 20000 bytes 100 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc cake 21: dev eth0 parent 20:1 bandwidth unlimited diffserv3 triple-isolate nonat nowash \
no-ack-filter split-gso rtt 100ms raw overhead 0
 Sent 5000 bytes 25 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
 memory used: 20Kb of 4Mb
 capacity estimate: 0bit
 min/max network layer size:           28 /    1500
 min/max overhead-adjusted size:       28 /    1500
 average network hdr offset:           14

                   Bulk  Best Effort        Voice
  thresh           0bit         0bit         0bit
  target          5.0ms        5.0ms        5.0ms
  pkts                0           25            0
  drops               0            0            0
  marks               1            2            4
class htb 1:1 root rate 20Mbit ceil 20Mbit burst 1600b cburst 1599b
 Sent 30000 bytes 150 pkt (dropped 0, overlimits 10 requeues 0)
 backlog 0b 0p requeues 0
 lended: 5 borrowed: 0 giants: 0
 tokens: 9562 ctokens: 9562

class htb 1:10 parent 1:1 leaf 10: prio 0 rate 5Mbit ceil 20Mbit burst 15Kb cburst 1600b
 Sent 10000 bytes 50 pkt (dropped 2, overlimits 0 requeues 0)
 rate 400bit 30pps backlog 12Kb 3p requeues 0
 lended: 5 borrowed: 0 giants: 0
 tokens: 9562 ctokens: 9562

class htb 1:20 parent 1:1 leaf 20: prio 3 rate 5Mbit ceil 20Mbit burst 1600b cburst 1600b
 Sent 20000 bytes 100 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
class htb 1:30 parent 1:1 prio 0 rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
class fq_codel 10:1a2 parent 10:
 (dropped 0, overlimits 0 requeues 0)
 backlog 3028b 2p requeues 0
  deficit 1514 count 0 lastcount 0 ldelay 10us
class prio 20:1 parent 20: leaf 21:
 Sent 5000 bytes 25 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
class prio 20:2 parent 20:
 Sent 15000 bytes 75 pkt (dropped 1, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw \
(rule hit 9 success 2)
  match 00b80000/00fc0000 at 0 (success 2 )
"""
"""Of `tc -s qdisc show`, `tc -s class show dev eth0` and `tc -s filter show dev eth0`."""
COMMANDS = """\
qdisc add dev eth0 root handle 1: htb default 30
class add dev eth0 parent 1: classid 1:1 htb rate 20mbit
class add dev eth0 parent 1:1 classid 1:10 htb rate 5mbit ceil 20mbit burst 15k
class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 20mbit prio 3
class add dev eth0 parent 1:1 classid 1:30 htb rate 10mbit
qdisc add dev eth0 parent 1:10 handle 10: fq_codel
qdisc add dev eth0 parent 1:20 handle 20: prio
qdisc add dev eth0 parent 20:1 handle 21: cake
filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc flowid 1:10
"""
WITHOUT_STATISTICS = "".join(line for line in HTB.splitlines(True) if line[0] != " " or "match" in line)


OBJECTS, *FILTERS = WITHOUT_STATISTICS.partition("filter parent")


@pytest.mark.parametrize(
    "shown",
    [
        HTB,
        WITHOUT_STATISTICS,
        # Classes before qdiscs, and a queue before what it stands in.
        "".join(sorted(OBJECTS.splitlines(True))) + "".join(FILTERS),
        # With prompts, indented, or with the indents lost.
        "me@box:~$ tc -s qdisc show dev eth0\n" + HTB.replace(" dev eth0", "").replace("class htb 1:1 ",
            "me@box:~$ sudo tc -s class show dev eth0\nclass htb 1:1 ", 1),
        "".join(f"    {line}" for line in HTB.splitlines(True)),
        "".join(line.lstrip() for line in HTB.splitlines(True)),
        # In details (-d).
        re.sub(r"burst (\w+) cburst (\w+)", r"linklayer ethernet burst \1/1mpu 0b cburst \2/1 mpu 0b level 0", HTB)
        .replace("prio 3 rate 5Mbit", "prio 3 quantum 62500 rate 5Mbit").replace("direct_qlen", "ver 3.17 direct_qlen"),
    ],
)  # fmt: skip
def test_a_tree_is_the_commands_that_it_is_printed_of(shown):
    found, same = tc.read(shown), tc.read(COMMANDS)
    assert (found.text, found.differs, found.warns) == (same.text, same.differs, same.warns)


@pytest.mark.parametrize(
    ("shown", "commands"),
    [
        (["qdisc hfsc 1: dev e root refcnt 2 default 0x2", "class hfsc 1: root",
          "class hfsc 1:1 parent 1: sc m1 0bit d 0us m2 5Mbit ul m1 0bit d 0us m2 5Mbit",
          "class hfsc 1:2 parent 1:1 leaf 20: rt m1 3Mbit d 10ms m2 1Mbit ls m1 0bit d 0us m2 1Mbit",
          "class hfsc 1:3 parent 1:1 ls m1 0bit d 0us m2 4Mbit", " period 4 work 300 bytes level 0",
          "qdisc pie 20: dev e parent 1:2 limit 1000p target 15ms tupdate 16ms alpha 2 beta 20"],
         ["qdisc add dev e root handle 1: hfsc default 2",
          "class add dev e parent 1: classid 1:1 hfsc sc rate 5mbit ul rate 5mbit",
          "class add dev e parent 1:1 classid 1:2 hfsc rt m1 3mbit d 10ms m2 1mbit ls rate 1mbit",
          "class add dev e parent 1:1 classid 1:3 hfsc ls rate 4mbit", "qdisc add dev e parent 1:2 pie"]),
        (["qdisc drr 1: dev e root refcnt 2 ", "class drr 1:1 root quantum 1514b ", " deficit 0b",
          "class drr 1:2 root leaf 9: quantum 3000b ", "qdisc skbprio 9: dev e parent 1:2 limit 64 "],
         ["qdisc add dev e root handle 1: drr", "class add dev e parent 1: classid 1:1 drr",
          "class add dev e parent 1: classid 1:2 drr quantum 3000", "qdisc add dev e parent 1:2 skbprio"]),
        (["qdisc qfq 1: dev e root refcnt 2 ", "class qfq 1:1 root weight 1 maxpkt 1514 ",
          "class qfq 1:2 root weight 9 maxpkt 2048 "],
         ["qdisc add dev e root handle 1: qfq", "class add dev e parent 1: classid 1:1 qfq",
          "class add dev e parent 1: classid 1:2 qfq weight 9 maxpkt 2048"]),
        (["qdisc tbf 1:[00010000] dev e root refcnt 2 offloaded rate 1Mbit burst 5000b [0001e848] lat 50ms ",
          " linklayer atm overhead 10 mtu 2047 tsize 512 ", "class tbf 1:1 dev e parent 1: leaf 2: ",
          "qdisc codel 2:[00020000] dev e parent 1:1 limit 1000p target 5ms interval 100ms "],
         ["qdisc add dev e root handle 1: stab linklayer atm overhead 10 mtu 2047 tsize 512 tbf rate 1mbit burst 5000"
          " latency 50ms", "qdisc add dev e parent 1:1 codel"]),
    ],
)  # fmt: skip
def test_trees_of_all_kinds(shown, commands):
    found, same = read(*shown), read(*commands)
    settings = [row.setting for row in found.differs if row.setting != "limit of tbf"]
    assert (found.text, settings) == (same.text, [row.setting for row in same.differs])


def test_counters_are_kept_and_have_the_names_of_leaves():
    found = tc.read(HTB)
    assert [(row.leaf, row.what, row.packets, row.dropped, row.marked) for row in found.counters if row.leaf] == [
        ("c10", "qdisc fq_codel 10:", 50, 2, 12),
        ("c20/band0", "qdisc cake 21:", 25, 0, 7),
        ("c30", "class htb 1:30", 0, 0, None),
        ("c20/band1", "class prio 20:2", 75, 1, None),
    ]
    (row,) = [row for row in found.counters if row.what == "class htb 1:10"]
    assert (row.bytes, row.overlimits, row.backlog_bytes, row.backlog_packets) == (10000, 0, 12288, 3)
    assert len(tc.read(WITHOUT_STATISTICS).counters) == len(tc.read(COMMANDS).counters) == 0
    assert "counters" not in tc.read(COMMANDS).document


def test_of_a_queue_without_classes_the_root_has_all_counters():
    lines = ("qdisc mq 0: dev eth0 root", " Sent 50 bytes 5 pkt (dropped 1, overlimits 0 requeues 0)",
             "qdisc fq_codel 0: dev eth0 parent :2 limit 10240p", " Sent 20 bytes 2 pkt (dropped 0, overlimits 0)",
             "qdisc fq_codel 0: dev eth0 parent :1 limit 10240p", " Sent 30 bytes 3 pkts (dropped 1, overlimits 0)",
             " backlog 1500b 1p")  # fmt: skip
    found = read(*lines)
    assert (found.text, [row.setting for row in found.differs]) == ("fq_codel(ecn=false) + 10240packets", ["qdisc mq"])
    assert [(row.leaf, row.packets) for row in found.counters] == [("all", 5), (None, 2), (None, 3)]


def test_of_several_devices_the_first_that_has_a_queue_is_read_or_the_one_that_is_named():
    lines = ("qdisc noqueue 0: dev lo root refcnt 2", "qdisc fq 8001: dev wlan0 root refcnt 2 limit 9p",
             "qdisc pfifo 1: dev eth1 root refcnt 2 limit 7p",
             "qdisc ingress ffff: dev eth1 parent ffff:fff1 ----------------")  # fmt: skip
    assert read(*lines).text == "linux_fq + 9packets"
    assert [row.setting for row in read(*lines).differs] == ["dev eth1"]
    assert tc.read("\n".join(lines), "eth1").text == "fifo + 7packets"
    with pytest.raises(fairq.UsageError, match="no qdisc stands at the root of eth2; did you mean eth1"):
        tc.read("\n".join(lines), "eth2")
    assert read("qdisc noqueue 0: dev lo root refcnt 2").text == "fifo + 1packets"


TWO = [
    "qdisc htb 1: dev ifb0 root refcnt 2 r2q 10 default 0x20 direct_packets_stat 0 direct_qlen 32",
    "class htb 1:10 root prio 0 rate 5Mbit ceil 5Mbit burst 1600b cburst 1600b",
    "class htb 1:20 root prio 0 rate 5Mbit ceil 5Mbit burst 1600b cburst 1600b",
]


def test_a_class_without_a_queue_has_the_queue_length_of_its_device():
    assert read(*TWO).text.count('queue="fifo + 32packets"') == 2


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        (["protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw",
          "  match 00b80000/00fc0000 at 0"], [46]),
        (["protocol ip pref 1 u32 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:10", "  match IP dsfield 0xb8"],
         [46]),
        (["protocol ipv6 pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw",
          "  match 0b800000/0fc00000 at 0"], [46]),
        (["protocol all pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw",
          "  match 00000000/00000000 at 0"], list(range(64))),
        (["protocol ip pref 3 flower chain 0 handle 0x1 classid 1:10", "  eth_type ipv4", "  ip_tos 0xb8/0xfc",
          "  not_in_hw"], [46]),
        (["protocol all pref 3 matchall chain 0 handle 0x1 flowid 1:10", "  not_in_hw (rule hit 5)"],
         list(range(64))),
        (["protocol all pref 3 basic chain 0 handle 0x1 flowid 1:10", "  u32(00000000/00000000 at 16)"], []),
        (["protocol all pref 3 fw chain 0", "filter parent 1: protocol all pref 3 fw chain 0 handle 0x5 classid 1:10"],
         []),
        (["protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw",
          "  match 00b80000/00fc0000 at 0", "  match 00000050/0000ffff at 20"], []),
    ],
)  # fmt: skip
def test_filters(lines, points):
    found = read(*TWO, f"filter parent 1: {lines[0]}", *lines[1:])
    classes = {one["name"]: one["dscp"] for one in json.loads(_native.queue(found.text))["scheduler"]["classes"]}
    assert classes == {"c10": points, "c20": []}
    assert points or any(row.setting.startswith("filter ") for row in found.differs)


def test_a_policer_is_read_of_its_action():
    shown = """\
qdisc fq_codel 8001: dev eth0 root refcnt 2 limit 500p flows 1024 quantum 1514 target 5ms interval 100ms ecn
qdisc clsact ffff: dev eth0 parent ffff:fff1
filter dev eth0 egress protocol all pref 1 matchall chain 0
filter dev eth0 egress protocol all pref 1 matchall chain 0 handle 0x1
  not_in_hw (rule hit 7)
\taction order 1:  police 0x1 rate 1Mbit burst 10Kb mtu 64Kb action drop/pass overhead 0b
\tref 1 bind 1  installed 5 sec used 5 sec firstused 3 sec
\tAction statistics:
\tSent 500 bytes 5 pkt (dropped 0, overlimits 0 requeues 0)
"""
    assert tc.read(shown).text == "police(rate=1Mbit/s, burst=10240B) + fq_codel + 500packets"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (TWO[:1], "qdisc htb 1: has no class here; add what tc class show dev ifb0 prints"),
        (TWO[1:], "class htb 1:10: its qdisc is not here; add what tc qdisc show dev eth0 prints"),
        ([*TWO, "and so on"], "line 4: 'and so on' is no line of tc qdisc, class or filter show"),
        (["qdisc fq_codle 1: root refcnt 2"], "did you mean fq_codel"),
        (["qdisc fq_codel 1: root refcnt 2 limit 5x"], "qdisc fq_codel: limit '5x'"),
        ([*TWO, "qdisc fq 30: dev ifb0 parent 1:30 limit 9p"], "parent 1:30: no such class"),
        ([*TWO, "class htb 1:30 parent 1:5 prio 0 rate 5Mbit"], "parent 1:5: no such class"),
        (['[{"kind":"fq","handle":"8001:","root":true}]'], "JSON of tc -j"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(lines, said):
    with pytest.raises(fairq.UsageError, match=r"^tc: ") as raised:
        read(*lines)
    assert said in str(raised.value) and "\n" not in str(raised.value)


RUN = """
edition = 2
measure = { duration = "4 s" }
defaults = { start = "0 s", access = { rate = "100 Mbit/s" } }
[[links]]
name = "line"
from = "a"
to = "b"
rate = "5 Mbit/s"
delay = "5 ms"
queue = '''htb(classes=[(name=c10, rate=4Mbit/s, dscp=[46]), (name=c20, rate=1Mbit/s)], default=c20) \
+ longest_queue_drop + 40packets'''
reverse_queue = "fifo + 100packets"
[[flows]]
name = "marked"
from = "a"
to = "b"
traffic = "cbr(rate=6Mbit/s, packet=1500B)"
tos = 184
[[flows]]
name = "named"
from = "a"
to = "b"
traffic = "cbr(rate=2Mbit/s, packet=1500B)"
class = "c20"
[[flows]]
name = "back"
from = "b"
to = "a"
traffic = "cbr(rate=1Mbit/s, packet=1500B)"
"""
SENT = " Sent {} bytes {} pkt (dropped {}, overlimits 0 requeues 0)"
COUNTED = [TWO[0], SENT.format(9, 9, 9), TWO[1], SENT.format(75000, 50, 7), TWO[2], SENT.format(225000, 150, 0)]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("beside") / "run.toml"
    path.write_text(RUN, encoding="utf-8")
    found = fairq.run(path, workers=1)
    found.write_json(path.with_suffix(".json"))
    return path.with_suffix(".json"), found


def test_counters_stand_beside_a_run_by_leaf(result):
    path, run = result
    found = fairq.tc(read="\n".join(COUNTED), beside=path)
    rows = {row.leaf: row for row in found.beside}
    flows = {row["flow"]: row for row in run.flows}
    assert list(rows) == ["c10", "c20"]
    for leaf, flow in (("c10", flows["marked"]), ("c20", flows["named"])):
        assert (rows[leaf].packets_here, rows[leaf].dropped_here) == (flow["sent"] - flow["dropped"], flow["dropped"])
        assert flow["dropped"] > 0
    assert [(row.packets_linux, row.dropped_linux, row.share_linux) for row in found.beside] == [
        (50, 7, 0.25), (150, 0, 0.75)]  # fmt: skip
    # The line is shared 4 to 1.
    assert rows["c10"].share_here == pytest.approx(0.8, abs=0.05)
    assert rows["c10"].share_here + rows["c20"].share_here == pytest.approx(1)


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """Packets of 1000 bytes, ten at each of 30 times: two of code point 46, the rest of 0."""
    path = tmp_path_factory.mktemp("beside") / "device.pcap"
    records = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for at in range(300):
        tos = 0xB8 if at % 5 == 0 else 0
        ip = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 1000, at, 0, 64, 17, 0, bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
        frame = ip + struct.pack("!HHHH", 1, 2, 980, 0)
        records.append(struct.pack("<IIII", at // 10 // 10, at // 10 % 10 * 100_000, len(frame), 1000) + frame)
    path.write_bytes(b"".join(records))
    return path


def test_counters_stand_beside_a_replay_of_a_capture_by_code_point(capture, tmp_path):
    queue = (
        'htb(classes=[(name=c10, rate=1Mbit/s, dscp=[46], queue="fifo + 5packets"),'
        ' (name=c20, rate=100kbit/s, queue="fifo + 20packets")], default=c20)'
    )
    command = [
        "replay",
        str(capture),
        "--rate",
        "5Mbit/s",
        "--buffer",
        "unlimited",
        "--queue",
        f"fifo,{queue}",
        "--no-fluid",
    ]
    for classifier in ("tos", "pair"):
        assert program.main([*command, "--classifier", classifier, "--out", str(tmp_path / classifier)]) == 0
    found = fairq.tc(read="\n".join(COUNTED), beside=tmp_path / "tos")
    rows = {row.leaf: row for row in found.beside}
    assert (rows["c10"].packets_here, rows["c10"].dropped_here) == (60, 0)
    # Of 240 packets a class of 100 kbit/s sends 12 a second, and 20 wait.
    assert rows["c20"].packets_here + rows["c20"].dropped_here == 240
    assert 50 < rows["c20"].packets_here < 70
    with pytest.raises(fairq.UsageError, match="no flows by code point; replay again with --classifier tos"):
        fairq.tc(read="\n".join(COUNTED), beside=tmp_path / "pair")


def test_of_a_run_without_such_leaves_or_a_paste_without_counters_it_is_said_in_one_line(result):
    path, _ = result
    for lines, said in (
        (TWO, "no line has counters; write what tc -s qdisc show"),
        ([line.replace("1:20", "1:30") for line in COUNTED], "no queue of the result has the leaves c10, c30; there are"
                                                             " c10, c20"),
    ):  # fmt: skip
        with pytest.raises(fairq.UsageError, match=r"^tc: --beside") as raised:
            fairq.tc(read="\n".join(lines), beside=path)
        assert said in str(raised.value) and "\n" not in str(raised.value)
    with pytest.raises(fairq.UsageError, match="write read="):
        fairq.tc("fifo", beside=path)


def test_the_command_reads_a_file_and_prints_a_table(result, tmp_path, capsys):
    path, _ = result
    shown = tmp_path / "shown.txt"
    shown.write_text("\n".join(COUNTED), encoding="utf-8")
    assert program.main(["tc", "--read", str(shown)]) == 0
    counters = capsys.readouterr().out.splitlines()
    said = [line.split()[:4] for line in counters[-2:]]
    assert said == [["c10", "class", "htb", "1:10"], ["c20", "class", "htb", "1:20"]]
    assert program.main(["tc", "--read", str(shown), "--beside", str(path)]) == 0
    *_, head, _, first, second = capsys.readouterr().out.splitlines()
    assert (first.split()[0], second.split()[0]) == ("c10", "c20")
    assert "packets linux" in head and "share here" in head
    assert program.main(["tc", "fifo", "--beside", str(path)]) == 2
    assert "--beside: goes with what tc -s shows" in capsys.readouterr().err


NESTED = (
    'ets(strict=2, quanta=[], map=[0, 0, 0, 0, 0, 1, 1, 1], queues=["htb(classes=[(name=a, rate=1Mbit/s, dscp=[8],'
    ' queue="fq_codel"), (name=b, rate=1Mbit/s, dscp=[0, 1])], default=b)", "token_bucket(rate=1Mbit/s, queue="priority'
    '(queues=["fifo + 9packets"])")"])'
)


@pytest.mark.parametrize("point", [0, 8, 10, 31, 40, 46, 63])
def test_a_flow_goes_to_the_leaf_that_is_said_and_the_leaves_are_those_of_the_run(point):
    queue = json.loads(_native.queue(NESTED))
    line = {"name": "line", "from": "a", "to": "b", "rate": "5 Mbit/s", "queue": NESTED, "reverse_queue": "fifo"}
    flow = {"name": "f", "from": "a", "to": "b", "traffic": "cbr(rate=9Mbit/s)", "tos": point << 2, "start": "0 s"}
    run = fairq.run({"edition": 2, "measure": {"duration": "100 ms"}, "links": [line], "flows": [flow]}, states=True)
    counted = {row.subqueue: row.value for row in run.states
               if (row.direction, row.quantity) == ("forward", "packets")}  # fmt: skip
    # A tree in a class has a row of its own, too.
    waiting = {leaf: value for leaf, value in counted.items() if not any(f"{leaf}/" in other for other in counted)}
    assert set(waiting) == set(beside.leaves(queue))
    assert [leaf for leaf, packets in waiting.items() if packets] == [beside.leaf_of(queue, None, point)]


@pytest.mark.parametrize("path", ["band0", "band0/a", "band1/band_7"])
def test_a_flow_that_names_a_leaf_goes_there(path):
    queue = json.loads(_native.queue(NESTED))
    assert beside.leaf_of(queue, path, 46).startswith(path)
    assert beside.leaf_of(queue, path, 0) == {"band0": "band0/b"}.get(path, path)


def test_a_paste_that_lost_or_changed_words_is_read_or_refused_in_one_line():
    draw, read = random.Random(3), 0
    junk = [
        "",
        "0",
        "-1",
        "1:",
        "1:10",
        ":",
        "ffff:fff1",
        "root",
        "parent",
        "dev",
        "leaf",
        "10240p",
        "x",
        "0x",
        "5Mbit",
        "handle",
        "flowid",
        "fh",
        "match",
        "divisor",
        "chain",
        "at",
        "police",
        "action",
        "ewma",
        "lat",
        "mtu",
        "mpu",
    ]
    for _ in range(600):
        lines = HTB.splitlines()
        for _ in range(draw.choice([1, 1, 2, 5])):
            at = draw.randrange(len(lines))
            words = lines[at].split(" ")
            place = draw.randrange(len(words))
            change = draw.choice(["line", "word", "junk", "insert", "twice"])
            if change == "line" and len(lines) > 1:
                del lines[at]
                continue
            new = {"junk": [draw.choice(junk)], "insert": [draw.choice(junk)], "twice": words[place:]}.get(change, [])
            words[place : place + (change in ("word", "junk"))] = new
            lines[at] = " ".join(words)
        try:
            found = tc.read("\n".join(lines))
        except fairq.UsageError as error:
            assert str(error).startswith("tc: ") and "\n" not in str(error), lines
            continue
        read += 1
        assert _native.queue(found.text)
    assert read > 200
