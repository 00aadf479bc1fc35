"""What `fairq tc --read` makes of commands, a row for each: the text form and what differs, or the line of an error."""

import random
import re

import pytest

import fairq
from fairq import _native
from fairq import traffic_control as tc
from fairq.traffic_control import qdisc_options

HTB = "qdisc add dev e root handle 1: htb default 1; class add dev e parent 1: classid 1:1 htb rate 5mbit"
TWO = f"{HTB}; class add dev e parent 1: classid 1:2 htb rate 1mbit"
PRIO = "qdisc add dev e root handle 1: prio"
OF_PRIO = "ets(strict=3, quanta=[], map=[{}])"
BY_TOS = "ets(strict=3, quanta=[], priomap=[1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])"
ON_DEBT = "packets longer than burst or mtu"
U32 = "filter add dev e parent 1: protocol ip prio {} u32 match ip tos {} flowid {}"


PLAIN = '"fifo + 1000packets"'
"""What Linux has in a class where nothing is said."""


def bare(text):
    """A text form without the queues of classes in which nothing is said."""
    return re.sub(rf", queue={re.escape(PLAIN)}|, queues=\[(({re.escape(PLAIN)})(, )?)+\]", "", text)


def settings(found):
    """What differs."""
    return [row["setting"] for row in found.differs]


