"""The text forms of qdiscs without classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairq.errors import UsageError
from fairq.tc.cake import text_of_cake
from fairq.tc.options import PRIOMAP
from fairq.tc.refusal import refused
from fairq.tc.units import rate_form, time_form, whole
from fairq.tc.words import Differs

MTU = 1514
"""Of an Ethernet device, its header included."""
TXQUEUELEN = 1000
SFQ_DEPTH = 127
FQ_CODEL_QUANTUM_MIN = 256
FQ_WEIGHTS = [589_824, 196_608, 65_536]
SFB_ONE = 0xFFFF
"""A probability of 1 in the kernel's sfb."""

Given = Mapping[str, Any]


def form(name: str, settings: Mapping[str, Any]) -> str:
    """A part of a text form with the settings that are not None."""
    said = [f"{key}={value}" for key, value in settings.items() if value is not None]
    return f"{name}({', '.join(said)})" if said else name


def _times(given: Given, names: Mapping[str, str]) -> dict[str, Any]:
    return {here: time_form(given[there]) if there in given else None for there, here in names.items()}


def _rates(given: Given, *names: str) -> dict[str, Any]:
    return {name: rate_form(given[name]) if name in given else None for name in names}


def in_bytes(given: Given, *names: str) -> dict[str, Any]:
    """Settings that are sizes, None where they are not said."""
    return {name: f"{given[name]}B" if name in given else None for name in names}


def _flag(given: Given, name: str) -> str | None:
    return "true" if given.get(name) else None


def left(given: Given, differs: Differs, *names: str) -> None:
    """Options that have no like here; one that is off is as if it was not said."""
    for name in names:
        if name in given and given[name] is not False:
            differs.say(name, "left out", "on" if given[name] is True else given[name])


def _fifo(given: Given, _: Differs) -> str:
    return f"fifo + {given.get('limit', TXQUEUELEN)}packets"


def _head_drop(given: Given, _: Differs) -> str:
    return f"fifo + head_drop + {given.get('limit', TXQUEUELEN)}packets"


def _bfifo(given: Given, _: Differs) -> str:
    return f"fifo + {given.get('limit', TXQUEUELEN * MTU)}B"


def _cbs(given: Given, differs: Differs) -> str:
    left(given, differs, "offload")
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


def _sfq(given: Given, differs: Differs) -> str:
    said = {**in_bytes(given, "quantum"), **{name: given.get(name) for name in ("depth", "flows", "divisor")},
            "headdrop": _flag(given, "headdrop"), "perturb": time_form(1e6 * given["perturb"]) if given.get("perturb")
            else None, "red": _red_of_sfq(given) if "redflowlimit" in given else None}  # fmt: skip
    most = min(given.get("depth", SFQ_DEPTH), SFQ_DEPTH) * given.get("flows", 128)
    return f"{form('linux_sfq', said)} + {min(given.get('limit', SFQ_DEPTH), most)}packets"


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


HHF_QUANTUM_MIN = 256


def _hhf(given: Given, _: Differs) -> str:
    quantum = max(given["quantum"], HHF_QUANTUM_MIN) if "quantum" in given else None
    said = {
        "quantum": f"{quantum}B" if quantum else None, "non_hh_weight": given.get("non_hh_weight"),
        "hh_limit": given.get("hh_limit"), **in_bytes(given, "admit_bytes"),
        **_times(given, {name: name for name in ("reset_timeout", "evict_timeout")}),
    }  # fmt: skip
    return f"{form('hhf', said)} + {given.get('limit', HHF_LIMIT)}packets"


HHF_LIMIT = 1000
SKBPRIO_LIMIT = 64


def _skbprio(given: Given, _: Differs) -> str:
    return f"skbprio + {given.get('limit', SKBPRIO_LIMIT)}packets"


