"""Policers, WRED, CAKE on several queues: in tc, in questions and studies; what is refused."""

import json

import pytest
from sweep_studies import swept

import fairq
from fairq import _native
from fairq import traffic_control as tc
from fairq.cli import program

EGRESS = "qdisc add dev e root fq_codel; qdisc add dev e clsact; filter add dev e egress matchall action police"
LEAVES = "qdisc add dev e root handle 1: prio"
HERE = "police(rate=10Mbit/s, burst=15360B) + fq_codel + 10240packets"
MTU = "mtu of police"


@pytest.mark.parametrize(
    ("commands", "text", "differs"),
    [
        (f"{EGRESS} rate 10mbit burst 15k conform-exceed drop", HERE, [MTU]),
        (f"{EGRESS} rate 10mbit burst 15k conform-exceed drop/pipe", HERE, [MTU]),
        (f"{EGRESS} rate 10mbit maxburst 15k/8 drop", HERE, [MTU]),
        (f"{EGRESS} rate 10mbit burst 15k mtu 65535 drop", HERE, []),
        # After a policer alone, ok ends the filters.
        (f"{LEAVES}; filter add dev e parent 1: prio 1 matchall police rate 1mbit burst 10k mtu 2k drop;"
         " filter add dev e parent 1: prio 2 matchall flowid 1:1", None, ["conform-exceed of police"]),
        (f"{EGRESS} rate 10mbit burst 15k mtu 2k peakrate 20mbit drop",
         "police(rate=10Mbit/s, burst=15360B, peak_rate=20Mbit/s, mtu=2048B) + fq_codel + 10240packets", []),
        (f"{EGRESS} rate 10mbit burst 15k mtu 2k overhead 4 drop",
         "police(rate=10Mbit/s, burst=15360B, mtu=2048B) + fq_codel + 10240packets", ["overhead of police"]),
        (f"{LEAVES}; filter add dev e parent 1: protocol ip prio 1 u32 match ip dst 0.0.0.0/0 police rate 1mbit"
         " burst 10k mtu 2k drop flowid 1:1", None, ["protocol of police", "protocol of the filters"]),
        # What exceeds is not dropped, or not all packets are policed, or not by a rate.
        (f"{EGRESS} rate 10mbit burst 15k", "fq_codel + 10240packets", ["filter police"]),
        (f"{EGRESS} rate 10mbit burst 15k conform-exceed pass", "fq_codel + 10240packets", ["filter police"]),
        (f"{EGRESS} avrate 10mbit drop", "fq_codel + 10240packets", ["filter police"]),
        (EGRESS.replace("matchall", "flower dst_port 80") + " rate 10mbit burst 15k drop", "fq_codel + 10240packets",
         [MTU, "filter flower with police"]),
        (EGRESS.replace("egress", "ingress") + " rate 10mbit burst 15k mtu 2k drop", "fq_codel + 10240packets",
         ["clsact", "filter of ingress"]),
        # Of two the one of the lower priority.
        (f"{EGRESS} rate 10mbit burst 15k mtu 2k drop;"
         " filter add dev e egress prio 5 matchall action police rate 2mbit burst 15k mtu 2k drop",
         "police(rate=2Mbit/s, burst=15360B, mtu=2048B) + fq_codel + 10240packets", ["filter police"]),
        (f"{EGRESS} rate 10mbit burst 15k mtu 2k drop; filter del dev e egress", "fq_codel + 10240packets", []),
    ],
)  # fmt: skip
def test_a_filter_that_polices_all_packets_is_a_policer_before_the_queue(commands, text, differs):
    found = tc.read(commands)
    if text is not None:
        assert found.text == text
    assert found.text.startswith("police(") == ("police(" in (text or "police("))
    said = [row["setting"] for row in found.differs if row["setting"] not in ("clsact", "limit")]
    assert said == [one for one in differs if one != "clsact"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("rate 10mbit burst 1k drop", "burst 1024 is below a packet of 1514 B: every such packet would be dropped;"
         " write burst 15k"),
        ("rate 10mbit burst 15k mtu 1000 drop", "mtu 1000 is below a packet of 1514 B"),
        ("rate 10mbit drop", "rate without burst; write burst 15k"),
        ("burst 15k drop", "burst without rate; write rate 10mbit"),
        ("rate 10mbit burst 15k peakrate 20mbit drop", "peakrate without mtu; write mtu 1514"),
        ("rate 10mbit burst 15k drp", "there is no option drp; did you mean drop?"),
        ("rate 10mbit burst 15k conform-exceed drpo", "'drpo' is no verdict; write drop, ok, pipe"),
        ("rate 10mbit burst 15k mtu 2k peakrate 5mbit drop", "peakrate is 5 Mbit/s, not above the rate"),
    ],
)  # fmt: skip
def test_a_policer_without_sense_is_one_line(words, said):
    with pytest.raises(fairq.UsageError, match="tc: ") as raised:
        tc.read(f"{EGRESS} {words}")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "police(rate=10Mbit/s, burst=15kB, mtu=2kB) + fq_codel + 100packets",
        "police(rate=10Mbit/s, burst=15kB, peak_rate=20Mbit/s, mtu=2kB) + linux_sfq + 100packets",
        "cake_mq(rate=900Mbit/s, cake=(tins=best_effort, isolation=flows))",
    ],
)
def test_what_is_written_for_tc_is_read_as_the_same(text):
    again = tc.read("\n".join(tc.write(text).commands)).text
    assert json.loads(_native.queue(again)) == json.loads(_native.queue(text)) | (
        {"limit": None} if text.startswith("cake_mq") and "limit" in _native.queue(again) else {}
    )


