"""Queues in classes, from tc and to tc, as deep as they stand in each other."""

import json
import random

import pytest

import fairq
from fairq import _native
from fairq import traffic_control as tc

HTB = "qdisc add dev e root handle 1: htb default 20"
TWO = f"{HTB}; " + "; ".join(f"class add dev e parent 1: classid 1:{one} htb rate 5mbit" for one in (10, 20))
BURST = "burst=1600B, cburst=1600B"
PLAIN = '"fifo + 1000packets"'


def two(first=PLAIN, second=PLAIN):
    """The text form of TWO with these queues."""
    return (
        f"htb(classes=[(name=c10, rate=5Mbit/s, {BURST}, queue={first}),"
        f" (name=c20, rate=5Mbit/s, {BURST}, queue={second})], default=c20)"
    )


def drr(quantum):
    return f"class add dev e parent 1: classid 1:1 drr {quantum}; class add dev e parent 1: classid 1:2 drr"


@pytest.mark.parametrize(
    ("commands", "text"),
    [
        (TWO, two()),
        (f"{TWO}; qdisc add dev e parent 1:10 fq_codel", two('"fq_codel + 10240packets"')),
        # What is replaced or deleted in a class.
        (f"{TWO}; qdisc add dev e parent 1:10 fq_codel; qdisc replace dev e parent 1:10 handle 9: sfq perturb 10",
         two('"linux_sfq(perturb=10s) + 127packets"')),
        (f"{TWO}; qdisc add dev e parent 1:10 fq_codel; qdisc del dev e parent 1:10", two()),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 9: fq_codel; qdisc change dev e parent 1:10 fq_codel limit 5",
         two('"fq_codel + 5packets"')),
        # A tree in a class has its own filters.
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: prio bands 2 priomap {'1 ' * 16};"
         "qdisc add dev e parent 10:2 cake besteffort;"
         "filter add dev e parent 10: flower ip_tos 0xb8/0xfc classid 10:1",
         two(f'"ets(strict=2, quanta=[], map={[int(one != 46) for one in range(64)]}, queues=[{PLAIN},'
             ' "cake(tins=best_effort)"])"')),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: htb default 1;"
         "class add dev e parent 10: classid 10:1 htb rate 1mbit; qdisc add dev e parent 10:1 pie;"
         "filter add dev e parent 1: matchall classid 1:10",
         f'htb(classes=[(name=c10, rate=5Mbit/s, {BURST}, dscp={list(range(64))}, queue="htb(classes=[(name=c1,'
         f' rate=1Mbit/s, {BURST}, queue="fifo + pie(ecn=false) + 1000packets")], default=c1)"),'
         f" (name=c20, rate=5Mbit/s, {BURST}, queue={PLAIN})], default=c20)"),
        # Bands, in order.
        (f"qdisc add dev e root handle 1: ets bands 2 strict 1 priomap {'1 ' * 16}; qdisc add dev e parent 1:2 fq",
         f"ets(strict=1, quanta=[1514B], map=[1, 1, 1, 1, 1, 1, 1, 1], queues=[{PLAIN}, \"linux_fq + 10000packets\"])"),
        (f"qdisc add dev e root handle 1: drr; {drr('quantum 300')}; qdisc add dev e parent 1:2 sfq;"
         "filter add dev e parent 1: flower ip_tos 0xb8/0xfc classid 1:2",
         f"drr(classes=[(name=c1, quantum=300B, queue={PLAIN}), (name=c2, quantum=1514B, dscp=[46],"
         ' queue="linux_sfq + 127packets")])'),
        ("qdisc add dev e root handle 1: qfq; class add dev e parent 1: classid 1:1 qfq weight 3;"
         "qdisc add dev e parent 1:1 codel",
         'linux_qfq(classes=[(name=c1, weight=3, queue="fifo + codel(ecn=false) + 1000packets")])'),
        # A shaper with one queue.
        ("qdisc add dev e root handle 1: tbf rate 1mbit burst 5k limit 9k; qdisc add dev e parent 1: handle 2: prio;"
         "qdisc add dev e parent 2:1 handle 3: tbf rate 1mbit burst 5k limit 9k",
         'token_bucket(rate=1Mbit/s, burst=5120B, queue="ets(strict=3, quanta=[], priomap=[1, 2, 2, 2, 1, 2, 0, 0, 1,'
         f' 1, 1, 1, 1, 1, 1, 1], queues=["token_bucket(rate=1Mbit/s, burst=5120B) + 9216B", {PLAIN}, {PLAIN}])")'),
        ("qdisc add dev e root handle 1: cbs idleslope 20000 sendslope -80000 hicredit 30 locredit -120;"
         "qdisc add dev e parent 1:1 fq_codel",
         "cbs(classes=[(name=a, idle_slope=20Mbit/s, send_slope=80Mbit/s, hi_credit=30B, lo_credit=120B,"
         ' queue="fq_codel + 10240packets")], default=a)'),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: netem delay 10ms; qdisc add dev e parent 10:1 sfq",
         two('"linux_sfq + 127packets"')),
    ],
)  # fmt: skip
def test_what_stands_in_a_class_is_its_queue(commands, text):
    assert tc.read(commands).text == text


