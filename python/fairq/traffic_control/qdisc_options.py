"""The options of a command: what several say together, and what tc and the kernel refuse.

Source: iproute2 6.1, tc/q_*.c. Linux 6.1, net/sched/sch_*.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairq.core.errors import UsageError
from fairq.traffic_control import qdisc_tables
from fairq.traffic_control.cake import words_of_cake
from fairq.traffic_control.command_words import Words
from fairq.traffic_control.qdisc_tables import QDISCS, Table
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import decimal, rate, rate_form, size, time_us

Given = dict[str, Any]
Reader = Callable[[Words], Given]

PRIOMAP = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
"""The band of each priority where nothing is said, of `prio` and of `fq`."""
PRIORITIES = 16
BANDS_MAX = 16
CHOKE_MAX = 128 * 1024 - 1
FQ_WEIGHT_MIN = 16_384


def _of_table(table: Table, check: Callable[[Given, Words], None] | None = None) -> Reader:
    """Reads the options of a table."""
    known, zero = table.known(), table.zero.split()

    def read(words: Words) -> Given:
        found = words.take(known, table.short.split(), table.once.split())
        found = {name: value for name, value in found.items() if value != 0 or value is False or name not in zero}
        if check is not None:
            check(found, words)
        return found

    return read


def _refuse(words: Words, why: str) -> UsageError:
    return refused(f"{words.what}: {why}")


def _prio(words: Words) -> Given:
    found = _of_table(QDISCS["prio"])(words)
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


def _ets(words: Words) -> Given:
    found = _of_table(QDISCS["ets"])(words)
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
    known = QDISCS["fq"].known()
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


def _cake_mq(words: Words) -> Given:
    found = words_of_cake(words)
    if found.get("autorate-ingress"):
        raise _refuse(words, "autorate-ingress goes with one queue only; write cake, or leave it out")
    return found


_CHECKS: Mapping[str, Callable[[Given, Words], None]] = {
    "sfq": _check_sfq, "hhf": _check_hhf, "tbf": _check_tbf, "cbs": _check_cbs, "fq_codel": _check_flows,
    "fq_pie": _check_pie, "pie": _check_pie, "red": _check_red, "choke": _check_choke,
}  # fmt: skip
_CHECKS_OF_CLASSES = {"htb": _check_rate, "drr": _check_quantum, "ets": _check_quantum}

KINDS: Mapping[str, Reader] = {
    **{kind: _of_table(table, _CHECKS.get(kind)) for kind, table in QDISCS.items()},
    "prio": _prio, "ets": _ets, "fq": _fq, "cake": words_of_cake, "cake_mq": _cake_mq,
    "netem": lambda words: {"given": words.rest()},
}  # fmt: skip
CLASSES: Mapping[str, Reader] = {
    **{kind: _of_table(table, _CHECKS_OF_CLASSES.get(kind)) for kind, table in qdisc_tables.CLASSES.items()},
    "hfsc": _hfsc_new,
}

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
