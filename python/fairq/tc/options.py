"""What each qdisc and class of tc may be told: its words, their units, and what iproute2 or the kernel refuse.

Source: iproute2 6.1, tc/q_*.c; the bands of `fq` 6.7, `dualpi2` 6.17. Linux 6.1, net/sched/sch_*.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairq.errors import UsageError
from fairq.tc.cake import words_of_cake
from fairq.tc.refusal import refused
from fairq.tc.units import (
    decimal,
    hexadecimal,
    linklayer,
    part,
    rate,
    rate_form,
    signed,
    size,
    size_and_cell,
    time_us,
    whole,
)  # fmt: skip
from fairq.tc.words import ON, Option, Several, Words, options

Given = dict[str, Any]
Reader = Callable[[Words], Given]

PRIOMAP = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
"""The band of each priority where nothing is said, of `prio` and of `fq`."""
PRIORITIES = 16
BANDS_MAX = 16
CHOKE_MAX = 128 * 1024 - 1
FQ_WEIGHT_MIN = 16_384


def _plain(
    given: Mapping[str, Callable[[str], Any] | Option], unset: str = "", short: Sequence[str] = (),
    check: Callable[[Given, Words], None] | None = None, once: str = "",
) -> Reader:  # fmt: skip
    """Reads options. Of those in `unset` tc does not send a 0: the kernel's default stays."""
    known, zero, single = options(given), unset.split(), once.split()

    def read(words: Words) -> Given:
        found = words.take(known, short, single)
        found = {name: value for name, value in found.items() if value != 0 or value is False or name not in zero}
        if check is not None:
            check(found, words)
        return found

    return read


def _refuse(words: Words, why: str) -> UsageError:
    return refused(f"{words.what}: {why}")


PRIO = options({"bands": decimal, "priomap": ("", Several(decimal)), "multiqueue": ON})


def _prio(words: Words) -> Given:
    found = words.take(PRIO, once=["priomap"])
    bands, given = found.get("bands", 3), found.get("priomap", [])
    if len(given) > PRIORITIES:
        raise _refuse(words, f"priomap has {len(given)} bands; there are {PRIORITIES} priorities")
    if not 2 <= bands <= BANDS_MAX:
        raise _refuse(words, f"bands {bands}; write 2 to {BANDS_MAX}")
    priomap = [*given, *PRIOMAP[len(given) :]]
    _check_map(words, priomap, bands)
    return {**found, "bands": bands, "priomap": priomap}


def _check_map(words: Words, priomap: Sequence[int], bands: int) -> None:
    beyond = [band for band in priomap if band >= bands]
    if beyond:
        raise _refuse(words, f"priomap names band {beyond[0]}; write priomap with bands 0 to {bands - 1}")


ETS = options({
    "bands": decimal, "strict": decimal, "quanta": ("", Several(decimal)), "priomap": ("", Several(decimal)),
})  # fmt: skip


def _ets(words: Words) -> Given:
    found = words.take(ETS, once=list(ETS))
    bands, strict = found.get("bands", 0), found.get("strict", 0)
    quanta, priomap = found.get("quanta", []), found.get("priomap", [])
    bands = bands or strict + len(quanta)
    if not 1 <= bands <= BANDS_MAX:
        raise _refuse(words, f"{bands} bands; write bands, strict or quanta for 1 to {BANDS_MAX}")
    if strict + len(quanta) > bands:
        raise _refuse(words, f"strict {strict} and {len(quanta)} quanta are more than bands {bands}")
    if 0 in quanta:
        raise _refuse(words, "quanta are above 0")
    if len(priomap) > PRIORITIES:
        raise _refuse(words, f"priomap has {len(priomap)} bands; there are {PRIORITIES} priorities")
    _check_map(words, priomap, bands)
    # What priomap does not name goes to the last band (ets_qdisc_change).
    priomap = [*priomap, *[bands - 1] * PRIORITIES][:PRIORITIES]
    return {"bands": bands, "strict": strict, "quanta": quanta, "priomap": priomap}


