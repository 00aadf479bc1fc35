"""Commands of tc: one qdisc, trees of classes, filters, as a shell gives them."""

from __future__ import annotations

from collections.abc import Callable

from fuzzing.drawing import Case, Draw, damaged

Word = Callable[[Draw], str]


def whole(low: int, high: int) -> Word:
    """A whole number, as C may write it."""
    return lambda d: d.one(("{}", "{}", "{}", "{:#x}")).format(low + d.up_to(high - low))


def rate(d: Draw) -> str:
    """A rate as tc reads it."""
    return f"{1 + d.up_to(900)}{d.one(('kbit', 'mbit', 'Mbit', 'mbps', 'kibit', 'kbps'))}"


def size(d: Draw) -> str:
    """A size as tc reads it."""
    return f"{2 + d.up_to(60)}{d.one(('k', 'kb', 'kbit', '000', '000b'))}"


def time(d: Draw) -> str:
    """A time as tc reads it."""
    return f"{1 + d.up_to(90)}{d.one(('ms', 'msec', 'us', '000'))}"


def numbers(low: int, high: int, count: int) -> Word:
    """Some whole numbers."""
    return lambda d: " ".join(str(low + d.up_to(high - low)) for _ in range(count))


def flag(_: Draw) -> str:
    """An option without a value."""
    return ""


def word(text: str) -> Word:
    """Always the same word."""
    return lambda _: text


CODEL: dict[str, Word] = {
    "limit": whole(1, 9999), "target": lambda d: f"{1 + d.up_to(20)}ms", "interval": lambda d: f"{50 + d.up_to(100)}ms",
    "ce_threshold": time, "ecn": flag, "noecn": flag,
}  # fmt: skip
PIE: dict[str, Word] = {
    "limit": whole(1, 9999), "target": time, "tupdate": time, "alpha": whole(0, 32), "beta": whole(0, 32), "ecn": flag,
    "bytemode": flag, "dq_rate_estimator": flag,
}  # fmt: skip
RED: dict[str, Word] = {"probability": word("0.1"), "ecn": flag}
KINDS: dict[str, tuple[str, dict[str, Word]]] = {
    "pfifo": ("", {"limit": whole(1, 999)}),
    "bfifo": ("", {"limit": size}),
    "pfifo_head_drop": ("", {"limit": whole(1, 999)}),
    "pfifo_fast": ("", {}),
    "prio": ("", {"bands": whole(3, 16), "priomap": numbers(0, 2, 16)}),
    "ets": ("strict 2", {"quanta": numbers(1500, 9000, 3), "priomap": numbers(0, 1, 9)}),
    "sfq": ("", {"limit": whole(2, 999), "quantum": size, "depth": whole(1, 99), "flows": whole(1, 999),
                 "divisor": lambda d: str(2 ** d.up_to(16)), "headdrop": flag, "perturb": whole(1, 60)}),
    "hhf": ("", {"limit": whole(1, 999), "quantum": whole(256, 9000), "hh_limit": whole(1, 2048), "reset_timeout": time,
                 "admit_bytes": whole(1, 10**6), "evict_timeout": time, "non_hh_weight": whole(1, 9)}),
    "skbprio": ("", {"limit": whole(1, 999)}),
    "tbf": ("rate 5mbit burst 9k latency 50ms", {"peakrate": word("9mbit mtu 1540"), "mpu": whole(0, 99),
                                                 "overhead": whole(0, 40), "linklayer": word("atm")}),
    "cbs": ("idleslope 20000", {"sendslope": whole(-9, -1), "hicredit": whole(0, 99), "locredit": whole(-99, 0)}),
    "fq": ("", {"limit": whole(1, 9999), "flow_limit": whole(1, 999), "quantum": whole(256, 9000), "maxrate": rate,
                "initial_quantum": whole(256, 9000), "buckets": whole(1, 999), "nopacing": flag, "refill_delay": time,
                "low_rate_threshold": rate, "timer_slack": time, "horizon": time, "horizon_drop": flag,
                "weights": numbers(16384, 600000, 3), "ce_threshold": time}),
    "fq_codel": ("", {**CODEL, "flows": whole(1, 65536), "memory_limit": size, "quantum": whole(1, 9000),
                      "drop_batch": whole(1, 99)}),
    "codel": ("", CODEL),
    "fq_pie": ("", {**PIE, "flows": whole(1, 65536), "quantum": size, "memory_limit": size, "ecn_prob": whole(0, 99)}),
    "pie": ("", PIE),
    "red": ("limit 400000 avpkt 1000", {**RED, "min": word("30000"), "max": word("90000"), "burst": whole(30, 60),
                                        "bandwidth": rate, "harddrop": flag, "adaptive": flag}),
    "choke": ("limit 1000 bandwidth 10mbit", {**RED, "min": word("83"), "max": word("250"), "burst": whole(60, 90)}),
    "sfb": ("", {"limit": whole(1, 999), "max": whole(25, 99), "target": whole(1, 24), "increment": word("0.001"),
                 "decrement": word("0.0001"), "penalty_rate": whole(1, 99), "penalty_burst": whole(1, 99)}),
    "cake": ("", {"bandwidth": rate, "unlimited": flag, "besteffort": flag, "diffserv4": flag, "diffserv8": flag,
                  "dual-dsthost": flag, "triple-isolate": flag, "nat": flag, "wash": flag, "ack-filter": flag,
                  "memlimit": size, "rtt": time, "lan": flag, "overhead": whole(-64, 256), "mpu": whole(0, 256),
                  "atm": flag, "ptm": flag, "docsis": flag, "ether-vlan": flag, "pppoe-ptm": flag, "ingress": flag,
                  "fwmark": whole(0, 255), "split-gso": flag, "autorate-ingress": flag}),
    "dualpi2": ("", {"limit": whole(1, 9999), "memlimit": whole(1, 10**7), "coupling_factor": whole(1, 9),
                     "step_thresh": time, "target": time, "tupdate": time, "alpha": word("0.16"), "beta": word("3.2"),
                     "drop_enqueue": flag, "classic_protection": word("10%"), "any_ect": flag, "overflow": flag}),
    "netem": ("", {"delay": time, "loss": word("1%"), "limit": whole(1, 999), "rate": rate}),
    "mq": ("", {}),
}  # fmt: skip
"""Qdiscs: the words they need, and options that they may have."""