@pytest.mark.parametrize(
    ("line", "text", "differs"),
    [
        # A router gives packets a priority by their type of service.
        ("prio", BY_TOS, []),
        ("pfifo_fast", "pfifo_fast + 1000packets", []),
        ("prio bands 4 priomap 3 3 3",
         "ets(strict=4, quanta=[], priomap=[3, 3, 3, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1])", []),
        ("prio multiqueue", BY_TOS, ["multiqueue"]),
        ("ets bands 3 strict 1", "ets(strict=1, quanta=[1514B, 1514B], map=[2, 2, 2, 2, 2, 2, 2, 2])", []),
        ("ets strict 1 quanta 5000 priomap 0",
         "ets(strict=1, quanta=[5000B], priomap=[0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])", []),
        # Overheads of cake add up, and what they say of framing and the least length stays or goes as in q_cake.c.
        ("cake pppoe-ptm", "cake(preset=pppoe_ptm)", []),
        ("cake pppoe-ptm ether-vlan", "cake(overhead=34, framing=ptm)", []),
        ("cake ethernet ether-vlan", "cake(overhead=42, mpu=84)", []),
        ("cake ethernet ether-vlan ether-vlan", "cake(overhead=46, mpu=84)", []),
        ("cake overhead 10 docsis", "cake(overhead=28, mpu=64)", []),
        ("cake docsis overhead 10", "cake(overhead=10, mpu=64)", []),
        ("cake mpu 80 ethernet", "cake(overhead=38, mpu=84)", []),
        ("cake ethernet mpu 0", "cake(overhead=38)", []),
        ("cake atm docsis", "cake(overhead=18, mpu=64)", []),
        ("cake atm ethernet", "cake(overhead=38, mpu=84, framing=atm)", []),
        ("cake pppoe-vcmux noatm", "cake(overhead=32)", []),
        ("cake ether-vlan conservative", "cake(overhead=48, framing=atm)", []),
        ("cake raw", "cake(preset=raw)", []),
        ("cake raw overhead 10", "cake(overhead=24)", []),
        ("cake via-ethernet", "cake", []),
        # The last word on a thing counts.
        ("cake ack-filter no-ack-filter", "cake", []),
        ("cake no-ack-filter ack-filter-aggressive", "cake(ack_filter=aggressive)", []),
        ("cake ingress egress", "cake", []),
        ("cake nat nonat", "cake", []),
        ("cake wash nowash nat", "cake", ["nat"]),
        ("cake bandwidth 1mbit unlimited", "cake", []),
        ("cake unlimited bandwidth 1mbit", "cake(rate=1Mbit/s)", []),
        ("cake autorate-ingress bandwidth 1mbit", "cake(rate=1Mbit/s)", []),
        ("codel noecn ecn", "fifo + codel(ecn=true) + 1000packets", []),
        ("codel ecn noecn", "fifo + codel(ecn=false) + 1000packets", []),
        ("fq_codel noecn ecn", "fq_codel + 10240packets", []),
        ("fq_codel ecn noecn", "fq_codel(ecn=false) + 10240packets", []),
        ("pie noecn ecn", "fifo + pie(ecn=true) + 1000packets", []),
        ("fq nopacing pacing", "linux_fq + 10000packets", []),
        # What follows from another option.
        ("sfb max 100", "fifo + sfb(bin_size=80, bin_max=100) + port_pair + 1000packets", []),
        ("sfb target 40", "fifo + sfb(bin_size=40, bin_max=50) + port_pair + 1000packets", []),
        ("sfb increment 0.001", "fifo + sfb(increment=0.00100709545) + port_pair + 1000packets", []),
        ("red limit 60000 avpkt 1000 min 5000",
         "fifo + red(min=5000B, max=15000B, probability=0.02, weight=0.125, ecn=false) + 60000B", []),
        ("red limit 60000 avpkt 1500 bandwidth 1mbit",
         "fifo + red(min=5000B, max=15000B, probability=0.02, weight=0.25, mean_packet=1500B, ecn=false) + 60000B",
         ["bandwidth"]),
        ("sfq limit 5000 depth 4", "linux_sfq(depth=4) + 512packets", []),
        # What the kernel cuts, and zeros that tc does not send.
        ("fq_codel quantum 100", "fq_codel(quantum=256B) + 10240packets", []),
        ("fq_codel limit 0 target 0 interval 0us flows 0 quantum 0", "fq_codel + 10240packets", []),
        ("codel limit 0 target 0", "fifo + codel(ecn=false) + 1000packets", []),
        ("pie limit 0 target 0 alpha 0", "fifo + pie(ecn=false) + 1000packets", []),
        ("cake rtt 0", "cake(target=1us)", []),
        ("fq low_rate_threshold 0", "linux_fq(low_rate_threshold=1bit/s) + 10000packets", []),
        # Options that have a setting here.
        ("pie alpha 4 beta 10 dq_rate_estimator",
         "fifo + pie(alpha=0.25, beta=0.625, delay=departure_rate, ecn=false) + 1000packets", []),
        ("fq_pie ecn_prob 20 alpha 4", "fq_pie(pie=(alpha=0.25, ecn_threshold=0.2, ecn=false)) + 10240packets", []),
        ("fq_codel ce_threshold 1ms ce_threshold_selector 1/3",
         "fq_codel(ce_threshold=1ms, ce_threshold_mask=3, ce_threshold_selector=1) + 10240packets", []),
        ("fq weights 100000 200000 300000", "linux_fq(weights=[100000B, 200000B, 300000B]) + 10000packets", ["bands"]),
        ("fq bands 3 priomap 0 0 0 0 1 1 1 1 2 2 2 2 2 2 2 2 limit 5",
         "linux_fq(weights=[589824B, 196608B, 65536B], priomap=[0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2])"
         " + 5packets", ["bands"]),
        ("dualpi2 target 10ms alpha 0.25 drop_enqueue classic_protection 20% step_thresh 2ms",
         "dualpi2(target=10ms, alpha=0.25, step=2ms, classic_share=0.2, at=enqueue) + 10000packets", []),
        ("cbs idleslope 20000", "fifo + 1000packets", ["sendslope"]),
        # Options that have none are said.
        ("fq timer_slack 1ms defrate 1mbit horizon_cap", "linux_fq(timer_slack=1ms) + 10000packets",
         ["horizon_cap", "defrate"]),
        ("cake fwmark 5 no-split-gso", "cake", ["no-split-gso", "fwmark"]),
        # Of what is not said q_sfq.c takes a quarter of the limit and a third of that; 10 packets
        # are a burst then.
        ("sfq redflowlimit 72000 ecn harddrop",
         "linux_sfq(red=(min=6000B, max=18000B, probability=0.02, weight=0.125, ecn=true, hard_drop=true))"
         " + 127packets", []),
        ("sfq perturb 10 redflowlimit 30000 min 6000 max 18000 avpkt 700 burst 15 probability 0.2 headdrop",
         "linux_sfq(headdrop=true, perturb=10s, red=(min=6000B, max=18000B, probability=0.2, weight=0.0625))"
         " + 127packets", []),
        ("hhf", "hhf + 1000packets", []),
        ("hhf limit 50 quantum 100 hh_limit 7 reset_timeout 20ms admit_bytes 5000 evict_timeout 2s non_hh_weight 3",
         "hhf(quantum=256B, non_hh_weight=3, hh_limit=7, admit_bytes=5000B, reset_timeout=20ms, evict_timeout=2s)"
         " + 50packets", []),
        ("hhf quantum 0 admit_bytes 0", "hhf + 1000packets", []),
        ("skbprio", "skbprio + 64packets", []),
        ("skbprio limit 9", "skbprio + 9packets", []),
        ("red limit 60000 avpkt 1000 ecn nodrop adaptative",
         "fifo + red(min=5000B, max=15000B, probability=0.02, weight=0.125, ecn=true) + 60000B",
         ["adaptive", "nodrop"]),
        ("pie bytemode", "fifo + pie(byte_mode=true, ecn=false) + 1000packets", []),
        ("netem delay 10ms", "fifo + 1000packets", ["qdisc"]),
        ("stab overhead 10 linklayer atm fq_codel", "fq_codel + 10240packets", ["stab"]),
        ("estimator 1s 4s fq_codel", "fq_codel + 10240packets", []),
        # Units and abbreviations.
        ("cake bandwidth 1tibit", "cake(rate=1099511627776bit/s)", []),
        ("cake bandwidth 1MBps", "cake(rate=8Mbit/s)", []),
        ("bfifo limit 1gbit", "fifo + 134217728B", []),
        ("pfifo limit 0x10", "fifo + 16packets", []),
        ("pfifo limit 010", "fifo + 10packets", []),
        ("codel limit 010", "fifo + codel(ecn=false) + 8packets", []),
        ("codel limit 0x10", "fifo + codel(ecn=false) + 16packets", []),
        ("codel target 5msecs interval 1secs", "fifo + codel(target=5ms, interval=1s, ecn=false) + 1000packets", []),
        ("codel target 1234567us interval 5s",
         "fifo + codel(target=1234567us, interval=5s, ecn=false) + 1000packets", []),
        ("codel target 2500nsecs", "fifo + codel(target=2us, ecn=false) + 1000packets", []),
        ("tbf rate 1mbit bur 15k/8 lat 50ms", "token_bucket(rate=1Mbit/s, burst=15360B) + 21610B",
         ["packets longer than burst or mtu"]),
    ],
)  # fmt: skip
def test_a_qdisc(line, text, differs):
    found = tc.read(f"qdisc add dev e root {line}")
    assert (bare(found.text), settings(found)) == (text, differs)