def _fq(given: Given, differs: Differs) -> str:
    left(given, differs, "horizon", "horizon_cap", "offload_horizon", "orphan_mask", "defrate")
    if given.get("pacing") is False:
        differs.say("nopacing", "left out", "on")
    has_bands = "weights" in given or "priomap" in given
    if has_bands:
        differs.say("bands", "by the priority of a packet, which is 0 but for what its flow says",
                    "by the priority of a packet, which a socket or the type of service gives")  # fmt: skip
    weights = ", ".join(f"{weight}B" for weight in given.get("weights", FQ_WEIGHTS))
    said = {
        "flow_limit": given.get("flow_limit"), **in_bytes(given, "quantum", "initial_quantum"),
        **_rates(given, "maxrate"),
        # Of 0 nothing is below it.
        "low_rate_threshold": rate_form(max(given["low_rate_threshold"], 1)) if "low_rate_threshold" in given else None,
        **_times(given, {name: name for name in ("refill_delay", "ce_threshold", "timer_slack")}),
        "weights": f"[{weights}]" if has_bands else None,
        "priomap": given["priomap"] if given.get("priomap", PRIOMAP) != PRIOMAP else None,
    }  # fmt: skip
    return f"{form('linux_fq', said)} + {given.get('limit', 10_000)}packets"


def _ecn(given: Given) -> str:
    return "true" if given.get("ecn") else "false"


_CODEL_TIMES = {"target": "target", "interval": "interval", "ce_threshold": "ce_threshold"}


def _fq_codel(given: Given, differs: Differs) -> str:
    if "memory_limit" in given:
        differs.say("memory_limit", "lengths of packets", "its buffers (truesize)")
    quantum = max(given["quantum"], FQ_CODEL_QUANTUM_MIN) if "quantum" in given else None
    selector, mask = given.get("ce_threshold_selector", (None, None))
    said = {
        "queues": given.get("flows"), "quantum": f"{quantum}B" if quantum else None, **_times(given, _CODEL_TIMES),
        "ce_threshold_mask": mask, "ce_threshold_selector": selector,
        "memory": f"{given['memory_limit']}B" if "memory_limit" in given else None,
        "drop_batch": given.get("drop_batch"), "ecn": "false" if given.get("ecn") is False else None,
    }  # fmt: skip
    return f"{form('fq_codel', said)} + {given.get('limit', 10_240)}packets"


def _codel(given: Given, _: Differs) -> str:
    said = {**_times(given, _CODEL_TIMES), "ecn": _ecn(given)}
    return f"fifo + {form('codel', said)} + {given.get('limit', 1000)}packets"


def _law_of_pie(given: Given) -> dict[str, Any]:
    return {
        **_times(given, {"target": "target", "tupdate": "update"}),
        # tc counts in sixteenths.
        **{name: f"{given[name] / 16:g}" if name in given else None for name in ("alpha", "beta")},
        "delay": "departure_rate" if given.get("dq_rate_estimator") else None,
        "byte_mode": _flag(given, "bytemode"),
        "ecn_threshold": given["ecn_prob"] / 100 if "ecn_prob" in given else None, "ecn": _ecn(given),
    }  # fmt: skip


def _pie(given: Given, _: Differs) -> str:
    return f"fifo + {form('pie', _law_of_pie(given))} + {given.get('limit', 1000)}packets"


def _fq_pie(given: Given, differs: Differs) -> str:
    if "memory_limit" in given:
        differs.say("memory_limit", "lengths of packets", "its buffers (truesize)")
    said = {
        "queues": given.get("flows"), **in_bytes(given, "quantum"),
        "memory": f"{given['memory_limit']}B" if "memory_limit" in given else None,
        "pie": form("", _law_of_pie(given)),
    }  # fmt: skip
    return f"{form('fq_pie', said)} + {given.get('limit', 10_240)}packets"


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


def _red(given: Given, differs: Differs) -> str:
    left(given, differs, "adaptive", "nodrop")
    said = {**_curve_of_red(given, "red", differs), "hard_drop": _flag(given, "harddrop")}
    return f"fifo + {form('red', said)} + {given['limit']}B"


def _choke(given: Given, differs: Differs) -> str:
    return f"fifo + {form('choke', _curve_of_red(given, 'choke', differs))} + port_pair + {given['limit']}packets"