TREES: dict[str, Word] = {
    "htb": lambda d: f"rate {rate(d)}" + said(d, {"ceil": rate, "burst": size, "cburst": size, "prio": whole(0, 7),
                                                  "quantum": whole(1000, 60000), "overhead": whole(0, 99)}),
    "hfsc": lambda d: d.one((
        f"ls rate {rate(d)}", f"sc rate {rate(d)} ul rate {rate(d)}", f"ls m1 {rate(d)} d {time(d)} m2 {rate(d)}",
        f"rt umax 1500 dmax 10ms rate {rate(d)} ls rate 1mbit",
    )),
    "drr": lambda d: said(d, {"quantum": size}),
    "qfq": lambda d: said(d, {"weight": whole(1, 1024), "maxpkt": whole(512, 65535)}),
}  # fmt: skip
"""Qdiscs with classes, and what a class is told."""

MATCHES = (
    "u32 match ip tos {:#x} 0xfc", "u32 match ip dsfield {} 0xff", "u32 match u32 0 0", "flower ip_tos {:#x}/0xfc",
    "protocol ipv6 u32 match ip6 priority {:#x} 0xfc", "matchall", "fw", "u32 match ip sport {} 0xffff",
    "basic match 'u32(u32 {:#x} 0x0 at 16)'", "u32 match ip dst 10.0.0.{}/32", "u32 match u8 {:#x} 0xfc at 1",
    "u32 match ip protocol 17 0xff match ip tos {:#x} 0xe0", "flower dst_port {}",
)  # fmt: skip
OTHERS = ("add", "del", "replace", "change", "root", "parent", "classid", "handle", "dev", "qdisc", "class", "filter",
          "limit", "rate", "default")  # fmt: skip
WORDS = (*KINDS, *TREES, *OTHERS)


def said(draw: Draw, options: dict[str, Word]) -> str:
    """Some of the options with their values."""
    chosen = draw.some(list(options), draw.one((0, 0.1, 0.3)))
    draw.shuffle(chosen)
    return "".join(f" {name} {options[name](draw)}".rstrip() for name in chosen)


def qdisc(draw: Draw) -> str:
    """A qdisc without classes."""
    kind = draw.one(list(KINDS))
    needed, options = KINDS[kind]
    return f"{kind} {needed}{said(draw, options)}"


def tree(draw: Draw) -> list[str]:
    """A qdisc with classes, what stands in them and filters to them."""
    kind = draw.one(list(TREES))
    default = f" default {draw.one(('1', '2', '0x2', 'a'))}" if kind in ("htb", "hfsc") and draw.chance(0.8) else ""
    lines = [f"qdisc add dev eth0 root handle 1: {kind}{default}"]
    names = ["1"]
    for at in range(1, 2 + draw.up_to(4)):
        parent = draw.one(names) if kind in ("htb", "hfsc") and draw.chance(0.4) else ""
        lines.append(
            f"class add dev eth0 parent 1:{parent if at > 1 else ''} classid 1:{at:x} {kind} {TREES[kind](draw)}"
        )
        names.append(f"{at:x}")
    for name in draw.some(names[1:], 0.3):
        lines.append(f"qdisc add dev eth0 parent 1:{name} {qdisc(draw)}")
    for name in draw.some(names[1:], 0.5):
        match = draw.one(MATCHES).format(draw.up_to(255))
        if not match.startswith("protocol"):
            order = draw.one(("", f"prio {1 + draw.up_to(9)} "))
            match = f"{draw.one(('protocol ip ', 'protocol all ', ''))}{order}{match}"
        lines.append(f"filter add dev eth0 parent 1: {match} {draw.one(('flowid', 'classid'))} 1:{name}")
    if draw.chance(0.1):
        lines.append(f"class change dev eth0 classid 1:1 {kind} {TREES[kind](draw)}")
    return lines


def tc(draw: Draw) -> Case:
    """Commands for --read, or the words of one qdisc."""
    if draw.chance(0.2):
        words = damaged(draw, qdisc(draw), WORDS)
        return Case((("tc", "--", *words.split()) if draw.chance(0.5) else ("tc", "--", words),))
    lines = tree(draw) if draw.chance(0.5) else [f"qdisc {draw.one(('add', 'replace'))} dev eth0 root {qdisc(draw)}"]
    if draw.chance(0.1):
        lines.insert(0, "qdisc del dev eth0 root 2>/dev/null")
    if draw.chance(0.2):
        lines = [f"{draw.one(('tc', 'sudo tc', '/sbin/tc', 'sudo -n /sbin/tc -s'))} {line}" for line in lines]
    text = damaged(draw, draw.one(("; ", "\n", " && ", " \\\n; ", "  # x\n")).join(lines), WORDS)
    return Case((("tc", f"--read={text}", *draw.some(("--json",), 0.2)),))