@pytest.mark.parametrize(
    ("commands", "text", "rate", "differs"),
    [
        # Which command counts.
        ("qdisc add dev e root pfifo; qdisc replace dev e root fq_codel", "fq_codel + 10240packets", None, []),
        ("qdisc del dev e root; qdisc add dev e root pfifo; qdisc del dev e root; qdisc add dev e root fq",
         "linux_fq + 10000packets", None, []),
        ("qdisc add dev e root fq_codel limit 50; qdisc change dev e root fq_codel target 3ms",
         "fq_codel(target=3ms) + 50packets", None, []),
        ("qdisc add dev e root fq_codel limit 50; qdisc replace dev e root fq_codel target 3ms",
         "fq_codel(target=3ms) + 50packets", None, []),
        ("qdisc add dev e root fq_codel limit 50; qdisc replace dev e root handle 2: fq_codel target 3ms",
         "fq_codel(target=3ms) + 10240packets", None, []),
        ("qdisc add dev e root tbf rate 1mbit burst 5k limit 9k;"
         "qdisc change dev e root tbf rate 2mbit burst 4k limit 8k",
         "token_bucket(rate=2Mbit/s, burst=4096B) + 8192B", None, ["packets longer than burst or mtu"]),
        (f"{HTB}; filter add dev e fw flowid 1:1; qdisc replace dev e root pfifo", "fifo + 1000packets", None, []),
        (f"{HTB}; class change dev e classid 1:1 htb rate 2mbit ceil 3mbit",
         "htb(classes=[(name=c1, rate=2Mbit/s, ceil=3Mbit/s, burst=1600B, cburst=1600B)], default=c1)", None, []),
        (f"{HTB}; class add dev e parent 1:1 classid 1:2 htb rate 1mbit; class change dev e classid 1:2 htb rate 3mbit;"
         "qdisc change dev e root handle 1: htb default 2",
         "htb(classes=[(name=c1, rate=5Mbit/s, burst=1600B, cburst=1600B), (name=c2, parent=c1, rate=3Mbit/s,"
         " burst=1600B, cburst=1600B)], default=c2)", None, []),
        (f"{TWO}; class del dev e classid 1:2",
         "htb(classes=[(name=c1, rate=5Mbit/s, burst=1600B, cburst=1600B)], default=c1)", None, []),
        ("qdisc add dev e root handle 1: ets bands 3 strict 1; class change dev e classid 1:3 ets quantum 5000",
         "ets(strict=1, quanta=[1514B, 5000B], map=[2, 2, 2, 2, 2, 2, 2, 2])", None, []),
        ("q a dev e root fq; q s dev e", "linux_fq + 10000packets", None, []),
        ("sudo /sbin/tc -s qdisc add root dev e fq", "linux_fq + 10000packets", None, []),
        # Of several devices the first that has a qdisc at its root.
        ("qdisc add dev e root pfifo; qdisc add dev f root fq", "fifo + 1000packets", None, ["dev f"]),
        ("qdisc add dev f handle ffff: ingress;"
         "filter add dev f parent ffff: matchall action mirred egress redirect dev e;"
         "qdisc add dev e root cake", "cake", None, ["ingress", "filter action", "filter of ingress"]),
        # The line, its rate and what is lost of it.
        (f"{HTB} ceil 9mbit; qdisc add dev e parent 1:1 fq_codel", "fq_codel + 10240packets", "5Mbit/s", []),
        (f"{HTB} ceil 2mbit; qdisc add dev e parent 1:1 fq_codel", "fq_codel + 10240packets", "2Mbit/s", []),
        ("qdisc add dev e root handle 1: htb default 2; class add dev e parent 1: classid 1:1 htb rate 2mbit;"
         "class add dev e parent 1:1 classid 1:2 htb rate 1mbit ceil 5mbit; qdisc add dev e parent 1:2 pfifo limit 9",
         "fifo + 9packets", "2Mbit/s", []),
        (f"{HTB} overhead 10 linklayer atm burst 9k; qdisc add dev e parent 1:1 fq", "linux_fq + 10000packets",
         "5Mbit/s", ["burst of class 1:1", "overhead of class 1:1", "linklayer of class 1:1"]),
        (f"{HTB.replace('default 1', '')}; qdisc add dev e parent 1:1 fq", "linux_fq + 10000packets", "5Mbit/s",
         ["default"]),
        (f"{HTB.replace('default 1', '')}; qdisc add dev e parent 1:1 fq; filter add dev e matchall flowid 1:1",
         "linux_fq + 10000packets", "5Mbit/s", []),
        # Qdiscs in classes.
        ("qdisc add dev e root handle 1: tbf rate 1mbit burst 5k limit 9k; qdisc add dev e parent 1:1 fq_codel",
         'token_bucket(rate=1Mbit/s, burst=5120B, queue="fq_codel + 10240packets")', None, [ON_DEBT]),
        ("qdisc add dev e root handle 1: tbf rate 1mbit burst 5k limit 9k peakrate 2mbit mtu 1540;"
         "qdisc add dev e parent 1: sfq",
         'token_bucket(rate=1Mbit/s, burst=5120B, peak_rate=2Mbit/s, mtu=1540B, queue="linux_sfq + 127packets")', None,
         [ON_DEBT]),
        (f"{HTB}; qdisc add dev e parent 1:1 handle 2: tbf rate 2mbit burst 5k limit 9k;"
         "qdisc add dev e parent 2: fq_codel",
         'token_bucket(rate=2Mbit/s, burst=5120B, queue="fq_codel + 10240packets")', "5Mbit/s", [ON_DEBT]),
        ("qdisc add dev e root handle 1: hfsc default 1; class add dev e parent 1: classid 1:1 hfsc ls rate 9mbit"
         " ul rate 4mbit; qdisc add dev e parent 1:1 cake", "cake", "4Mbit/s", []),
        ("qdisc add dev e root handle 1: netem delay 10ms; qdisc add dev e parent 1:1 pfifo limit 9", "fifo + 9packets",
         None, ["qdisc netem"]),
        ("qdisc add dev e root netem delay 10ms limit 50", "fifo + 50packets", None, ["qdisc"]),
        (f"{PRIO} priomap {'2 ' * 16}; qdisc add dev e parent 1:1 handle 9: fq_codel; qdisc add dev e parent 1:2 sfq",
         f"{OF_PRIO.format('2, 2, 2, 2, 2, 2, 2, 2')[:-1]}, queues="
         f'["fq_codel + 10240packets", "linux_sfq + 127packets", {PLAIN}])', None, []),
        ("qdisc add dev e root handle 1: mq; qdisc add dev e parent 1:1 fq", "linux_fq + 10000packets", None,
         ["qdisc mq"]),
        (f"qdisc add dev e root handle 7: mq; {HTB.replace('root', 'parent 7:1')}; qdisc add dev e parent 1:1 fq",
         "linux_fq + 10000packets", "5Mbit/s", ["qdisc mq"]),
        (f"{HTB}; qdisc add dev e parent 1:1 handle 2: prio; qdisc add dev e parent 2:1 pfifo limit 10",
         f'{BY_TOS[:-1]}, queues=["fifo + 10packets", {PLAIN}, {PLAIN}])', "5Mbit/s", []),
        # A default that names no leaf.
        (HTB.replace("default 1", "default 9"),
         "htb(classes=[(name=c1, rate=5Mbit/s, burst=1600B, cburst=1600B)])", None, ["default 9"]),
        ("qdisc add dev e root handle 1: hfsc; class add dev e parent 1: classid 1:3 hfsc ls rate 1mbit",
         "hfsc(classes=[(name=c3, link_share=(m2=1Mbit/s))])", None, ["default"]),
        ("qdisc add dev e root handle 1: drr; class add dev e parent 1: classid 1:1 drr",
         "drr(classes=[(name=c1, quantum=1514B)])", None, ["default"]),
        ("qdisc add dev e root handle 1: qfq; class add dev e parent 1: classid 1:1 qfq",
         "linux_qfq(classes=[(name=c1)])", None, ["default"]),
        # Classes as the kernel takes them.
        (f"{HTB.replace('5mbit', '5mbit ceil 1mbit prio 9')}",
         "htb(classes=[(name=c1, rate=1Mbit/s, ceil=1Mbit/s, burst=1600B, cburst=1600B, priority=7, quantum=62500B)],"
         " default=c1)", None, ["rate 5Mbit/s of class 1:1"]),
        (f"{HTB} burst 0 cmaxburst 15k/8",
         "htb(classes=[(name=c1, rate=5Mbit/s, burst=1600B, cburst=15360B)], default=c1)", None, []),
        ("qdisc add dev e root handle 1: hfsc def 3;"
         "class add dev e parent 1: classid 1:1 hfsc sc rate 5mbit ul rate 5mbit;"
         "class add dev e parent 1:1 classid 1:3 hfsc ls rate 1mbit",
         "hfsc(classes=[(name=c1, link_share=(m2=5Mbit/s), upper_limit=(m2=5Mbit/s)), (name=c3, parent=c1,"
         " link_share=(m2=1Mbit/s))], default=c3)", None, ["rt of class 1:1"]),
        # Numbers are hexadecimal, with zeros before them or none.
        ("qdisc add dev e root handle 01: htb default 0x0a; class add dev e parent 1: classid 1:0a htb rate 5mbit;"
         f"class add dev e root classid 1:B htb rate 5mbit; {U32.format(1, '0xb8 0xfc', '1:0b')}",
         "htb(classes=[(name=ca, rate=5Mbit/s, burst=1600B, cburst=1600B), (name=cb, rate=5Mbit/s, burst=1600B,"
         " cburst=1600B, dscp=[46])], default=ca)", None, ["protocol of the filters"]),
    ],
)  # fmt: skip
def test_several_commands(commands, text, rate, differs):
    found = tc.read(commands)
    assert (bare(found.text), found.rate, settings(found)) == (text, rate, differs)