def _milliseconds(given: Given, name: str) -> str | None:
    return time_form(given[name] * 1000) if name in given else None


def _probability_of_sfb(given: Given, name: str) -> float | None:
    return float(f"{int(given[name] * SFB_ONE + 0.5) / SFB_ONE:.9g}") if name in given else None


def _sfb(given: Given, _: Differs) -> str:
    most, size = given.get("max"), given.get("target")
    # Of the two that one follows from the other that is not said (iproute2, q_sfb.c).
    if most is None and size is not None:
        most = (size * 5 + 1) // 4
    elif size is None and most is not None:
        size = (most * 4 + 3) // 5
    said = {
        "bin_size": size, "bin_max": most, "increment": _probability_of_sfb(given, "increment"),
        "decrement": _probability_of_sfb(given, "decrement"), "rehash": _milliseconds(given, "rehash"),
        "warmup": _milliseconds(given, "db"), "penalty_rate": given.get("penalty_rate"),
        "penalty_burst": given.get("penalty_burst"),
    }  # fmt: skip
    return f"fifo + {form('sfb', said)} + port_pair + {given.get('limit', TXQUEUELEN)}packets"


def _tbf(given: Given, differs: Differs) -> str:
    limit = given.get("limit")
    if limit is None:
        buckets = [(given["rate"], given["burst"]), (given.get("peakrate"), given.get("mtu", MTU))]
        limit = min(rate / 8 * given["latency"] / 1e6 + held for rate, held in buckets if rate)
    said = {
        "rate": rate_form(given["rate"]), "burst": f"{given['burst']}B",
        "peak_rate": rate_form(given["peakrate"]) if "peakrate" in given else None,
        **(in_bytes(given, "mtu") if "peakrate" in given else {}), "overhead": given.get("overhead"),
        "mpu": given.get("mpu"), "linklayer": given.get("linklayer"),
    }  # fmt: skip
    differs.say("packets longer than burst or mtu", "sent from a full bucket, on debt", "dropped")
    return f"{form('token_bucket', said)} + {int(limit)}B"


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


def _dualpi2(given: Given, differs: Differs) -> str:
    left(given, differs, "memlimit", "min_qlen_step", "any_ect", "max_rtt", "typical_rtt", "overflow")
    if given.get("split_gso") is False:
        differs.say("no_split_gso", "left out", "on")
    step = given.get("step_thresh")
    if isinstance(step, str):
        differs.say("step_thresh", "a time, the default", step)
    share = given.get("classic_protection")
    said = {
        **_times(given, {"target": "target", "tupdate": "update"}), "alpha": given.get("alpha"),
        "beta": given.get("beta"), "coupling": given.get("coupling_factor"),
        "step": time_form(step) if isinstance(step, int) else None,
        "classic_share": share / 100 if share is not None else None,
        "at": "enqueue" if given.get("enqueue") else None,
    }  # fmt: skip
    return f"{form('dualpi2', said)} + {given.get('limit', 10_000)}packets"


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


FORMS: Mapping[str, Callable[[Given, Differs], str]] = {
    "pfifo": _fifo,
    "bfifo": _bfifo,
    "pfifo_head_drop": _head_drop,
    "pfifo_fast": lambda _given, _: f"pfifo_fast + {TXQUEUELEN}packets",
    "sfq": _sfq,
    "hhf": _hhf,
    "skbprio": _skbprio,
    "tbf": _tbf,
    "cbs": _cbs,
    "fq": _fq,
    "fq_codel": _fq_codel,
    "codel": _codel,
    "fq_pie": _fq_pie,
    "pie": _pie,
    "red": _red,
    "choke": _choke,
    "sfb": _sfb,
    "cake": _cake,
    "cake_mq": _cake_mq,
    "dualpi2": _dualpi2,
    "netem": _netem,
    "mq": _unlike("fifo + 1000packets", "a queue for each of the device's"),
    "noqueue": _unlike("fifo + 1packets", "nothing may wait"),
}