def _fq(words: Words) -> Given:
    known = options({
        "limit": whole, "flow_limit": whole, "quantum": whole, "initial_quantum": whole, "maxrate": rate,
        "buckets": whole, "orphan_mask": whole, "pacing": ON, "nopacing": ("pacing", False), "ce_threshold": time_us,
        "refill_delay": time_us, "low_rate_threshold": rate, "timer_slack": time_us, "horizon": time_us,
        "offload_horizon": time_us, "horizon_cap": ON, "horizon_drop": ("horizon_cap", False), "defrate": rate,
    })  # fmt: skip
    found: Given = {}
    one: list[str] = []
    # Lists of numbers stand between the other options.
    while words:
        word = words.next("it")
        if word == "bands":
            if words.value(word, decimal) != 3 or words.next(word) != "priomap":
                raise _refuse(words, "bands are 3, and priomap follows; write bands 3 priomap 1 2 2 …")
            found["priomap"] = _listed(words, "priomap", PRIORITIES)
            _check_map(words, found["priomap"], 3)
        elif word == "weights":
            found["weights"] = _listed(words, "weights", 3)
            if min(found["weights"]) < FQ_WEIGHT_MIN:
                raise _refuse(words, f"weights {min(found['weights'])}; each is at least {FQ_WEIGHT_MIN}")
        else:
            one.append(word)
            if word in known and callable(known[word][1]):
                one.append(words.next(word))
    found.update(Words(one, words.what).take(known))
    return found


def _listed(words: Words, of: str, count: int) -> list[int]:
    found = words.numbers(of, decimal)
    if len(found) != count:
        raise _refuse(words, f"{of} has {len(found)} numbers; write {count}")
    return found


CURVES = ["rt", "ls", "sc", "ul"]


def _hfsc_class(words: Words) -> Given:
    found: Given = {}
    while words:
        word = words.next("it")
        name = next((curve for curve in CURVES if word and curve.startswith(word)), None)
        if name is None:
            raise words.unknown(word, CURVES)
        curve = _curve(words, name)
        for one in ("rt", "ls") if name == "sc" else (name,):
            found[one] = curve
    if not found:
        raise _refuse(words, "no curve; write ls rate 1mbit")
    return found