ONLY_IP = "protocol of the filters"


@pytest.mark.parametrize(
    ("filters", "first", "second", "differs"),
    [
        # The lower priority is asked first; of filters that name none the last.
        ([(2, "0xb8 0xfc", "1:1"), (1, "0xa0 0xe0", "1:2")], [], list(range(40, 48)), [ONLY_IP]),
        ([(1, "0xb8 0xfc", "1:1"), (2, "0xa0 0xe0", "1:2")], [46], [40, 41, 42, 43, 44, 45, 47], [ONLY_IP]),
        ([(1, "0xb8 0xfc", "1:1"), (1, "0xa0 0xe0", "1:2")], [46], [40, 41, 42, 43, 44, 45, 47], [ONLY_IP]),
        ([(0, "0xb8 0xfc", "1:1"), (0, "0xa0 0xe0", "1:2")], [], list(range(40, 48)), [ONLY_IP]),
        # A mask is hexadecimal; ECN bits decide nothing here.
        ([(1, "184 fc", "1:2")], [], [46], [ONLY_IP]),
        ([(1, "0xb8 0xff", "1:2")], [], [46], ["filter u32 to 1:2 with a mask of ECN bits", ONLY_IP]),
        ([(1, "1 3", "1:2")], [], [], ["filter u32 to 1:2"]),
        # What else is looked at.
        (["fw flowid 1:2"], [], [], ["filter fw to 1:2"]),
        (["handle 5 fw flowid 1:2"], [], [], ["filter fw to 1:2"]),
        (["protocol arp matchall flowid 1:2"], [], [], ["filter matchall to 1:2 of protocol arp"]),
        (["protocol ip u32 match ip tos 0xb8 0xfc match ip protocol 17 0xff flowid 1:2"], [], [],
         ["filter u32 to 1:2"]),
        (["protocol ip u32 match ip sport 80 0xffff flowid 1:2"], [], [], ["filter to 1:2 by port"]),
        (["flower ip_tos 0xb8/0xfc dst_port 80 classid 1:2"], [], [], ["filter flower to 1:2"]),
        (["u32 match u32 5 0xff at 12 flowid 1:2"], [], [], ["filter u32 to 1:2"]),
        (["chain 5 matchall flowid 1:2"], [], [], ["filter matchall of chain 5"]),
        (["est 1s 4s matchall flowid 1:2"], [], list(range(64)), []),
        (["matchall action drop"], [], [], ["filter action", "filter matchall"]),
        (["matchall police rate 1mbit burst 10k mtu 2k drop flowid 1:2"], [], list(range(64)), []),
        # All of it, both protocols.
        (["matchall classid 1:2"], [], list(range(64)), []),
        (["basic flowid 1:2"], [], list(range(64)), []),
        (["u32 match u32 0 0 flowid 1:2"], [], list(range(64)), []),
        *(([f"{match} flowid 1:2"], [], list(range(64)), []) for match in (
            "u32 match ip dst 0.0.0.0/0", "u32 match ip src 0/0", "u32 match ip6 dst ::/0", "u32 match ip dst any",
            "u32 match ip src default", "u32 match ip dst 10.1.2.3/0.0.0.0", "u32 match ip protocol 6 0x00",
            "u32 match ip sport 80 0x0000", "u32 match ip tos 0x10 0", "u32 match ip6 priority 0x10 0x0",
            "u32 match u32 5 0 at 12", "u32 match ip dst 0.0.0.0/0 match ip src any", "flower dst_ip 0.0.0.0/0",
            "flower src_ip ::/0", "flower dst_port 80/0", "flower dst_mac 00:11:22:33:44:55/00:00:00:00:00:00",
            "flower ip_tos 0x10/0", "basic match 'u32(u32 0x0 0x0 at 16)'", "basic match 'u32(5 0 at 16)'",
            "basic match 'cmp(u32 at 16 layer 1 mask 0x0 eq 0)'",
        )),
        (["u32 match ip dst 10.0.0.0/8 flowid 1:2"], [], [], ["filter u32 to 1:2"]),
        (["u32 match ip dst 0.0.0.0 flowid 1:2"], [], [], ["filter u32 to 1:2"]),
        (["flower dst_port 80/0xffff classid 1:2"], [], [], ["filter flower to 1:2"]),
        (["flow hash keys dst divisor 2 baseclass 1:1"], [], [], ["filter flow"]),
        (["cgroup"], [], [], ["filter cgroup"]),
        (["flower ip_tos b8/fc classid 1:2"], [], [46], []),
        (["protocol ip u32 match u8 0xb8 0xfc at 1 flowid 1:2",
          "protocol ipv6 u32 match ip6 priority 0xb8 0xfc flowid 1:2"],
         [], [46], []),
        (["protocol ipv6 u32 match ip6 priority 0xb8 0xfc flowid 1:2"], [], [46], [ONLY_IP]),
    ],
)  # fmt: skip
def test_filters(filters, first, second, differs):
    lines = [
        U32.format(*one).replace("prio 0 ", "") if isinstance(one, tuple) else f"filter add dev e parent 1: {one}"
        for one in filters
    ]
    found = tc.read("; ".join([TWO, *lines]))
    classes = {one["name"]: one["dscp"] for one in queue(found.text)["scheduler"]["classes"]}
    assert (classes["c1"], classes["c2"], settings(found)) == (first, second, differs)


