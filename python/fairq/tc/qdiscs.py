"""The text forms of qdiscs without classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairq.errors import UsageError
from fairq.tc.cake import text_of_cake
from fairq.tc.options import PRIOMAP
from fairq.tc.refusal import refused
from fairq.tc.tables import LAW_OF_PIE, MTU, QDISCS, SFQ_DEPTH, TXQUEUELEN
from fairq.tc.units import rate_form, whole
from fairq.tc.words import Differs

FQ_WEIGHTS = [589_824, 196_608, 65_536]

Given = Mapping[str, Any]


def form(name: str, settings: Mapping[str, Any]) -> str:
    """A part of a text form with the settings that are not None."""
    said = [f"{key}={value}" for key, value in settings.items() if value is not None]
    return f"{name}({', '.join(said)})" if said else name


def _flag(given: Given, name: str) -> str | None:
    return "true" if given.get(name) else None


def left(given: Given, differs: Differs, *names: str) -> None:
    """Options that have no like here; one that is off is as if it was not said."""
    for name in names:
        if name in given and given[name] is not False:
            differs.say(name, "left out", "on" if given[name] is True else given[name])


def _cbs(given: Given, differs: Differs) -> str:
    if not given.get("sendslope"):
        differs.say("sendslope", "a fifo", "0, so that credit never falls and no packet waits for it")
        return f"fifo + {TXQUEUELEN}packets"
    # What tc is not told is zero; credits below zero and the slope of sending are told as they are, with a minus.
    said = {
        "name": "a", "idle_slope": rate_form(1000 * given["idleslope"]),
        "send_slope": rate_form(-1000 * given["sendslope"]),
        "hi_credit": f"{given.get('hicredit', 0)}B", "lo_credit": f"{-given.get('locredit', 0)}B",
    }  # fmt: skip
    one = ", ".join(f"{key}={value}" for key, value in said.items())
    return form("cbs", {"classes": f"[({one})]", "default": "a"})


def _sfq(given: Given, _: Differs) -> Given:
    most = min(given.get("depth", SFQ_DEPTH), SFQ_DEPTH) * given.get("flows", 128)
    return {"red": _red_of_sfq(given) if "redflowlimit" in given else None,
            "limit": min(given.get("limit", SFQ_DEPTH), most)}  # fmt: skip


def _red_of_sfq(given: Given) -> str:
    """The RED of each queue; what is not said follows from redflowlimit (iproute2, q_sfq.c)."""
    packet = given.get("avpkt", 1000)
    if not packet:
        raise refused("qdisc sfq: avpkt 0; write avpkt 1000")
    most = given.get("max") or given["redflowlimit"] // 4
    least = given.get("min") or most // 3
    if least >= most:
        raise refused(f"qdisc sfq: min {least} is not below max {most}")
    burst = given.get("burst") or (2 * least + most) // (3 * packet)
    try:
        weighs = weight(least, burst, packet)
    except UsageError as error:
        raise refused(f"qdisc sfq: {error}") from None
    said = {
        "min": f"{least}B", "max": f"{most}B", "probability": given.get("probability", 0.02), "weight": weighs,
        "ecn": _flag(given, "ecn"), "hard_drop": _flag(given, "harddrop"),
    }  # fmt: skip
    return form("", said)


def _fq(given: Given, differs: Differs) -> Given:
    if given.get("pacing") is False:
        differs.say("nopacing", "left out", "on")
    # Of 0 nothing is below it.
    low = given.get("low_rate_threshold")
    more = {"low_rate_threshold": rate_form(max(low, 1))} if low is not None else {}
    if "weights" not in given and "priomap" not in given:
        return more
    differs.say("bands", "by the priority of a packet, which is 0 but for what its flow says",
                "by the priority of a packet, which a socket or the type of service gives")  # fmt: skip
    weights = ", ".join(f"{weight}B" for weight in given.get("weights", FQ_WEIGHTS))
    priomap = given["priomap"] if given.get("priomap", PRIOMAP) != PRIOMAP else None
    return {**more, "weights": f"[{weights}]", "priomap": priomap}


def _ecn(given: Given) -> str:
    return "true" if given.get("ecn") else "false"


def _codel(given: Given, _: Differs) -> Given:
    return {"ecn": _ecn(given)}


def _truesize(given: Given, name: str, differs: Differs) -> None:
    if given.get(name) is not None:
        differs.say(name, "lengths of packets", "its buffers (truesize)")


def _fq_codel(given: Given, differs: Differs) -> Given:
    _truesize(given, "memory_limit", differs)
    selector, mask = given.get("ce_threshold_selector", (None, None))
    return {"ce_threshold_mask": mask, "ce_threshold_selector": selector,
            "ecn": "false" if given.get("ecn") is False else None}  # fmt: skip


def _pie(given: Given, _: Differs) -> Given:
    return {"delay": "departure_rate" if given.get("dq_rate_estimator") else None,
            "byte_mode": _flag(given, "bytemode"), "ecn": _ecn(given)}  # fmt: skip


def _fq_pie(given: Given, differs: Differs) -> Given:
    _truesize(given, "memory_limit", differs)
    return {"pie": form("", {**LAW_OF_PIE.text(given), **_pie(given, differs)})}


def weight(least: float, burst: int, packet: int) -> float:
    """RED's weight of a burst, as tc computes it (iproute2, tc_red_eval_ewma).

    Raises UsageError with the option that is to change.
    """
    wanted = burst + 1 - least / packet
    if wanted < 1:
        raise UsageError(f"burst of {burst} packets is below min; write at least {round(least / packet)}")
    for power in range(1, 32):
        tried = 2.0**-power
        if wanted <= (1 - (1 - tried) ** burst) / tried:
            return tried
    raise UsageError(f"burst of {burst} packets is too long for any weight")


def _curve_of_red(given: Given, kind: str, differs: Differs) -> dict[str, Any]:
    """RED's settings from tc's; red's thresholds are in bytes, choke's in packets of avpkt."""
    packet = given.get("avpkt", 1000)
    if not packet:
        raise refused(f"qdisc {kind}: avpkt 0; write avpkt 1000")
    unit, length = ("B", 1) if kind == "red" else ("packets", packet)
    most = given.get("max")
    if most is None:
        most = 3 * given["min"] if kind == "red" and "min" in given else given["limit"] // 4
    least = given.get("min", most // 3)
    burst = given.get("burst", (2 * least + most) * length // (3 * packet))
    if "bandwidth" in given:
        differs.say("bandwidth", "the line's rate", rate_form(given["bandwidth"]))
    try:
        weighs = weight(least * length, burst, packet)
    except UsageError as error:
        raise refused(f"qdisc {kind}: {error}") from None
    return {
        "min": f"{least}{unit}", "max": f"{most}{unit}", "probability": given.get("probability", 0.02),
        "weight": weighs, "mean_packet": f"{packet}B" if packet != 1000 else None, "ecn": _ecn(given),
    }  # fmt: skip


def _red(given: Given, differs: Differs) -> Given:
    return {**_curve_of_red(given, "red", differs), "hard_drop": _flag(given, "harddrop")}


def _choke(given: Given, differs: Differs) -> Given:
    return _curve_of_red(given, "choke", differs)


def _sfb(given: Given, _: Differs) -> Given:
    """Of bin_max and bin_size the one that is not said follows from the other (iproute2, q_sfb.c)."""
    most, size = given.get("max"), given.get("target")
    if most is None and size is not None:
        return {"bin_max": (size * 5 + 1) // 4}
    return {"bin_size": (most * 4 + 3) // 5} if size is None and most is not None else {}


def _tbf(given: Given, differs: Differs) -> Given:
    limit = given.get("limit")
    if limit is None:
        buckets = [(given["rate"], given["burst"]), (given.get("peakrate"), given.get("mtu", MTU))]
        limit = min(rate / 8 * given["latency"] / 1e6 + held for rate, held in buckets if rate)
    differs.say("packets longer than burst or mtu", "sent from a full bucket, on debt", "dropped")
    return {"limit": int(limit), **({} if "peakrate" in given else {"mtu": None})}


def _cake(given: Given, differs: Differs) -> str:
    return form("cake", text_of_cake(given, differs))


QUEUES = 4
"""Of a device, where nothing says how many it has."""


def _cake_mq(given: Given, differs: Differs) -> str:
    settings = text_of_cake(given, differs)
    rate = settings.pop("rate")
    differs.say("queues", f"{QUEUES}; write as many as the device has", "those of the device")
    said = form("", settings)
    return form("cake_mq", {"queues": QUEUES, "rate": rate, "cake": said or None})


def _dualpi2(given: Given, differs: Differs) -> Given:
    if given.get("split_gso") is False:
        differs.say("no_split_gso", "left out", "on")
    if isinstance(step := given.get("step_thresh"), str):
        differs.say("step_thresh", "a time, the default", step)
    return {"at": "enqueue" if given.get("enqueue") else None}


def _unlike(here: str, linux: str) -> Callable[[Given, Differs], str]:
    def written(given: Given, differs: Differs) -> str:
        differs.say("qdisc", here, " ".join([linux, *given.get("given", [])]))
        return here

    return written


def _netem(given: Given, differs: Differs) -> str:
    """A FIFO of its limit, tc's first option of netem."""
    words = given.get("given", [])
    limit = words[words.index("limit") + 1] if "limit" in words[:-1] else f"{TXQUEUELEN}"
    try:
        here = f"fifo + {whole(limit)}packets"
    except UsageError as error:
        raise refused(f"qdisc netem: limit {error}") from None
    return _unlike(here, "delay, loss and the like, to be written on the link: netem")(given, differs)


