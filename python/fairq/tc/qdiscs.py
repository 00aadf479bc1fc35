"""Each qdisc of Linux: its options with tc's units and defaults, and the text form that it is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairq._native import UsageError
from fairq.tc.units import part, rate, rate_form, size, time_form, time_us, whole
from fairq.tc.words import Words, options

MTU = 1514
"""Of an Ethernet device, its header included."""
TXQUEUELEN = 1000

Differs = list[dict[str, str]]


@dataclass(frozen=True)
class Class:
    """A class with its options and code points."""

    name: str
    parent: str | None
    options: Mapping[str, Any]
    dscp: Sequence[int]


def _plain(given: Mapping[str, Callable[[str], Any] | None]) -> Callable[[Words], dict[str, Any]]:
    known = options(given)
    return lambda words: words.take(known)


def _prio(words: Words) -> dict[str, Any]:
    found: dict[str, Any] = {"bands": 3}
    while words:
        word = words.next("it")
        if word == "bands":
            found["bands"] = whole(words.next(word))
        elif word == "priomap":
            found["priomap"] = words.numbers(whole)
        else:
            raise UsageError(f"tc: {words.what}: there is no option {word}; there are bands, priomap")
    return found


def _ets(words: Words) -> dict[str, Any]:
    found: dict[str, Any] = {"bands": 0, "strict": 0, "quanta": []}
    while words:
        word = words.next("it")
        if word in ("bands", "strict"):
            found[word] = whole(words.next(word))
        elif word in ("quanta", "priomap"):
            found[word] = words.numbers(size)
        else:
            raise UsageError(f"tc: {words.what}: there is no option {word}; there are bands, strict, quanta, priomap")
    found["bands"] = found["bands"] or found["strict"] + len(found["quanta"])
    return found


def _hfsc_class(words: Words) -> dict[str, Any]:
    found: dict[str, Any] = {}
    while words:
        word = words.next("it")
        if word not in ("rt", "ls", "sc", "ul"):
            raise UsageError(f"tc: {words.what}: there is no option {word}; there are rt, ls, sc, ul")
        curve: dict[str, Any] = {}
        while (name := words.peek()) in ("m1", "d", "m2", "umax", "dmax", "rate"):
            words.next("it")
            read = {"m1": rate, "m2": rate, "rate": rate, "d": time_us, "dmax": time_us, "umax": size}[name]
            curve[name] = read(words.next(name))
        for one in ("rt", "ls") if word == "sc" else (word,):
            found[one] = _curve(curve)
    return found


def _curve(given: Mapping[str, Any]) -> dict[str, Any]:
    """m1, d and m2 of a curve, as tc has them of umax, dmax and rate (iproute2, q_hfsc.c)."""
    if "umax" not in given and "dmax" not in given:
        return {"m1": given.get("m1", 0), "d": given.get("d", 0), "m2": given.get("m2", given.get("rate", 0))}
    umax, dmax, slope = given.get("umax", 0), given.get("dmax", 0), given.get("rate", 0)
    if umax and not dmax:
        raise UsageError("tc: class hfsc: umax without dmax; write dmax 10ms")
    if not slope:
        raise UsageError("tc: class hfsc: dmax without rate; write rate 1mbit")
    first = -(-umax * 8 * 10**6 // dmax) if dmax else 0
    if first > slope:
        return {"m1": first, "d": dmax, "m2": slope}
    return {"m1": 0, "d": max(0, -(-(dmax - umax * 8 * 10**6 / slope) // 1)), "m2": slope}


CAKE_TINS = {
    "besteffort": "best_effort", "precedence": "precedence", "diffserv3": "diffserv3", "diffserv4": "diffserv4",
    "diffserv8": "diffserv8", "diffserv": "diffserv4",
}  # fmt: skip
CAKE_ISOLATION = {
    "flowblind": "blind", "srchost": "source", "dsthost": "destination", "hosts": "hosts", "flows": "flows",
    "dual-srchost": "dual_source", "dual-dsthost": "dual_destination", "triple-isolate": "triple",
}  # fmt: skip
CAKE_PRESETS = [
    "raw", "conservative", "ipoa-vcmux", "ipoa-llcsnap", "bridged-vcmux", "bridged-llcsnap", "pppoa-vcmux", "pppoa-llc",
    "pppoe-vcmux", "pppoe-llcsnap", "pppoe-ptm", "bridged-ptm", "docsis", "ethernet",
]  # fmt: skip
CAKE_RTTS = ["datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite", "interplanetary"]
CAKE_LEFT = ["nat", "wash", "split-gso", "autorate-ingress", "autorate_ingress"]
CAKE_NOTHING = ["unlimited", "nonat", "nowash", "no-split-gso", "no-ack-filter", "egress", "noatm"]


def _cake(words: Words) -> dict[str, Any]:
    found: dict[str, Any] = {"differs": []}
    values: dict[str, Callable[[str], Any]] = {
        "bandwidth": rate, "rtt": time_us, "target": time_us, "overhead": whole, "mpu": whole, "memlimit": size,
        "fwmark": whole,
    }  # fmt: skip
    known = [*values, *CAKE_TINS, *CAKE_ISOLATION, *CAKE_PRESETS, *CAKE_RTTS, *CAKE_LEFT, *CAKE_NOTHING,
             "ack-filter", "ack-filter-aggressive", "ingress", "atm", "ptm", "ether-vlan"]  # fmt: skip
    while words:
        word = words.next("it")
        if word in values:
            found[word] = values[word](words.next(word))
        elif word in CAKE_TINS:
            found["tins"] = CAKE_TINS[word]
        elif word in CAKE_ISOLATION:
            found["isolation"] = CAKE_ISOLATION[word]
        elif word in CAKE_PRESETS:
            found["preset"] = word.replace("-", "_")
        elif word in CAKE_RTTS:
            found["rtt"] = word
        elif word == "ether-vlan":
            found["overhead"] = found.get("overhead", 0) + 4
        elif word in ("atm", "ptm"):
            found["framing"] = word
        elif word in ("ack-filter", "ack-filter-aggressive"):
            found["ack_filter"] = "aggressive" if word.endswith("aggressive") else "conservative"
        elif word == "ingress":
            found["ingress"] = True
        elif word in CAKE_LEFT:
            found["differs"].append(word)
        elif word == "unlimited":
            found.pop("bandwidth", None)
        elif word not in CAKE_NOTHING:
            from fairq.near import near_miss

            raise UsageError(f"tc: {words.what}: there is no option {word}{near_miss(word, known)}")
    return found


_CODEL = {"limit": whole, "target": time_us, "interval": time_us, "ecn": None, "noecn": None, "ce_threshold": time_us}
_RED = {
    "limit": size, "min": size, "max": size, "avpkt": size, "burst": whole, "probability": part, "bandwidth": rate,
    "ecn": None, "harddrop": None, "nodrop": None, "adaptive": None,
}  # fmt: skip
_LINK: dict[str, Callable[[str], Any] | None] = {"mpu": whole, "overhead": whole, "linklayer": str}

KINDS: dict[str, Callable[[Words], dict[str, Any]]] = {
    "pfifo": _plain({"limit": whole}),
    "bfifo": _plain({"limit": size}),
    "pfifo_head_drop": _plain({"limit": whole}),
    "pfifo_fast": _plain({}),
    "prio": _prio,
    "ets": _ets,
    "sfq": _plain({"limit": whole, "quantum": size, "depth": whole, "flows": whole, "divisor": whole, "headdrop": None,
                   "perturb": whole, "redflowlimit": size, "min": size, "max": size, "avpkt": size, "burst": whole,
                   "probability": part, "ecn": None, "harddrop": None}),
    "drr": _plain({}),
    "qfq": _plain({}),
    "hfsc": _plain({"default": str}),
    "htb": _plain({"default": str, "r2q": whole, "direct_qlen": whole, "debug": whole, "offload": None}),
    "tbf": _plain({"rate": rate, "burst|buffer|maxburst": size, "latency": time_us, "limit": size, "peakrate": rate,
                   "mtu|minburst": size, **_LINK}),
    "cbs": _plain({"hicredit": whole, "locredit": whole, "sendslope": whole, "idleslope": whole, "offload": whole}),
    "fq": _plain({"limit": whole, "flow_limit": whole, "quantum": size, "initial_quantum": size, "maxrate": rate,
                  "buckets": whole, "orphan_mask": whole, "pacing": None, "nopacing": None, "ce_threshold": time_us,
                  "refill_delay": time_us, "low_rate_threshold": rate, "timer_slack": time_us, "horizon": time_us,
                  "horizon_cap": None, "horizon_drop": None, "defrate": rate}),
    "fq_codel": _plain({**_CODEL, "flows": whole, "memory_limit": size, "quantum": size, "drop_batch": whole,
                        "ce_threshold_selector": str}),
    "codel": _plain(_CODEL),
    "fq_pie": _plain({"limit": whole, "flows": whole, "target": time_us, "tupdate": time_us, "alpha": whole,
                      "beta": whole, "quantum": size, "memory_limit": size, "ecn_prob": whole, "ecn": None,
                      "noecn": None, "bytemode": None, "nobytemode": None, "dq_rate_estimator": None,
                      "no_dq_rate_estimator": None}),
    "pie": _plain({"limit": whole, "target": time_us, "tupdate": time_us, "alpha": whole, "beta": whole, "ecn": None,
                   "noecn": None, "bytemode": None, "nobytemode": None, "dq_rate_estimator": None,
                   "no_dq_rate_estimator": None}),
    "red": _plain(_RED),
    "choke": _plain({**_RED, "limit": whole, "min": whole, "max": whole}),
    "sfb": _plain({"limit": whole, "max": whole, "target": whole, "rehash": whole, "db": whole, "increment": part,
                   "decrement": part, "penalty_rate": whole, "penalty_burst": whole}),
    "cake": _cake,
    "netem": lambda words: {"given": words.rest()},
    "mq": lambda words: {"given": words.rest()},
    "noqueue": _plain({}),
}  # fmt: skip

CLASSES: dict[str, Callable[[Words], dict[str, Any]]] = {
    "htb": _plain({"rate": rate, "ceil": rate, "burst|buffer|maxburst": size, "cburst|cbuffer|maxcburst": size,
                   "prio": whole, "quantum": size, "mtu": size, **_LINK}),
    "hfsc": _hfsc_class,
    "drr": _plain({"quantum": size}),
    "qfq": _plain({"weight": whole, "maxpkt": size}),
}  # fmt: skip


def text(kind: str, given: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    """The text form of a qdisc; what is not as in Linux is added to `differs`."""
    return FORMS[kind](given, classes, differs)


def _form(name: str, settings: Mapping[str, Any]) -> str:
    said = [f"{key}={value}" for key, value in settings.items() if value is not None]
    return f"{name}({', '.join(said)})" if said else name


def _times(given: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {here: time_form(given[there]) if there in given else None for there, here in names.items()}


def _bytes(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: f"{given[name]}B" if name in given else None for name in names}


def _left(given: Mapping[str, Any], differs: Differs, *names: str) -> None:
    for name in names:
        if name in given:
            differs.append({"setting": name, "here": "left out", "linux": str(given[name])})


def _fifo(given: Mapping[str, Any], _: Sequence[Class], __: Differs) -> str:
    return f"fifo + {given.get('limit', TXQUEUELEN)}packets"


def _bfifo(given: Mapping[str, Any], _: Sequence[Class], __: Differs) -> str:
    return f"fifo + {given.get('limit', TXQUEUELEN * MTU)}B"


def _by_precedence(classes: Sequence[Class], bands: int, default: int, differs: Differs) -> list[int]:
    """The band of each precedence, by filters to the classes 1 to `bands`."""
    found = [default] * 8
    for one in classes:
        band = int(one.name.split(":")[1], 16) - 1
        for precedence in range(8):
            eight = set(range(8 * precedence, 8 * precedence + 8))
            inside = eight & set(one.dscp)
            if inside == eight and 0 <= band < bands:
                found[precedence] = band
            elif inside:
                differs.append({"setting": f"filter to {one.name}", "here": "left out: bands go by precedence",
                                "linux": f"DSCP {sorted(inside)}"})  # fmt: skip
    return found


def _bands(
    strict: int, quanta: Sequence[int], given: Mapping[str, Any], classes: Sequence[Class], differs: Differs
) -> str:
    bands = strict + len(quanta)
    if not 1 <= bands <= 16:
        raise UsageError(f"tc: {bands} bands; there are 1 to 16")
    priomap = given.get("priomap", [])
    default = priomap[0] if priomap else 0
    if len(set(priomap)) != 1 and not classes:
        differs.append(
            {"setting": "priomap", "here": "bands go by precedence", "linux": "bands go by the priority of a packet"}
        )
    places = _by_precedence(classes, bands, min(default, bands - 1), differs)
    shares = f"quanta=[{', '.join(f'{quantum}B' for quantum in quanta)}], " if quanta else "quanta=[], "
    return f"ets(strict={strict}, {shares}map={places})"


def _prio_text(given: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    return _bands(given["bands"], [], given, classes, differs)


def _ets_text(given: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    strict, rest = given["strict"], given["bands"] - given["strict"]
    quanta = [*given["quanta"], *[MTU] * rest][:rest]
    return _bands(strict, quanta, given, classes, differs)


def _drr_text(_: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    if not classes:
        raise UsageError("tc: qdisc drr: no class; write tc class add dev eth0 parent 1: classid 1:1 drr")
    quanta = [one.options.get("quantum", MTU) for one in classes]
    numbered = [Class(f":{at + 1:x}", None, {}, one.dscp) for at, one in enumerate(classes)]
    return _bands(0, quanta, {}, numbered, differs)


def _named(classes: Sequence[Class]) -> dict[str, str]:
    return {one.name: "c" + one.name.split(":")[1] for one in classes}


def _leaf(default: str | None, classes: Sequence[Class]) -> str | None:
    """The leaf of a number, as `default 20` names it."""
    if default is None:
        return None
    inner, number = {one.parent for one in classes}, int(default.split(":")[-1], 16)
    leaves = (one.name for one in classes if one.name not in inner)
    return next((name for name in leaves if int(name.split(":")[1], 16) == number), None)


def _list(
    classes: Sequence[Class], settings: Callable[[Class], Mapping[str, Any]], default: str | None
) -> dict[str, Any]:
    names = _named(classes)
    rows = []
    for one in classes:
        points = f"[{', '.join(map(str, one.dscp))}]" if one.dscp else None
        parent = names[one.parent] if one.parent else None
        said = {"name": names[one.name], "parent": parent, **settings(one), "dscp": points}
        rows.append("(" + ", ".join(f"{key}={value}" for key, value in said.items() if value is not None) + ")")
    chosen = _leaf(default, classes)
    return {"classes": f"[{', '.join(rows)}]", "default": names.get(chosen or "")}


def _qfq_text(_: Mapping[str, Any], classes: Sequence[Class], __: Differs) -> str:
    if not classes:
        raise UsageError("tc: qdisc qfq: no class; write tc class add dev eth0 parent 1: classid 1:1 qfq weight 1")
    return _form("linux_qfq", _list(classes, lambda one: {
        "weight": one.options.get("weight"), **_bytes(one.options, "maxpkt")}, None))  # fmt: skip


def _htb_text(given: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    if not classes:
        raise UsageError("tc: qdisc htb: no class; write tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit")
    if "default" not in given:
        differs.append({"setting": "default", "here": "the first leaf", "linux": "packets of no class are not shaped"})
    _left(given, differs, "direct_qlen", "offload")

    def settings(one: Class) -> dict[str, Any]:
        there = one.options
        if "rate" not in there:
            raise UsageError(f"tc: class htb {one.name}: no rate; write rate 1mbit")
        # tc lets a class save a packet of its mtu, 1600 B, and what the rate gives in a tick of the clock.
        burst = there.get("burst", there.get("mtu", 1600))
        cburst = there.get("cburst", there.get("mtu", 1600))
        return {
            "rate": rate_form(there["rate"]), "ceil": rate_form(there["ceil"]) if "ceil" in there else None,
            "burst": f"{burst}B", "cburst": f"{cburst}B", "priority": there.get("prio"), **_bytes(there, "quantum"),
            "overhead": there.get("overhead"), "mpu": there.get("mpu"), "linklayer": _layer(there),
        }  # fmt: skip

    form = _list(classes, settings, given.get("default"))
    return _form("htb", {**form, "r2q": given.get("r2q")})


def _layer(there: Mapping[str, Any]) -> str | None:
    layer = there.get("linklayer")
    return {"atm": "atm", "adsl": "atm", "ethernet": None}.get(layer, layer) if layer else None


def _hfsc_text(given: Mapping[str, Any], classes: Sequence[Class], differs: Differs) -> str:
    if not classes:
        raise UsageError(
            "tc: qdisc hfsc: no class; write tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 1mbit"
        )
    if "default" not in given:
        differs.append({"setting": "default", "here": "the first leaf", "linux": "packets of no class are dropped"})

    def curve(one: Mapping[str, Any]) -> str:
        pieces = {"m1": rate_form(one["m1"]) if one["m1"] else None, "d": time_form(one["d"]) if one["d"] else None,
                  "m2": rate_form(one["m2"])}  # fmt: skip
        return "(" + ", ".join(f"{key}={value}" for key, value in pieces.items() if value is not None) + ")"

    names = {"rt": "real_time", "ls": "link_share", "ul": "upper_limit"}

    def settings(one: Class) -> dict[str, Any]:
        return {here: curve(one.options[there]) for there, here in names.items() if there in one.options}

    return _form("hfsc", _list(classes, settings, given.get("default")))


def _cbs_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "offload")
    if not given.get("idleslope"):
        raise UsageError("tc: qdisc cbs: no idleslope; write idleslope 2000, in kbit/s")
    for option, sign in (("sendslope", -1), ("locredit", -1), ("hicredit", 1)):
        if sign * given.get(option, 0) < 0:
            raise UsageError(f"tc: qdisc cbs: {option} {given[option]} has the wrong sign; write {-given[option]}")
    # What tc is not told is zero; credits below zero and the slope of sending are told as they are, with a minus.
    said = {
        "name": "a", "idle_slope": rate_form(1000 * given["idleslope"]),
        "send_slope": rate_form(-1000 * given.get("sendslope", 0)),
        "hi_credit": f"{given.get('hicredit', 0)}B", "lo_credit": f"{-given.get('locredit', 0)}B",
    }  # fmt: skip
    one = ", ".join(f"{key}={value}" for key, value in said.items())
    return _form("cbs", {"classes": f"[({one})]", "default": "a"})


def _sfq_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "perturb", "redflowlimit")
    said = {**_bytes(given, "quantum"), **{name: given.get(name) for name in ("depth", "flows", "divisor")},
            "headdrop": "true" if given.get("headdrop") else None}  # fmt: skip
    return f"{_form('linux_sfq', said)} + {given.get('limit', 127)}packets"


def _fq_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "horizon", "horizon_cap", "orphan_mask", "nopacing")
    said = {
        "flow_limit": given.get("flow_limit"), **_bytes(given, "quantum", "initial_quantum"),
        "maxrate": rate_form(given["maxrate"]) if "maxrate" in given else None,
        "low_rate_threshold": rate_form(given["low_rate_threshold"]) if "low_rate_threshold" in given else None,
        **_times(given, {"refill_delay": "refill_delay", "ce_threshold": "ce_threshold"}),
    }  # fmt: skip
    return f"{_form('linux_fq', said)} + {given.get('limit', 10_000)}packets"


def _ecn(given: Mapping[str, Any], usual: bool) -> str:
    return "true" if given.get("ecn", usual) and not given.get("noecn") else "false"


_CODEL_TIMES = {"target": "target", "interval": "interval", "ce_threshold": "ce_threshold"}


def _fq_codel_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    if "memory_limit" in given:
        differs.append({"setting": "memory_limit", "here": "lengths of packets", "linux": "its buffers (truesize)"})
    said = {
        "queues": given.get("flows"), **_bytes(given, "quantum"), **_times(given, _CODEL_TIMES),
        "memory": f"{given['memory_limit']}B" if "memory_limit" in given else None,
        "drop_batch": given.get("drop_batch"), "ecn": "false" if given.get("noecn") else None,
    }  # fmt: skip
    return f"{_form('fq_codel', said)} + {given.get('limit', 10_240)}packets"


def _codel_text(given: Mapping[str, Any], _: Sequence[Class], __: Differs) -> str:
    said = {**_times(given, _CODEL_TIMES), "ecn": _ecn(given, usual=False)}
    return f"fifo + {_form('codel', said)} + {given.get('limit', 1000)}packets"


def _pie_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "alpha", "beta", "bytemode", "dq_rate_estimator")
    said = {**_times(given, {"target": "target", "tupdate": "update"}), "ecn": _ecn(given, usual=False)}
    return f"fifo + {_form('pie', said)} + {given.get('limit', 1000)}packets"


def _fq_pie_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "alpha", "beta", "bytemode", "dq_rate_estimator", "ecn_prob")
    times = _times(given, {"target": "target", "tupdate": "update"})
    inner = ", ".join(f"{key}={value}" for key, value in {**times, "ecn": _ecn(given, usual=False)}.items() if value)
    said = {
        "queues": given.get("flows"), **_bytes(given, "quantum"),
        "memory": f"{given['memory_limit']}B" if "memory_limit" in given else None, "pie": f"({inner})",
    }  # fmt: skip
    return f"{_form('fq_pie', said)} + {given.get('limit', 10_240)}packets"


def weight(least: float, burst: int, packet: int) -> float:
    """RED's weight of a burst, as tc reckons it (iproute2, tc_red_eval_ewma)."""
    wanted = burst + 1 - least / packet
    if wanted < 1:
        raise UsageError(f"tc: red: a burst of {burst} packets is below min; write at least {round(least / packet)}")
    for power in range(1, 32):
        tried = 2.0**-power
        if wanted <= (1 - (1 - tried) ** burst) / tried:
            return tried
    raise UsageError(f"tc: red: a burst of {burst} packets is too long for any weight")


