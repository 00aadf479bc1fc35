"""CAKE from tc and to tc: of its words the last on a thing counts, and those on overhead add up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fairq.traffic_control.command_words import Differs, Words
from fairq.traffic_control.draft import Limit, Settings, Writer, left
from fairq.traffic_control.qdisc_tables import as_rate, as_time, bytes_of, us_of
from fairq.traffic_control.units import form, rate, rate_form, signed, size, time_form, time_us, whole

CAKE_TINS = {
    "besteffort": "best_effort", "precedence": "precedence", "diffserv3": "diffserv3", "diffserv4": "diffserv4",
    "diffserv8": "diffserv8", "diffserv": "diffserv4",
}  # fmt: skip
CAKE_ISOLATION = {
    "flowblind": "blind", "srchost": "source", "dsthost": "destination", "hosts": "hosts", "flows": "flows",
    "dual-srchost": "dual_source", "dual-dsthost": "dual_destination", "triple-isolate": "triple",
}  # fmt: skip
CAKE_RTTS = ["datacentre", "lan", "metro", "regional", "internet", "oceanic", "satellite", "interplanetary"]
CAKE_PRESETS: Mapping[str, tuple[str | None, int, int | None]] = {
    "ipoa-vcmux": ("atm", 8, None), "ipoa-llcsnap": ("atm", 16, None), "bridged-vcmux": ("atm", 24, None),
    "bridged-llcsnap": ("atm", 32, None), "pppoa-vcmux": ("atm", 10, None), "pppoa-llc": ("atm", 14, None),
    "pppoe-vcmux": ("atm", 32, None), "pppoe-llcsnap": ("atm", 40, None), "pppoe-ptm": ("ptm", 30, None),
    "bridged-ptm": ("ptm", 22, None), "docsis": ("none", 18, 64), "ethernet": (None, 38, 84),
}  # fmt: skip
"""Framing, bytes that are added and the least length; None leaves what was said before (iproute2, q_cake.c)."""
ETHERNET = 14
"""Bytes of the header that `raw` counts, and any other overhead does not."""

_WORDS: Mapping[str, tuple[str, Any]] = {
    **{word: ("tins", tins) for word, tins in CAKE_TINS.items()},
    **{word: ("isolation", isolation) for word, isolation in CAKE_ISOLATION.items()},
    "nat": ("nat", True), "nonat": ("nat", False), "wash": ("wash", True), "nowash": ("wash", False),
    "split-gso": ("no-split-gso", False), "no-split-gso": ("no-split-gso", True), "ingress": ("ingress", True),
    "egress": ("ingress", False), "no-ack-filter": ("ack_filter", None), "ack-filter": ("ack_filter", "conservative"),
    "ack-filter-aggressive": ("ack_filter", "aggressive"), "autorate-ingress": ("autorate-ingress", True),
    "autorate_ingress": ("autorate-ingress", True),
}  # fmt: skip
_LINE = [*CAKE_PRESETS, "raw", "conservative", "ether-vlan", "via-ethernet", "atm", "noatm", "ptm", "overhead", "mpu"]


def words_of_cake(words: Words) -> dict[str, Any]:
    """The options of a command."""
    found: dict[str, Any] = {}
    line: list[str] = []
    named = ""
    values: dict[str, Callable[[str], Any]] = {"memlimit": size, "fwmark": whole}
    while words:
        word = words.next("it")
        if word in _WORDS:
            name, value = _WORDS[word]
            found[name] = value
        elif word in values:
            found[word] = words.value(word, values[word])
        elif word == "rtt":
            found["rtt"] = words.value(word, time_us)
        elif word in CAKE_RTTS:
            if named:
                raise words.refused(f"{named} and {word}; write one of them")
            found["rtt"] = named = word
        elif word in ("bandwidth", "unlimited"):
            found["bandwidth"] = words.value(word, rate) if word == "bandwidth" else 0
            found["autorate-ingress"] = False
        elif word in _LINE:
            line.append(word)
            _add(found, word, words)
        else:
            known = [*_WORDS, *values, "rtt", *CAKE_RTTS, "bandwidth", "unlimited", *_LINE]
            raise words.unknown(word, known)
    if line:
        found["preset"] = line[0] if len(line) == 1 and line[0] not in _LINE[len(CAKE_PRESETS) + 2 :] else None
    return found


def _add(found: dict[str, Any], word: str, words: Words) -> None:
    """What a word on the line behind does to the overhead, framing and least length that were said before it."""
    overhead = found.get("overhead") or 0
    if word in CAKE_PRESETS:
        framing, more, mpu = CAKE_PRESETS[word]
        found["overhead"] = overhead + more
        found["framing"] = framing or found.get("framing")
        found["mpu"] = mpu if mpu is not None else found.get("mpu")
    elif word == "raw":
        found.update(framing="none", overhead=0, raw=True)
    elif word == "conservative":
        found.update(framing="atm", overhead=48)
    elif word == "ether-vlan":
        found["overhead"] = overhead + 4
    elif word in ("atm", "ptm", "noatm"):
        found["framing"] = "none" if word == "noatm" else word
    elif word == "overhead":
        found[word] = words.value(word, signed)
        if not -64 <= found[word] <= 256:
            raise words.refused(f"overhead {found[word]}; write -64 to 256")
    elif word == "mpu":
        found[word] = words.value(word, whole)
        if found[word] > 256:
            raise words.refused(f"mpu {found[word]}; write 0 to 256")


def _settings(given: Mapping[str, Any], differs: Differs) -> dict[str, Any]:
    """The settings of the text form."""
    off = ("nat", "wash", "no-split-gso", "autorate-ingress", "fwmark")
    differs.leave({word: given[word] for word in off if given.get(word)}, *off)
    if given.get("memlimit"):
        differs.say("memlimit", "lengths of packets", "its buffers (truesize)")
    rtt, ingress = given.get("rtt"), given.get("ingress")
    return {
        "rate": rate_form(given["bandwidth"]) if given.get("bandwidth") else None, **_line(given),
        "tins": given.get("tins"), "isolation": given.get("isolation"),
        # tc sends no interval of 0, but its twentieth as the target, which is at least 1 us.
        "rtt": rtt if isinstance(rtt, str) else time_form(rtt) if rtt else None, "target": "1us" if rtt == 0 else None,
        "memory": f"{given['memlimit']}B" if given.get("memlimit") else None,
        "ack_filter": given.get("ack_filter"), "ingress": "true" if ingress else None,
    }  # fmt: skip


def _line(given: Mapping[str, Any]) -> dict[str, Any]:
    """A preset that stands alone keeps its name."""
    if given.get("preset"):
        return {"preset": given["preset"].replace("-", "_")}
    overhead, framing = given.get("overhead"), given.get("framing")
    if given.get("raw"):
        overhead = overhead + ETHERNET if overhead else None
    return {"overhead": overhead, "mpu": given.get("mpu") or None, "framing": framing if framing != "none" else None}


def read_cake(given: Mapping[str, Any], differs: Differs) -> str:
    """The text form."""
    return form("cake", _settings(given, differs))


QUEUES = 4
"""Of a device, where nothing says how many it has."""


def read_cake_mq(given: Mapping[str, Any], differs: Differs) -> str:
    """The text form of a cake for each queue of a device."""
    settings = _settings(given, differs)
    rate = settings.pop("rate")
    differs.say("queues", f"{QUEUES}; write as many as the device has", "those of the device")
    said = form("", settings)
    return form("cake_mq", {"queues": QUEUES, "rate": rate, "cake": said or None})


_TINS = {here: there for there, here in CAKE_TINS.items() if there != "diffserv"}
_ISOLATION = {here: there for there, here in CAKE_ISOLATION.items()}


def write_cake(writer: Writer, part: Settings, limit: Limit) -> None:
    """The command."""
    writer.qdisc("cake", _words_of_cake(part))
    _left_of_cake(writer, part, limit)


def write_cake_mq(writer: Writer, part: Settings, limit: Limit) -> None:
    """The command of a cake for each queue of a device."""
    each = {**part["cake"], "rate": part.get("rate")}
    if writer.place:
        writer.differ("queues", part["queues"], "one cake: cake_mq stands at the root of a device")
        write_cake(writer, each, limit)
        return
    writer.qdisc("cake_mq", _words_of_cake(each))
    writer.differ("kernel", "any", "7.0 or later")
    writer.differ("queues", part["queues"], "those of the device (ethtool -L)")
    if us_of(part["sync_time"]) != SYNC_US:
        writer.differ("sync_time", part["sync_time"], f"{SYNC_US} us")
    _left_of_cake(writer, each, limit)


SYNC_US = 200
"""How often the kernel counts the active queues of cake_mq (cake_config_init)."""


def _words_of_cake(part: Settings) -> list[str]:
    words = [f"bandwidth {as_rate(part['rate'])}" if part.get("rate") is not None else "unlimited"]
    preset = part.get("preset")
    if preset == "raw" and part.get("overhead") is not None:
        # After raw tc counts the header beside the overhead.
        preset = None
    words += [str(preset).replace("_", "-")] if preset else []
    words += [f"{name} {part[name]}" for name in ("overhead", "mpu") if part.get(name) is not None]
    words += [{"none": "noatm"}.get(part["framing"], str(part["framing"]))] if part.get("framing") else []
    words += [_TINS[part["tins"]], _ISOLATION[part["isolation"]]]
    if (rtt := part.get("rtt")) is not None:
        words.append(str(rtt) if rtt in CAKE_RTTS else f"rtt {as_time(rtt)}")
    words += [f"memlimit {bytes_of(part['memory'])}"] if part.get("memory") is not None else []
    filters = {"conservative": ["ack-filter"], "aggressive": ["ack-filter-aggressive"]}
    words += filters.get(part.get("ack_filter") or "none", [])
    return [*words, *(["ingress"] if part.get("ingress") else [])]


def _left_of_cake(writer: Writer, part: Settings, limit: Limit) -> None:
    """What of CAKE's settings tc cannot say."""
    for name in ("target", "interval"):
        if part.get(name) is not None:
            writer.differ(name, part[name], "follows from rtt")
    if limit is not None:
        writer.differ("limit", f"{limit[0]} {limit[1]}", "10240 packets and the memory")
    said = ["rate", "preset", "overhead", "mpu", "framing", "tins", "isolation", "rtt", "memory", "ack_filter",
            "ingress", "target", "interval"]  # fmt: skip
    left(writer, "cake", part, *said)