_OWN: Mapping[str, Callable[[Given, Differs], str]] = {
    "cbs": _cbs, "cake": _cake, "cake_mq": _cake_mq, "netem": _netem,
    "mq": _unlike("fifo + 1000packets", "a queue for each of the device's"),
    "noqueue": _unlike("fifo + 1packets", "nothing may wait"),
}  # fmt: skip
"""Of those that are no table."""
_MORE: Mapping[str, Callable[[Given, Differs], Given]] = {
    "sfq": _sfq, "tbf": _tbf, "fq": _fq, "fq_codel": _fq_codel, "codel": _codel, "fq_pie": _fq_pie, "pie": _pie,
    "red": _red, "choke": _choke, "sfb": _sfb, "dualpi2": _dualpi2,
}  # fmt: skip
"""The settings, and the limit, that follow from several options, beside those of the table."""


def text(kind: str, given: Given, differs: Differs) -> str:
    """The text form of a qdisc without classes."""
    table = QDISCS[kind]
    left(given, differs, *table.left.split())
    if kind in _OWN:
        return _OWN[kind](given, differs)
    said = {**table.text(given), **(_MORE[kind](given, differs) if kind in _MORE else {})}
    limit = said.pop("limit", given.get("limit", table.limit))
    return table.frame.format(part=form(table.kind, said), limit=limit)