def _red_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    _left(given, differs, "adaptive", "nodrop")
    packet, limit = given.get("avpkt", 1000), given.get("limit", 400_000)
    most = given.get("max", limit // 4)
    least = given.get("min", most // 3)
    burst = given.get("burst", (2 * least + most) // (3 * packet))
    said = {
        "min": f"{least}B", "max": f"{most}B", "probability": given.get("probability", 0.02),
        "weight": weight(least, burst, packet), "ecn": _ecn(given, usual=False),
        "hard_drop": "true" if given.get("harddrop") else None,
    }  # fmt: skip
    return f"fifo + {_form('red', said)} + {limit}B"


def _choke_text(given: Mapping[str, Any], _: Sequence[Class], __: Differs) -> str:
    packet, limit = given.get("avpkt", 1000), given.get("limit", 1000)
    most = given.get("max", limit // 4)
    least = given.get("min", most // 3)
    burst = given.get("burst", (2 * least + most) // 3)
    said = {
        "min": f"{least}packets", "max": f"{most}packets", "probability": given.get("probability", 0.02),
        "weight": weight(least * packet, burst, packet), "ecn": _ecn(given, usual=False),
        "hard_drop": "true" if given.get("harddrop") else None,
    }  # fmt: skip
    return f"fifo + {_form('choke', said)} + port_pair + {limit}packets"


def _milliseconds(given: Mapping[str, Any], name: str) -> str | None:
    return time_form(given[name] * 1000) if name in given else None


def _sfb_text(given: Mapping[str, Any], _: Sequence[Class], __: Differs) -> str:
    said = {
        "bin_size": given.get("target"), "bin_max": given.get("max"), "increment": given.get("increment"),
        "decrement": given.get("decrement"), "rehash": _milliseconds(given, "rehash"),
        "warmup": _milliseconds(given, "db"), "penalty_rate": given.get("penalty_rate"),
        "penalty_burst": given.get("penalty_burst"),
    }  # fmt: skip
    return f"fifo + {_form('sfb', said)} + port_pair + {given.get('limit', TXQUEUELEN)}packets"


def _tbf_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    for name in ("rate", "burst"):
        if name not in given:
            raise UsageError(f"tc: qdisc tbf: no {name}; write rate 1mbit burst 5kb latency 50ms")
    latency = given.get("latency")
    limit = given.get("limit")
    if latency is not None:
        buckets = [(given["rate"], given["burst"]), (given.get("peakrate"), given.get("mtu", MTU))]
        limit = min(rate / 8 * latency / 1e6 + held for rate, held in buckets if rate)
    if limit is None:
        raise UsageError("tc: qdisc tbf: neither latency nor limit; write latency 50ms")
    said = {
        "rate": rate_form(given["rate"]), "burst": f"{given['burst']}B",
        "peak_rate": rate_form(given["peakrate"]) if "peakrate" in given else None,
        **(_bytes(given, "mtu") if "peakrate" in given else {}), "overhead": given.get("overhead"),
        "mpu": given.get("mpu"), "linklayer": _layer(given),
    }  # fmt: skip
    differs.append({"setting": "packets longer than burst or mtu", "here": "sent from a full bucket, on debt",
                    "linux": "dropped"})  # fmt: skip
    return f"{_form('token_bucket', said)} + {round(limit)}B"


def _cake_text(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
    for word in given["differs"]:
        differs.append({"setting": word, "here": "left out", "linux": "on"})
    rtt = given.get("rtt")
    said = {
        "rate": rate_form(given["bandwidth"]) if given.get("bandwidth") else None, "preset": given.get("preset"),
        "overhead": given.get("overhead"), "mpu": given.get("mpu"), "framing": given.get("framing"),
        "tins": given.get("tins"), "isolation": given.get("isolation"),
        "rtt": rtt if rtt is None or isinstance(rtt, str) else time_form(rtt),
        "target": time_form(given["target"]) if "target" in given else None,
        "memory": f"{given['memlimit']}B" if "memlimit" in given else None,
        "ack_filter": given.get("ack_filter"), "ingress": "true" if given.get("ingress") else None,
    }  # fmt: skip
    if "memlimit" in given:
        differs.append({"setting": "memlimit", "here": "lengths of packets", "linux": "its buffers (truesize)"})
    return _form("cake", said)


def _unlike(here: str, why: str) -> Callable[[Mapping[str, Any], Sequence[Class], Differs], str]:
    def form(given: Mapping[str, Any], _: Sequence[Class], differs: Differs) -> str:
        differs.append({"setting": "qdisc", "here": here, "linux": why})
        return here

    return form


FORMS: dict[str, Callable[[Mapping[str, Any], Sequence[Class], Differs], str]] = {
    "pfifo": _fifo,
    "bfifo": _bfifo,
    "pfifo_head_drop": lambda given, _, __: f"fifo + head_drop + {given.get('limit', TXQUEUELEN)}packets",
    "pfifo_fast": _unlike("fifo + 1000packets", "three bands by the priority of a packet"),
    "prio": _prio_text,
    "ets": _ets_text,
    "sfq": _sfq_text,
    "drr": _drr_text,
    "qfq": _qfq_text,
    "hfsc": _hfsc_text,
    "htb": _htb_text,
    "tbf": _tbf_text,
    "cbs": _cbs_text,
    "fq": _fq_text,
    "fq_codel": _fq_codel_text,
    "codel": _codel_text,
    "fq_pie": _fq_pie_text,
    "pie": _pie_text,
    "red": _red_text,
    "choke": _choke_text,
    "sfb": _sfb_text,
    "cake": _cake_text,
    "netem": _unlike("fifo + 1000packets", "delay, loss and the like; write them on the link"),
    "mq": _unlike("fifo + 1000packets", "a queue for each of the device's"),
    "noqueue": _unlike("fifo + 1packets", "nothing may wait"),
}
