"""The options that tc prints, as the words that it takes, and which of them say what it has unsaid.

Source: iproute2 6.1, the print functions of tc/q_*.c and f_*.c; Linux 6.1, net/sched: the defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from fairq.traffic_control import qdisc_options, red
from fairq.traffic_control.command_words import Differs, Words
from fairq.traffic_control.devices import Device, Node
from fairq.traffic_control.draft import AVPKT
from fairq.traffic_control.printed import Printed
from fairq.traffic_control.qdisc_tables import MTU
from fairq.traffic_control.quanta import R2Q, clamped
from fairq.traffic_control.units import size, time_us

NO_RATE = "1mbit"
"""Of a choke, which wants a rate that it does not print."""
UNSAID: Mapping[str, str] = {
    "pfifo": "limit 1000",
    "pfifo_head_drop": "limit 1000",
    "fq_codel": "limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32mb ecn drop_batch 64",
    "codel": "limit 1000 target 5ms interval 100ms",
    "pie": "limit 1000 target 15ms tupdate 16ms alpha 2 beta 20",
    "fq_pie": "limit 10240 flows 1024 target 15ms tupdate 16ms alpha 2 beta 20 quantum 1514 memory_limit 32mb"
              " ecn_prob 10",
    "fq": "limit 10000 flow_limit 100 buckets 1024 orphan_mask 1023 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1"
          " weights 589824 196608 65536 quantum 3028 initial_quantum 15140 low_rate_threshold 550kbit"
          " refill_delay 40ms timer_slack 10us horizon 10s horizon_drop offload_horizon 0",
    "sfq": "limit 127 quantum 1514 depth 127 flows 128 divisor 1024",
    "hhf": "limit 1000 quantum 1514 hh_limit 2048 reset_timeout 40ms admit_bytes 131072 evict_timeout 1s"
           " non_hh_weight 2",
    "skbprio": "limit 64",
    "dualpi2": "limit 10000 target 15ms tupdate 16ms alpha 0.16015625 beta 3.19921875 step_thresh 1ms min_qlen_step 0"
               " coupling_factor 2 drop_on_overload drop_dequeue classic_protection 10 l4s_ect split_gso",
    "cake": "unlimited diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw"
            " overhead 0",
    "sfb": "limit 1000 rehash 600000 db 60000 increment 0.000503548 decrement 4.57771e-05 penalty_rate 10"
           " penalty_burst 20",
    "choke": f"limit 1000 bandwidth {NO_RATE}",
    "htb": "r2q 10",
    "class qfq": f"weight 1 maxpkt {MTU}",
}  # fmt: skip
"""What is printed of a qdisc or a class of which nothing was said."""

COUNTERS: Mapping[str, Mapping[str, int]] = {
    "htb": {"direct_packets_stat": 1, "ver": 1, "direct_qlen": 1},
    "class htb": {"level": 1},
    "prio": {"multiqueue:": 1},
    **{kind: {"ewma": 1, "Plog": 1, "Scell_log": 1} for kind in ("red", "choke", "sfq")},
}
"""Words that are no options, with the number of those behind each."""

SIZE = re.compile(r"\d+(\.\d+)?(e\+\d+)?[KMG]?[bB]")


def words(one: Printed, differs: Differs) -> list[str]:
    """The words of the command that adds a qdisc or a class, from its place on."""
    place = [one.parent] if one.parent in ("root", "ingress") else ["parent", one.parent] if one.parent else []
    name = ["handle", one.id] if one.what == "qdisc" else ["classid", one.id]
    return [*place, *name, *_of_stab(one), one.kind, *_options(one, differs)]


def queue_length(one: Printed) -> int | None:
    """The queue length of the device, which htb prints."""
    said = one.words
    if one.kind != "htb" or "direct_qlen" not in said[:-1]:
        return None
    length = said[said.index("direct_qlen") + 1]
    return int(length) if length.isdecimal() and int(length) else None


def forget_unsaid(node: Node, device: Device) -> None:
    """Take those options off a qdisc or a class that a command need not have said."""
    if node.id[1] and node.kind == "htb":
        rate, above = node.options["rate"], device.qdiscs[node.id[0]]
        usual = {"ceil": rate, "quantum": clamped(rate, int(above.options.get("r2q") or R2Q)), "prio": 0}
        # The kernel has the burst as a time, and it is printed a byte shorter then.
        usual |= {name: node.options[name] for name in ("burst", "cburst") if node.options.get(name) in (1599, 1600)}
    else:
        usual = _usual(f"class {node.kind}" if node.id[1] else node.kind)
    node.options = {name: value for name, value in node.options.items() if name not in usual or usual[name] != value}


@cache
def _usual(what: str) -> dict[str, Any]:
    """The options of which nothing was said."""
    said = UNSAID.get(what)
    if said is None:
        return {}
    kind = what.removeprefix("class ")
    readers = qdisc_options.CLASSES if kind != what else qdisc_options.KINDS
    usual = readers[kind](Words(said.split(), what))
    return usual


def plain(word: str) -> str:
    """A word without the unit of numbers, which tc does not take everywhere."""
    if re.fullmatch(r"\d+(p|pps|sec)", word):
        return word.rstrip("psec")
    return f"{size(word)}" if SIZE.fullmatch(word) else word


def _of_stab(one: Printed) -> list[str]:
    said = next((line for line in one.more if line.startswith(("linklayer ", "overhead "))), None)
    return ["stab", *said.split()] if said is not None and one.what == "qdisc" else []


def _options(one: Printed, differs: Differs) -> list[str]:
    kind = one.kind if one.what == "qdisc" else f"class {one.kind}"
    if kind in ("pfifo_fast", "ingress", "clsact"):
        return []
    # In details a cell and the word behind it have no space between them.
    printed = re.sub(r"(/\d+)mpu\b", r"\1 mpu", " ".join(one.words)).split()
    said = _without(printed, COUNTERS.get(kind, {}))
    said = [plain(word) for word in said]
    if kind in _OWN:
        return _OWN[kind](said, printed, differs)
    return said


def _without(said: list[str], counters: Mapping[str, int]) -> list[str]:
    found, left = [], 0
    for word in said:
        if left:
            left -= 1
        elif word in counters:
            left = counters[word]
        else:
            found.append(word)
    return found


def _value(said: list[str], name: str) -> str | None:
    return said[said.index(name) + 1] if name in said[:-1] else None


def _noecn(said: list[str], _: list[str], __: Differs) -> list[str]:
    """ECN is printed where it is on, which it is if nothing is said."""
    return said if "ecn" in said else [*said, "noecn"]


def _sfq(said: list[str], printed: list[str], differs: Differs) -> list[str]:
    # Older ones print how many of how many: 127/1024.
    said = [word.partition("/")[0] for word in said]
    most = _value(said, "max")
    return [*said, "redflowlimit", most, *_burst("sfq", said, printed, differs)] if most is not None else said


def _red(said: list[str], printed: list[str], differs: Differs) -> list[str]:
    return [*said, *_burst("red", said, printed, differs)]


def _choke(said: list[str], printed: list[str], differs: Differs) -> list[str]:
    return [*said, "bandwidth", NO_RATE, *_burst("choke", said, printed, differs)]


def _burst(kind: str, said: list[str], printed: list[str], differs: Differs) -> list[str]:
    """The burst of which tc made the weight that it prints in details."""
    packet = AVPKT
    ewma, least = _value(printed, "ewma"), _value(said, "min")
    if ewma is None or least is None:
        differs.say(f"weight of {kind}", "that of usual packets and bursts", "printed by tc -d alone")
        return ["avpkt", f"{packet}"]
    unit = packet if kind == "choke" else 1
    burst, _ = red.burst_of(int(least) * unit, 2.0 ** -int(ewma), packet)
    return ["avpkt", f"{packet}", "burst", f"{burst}"]


def _tbf(said: list[str], _: list[str], differs: Differs) -> list[str]:
    if (latency := _value(said, "lat")) is not None:
        differs.say("limit of tbf", f"that of lat {latency}", "printed in three digits")
    # In details that of the peak rate follows, which is the same.
    at = said.index("mtu") if "mtu" in said else len(said)
    return [*said[: at + 2], *_without(said[at + 2 :], {"mpu": 1})]


def _sfb(said: list[str], _: list[str], __: Differs) -> list[str]:
    """Times are printed with a unit, and taken in milliseconds."""
    return [f"{time_us(word) // 1000}" if before in ("rehash", "db") else word
            for before, word in zip(["", *said], said, strict=False)]  # fmt: skip


def _cake(said: list[str], _: list[str], __: Differs) -> list[str]:
    """Without a rate the bandwidth is printed as unlimited, which tc takes as a word of its own."""
    return [word for word in said if word != "bandwidth"] if "unlimited" in said else said


def _dualpi2(said: list[str], _: list[str], __: Differs) -> list[str]:
    """Gains are 256ths, printed with six digits."""
    return [f"{round(float(word) * 256) / 256}" if before in ("alpha", "beta") else word
            for before, word in zip(["", *said], said, strict=False)]  # fmt: skip


def _htb_class(said: list[str], _: list[str], __: Differs) -> list[str]:
    """A link layer that is not known is none."""
    at = said.index("linklayer") if "unspec" in said else None
    return said if at is None else [*said[:at], *said[at + 2 :]]


_OWN = {
    "cake": _cake, "choke": _choke, "class htb": _htb_class, "dualpi2": _dualpi2, "fq_codel": _noecn, "red": _red,
    "sfb": _sfb, "sfq": _sfq, "tbf": _tbf,
}  # fmt: skip