def queue(text):
    import json

    return json.loads(_native.queue(text))


def test_a_filter_to_an_inner_class_goes_on_with_that_classs_filters_or_to_the_default():
    tree = f"{HTB.replace('default 1', 'default 2')}; class add dev e parent 1:1 classid 1:2 htb rate 1mbit;"
    tree += "class add dev e parent 1:1 classid 1:3 htb rate 1mbit; filter add dev e parent 1: matchall classid 1:1"
    assert "dscp" not in tc.read(tree).text
    inside = f"{tree}; filter add dev e parent 1:1 protocol ip u32 match ip tos 0xb8 0xfc flowid 1:3"
    assert "(name=c3, parent=c1, rate=1Mbit/s, burst=1600B, cburst=1600B, dscp=[46]" in tc.read(inside).text


def test_a_filter_of_bands_goes_by_code_point_and_what_has_none_by_its_priority():
    half = tc.read(f"{PRIO}; {U32.format(1, '0xa0 0xe0', '1')}; {U32.format(1, '0x48 0xfc', '1:3')}")
    # By the two bits above the lowest of a code point: 1, 2, 0, 1; all of precedence 5 are in band
    # 0.
    bands = [[1, 2, 0, 1][point >> 1 & 3] for point in range(64)]
    bands[40:48] = [0] * 8
    bands[18] = 2
    assert bare(half.text) == OF_PRIO.format(", ".join(map(str, bands)))
    assert settings(half) == [ONLY_IP]
    # Filters for all precedences leave nothing to the priority; a band that there is not is that of
    # priority 0.
    whole = "; ".join(U32.format(1, f"{one << 5:#x} 0xe0", "1:9" if one == 5 else "1:1") for one in range(8))
    assert bare(tc.read(f"{PRIO}; {whole}").text) == OF_PRIO.format("0, 0, 0, 0, 0, 1, 0, 0")


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        ("drr", "quantum 300", "drr(quantum=300B)"),
        ("qfq", "weight 3", "linux_qfq"),
    ],
)
def test_a_class_for_each_port_is_a_class_for_each_flow(kind, options, text):
    lines = [f"qdisc add dev e root handle 1: {kind}"]
    for at in (1, 2):
        lines.append(f"class add dev e parent 1: classid 1:{at} {kind} {options}")
        lines.append(f"filter add dev e parent 1: protocol ip prio 1 u32 match ip sport {at} 0xffff flowid 1:{at}")
    found = tc.read("; ".join(lines))
    assert (found.text, settings(found)) == (text, ["filters by port", "limit"])
    # Classes that differ are no flows.
    other = [line.replace("300", "400").replace("weight 3", "weight 4") if "1:2 " in line else line for line in lines]
    found = tc.read("; ".join(other))
    assert "filter to 1:1 by port" in settings(found) and "default" in settings(found)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("htb default zz", "default 'zz'"), ("hfsc default gg", "default 'gg'"),
        ("red limit 60000 avpkt 0", "avpkt"), ("bfifo limit 1e400", "limit '1e400'"),
        ("cake bandwidth 1e400", "bandwidth '1e400'"), ("cake bandwidth inf", "bandwidth 'inf'"),
        ("codel limit -5", "limit '-5'"), ("codel target -5ms", "target '-5ms'"), ("codel limit 5000000000", "limit"),
        ("codel target 2s", "target is above 0 s and at most the interval"),
        ("cake overhead 300", "overhead 300"), ("cake mpu 300", "mpu 300"), ("cake rtt 1e400ms", "rtt '1e400ms'"),
        ("sfb decrement 2", "decrement '2'"), ("sfb rehash 30", "db is 60 s, rehash 30 ms"),
        ("red limit 60000 avpkt 1000 probability 1.5", "probability '1.5'"), ("fq quantum 0", "quantum"),
        ("pfifo limit 0", "limit"), ("prio bands 1", "bands 1"), ("prio priomap 5", "priomap names band 5"),
        ("prio bands 2", "priomap names band 2"), ("ets bands 2 strict 2 quanta 3000 1500", "more than bands 2"),
        ("ets", "0 bands"), ("red limit 60000", "no avpkt"), ("red avpkt 1000", "no limit"),
        ("red limit 60000 avpkt 1000 nodrop", "nodrop without ecn"),
        ("choke limit 1000", "no bandwidth"), ("choke bandwidth 1mbit", "no limit"),
        ("choke limit 10 bandwidth 1mbit max 20", "max 20"), ("choke limit 9 bandwidth 1mbit harddrop", "no option"),
        ("choke limit 90 bandwidth 1mbit min 15 max 15", "min"),
        ("sfq limit 1", "limit 1"), ("sfq divisor 1000", "divisor 1000"), ("sfq ecn", "redflowlimit"),
        ("hhf hh_limit 2049", "hh_limit 2049"),
        ("sfq redflowlimit 1000 max 5000", "max 5000"), ("sfq redflowlimit 9000 min 800 max 800 burst 9", "min"),
        ("skbprio limit 0", "limit"), ("hhf non_hh_weight 0x10000", "non_hh_weight"),
        ("tbf rate 1mbit burst 10k limit 5k latency 5ms", "both latency and limit"),
        ("tbf rate 1mbit burst 10k limit 5k peakrate 2mbit", "peakrate without mtu"),
        ("tbf rate 2mbit burst 10k limit 5k peakrate 1mbit mtu 1540", "not above rate 2Mbit/s"),
        ("tbf rate 2mbit burst 10k/9 limit 5k", "no power of 2"),
        ("cake lan metro", "lan and metro"), ("cake target 5ms", "no option target"), ("pie alpha 33", "alpha 33"),
        ("fq_pie ecn_prob 120", "ecn_prob 120"), ("fq_codel flows 70000", "flows 70000"),
        ("fq_codel ce_threshold_selector 1", "has no mask"), ("fq weights 1 2 3", "weights 1"),
        ("fq weights 20000 30000", "weights has 2 numbers"), ("fq bands 2", "bands are 3"),
        ("cbs idleslope -5", "idleslope -5"), ("cbs idleslope 5 sendslope 5", "sendslope 5"),
        ("prio band 3", "did you mean bands"), ("ets bnads 3", "did you mean bands"),
        ("htb defualt 3", "did you mean default"),
        ("fq_codel targ 5ms", "did you mean target"), ("root fq", "root after another parent"),
        ("pfifo_fast limit 5", "no option"),
        ("prio priomap 1 priomap 1", "priomap stands twice"), ("ets bands 2 strict 1 bands 2", "bands stands twice"),
        ("hfsc default 1 default 1", "default stands twice"), ("cbs idleslope 5 idleslope 5", "idleslope stands twice"),
        ("tbf rate 1mbit burst 5k buffer 5k limit 9k", "burst stands twice"),
        ("handle zz: fq", "no handle"), ("cbs offload 1", "no idleslope"), ("dualpi2 alpha x", "alpha 'x'"),
    ],
)  # fmt: skip
def test_what_tc_or_the_native_reader_refuses_is_one_line_that_names_the_option(line, said):
    _refused(f"qdisc add dev e root {line}", said)