def _curve(words: Words, of: str) -> Given:
    """m1, d and m2 of a curve, as tc has them of umax, dmax and rate (iproute2, q_hfsc.c)."""
    given: Given = {}
    readers: Mapping[str, Callable[[str], Any]] = {
        "m1": rate, "d": time_us, "m2": rate, "umax": size, "dmax": time_us, "rate": rate,
    }  # fmt: skip
    # `d` is the beginning of dmax, too, where no m1 stood before it.
    while (word := words.peek()) is not None:
        name = next((one for one in readers if word and one.startswith(word) and one not in given), None)
        if name is None:
            break
        words.next("it")
        given[name] = words.value(f"{of} {name}", readers[name])
    if not set(given) <= {"m1", "d", "m2"} and not set(given) <= {"umax", "dmax", "rate"}:
        raise _refuse(words, f"{of} has {' and '.join(given)}; write m1, d and m2, or umax, dmax and rate")
    if "m2" not in given and "rate" not in given:
        raise _refuse(words, f"{of} has no last slope; write {of} {'m2' if given else 'rate'} 1mbit at its end")
    if "rate" not in given:
        if not given["m2"] and not given.get("m1"):
            raise _refuse(words, f"{of} has two slopes of zero")
        return {"m1": given.get("m1", 0), "d": given.get("d", 0), "m2": given["m2"]}
    umax, dmax, slope = given.get("umax", 0), given.get("dmax", 0), given["rate"]
    if umax and not dmax:
        raise _refuse(words, f"{of} umax without dmax; write dmax 10ms")
    if not slope:
        raise _refuse(words, f"{of} rate is zero; write rate 1mbit")
    # Bytes a second, rounded up, as tc does.
    first = 8 * -(-umax * 10**6 // dmax) if dmax else 0
    if first > slope:
        return {"m1": first, "d": dmax, "m2": slope}
    return {"m1": 0, "d": max(0, -(-(dmax - umax * 8 * 10**6 / slope) // 1)), "m2": slope}


def _check_ul(found: Given, words: Words) -> None:
    if "ul" in found and "ls" not in found:
        raise _refuse(words, "ul without ls; write ls rate 1mbit before it")


def _hfsc_new(words: Words) -> Given:
    found = _hfsc_class(words)
    _check_ul(found, words)
    return found


def _check_red(found: Given, words: Words) -> None:
    for name in ("limit", "avpkt"):
        if name not in found:
            raise _refuse(words, f"no {name}; write red limit 400000 min 30000 max 90000 avpkt 1000")
    if found.get("nodrop") and not found.get("ecn"):
        raise _refuse(words, "nodrop without ecn; write ecn nodrop")


def _check_choke(found: Given, words: Words) -> None:
    for name in ("limit", "bandwidth"):
        if name not in found:
            raise _refuse(words, f"no {name}; write choke limit 1000 bandwidth 10mbit")
    if found["limit"] > CHOKE_MAX:
        raise _refuse(words, f"limit {found['limit']}; it is at most {CHOKE_MAX}")
    if found.get("max", 0) > found["limit"]:
        raise _refuse(words, f"max {found['max']} is more than limit {found['limit']}")


def _check_sfq(found: Given, words: Words) -> None:
    if found.get("limit", 2) < 2:
        raise _refuse(words, f"limit {found['limit']}; write at least 2")
    divisor = found.get("divisor", 1)
    if divisor.bit_count() != 1 or divisor > 65536:
        raise _refuse(words, f"divisor {divisor}; it is a power of 2 up to 65536")
    red = [name for name in ("min", "max", "avpkt", "burst", "probability", "ecn", "harddrop") if name in found]
    if red and not found.get("redflowlimit"):
        raise _refuse(words, f"{red[0]} without redflowlimit; write redflowlimit 100000")
    if found.get("max", 0) > found.get("redflowlimit", 0):
        raise _refuse(words, f"max {found['max']} is more than redflowlimit {found['redflowlimit']}")


HH_LIMIT_MAX = 2048
"""hhf_policy: twice the places of its table."""


def _check_hhf(found: Given, words: Words) -> None:
    if found.get("hh_limit", 0) > HH_LIMIT_MAX:
        raise _refuse(words, f"hh_limit {found['hh_limit']}; it is at most {HH_LIMIT_MAX}")


def _check_tbf(found: Given, words: Words) -> None:
    for name in ("rate", "burst"):
        if name not in found:
            raise _refuse(words, f"no {name}; write rate 1mbit burst 5kb latency 50ms")
    if "latency" in found and "limit" in found:
        raise _refuse(words, "both latency and limit; write one of them")
    if "latency" not in found and "limit" not in found:
        raise _refuse(words, "neither latency nor limit; write latency 50ms")
    if "peakrate" in found:
        if "mtu" not in found:
            raise _refuse(words, "peakrate without mtu; write mtu 1540")
        if found["peakrate"] <= found["rate"]:
            said = f"{rate_form(found['peakrate'])} is not above rate {rate_form(found['rate'])}"
            raise _refuse(words, f"peakrate {said}; leave it out or write more")


def _check_flows(found: Given, words: Words) -> None:
    if found.get("flows", 1) > 65536:
        raise _refuse(words, f"flows {found['flows']}; there are at most 65536")


def _check_pie(found: Given, words: Words) -> None:
    for name in ("alpha", "beta"):
        if found.get(name, 0) > 32:
            raise _refuse(words, f"{name} {found[name]}; it is in sixteenths, 0 to 32")
    if found.get("ecn_prob", 0) > 99:
        raise _refuse(words, f"ecn_prob {found['ecn_prob']}; it is a percentage below 100")
    _check_flows(found, words)


def _check_cbs(found: Given, words: Words) -> None:
    if not found.get("idleslope"):
        raise _refuse(words, "no idleslope; write idleslope 2000, in kbit/s")
    for option, sign in (("idleslope", 1), ("sendslope", -1), ("locredit", -1), ("hicredit", 1)):
        if sign * found.get(option, 0) < 0:
            raise _refuse(words, f"{option} {found[option]} has the wrong sign; write {-found[option]}")


def _check_rate(found: Given, words: Words) -> None:
    if "rate" not in found:
        raise _refuse(words, "no rate; write rate 1mbit")


def _check_quantum(found: Given, words: Words) -> None:
    if found.get("quantum") == 0:
        raise _refuse(words, "quantum 0; write at least 1")


def selector(word: str) -> tuple[int, int]:
    """`1/3`: what the bits of the type-of-service byte under a mask are."""
    value, slash, mask = word.partition("/")
    if not slash:
        raise UsageError(f"{word!r} has no mask; write 1/3")
    given = whole(value), whole(mask)
    if max(given) > 255:
        raise UsageError(f"{word!r}: value and mask are of one byte")
    return given


def step(word: str) -> str | int:
    """A time, or packets as `5p`."""
    number = word.rstrip("packets")
    if number != word and number.isdigit() and word[len(number) :] in ("p", "pkt", "pkts", "packet", "packets"):
        return f"{decimal(number)}packets"
    return time_us(word)


def gain(word: str) -> float:
    """A gain of dualpi2 in 1/s, which tc cuts to 256ths."""
    try:
        value = float(word)
    except ValueError:
        value = -1
    if not 0 <= value < 2**16:
        raise UsageError(f"{word!r} is no gain; write 0.16")
    return int(value * 256) / 256


def hundredths(word: str) -> int:
    """A percentage, as `10` or `10%`."""
    value = decimal(word.removesuffix("%"))
    if value > 100:
        raise UsageError(f"{word!r} is more than 100 %")
    return value


def _cake_mq(words: Words) -> Given:
    found = words_of_cake(words)
    if found.get("autorate-ingress"):
        raise _refuse(words, "autorate-ingress goes with one queue only; write cake, or leave it out")
    return found


_CODEL: Mapping[str, Callable[[str], Any] | Option] = {
    "limit": whole, "target": time_us, "interval": time_us, "ce_threshold": time_us, "ecn": ON, "noecn": ("ecn", False),
}  # fmt: skip
_PIE: Mapping[str, Callable[[str], Any] | Option] = {
    "limit": whole, "target": time_us, "tupdate": time_us, "alpha": whole, "beta": whole, "ecn": ON,
    "noecn": ("ecn", False), "bytemode": ON, "nobytemode": ("bytemode", False), "dq_rate_estimator": ON,
    "no_dq_rate_estimator": ("dq_rate_estimator", False),
}  # fmt: skip
_RED: Mapping[str, Callable[[str], Any] | Option] = {
    "limit": size, "min": size, "max": size, "avpkt": size, "burst": whole, "probability": part, "bandwidth": rate,
    "ecn": ON,
}  # fmt: skip
_LINK: Mapping[str, Callable[[str], Any] | Option] = {"overhead": decimal, "linklayer": linklayer}

KINDS: Mapping[str, Reader] = {
    "pfifo": _plain({"limit": size}),
    "bfifo": _plain({"limit": size}),
    "pfifo_head_drop": _plain({"limit": size}),
    "pfifo_fast": _plain({}),
    "prio": _prio,
    "ets": _ets,
    "sfq": _plain({"limit": whole, "quantum": size, "depth": whole, "flows": whole, "divisor": whole, "headdrop": ON,
                   "perturb": whole, "redflowlimit": whole, "min": whole, "max": whole, "avpkt": size, "burst": whole,
                   "probability": part, "ecn": ON, "harddrop": ON}, "quantum flows divisor depth perturb",
                  check=_check_sfq),
    "hhf": _plain({"limit": whole, "quantum": whole, "hh_limit": whole, "reset_timeout": time_us,
                   "admit_bytes": whole, "evict_timeout": time_us, "non_hh_weight": whole},
                  "limit quantum hh_limit reset_timeout admit_bytes evict_timeout non_hh_weight", check=_check_hhf),
    "skbprio": _plain({"limit": whole}),
    "drr": _plain({}),
    "qfq": _plain({}),
    "hfsc": _plain({"default": hexadecimal}, "default", ["default"], once="default"),
    "htb": _plain({"r2q": decimal, "default": hexadecimal, "debug": str, "direct_qlen": decimal, "offload": ON},
                  "default", ["r2q", "default", "debug", "direct_qlen", "offload"]),
    "tbf": _plain({"limit": size, "latency": time_us, "burst|buffer|maxburst": size_and_cell,
                   "mtu|minburst": size_and_cell, "mpu": size, "rate": rate, "peakrate": rate, **_LINK},
                  "limit latency burst mtu rate peakrate mpu overhead",
                  ["limit", "latency", "burst", "peakrate", "overhead", "linklayer"], _check_tbf,
                  "limit latency burst mtu mpu rate peakrate"),
    "cbs": _plain({"offload": whole, "hicredit": signed, "locredit": signed, "sendslope": signed, "idleslope": signed},
                  "offload", ["offload", "hicredit", "locredit", "sendslope", "idleslope"], _check_cbs,
                  "offload hicredit locredit sendslope idleslope"),
    "fq": _fq,
    "fq_codel": _plain({**_CODEL, "flows": whole, "memory_limit": size, "quantum": whole, "drop_batch": whole,
                        "ce_threshold_selector": selector}, "limit flows quantum target interval drop_batch",
                       check=_check_flows),
    "codel": _plain(_CODEL, "limit target interval"),
    "fq_pie": _plain({**_PIE, "flows": whole, "quantum": size, "memory_limit": size, "ecn_prob": whole},
                     "limit flows target tupdate alpha beta quantum memory_limit ecn_prob", check=_check_pie),
    "pie": _plain(_PIE, "limit target tupdate alpha beta", check=_check_pie),
    "red": _plain({**_RED, "harddrop": ON, "nodrop": ON, "adaptive|adaptative": ON},
                  "limit min max avpkt burst bandwidth", check=_check_red),
    "choke": _plain({**_RED, "limit": whole, "min": whole, "max": whole}, "limit min max burst bandwidth",
                    check=_check_choke),
    "sfb": _plain({"rehash": whole, "db": whole, "limit": whole, "max": whole, "target": whole, "increment": part,
                   "decrement": part, "penalty_rate": whole, "penalty_burst": whole}, "limit max target"),
    "cake": words_of_cake,
    "cake_mq": _cake_mq,
    "dualpi2": _plain({"limit": decimal, "memlimit": decimal, "coupling_factor": whole, "step_thresh": step,
                       "min_qlen_step": decimal, "overflow": ON, "drop_on_overload": ("overflow", False),
                       "drop_enqueue": ("enqueue", True), "drop_dequeue": ("enqueue", False), "any_ect": ON,
                       "l4s_ect": ("any_ect", False), "classic_protection": hundredths, "max_rtt": time_us,
                       "typical_rtt": time_us, "target": time_us, "tupdate": time_us, "alpha": gain, "beta": gain,
                       "split_gso": ON, "no_split_gso": ("split_gso", False)},
                      "limit memlimit target tupdate step_thresh max_rtt typical_rtt"),
    "netem": lambda words: {"given": words.rest()},
    "mq": _plain({}),
    "noqueue": _plain({}),
}  # fmt: skip

CLASSES: Mapping[str, Reader] = {
    "htb": _plain({"prio": decimal, "mtu": decimal, "mpu": decimal, **_LINK, "quantum": decimal,
                   "burst|buffer|maxburst": size_and_cell, "cburst|cbuffer|cmaxburst": size_and_cell, "ceil": rate,
                   "rate": rate}, "rate ceil burst cburst quantum mtu mpu overhead",
                  ["prio", "mtu", "mpu", "overhead", "linklayer", "quantum", "burst", "cburst"], _check_rate,
                  "rate ceil"),
    "hfsc": _hfsc_new,
    "drr": _plain({"quantum": size}, check=_check_quantum),
    "qfq": _plain({"weight": decimal, "maxpkt": decimal}, short=["weight", "maxpkt"]),
    "ets": _plain({"quantum": decimal}, check=_check_quantum),
}  # fmt: skip

SENT_ALONE = {
    "codel", "fq_codel", "pie", "fq_pie", "fq", "cake", "cake_mq", "sfq", "hhf", "dualpi2", "hfsc", "drr", "ets",
}  # fmt: skip
"""Kinds of which tc sends only what is said, so that `change` keeps the rest; of others all is set anew."""


def changed(kind: str, before: Given, after: Given) -> Given:
    """The options of a qdisc or a class after `change`, or `replace` with the same kind."""
    if kind not in SENT_ALONE:
        return after
    # tc's message of sfq holds these whether they are said or not.
    kept = {name: value for name, value in before.items() if kind != "sfq" or name not in ("headdrop", "perturb")}
    return {**kept, **after}