@pytest.mark.parametrize(
    "line",
    ["pfifo", "bfifo limit 9k", "pfifo_head_drop", "pfifo_fast", "sfq limit 90", "hhf", "skbprio", "fq", "fq_codel",
     "codel", "fq_pie", "pie", "red limit 400000 min 15000 max 45000 avpkt 1000 burst 25 probability 0.1",
     "choke limit 90 bandwidth 1mbit", "sfb", "cake bandwidth 2mbit", "dualpi2", "tbf rate 1mbit burst 5k limit 9k",
     "cbs idleslope 20000 sendslope -80000"],
)  # fmt: skip
@pytest.mark.parametrize(
    "above",
    [
        TWO,
        "qdisc add dev e root handle 1: ets bands 16 strict 16",
        "qdisc add dev e root handle 1: tbf rate 9mbit burst 5k limit 9k",
    ],
)
def test_each_qdisc_may_stand_in_a_class_and_is_what_it_is_at_the_root(line, above):
    alone = tc.read(f"qdisc add dev e root {line}").text
    found = tc.read(f"{above}; qdisc add dev e parent 1:10 {line}")
    assert f'"{alone}"' in found.text
    again = tc.read("\n".join(tc.write(found.text).commands)).text
    assert json.loads(_native.queue(again)) == json.loads(_native.queue(found.text))


def settings(found):
    return [row["setting"] for row in found.differs]


@pytest.mark.parametrize(
    ("commands", "rows"),
    [
        (TWO, []),
        # A row of a queue in a class names the class.
        (f"{TWO}; qdisc add dev e parent 1:10 cake nat; qdisc add dev e parent 1:20 cake nat",
         ["class 1:10: nat", "class 1:20: nat"]),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: prio; qdisc add dev e parent 10:1 fq nopacing",
         ["class 1:10: class 10:1: nopacing"]),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: htb; class add dev e parent 10: classid 10:1 htb rate 1mbit",
         ["class 1:10: default"]),
        # What has no queue in it here.
        ("qdisc add dev e root handle 1: red limit 60000 avpkt 1000; qdisc add dev e parent 1:1 handle 2: prio;"
         "qdisc add dev e parent 2:1 sfq", ["qdisc prio in class 1:1", "qdisc sfq in class 2:1"]),
    ],
)  # fmt: skip
def test_what_is_not_carried_over_has_its_row(commands, rows):
    assert settings(tc.read(commands)) == rows


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ('htb(classes=[(name=c10, rate=1Mbit/s, queue="fq_codel + 9packets"), (name=c20, rate=1Mbit/s)], default=c20)',
         ["qdisc replace dev e root handle 1: htb default 20",
          "class add dev e parent 1: classid 1:10 htb rate 1mbit burst 3028 cburst 3028",
          "class add dev e parent 1: classid 1:20 htb rate 1mbit burst 3028 cburst 3028",
          "qdisc add dev e parent 1:10 handle 10: fq_codel limit 9"]),
        ('drr(classes=[(name=a, quantum=300B, dscp=[46], queue="ets(strict=2, quanta=[], map=[0, 0, 0, 0, 1, 1, 1, 1],'
         ' queues=["linux_sfq + 9packets", "fifo + 10packets"])")])',
         ["qdisc replace dev e root handle 1: drr",
          "class add dev e parent 1: classid 1:10 drr quantum 300",
          *(f"filter add dev e parent 1: protocol {protocol} u32 match {match} 0xb8 0xfc flowid 1:10"
            for protocol, match in (("ip", "ip dsfield"), ("ipv6", "ip6 priority"))),
          "qdisc add dev e parent 1:10 handle 10: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
          *(f"filter add dev e parent 10: protocol {protocol} u32 match {match} {one << 5:#04x} 0xe0"
            f" flowid 10:{1 + one // 4}" for one in range(8)
            for protocol, match in (("ip", "ip dsfield"), ("ipv6", "ip6 priority"))),
          # 10: and 20: are what its bands would have, and one of them is taken.
          "qdisc add dev e parent 10:1 handle 11: sfq limit 9",
          "qdisc add dev e parent 10:2 handle 20: pfifo limit 10"]),
        ('token_bucket(rate=1Mbit/s, burst=3000B, queue="fq_codel + 9packets")',
         ["qdisc replace dev e root handle 1: tbf rate 1mbit burst 3000 limit 1514000",
          "qdisc add dev e parent 1:1 handle 10: fq_codel limit 9"]),
    ],
)  # fmt: skip
def test_a_queue_in_a_class_is_written_below_it(text, commands):
    assert tc.write(text, "e").commands == [f"tc {command}" for command in commands]