def _refused(commands, said):
    with pytest.raises(fairq.UsageError, match=r"^tc: ") as raised:
        tc.read(commands)
    assert said in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        ("qdisc add dev e root pfifo; qdisc add dev e root fq", "pfifo stands at root already"),
        ("qdisc change dev e root pfifo", "nothing stands at root"),
        ("qdisc add dev e root pfifo; qdisc change dev e root fq", "pfifo stands at root"),
        ("qdisc add root fq", "no device"),
        ("qdisc add dev e fq", "no parent"),
        (f"{HTB}; qdisc add dev e parent 1:1 handle 1: fq", "handle 1: is that of htb"),
        (f"{HTB}; qdisc add dev e parent 5:5 fq", "there is no qdisc 5:"),
        (f"{HTB}; qdisc add dev e parent 1:2 fq", "parent 1:2: no such class; there are 1:1"),
        (f"{HTB}; class add dev e parent 1:1 classid 1:2 htb rate 1mbit; qdisc add dev e parent 1:1 fq",
         "classes below it"),
        (f"{PRIO}; qdisc add dev e parent 1:4 fq", "bands 1 to 3"),
        ("qdisc add dev e root handle 1: fq; qdisc add dev e parent 1:1 fq", "fq has no classes"),
        (f"{HTB}; class add dev e parent 2:5 classid 1:2 htb rate 1mbit", "of another qdisc"),
        (f"{HTB}; class add dev e parent 1:99 classid 1:2 htb rate 1mbit", "parent 1:99: no such class"),
        (f"{HTB}; class add dev e parent 1: classid 2:10 htb rate 1mbit", "there is no qdisc 2:"),
        (f"{HTB}; class add dev e parent 1: classid foo htb rate 1mbit", "classid 'foo'"),
        (f"{HTB}; class add dev e parent 1: classid 1:zz htb rate 1mbit", "classid '1:zz'"),
        (f"{HTB}; class add dev e parent 1: htb rate 1mbit", "no classid"),
        (f"{HTB}; class add dev e parent 1: classid 1:1 htb rate 1mbit", "is there already"),
        (f"{HTB}; class change dev e classid 1:2 htb rate 1mbit", "there is no 1:2"),
        (f"{HTB}; class add dev e parent 1: classid 1:2 hfsc ls rate 1mbit", "the qdisc 1: is htb"),
        ("qdisc add dev e root handle 1: fq_codel; class add dev e parent 1: classid 1:1 htb rate 1mbit",
         "is fq_codel"),
        ("qdisc add dev e root handle 1: ets strict 2; class change dev e classid 1:1 ets quantum 5",
         "no band that shares"),
        (f"{HTB}; class del dev e classid 1:5", "there is no 1:5"),
        (f"{HTB}; filter add dev e matchall flowid 1:1; class del dev e classid 1:1", "filters"),
        (f"{PRIO}; filter add dev e matchall flowid foo", "flowid 'foo'"),
        (f"{PRIO}; filter add dev e parent 4: matchall flowid 4:1", "there is no qdisc 4:"),
        (f"{PRIO}; filter add dev e prio x matchall flowid 1:1", "prio 'x'"),
        (f"{PRIO}; filter add dev e u32 match ip tos 0xb8 0xfcc flowid 1:1", "more than a byte"),
        (f"{PRIO}; filter add dev e u32 match ip tos", "has no value"),
        *((HTB.replace("rate 5mbit", words), said) for words, said in (
            ("rate -5mbit", "rate '-5mbit'"), ("rate 0", "no rate"), ("rate 50%", "a part of the device's rate"),
            ("rate 5mbit burst x", "burst 'x'"), ("rate 5mbit linklayer foo", "linklayer 'foo'"),
            ("rate 5mbit maxcburst 5", "no option maxcburst"), ("rate 5mbit rate 5mbit", "rate stands twice"),
            ("ceil 5mbit", "no rate"),
        )),
        *((f"qdisc add dev e root handle 1: {words.split()[0]}; class add dev e parent 1: classid 1:1 {words}", said)
          for words, said in (
            ("qfq weight 0", "weight 0"), ("qfq weight 5000", "weight 5000"), ("qfq maxpkt 100", "maxpkt is 100 B"),
            ("drr quantum 0", "quantum 0"), ("hfsc", "no curve"), ("hfsc ul rate 1mbit", "ul without ls"),
            ("hfsc rt m1 1mbit d 10ms", "rt has no last slope"), ("hfsc ls umax 5 rate 1mbit", "umax without dmax"),
            ("hfsc ls m2 0", "two slopes of zero"), ("hfsc ls m1 1mbit rate 1mbit", "m1 and rate"),
        )),
    ],
)  # fmt: skip
def test_commands_that_do_not_fit_each_other_are_one_line(commands, said):
    _refused(commands, said)


