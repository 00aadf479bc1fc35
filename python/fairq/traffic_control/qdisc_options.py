"""The options of a command: what several say together, and what tc and the kernel refuse.

Source: iproute2 6.1, tc/q_*.c. Linux 6.1, net/sched/sch_*.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairq.traffic_control import qdisc_tables
from fairq.traffic_control.cake import words_of_cake
from fairq.traffic_control.command_words import Words
from fairq.traffic_control.qdisc_tables import BANDS_MAX, PRIORITIES, QDISCS
from fairq.traffic_control.units import rate, rate_form, size, time_us

Given = dict[str, Any]
Reader = Callable[[Words], Given]

PRIOMAP = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
"""The band of each priority where nothing is said, of `prio` and of `fq`."""
FQ_WEIGHT_MIN = 16_384


def _priomap(words: Words, given: Sequence[int], rest: Sequence[int], bands: int) -> list[int]:
    """The band of each priority; `rest` has those that are not said."""
    if len(given) > PRIORITIES:
        raise words.refused(f"priomap has {len(given)} bands; there are {PRIORITIES} priorities")
    priomap = [*given, *rest[len(given) :]]
    beyond = [band for band in priomap if band >= bands]
    if beyond:
        raise words.refused(f"priomap names band {beyond[0]}; write priomap with bands 0 to {bands - 1}")
    return priomap


def _prio(words: Words) -> Given:
    found = {"bands": 3, **QDISCS["prio"].read(words)}
    return {**found, "priomap": _priomap(words, found.get("priomap", []), PRIOMAP, found["bands"])}


def _ets(words: Words) -> Given:
    found = QDISCS["ets"].read(words)
    strict, quanta = found.get("strict", 0), found.get("quanta", [])
    bands = found.get("bands") or strict + len(quanta)
    if not 1 <= bands <= BANDS_MAX:
        raise words.refused(f"{bands} bands; write bands, strict or quanta for 1 to {BANDS_MAX}")
    if strict + len(quanta) > bands:
        raise words.refused(f"strict {strict} and {len(quanta)} quanta are more than bands {bands}")
    if 0 in quanta:
        raise words.refused("quanta are above 0")
    # What priomap does not name goes to the last band (ets_qdisc_change).
    priomap = _priomap(words, found.get("priomap", []), [bands - 1] * PRIORITIES, bands)
    return {"bands": bands, "strict": strict, "quanta": quanta, "priomap": priomap}


def _check_fq(found: Given, words: Words) -> None:
    _priomap(words, found.get("priomap", []), [], 3)
    least = min(found.get("weights", [FQ_WEIGHT_MIN]))
    if least < FQ_WEIGHT_MIN:
        raise words.refused(f"weights {least}; each is at least {FQ_WEIGHT_MIN}")


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
        raise words.refused("no curve; write ls rate 1mbit")
    if "ul" in found and "ls" not in found:
        raise words.refused("ul without ls; write ls rate 1mbit before it")
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
        raise words.refused(f"{of} has {' and '.join(given)}; write m1, d and m2, or umax, dmax and rate")
    if "m2" not in given and "rate" not in given:
        raise words.refused(f"{of} has no last slope; write {of} {'m2' if given else 'rate'} 1mbit at its end")
    if "rate" not in given:
        if not given["m2"] and not given.get("m1"):
            raise words.refused(f"{of} has two slopes of zero")
        return {"m1": given.get("m1", 0), "d": given.get("d", 0), "m2": given["m2"]}
    umax, dmax, slope = given.get("umax", 0), given.get("dmax", 0), given["rate"]
    if umax and not dmax:
        raise words.refused(f"{of} umax without dmax; write dmax 10ms")
    if not slope:
        raise words.refused(f"{of} rate is zero; write rate 1mbit")
    # Bytes a second, rounded up, as tc does.
    first = 8 * -(-umax * 10**6 // dmax) if dmax else 0
    if first > slope:
        return {"m1": first, "d": dmax, "m2": slope}
    return {"m1": 0, "d": max(0, -(-(dmax - umax * 8 * 10**6 / slope) // 1)), "m2": slope}


def _check_choke(found: Given, words: Words) -> None:
    if found.get("max", 0) > found["limit"]:
        raise words.refused(f"max {found['max']} is more than limit {found['limit']}")


def _check_sfq(found: Given, words: Words) -> None:
    divisor = found.get("divisor", 1)
    if divisor.bit_count() != 1 or divisor > 65536:
        raise words.refused(f"divisor {divisor}; it is a power of 2 up to 65536")
    if found.get("max", 0) > found.get("redflowlimit", 0):
        raise words.refused(f"max {found['max']} is more than redflowlimit {found['redflowlimit']}")


def _check_tbf(found: Given, words: Words) -> None:
    if "latency" in found and "limit" in found:
        raise words.refused("both latency and limit; write one of them")
    if "latency" not in found and "limit" not in found:
        raise words.refused("neither latency nor limit; write latency 50ms")
    if "peakrate" in found and found["peakrate"] <= found["rate"]:
        said = f"{rate_form(found['peakrate'])} is not above rate {rate_form(found['rate'])}"
        raise words.refused(f"peakrate {said}; leave it out or write more")


def _check_cbs(found: Given, words: Words) -> None:
    for option, sign in (("idleslope", 1), ("sendslope", -1), ("locredit", -1), ("hicredit", 1)):
        if sign * found.get(option, 0) < 0:
            raise words.refused(f"{option} {found[option]} has the wrong sign; write {-found[option]}")


def _cake_mq(words: Words) -> Given:
    found = words_of_cake(words)
    if found.get("autorate-ingress"):
        raise words.refused("autorate-ingress goes with one queue only; write cake, or leave it out")
    return found


def _checked(kind: str, check: Callable[[Given, Words], None]) -> Reader:
    def read(words: Words) -> Given:
        found = QDISCS[kind].read(words)
        check(found, words)
        return found

    return read


_CHECKS: Mapping[str, Callable[[Given, Words], None]] = {
    "sfq": _check_sfq, "tbf": _check_tbf, "cbs": _check_cbs, "fq": _check_fq, "choke": _check_choke,
}  # fmt: skip
"""What no table says of a qdisc."""

KINDS: Mapping[str, Reader] = {
    **{kind: table.read for kind, table in QDISCS.items()},
    **{kind: _checked(kind, check) for kind, check in _CHECKS.items()},
    "prio": _prio, "ets": _ets, "cake": words_of_cake, "cake_mq": _cake_mq,
    "netem": lambda words: {"given": words.rest()},
}  # fmt: skip
CLASSES: Mapping[str, Reader] = {
    **{kind: table.read for kind, table in qdisc_tables.CLASSES.items()},
    "hfsc": _hfsc_class,
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