@pytest.mark.parametrize(
    ("text", "row", "linux"),
    [
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="fq_codel + 9packets")]) + 100packets', "limit", "limits of the"),
        ('priority(queues=["fq_codel + 9packets"]) + 100packets', "limit", "limits of the"),
        ('token_bucket(rate=1Mbit/s, queue="fq_codel + 9packets") + 100packets', "limit", "the qdisc in it alone"),
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="sfq + 9packets")])', "a: discipline", "sfq shares"),
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="police(rate=1Mbit/s) + fifo + 9packets")])', "a: policer",
         "left out"),
        ('htb(classes=[(name=a, rate=1Mbit/s, queue="cake_mq(queues=2)")])', "a: queues", "one cake"),
        ('ets(strict=2, quanta=[], map=[0, 0, 0, 0, 1, 1, 1, 1], queues=["fifo + 9packets", "drr + 9packets"])',
         "band1: discipline", "sfq shares"),
    ],
)  # fmt: skip
def test_what_tc_cannot_say_of_a_queue_in_a_class_has_its_row(text, row, linux):
    rows = {each["setting"]: each["linux"] for each in tc.write(text).differs}
    assert linux in rows[row]


LEAVES = [
    "fifo + 9packets", "fifo + 1000packets", "fifo + 30000B", "fq_codel(target=3ms) + 500packets",
    "linux_sfq(perturb=10s) + 90packets", "linux_fq + 700packets", "cake(rate=2Mbit/s, tins=best_effort)",
    "fifo + codel(ecn=true) + 77packets", "token_bucket(rate=1Mbit/s, burst=3000B) + 20000B", "hhf + 80packets",
]  # fmt: skip
"""Queues that tc has just so."""


def points(draw, names):
    """Code points of some classes, each in one."""
    drawn = draw.sample(range(64), draw.randrange(12))
    return {name: sorted(point for at, point in enumerate(drawn) if at % len(names) == number)
            for number, name in enumerate(names)}  # fmt: skip


def classes(draw, depth, settings, has_parents, least):
    """A list of classes, and the leaves among them."""
    inner = [f"c{number:x}" for number in range(1, 1 + has_parents * draw.randrange(3))]
    leaves = [f"c{number:x}" for number in sorted(draw.sample(range(0x10, 0x100), draw.randrange(least, 4)))]
    # Each inner class has one below it.
    leaves += [f"c{0x100 + at:x}" for at in range(len(inner))]
    of, rows = points(draw, leaves), []
    for name in [*inner, *leaves]:
        parent = inner[int(name[1:], 16) - 0x100] if int(name[1:], 16) >= 0x100 else None
        said = [f"name={name}", *([f"parent={parent}"] if parent else []), settings()]
        if name in leaves:
            said += [f"dscp={of[name]}", f'queue="{drawn(draw, depth - 1)}"']
        rows.append(f"({', '.join(each for each in said if each)})")
    return f"[{', '.join(rows)}]", leaves