def test_cake_mq_is_read_and_its_queues_are_the_devices():
    found = tc.read("qdisc replace dev e root cake_mq bandwidth 900mbit besteffort flows nat")
    assert found.text == "cake_mq(queues=4, rate=900Mbit/s, cake=(tins=best_effort, isolation=flows))"
    assert [row["setting"] for row in found.differs] == ["nat", "queues"]
    with pytest.raises(fairq.UsageError, match="autorate-ingress goes with one queue only"):
        tc.read("qdisc add dev e root cake_mq autorate-ingress")
    rows = {row["setting"]: row["linux"] for row in tc.write("cake_mq(queues=8, sync_time=1ms)").differs}
    assert (rows["kernel"], rows["sync_time"]) == ("7.0 or later", "200 us")


def test_wred_is_gred_with_equal_priorities():
    written = tc.write("fifo + wred + 60kB", rate_bit_per_s=None)
    setup, *curves = written.commands
    assert setup == "tc qdisc replace dev eth0 root handle 1: gred setup vqs 4 default 3 grio limit 60000"
    assert [line.split("gred ")[1].split(" avpkt")[0] for line in curves] == [
        f"limit 60000 min {least} max 40000" for least in (32_000, 28_000, 24_000, 20_000)
    ]
    assert all(line.endswith(f"vq {at} prio 1") for at, line in enumerate(curves))
    rows = {row["setting"]: row for row in written.differs}
    assert "0: 10, 18, 26, 34; 1: 12, 20, 28, 36; 2: 14, 22, 30, 38; 3: the rest" in rows["dscp"]["here"]


SHORT = {"rtt": "20ms", "seeds": 2, "warm_up": "2s", "duration": "6s"}


def test_a_policer_is_compared_with_a_shaper_of_its_rate():
    """TCP cannot have more than the policer passes, and does not wait for it."""
    shaper, policer = "token_bucket(rate=10Mbit/s, burst=15kB) + 100packets", "police(rate=10Mbit/s, burst=15kB) + fifo"
    rows = {
        row["queue"]: row
        for row in fairq.compare(rate="100Mbit/s", flows="cubic:2", queue=[shaper, policer], **SHORT).rows
    }
    shaped, policed = rows[shaper], rows[policer]
    assert shaped["goodput_bit_per_s"] == pytest.approx(10e6, rel=0.02)
    assert 1e6 < policed["goodput_bit_per_s"] < 10e6
    # What passes waits for the line alone: ten packets of 0.12 ms at most.
    assert policed["queueing_s_mean"] < 1.2e-3 < 10e-3 < shaped["queueing_s_mean"]


def test_a_study_compares_them(tmp_path):
    queues = "police(rate=10Mbit/s) + fifo,cake_mq(queues=2, rate=10Mbit/s),fifo + wred"
    question = f'rate = "20Mbit/s", rtt = "20ms", flows = "cubic:2", queue = "{queues}"'
    assert swept(tmp_path, question) == (6, 0)


def test_a_queue_of_cake_mq_is_shared_by_its_flows_alone():
    """Of flows on two queues, each with half of the rate, one of n on a queue has 1/2n."""
    said = SHORT | {"rtt": "5ms", "duration": "10s"}
    rows = fairq.compare(
        rate="100Mbit/s", flows="cubic:16", queue="cake_mq(queues=2, rate=40Mbit/s),cake(rate=40Mbit/s)", **said
    ).queues
    one, several = sorted(rows, key=lambda row: row["queue"])
    assert one["jain"] > 0.99
    assert one["utilisation"] == pytest.approx(several["utilisation"], rel=0.02)
    assert several["jain"] < one["jain"]


def test_a_burst_below_a_packet_is_refused_where_it_stands(capsys):
    command = ["compare", "--rate", "100Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--queue"]
    assert program.main([*command, "police(rate=10Mbit/s, burst=1kB) + fifo,fifo"]) == 2
    said = capsys.readouterr().err
    assert "police lets no packet above 1 kB pass, and those of cubic" in said and "of 15 kB or more" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("settings", ["burst=1500B", "burst=15kB, mtu=1500B"])
def test_a_policer_that_would_drop_every_full_packet_is_not_written(refused, settings):
    """As Linux counts a packet, with its Ethernet header: `tc --read` refuses the same."""
    assert "is below a packet of 1514 B" in refused("tc", f"police(rate=1Mbit/s, {settings}) + fifo")