VALUES = ["0", "1", "3", "-1", "30", "1000", "70000", "5ms", "1s", "15k/8", "1mbit", "50%", "0.1", "1.5", "1e400", "zz",
          "1:1", "1:0a", "2:5", "foo", "1/3", "0x10", "1234567us", "atm", ""]  # fmt: skip
WORDS = [
    "limit", "target", "interval", "flows", "quantum", "memory_limit", "ce_threshold", "ecn", "noecn", "rate", "ceil",
    "burst", "prio", "overhead", "mpu", "default", "min", "max", "avpkt", "probability", "bandwidth", "bands", "strict",
    "quanta", "priomap", "weights", "rtt", "depth", "divisor", "headdrop", "latency", "peakrate", "mtu", "weight",
    "maxpkt", "alpha", "beta", "increment", "decrement", "db", "rehash", "idleslope", "sendslope", "hicredit",
    "rt", "ls", "sc", "ul", "m1", "m2", "d", "umax", "dmax", "action", "match", "docsis",
    "raw", "lan", "ingress", "nat",
]  # fmt: skip
"""Options of many qdiscs, and a few that are of one."""
NEEDED = {"tbf": "rate 1mbit burst 10k limit 10k", "red": "limit 60000 avpkt 1000", "choke": "limit 90 bandwidth 1mbit",
          "cbs": "idleslope 1000 sendslope -9000", "htb": "rate 5mbit", "hfsc": "ls rate 1mbit"}  # fmt: skip