def drawn(draw, depth, least=1):
    """A queue, of trees up to this depth."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice(LEAVES)
    kind = draw.choice(["htb", "hfsc", "linux_qfq", "drr", "ets", "token_bucket"])
    if kind == "token_bucket":
        return f'token_bucket(rate={draw.randrange(1, 9)}Mbit/s, burst=4000B, queue="{drawn(draw, depth - 1)}")'
    if kind == "ets":
        strict, quanta = draw.randrange(2, 4), [f"{draw.randrange(300, 3000)}B" for _ in range(draw.randrange(3))]
        bands = strict + len(quanta)
        queues = ", ".join(f'"{drawn(draw, depth - 1)}"' for _ in range(bands))
        goes_by = draw.choice([f"map={draw.choices(range(bands), k=8)}", f"map={draw.choices(range(bands), k=64)}",
                               f"priomap={[0, *draw.choices(range(bands), k=14), 1]}"])  # fmt: skip
        return f"ets(strict={strict}, quanta=[{', '.join(quanta)}], {goes_by}, queues=[{queues}])"
    said = {
        "htb": lambda: f"rate={draw.randrange(1, 5)}Mbit/s, ceil={draw.randrange(5, 9)}Mbit/s, burst=2000B",
        "hfsc": lambda: f"link_share=(m2={draw.randrange(1, 9)}Mbit/s)",
        "linux_qfq": lambda: f"weight={draw.randrange(1, 9)}, maxpkt=2048B",
        "drr": lambda: f"quantum={draw.randrange(300, 3000)}B",
    }[kind]  # fmt: skip
    rows, leaves = classes(draw, depth, said, kind in ("htb", "hfsc"), least)
    default = f", default={draw.choice(leaves)}" if kind in ("htb", "hfsc") else ""
    return f"{kind}(classes={rows}{default})"


def test_random_trees_are_read_as_they_are_written():
    draw, depths = random.Random(5), []
    for _ in range(100):
        # One class of htb is the line, and no tree.
        text = drawn(draw, 3, least=2)
        written = tc.write(text, "e")
        found = tc.read("\n".join(written.commands))
        assert json.loads(_native.queue(found.text)) == json.loads(_native.queue(text)), text
        assert tc.write(found.text, "e").commands == written.commands
        handles = [command.partition(" handle ")[2].split()[0] for command in written.commands if "qdisc" in command]
        assert len(set(handles)) == len(handles)
        depths.append(text.count("queue="))
    assert max(depths) > 15


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (f"{TWO}; qdisc add dev e parent 1:10 fq_codle", "did you mean fq_codel"),
        (f"{TWO}; qdisc add dev e parent 1:10 fq_codel; qdisc add dev e parent 1:10 sfq", "stands at 1:10 already"),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: htb", "qdisc htb: no class"),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: fq; filter add dev e parent 11: matchall classid 10:1",
         "there is no qdisc 11:"),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: sfq; qdisc add dev e parent 10:1 fq", "sfq has no classes"),
        # What no queue here may be, in tc's words and with the class.
        (f"{TWO}; qdisc add dev e parent 1:10 handle 10: prio; qdisc add dev e parent 10:2 codel target 2s",
         "qdisc codel in class 10:2: no such queue here: codel: target is above 0 s"),
        (f"{TWO}; qdisc add dev e parent 1:20 handle 10: qfq; class add dev e parent 10: classid 10:1 qfq weight 5000",
         "qdisc qfq in class 1:20: no such queue here: linux_qfq: class `c1`: weight 5000"),
        (f"{TWO}; qdisc add dev e parent 1:10 mq", "parent 1:10: mq stands at the root of a device only"),
        (f"{TWO}; qdisc add dev e parent 1:10 handle 20: fq; qdisc add dev e parent 1:20 handle 20: fq",
         "handle 20: is that of fq"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_class_is_one_line(commands, said):
    with pytest.raises(fairq.UsageError, match="tc: ") as raised:
        tc.read(commands)
    assert said in str(raised.value) and "\n" not in str(raised.value)


def test_many_classes_are_read_and_written():
    text = ", ".join(f'(name=k{at}, rate=1Mbit/s, queue="fq_codel + 9packets")' for at in range(1000))
    commands = tc.write(f"htb(classes=[{text}])", "e").commands
    assert len(commands) == 2001
    assert tc.read("\n".join(commands)).text.count("fq_codel") == 1000