def drawn(draw):
    """A few commands out of tc's words, most of them with a mistake."""
    known = draw.choice(list(qdisc_options.KINDS))

    def said(kind):
        words = [NEEDED.get(kind, "")] if draw.random() < 0.8 and kind not in ("htb", "hfsc") else []
        for _ in range(draw.choice([0, 0, 1, 1, 2])):
            words += [draw.choice(WORDS), draw.choice(VALUES)]
        return " ".join(words)

    lines = [f"qdisc {draw.choice(['add', 'replace'])} dev e root handle 1: {known} {said(known)}"]
    for _ in range(draw.randrange(4)):
        at, verb = draw.choice(["1:1", "1:2", "1:a", "2:1", "1"]), draw.choice(["add", "add", "add", "change", "del"])
        kind = (
            known
            if known in qdisc_options.CLASSES and draw.random() < 0.9
            else draw.choice(list(qdisc_options.CLASSES))
        )
        below = draw.choice([kind, draw.choice(list(qdisc_options.KINDS))])
        matches = ["matchall", "fw", "u32 match ip tos 0xb8 0xfc", "u32 match u32 0 0", "flower ip_tos 5", said("")]
        lines.append(draw.choice([
            f"class {verb} dev e parent {draw.choice(['1:', '1:', '1:1', 'root'])} classid {at} {kind}"
            f" {NEEDED.get(kind, '')} {said('')}",
            f"qdisc {verb} dev e parent {at} {below} {said(below)}",
            f"filter {verb} dev e parent 1: {draw.choice(['', 'prio 1', 'protocol ip'])}"
            f" {draw.choice(matches)} flowid {at}",
        ]))  # fmt: skip
    return "; ".join(lines)


def test_random_commands_are_a_queue_that_the_native_reader_takes_or_one_line_and_writing_is_stable():
    draw, read = random.Random(7), 0
    for _ in range(3000):
        commands = drawn(draw)
        try:
            found = tc.read(commands)
        except fairq.UsageError as error:
            assert str(error).startswith("tc: ") and "\n" not in str(error), commands
            continue
        read += 1
        assert queue(found.text), commands
        written = tc.write(found.text)
        again = tc.read("\n".join(written.commands))
        if again.rate is not None:
            # Where one class holds packets, that is the line of what stands in it.
            assert f'queue="{again.text}"' in found.text, commands
            continue
        twice = tc.write(again.text)
        assert twice.commands == written.commands, commands
        assert tc.read("\n".join(twice.commands)).text == again.text, commands
    # Most are refused; enough are not.
    assert read > 300


def test_the_words_of_a_qdisc_are_read_without_the_option(fairq):
    for said in (
        ["fq_codel", "target", "3ms"],
        ["fq_codel target 3ms"],
        ["qdisc add dev eth0 root fq_codel target 3ms"],
    ):
        assert fairq("tc", *said)[:2] == (0, "fq_codel(target=3ms) + 10240packets\n")
    status, out, _ = fairq("tc", "fq_codel", "--dev", "eth1")
    assert status == 0 and "dev eth1 root" in out


DRR = ("qdisc add dev e root handle 1: drr; class add dev e parent 1: classid 1:1 drr;"
       "class add dev e parent 1: classid 1:2 drr")  # fmt: skip


def test_what_is_left_out_is_not_said_to_send_packets_nowhere():
    found = tc.read(f"{DRR}; filter add dev e parent 1: protocol ip flow hash keys src,dst divisor 2 baseclass 1:1")
    linux = {row["setting"]: row["linux"] for row in found.differs}
    assert linux["filter flow"] == "sends packets to classes 1:1 to 1:2 by a hash of src,dst"
    assert linux["default"] == "no packet is of no class: a filter that is left out here takes them all"
    found = tc.read(f"{DRR}; filter add dev e parent 1: u32 match ip dst 10.0.0.0/8 flowid 1:1")
    linux = {row["setting"]: row["linux"] for row in found.differs}
    assert linux["default"] == "those that no filter takes, nor one that is left out here: dropped"
    assert "dropped" in {row["linux"] for row in tc.read(DRR).differs}


def test_numbers_that_c_reads_in_base_16_may_begin_with_0x():
    text = ("qdisc add dev e root handle 0x7FFF: htb default 0x2;"
            "class add dev e parent 0x7fff: classid 0X7FFF:0x2 htb rate 5mbit; "
            "qdisc add dev e parent 7fff:0x2 fq")  # fmt: skip
    assert (tc.read(text).text, tc.read(text).rate) == ("linux_fq + 10000packets", "5Mbit/s")


FQ = "fq_codel + 500packets"


@pytest.mark.parametrize(
    "text",
    [
        "tc qdisc add dev e root \\\r\n   fq_codel limit 500\r\n",
        "\ufefftc qdisc add dev e root \\\n fq_codel \\ \n limit 500",
        "tc qdisc del dev e root 2>/dev/null; tc qdisc add dev e root fq_codel limit 500 2> /dev/null",
        "tc qdisc add dev e root fq_codel limit 500 >/dev/null 2>&1 && tc qdisc show dev e",
        "tc qdisc del dev e root &>/dev/null || LANG=C tc qdisc add dev e root fq_codel limit 500",
        "sudo -E tc qdisc add dev e root fq_codel limit 500 # a comment",
        "LC_ALL=C sudo -u root /sbin/tc qdisc add dev 'e' root fq_codel limit \"500\"",
    ],
)
def test_the_text_of_a_shell_around_the_commands_has_its_meaning(text):
    assert tc.read(text).text == FQ


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tc qdisc add dev e root fq_codel | cat", "| is of a shell and no part of a command"),
        ("tc qdisc add dev e root (fq)", "( is of a shell"),
        ("tc qdisc add dev e root 'fq", "No closing quotation"),
        ("tc qdisc del dev e root blah; tc qdisc add dev e root fq", "there is no option blah"),
        ("tc qdisc del dev e root fq_codel foo 3; tc qdisc add dev e root fq", "foo"),
    ],
)
def test_what_of_a_shell_has_no_meaning_here_is_refused_at_the_word(text, said):
    _refused(text, said)
