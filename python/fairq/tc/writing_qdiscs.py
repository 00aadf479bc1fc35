"""The tc commands of qdiscs without classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fairq import quantities
from fairq.errors import UsageError
from fairq.tc import cake, qdiscs
from fairq.tc.options import CHOKE_MAX, FQ_WEIGHT_MIN
from fairq.tc.policing import LONGEST, refuse_below_a_packet
from fairq.tc.refusal import refused
from fairq.tc.tables import (
    FQ_PACING,
    LAW_OF_PIE,
    MTU,
    QDISCS,
    TXQUEUELEN,
    Table,
    as_rate,
    as_time,
    bytes_of,
    us_of,
)
from fairq.tc.units import MOST, rate_word
from fairq.tc.writer import AVPKT, Limit, Settings, Writer, changed, in_bytes, left, limit_of, packets


def _of_table(
    writer: Writer, part: Settings, limit: Limit, kind: str, more: Sequence[str] = (), *,
    words: Sequence[str] | None = None, table: Table | None = None, least: int = 1,
) -> None:  # fmt: skip
    """The command of a qdisc by its table, and `more` that follows from several settings."""
    table = table or QDISCS[kind]
    held = packets(writer, limit, table.limit or 0, least=least)
    writer.qdisc(kind, [*held, *(changed(writer, table, part) if words is None else words), *more])
    if table.since:
        writer.differ("kernel", "any", f"{table.since} or later")
    rows = table.rows()
    for name, (_, row) in rows.items():
        if row.least and bytes_of(part[name]) < row.least:
            writer.differ(name, part[name], f"at least {row.least} B")
    if kind == "hhf":
        _say_zeros(writer, part)
    left(writer, table.kind, part, *rows, *table.settings.split())


def _ecn(part: Settings) -> list[str]:
    return ["ecn" if part["ecn"] else "noecn"]


def _fifo(writer: Writer, _: Settings, limit: Limit) -> None:
    if limit is not None and limit[1] == "bytes":
        writer.qdisc("bfifo", [f"limit {limit[0]}"])
    else:
        writer.qdisc("pfifo", packets(writer, limit, TXQUEUELEN))


def _pfifo_fast(writer: Writer, _: Settings, limit: Limit) -> None:
    writer.qdisc("pfifo_fast")
    if limit != (TXQUEUELEN, "packets"):
        said = "not said" if limit is None else f"{limit[0]} {limit[1]}"
        writer.differ("limit", said, f"the queue length of the device for each band, usually {TXQUEUELEN}")


def _head_drop(writer: Writer, _: Settings, limit: Limit) -> None:
    writer.qdisc("pfifo_head_drop", packets(writer, limit, TXQUEUELEN))


def unknown_buffer(writer: Writer, part: Settings, limit: Limit) -> None:
    """A fifo with a buffer policy that is not in Linux."""
    if part["kind"] != "tail_drop":
        writer.differ("buffer", str(part["kind"]), "drops what arrives at a full queue")
    _fifo(writer, part, limit)


def _codel(writer: Writer, part: Settings, limit: Limit) -> None:
    _of_table(writer, part, limit, "codel", _ecn(part))


def _flags_of_pie(part: Settings) -> list[str]:
    by_rate = ["dq_rate_estimator"] if part["delay"] == "departure_rate" else []
    return [*by_rate, *(["bytemode"] if part.get("byte_mode") else []), *_ecn(part)]


def _pie(writer: Writer, part: Settings, limit: Limit) -> None:
    _of_table(writer, part, limit, "pie", _flags_of_pie(part))


def _burst(writer: Writer, least: float, weight: float, packet: int) -> int:
    """The burst, in packets, of which tc makes the weight."""
    first = max(1, -(-round(least) // packet))
    fitting = {burst: _weight(least, burst, packet) for burst in range(first, first + 10_000)}
    burst = min(fitting, key=lambda burst: abs(fitting[burst] - weight))
    if fitting[burst] != weight:
        writer.differ("weight", weight, f"a power of 2, here {fitting[burst]:g}")
    return burst


def _weight(least: float, burst: int, packet: int) -> float:
    try:
        return qdiscs.weight(least, burst, packet)
    except UsageError:
        return 0.0


def _threshold(text: str, packet: int) -> int:
    number, unit = limit_of(text) or (0, "packets")
    return number * packet if unit == "packets" else number


def _red_words(writer: Writer, part: Settings, in_packets: bool) -> list[str]:
    packet = bytes_of(part["mean_packet"])
    unit = packet if in_packets else 1
    least, most = (_threshold(part[name], packet) for name in ("min", "max"))
    if least // unit >= MOST:
        raise refused(f"red: min is {part['min']}, for which the kernel has no room; write less than 4 GB")
    if part.get("gentle"):
        writer.differ("gentle", True, "drops all above max")
    bandwidth = rate_word(writer.rate) if writer.rate else "10mbit"
    if not writer.rate:
        writer.differ("bandwidth", "the line's", "10mbit, for the time an idle queue forgets; write the device's")
    burst, ecn = _burst(writer, least, part["weight"], packet), ["ecn"] if part["ecn"] else []
    return [f"min {least // unit}", f"max {most // unit}", f"avpkt {packet}", f"burst {burst}",
            f"probability {part['probability']:g}", f"bandwidth {bandwidth}", *ecn]  # fmt: skip


def _red(writer: Writer, part: Settings, limit: Limit) -> None:
    words = _red_words(writer, part, in_packets=False)
    if part["ecn"] and part["hard_drop"]:
        words.append("harddrop")
    writer.qdisc("red", [f"limit {in_bytes(writer, limit, 400_000)}", *words])
    named = ["min", "max", "weight", "probability", "ecn", "hard_drop", "gentle", "mean_packet"]
    left(writer, "red", part, *named)


def _wred(writer: Writer, part: Settings, limit: Limit) -> None:
    """A gred with equal priorities, which has one average for all its curves."""
    curves = part["curves"]
    rest = next((at for at, one in enumerate(curves) if not one["dscp"]), None)
    room = in_bytes(writer, limit, 400_000)
    flags = [word for name, word in (("ecn", "ecn"), ("hard_drop", "harddrop")) if part[name]]
    # A default that is no queue lets packets of no curve in.
    default = len(curves) if rest is None else rest
    writer.qdisc("gred", [f"setup vqs {max(len(curves), default + 1)} default {default} grio limit {room}", *flags])
    said: list[dict[str, str]] = []
    for at, one in enumerate(curves):
        before = len(writer.differs)
        words = _red_words(writer, {**part, **one, "ecn": False}, in_packets=False)
        writer.say("qdisc change dev", writer.dev, f"handle {writer.handle}: {_at(writer)} gred limit {room}", *words,
                   f"vq {at} prio 1")  # fmt: skip
        # The same of each curve is said once.
        rows, writer.differs[before:] = writer.differs[before:], []
        said += [row for row in rows if row not in said]
    writer.differs += said
    points = "; ".join(f"{at}: {', '.join(map(str, one['dscp'])) or 'the rest'}" for at, one in enumerate(curves))
    writer.differ("dscp", points, "the low bits of tc_index, which dsmark (up to 6.2) or a program of bpf sets")
    left(writer, "wred", part, "curves", "weight", "gentle", "ecn", "hard_drop", "mean_packet")


def _at(writer: Writer) -> str:
    return writer.parent if writer.parent == "root" else f"parent {writer.parent}"


def _choke(writer: Writer, part: Settings, limit: Limit) -> None:
    words = packets(writer, limit, 1000, most=CHOKE_MAX) or ["limit 1000"]
    writer.qdisc("choke", [*words, *_red_words(writer, part, True)])
    left(writer, "choke", part, "min", "max", "weight", "probability", "ecn", "gentle", "mean_packet")


def _sfb(writer: Writer, part: Settings, limit: Limit) -> None:
    words = changed(writer, QDISCS["sfb"], part)
    if len(bins := [word for word in words if word.split()[0] in ("target", "max")]) == 1:
        # What tc is not told of the two follows from the other.
        words = [word for word in words if word not in bins]
        words += [f"target {part['bin_size']}", f"max {part['bin_max']}"]
    _of_table(writer, part, limit, "sfb", words=words)


def _fq_codel(writer: Writer, part: Settings, limit: Limit) -> None:
    words = changed(writer, QDISCS["fq_codel"], part)
    if part["ce_threshold_mask"]:
        words.append(f"ce_threshold_selector {part['ce_threshold_selector']}/{part['ce_threshold_mask']}")
    _of_table(writer, part, limit, "fq_codel", [] if part["ecn"] else ["noecn"], words=words)


def _fq_pie(writer: Writer, part: Settings, limit: Limit) -> None:
    inner = changed(writer, LAW_OF_PIE, part["pie"])
    left(writer, "pie", part["pie"], *LAW_OF_PIE.settings.split())
    words = [*changed(writer, QDISCS["fq_pie"], part), *inner]
    _of_table(writer, part, limit, "fq_pie", _flags_of_pie(part["pie"]), words=words)


def _linux_fq(writer: Writer, part: Settings, limit: Limit) -> None:
    bands = []
    if weights := [bytes_of(weight) for weight in part["weights"]]:
        if len(weights) == 3 and min(weights) >= FQ_WEIGHT_MIN:
            bands = ["bands 3 priomap", *map(str, part["priomap"]), "weights", *map(str, weights)]
            writer.differ("kernel", "any", "6.7 or later")
        else:
            writer.differ("weights", f"{part['weights']}", f"3 bands with weights from {FQ_WEIGHT_MIN} on")
    _of_table(writer, part, limit, "fq", bands)


def _fq_pacing(writer: Writer, part: Settings, limit: Limit) -> None:
    _of_table(writer, part, limit, "fq", table=FQ_PACING)
    writer.differ(
        "scheduler", "fq_pacing", "fq, which is linux_fq here: it paces by the quantum and makes up for lateness"
    )


def _red_of_sfq(writer: Writer, red: Settings) -> list[str]:
    least, most = bytes_of(red["min"]), bytes_of(red["max"])
    burst = _burst(writer, least, red["weight"], AVPKT)
    flags = [word for name, word in (("ecn", "ecn"), ("hard_drop", "harddrop")) if red[name]]
    # The kernel does not read redflowlimit; tc wants it, not below max.
    return [f"redflowlimit {most}", f"min {least}", f"max {most}", f"avpkt {AVPKT}", f"burst {burst}",
            f"probability {red['probability']:g}", *flags]  # fmt: skip


def _linux_sfq(writer: Writer, part: Settings, limit: Limit) -> None:
    words = changed(writer, QDISCS["sfq"], part)
    red = _red_of_sfq(writer, part["red"]) if part.get("red") else []
    _of_table(writer, part, limit, "sfq", red, words=words, least=2)


def _hhf(writer: Writer, part: Settings, limit: Limit) -> None:
    _of_table(writer, part, limit, "hhf")


def _say_zeros(writer: Writer, part: Settings) -> None:
    """Zeros of hhf that tc does not send."""
    for name in ("hh_limit", "admit_bytes", "reset_timeout", "evict_timeout"):
        if float(f"{part[name]}".split()[0]) == 0:
            writer.differ(name, part[name], "0 is the default")


def _skbprio(writer: Writer, part: Settings, limit: Limit) -> None:
    writer.qdisc("skbprio", packets(writer, limit, QDISCS["skbprio"].limit or 0))
    if part["by"] == "dscp":
        writer.differ("by", "dscp", "by what gives packets their priority, as a filter with skbedit inheritdsfield")


def fair(writer: Writer, part: Settings, limit: Limit) -> None:
    """Whatever shares by flows and is not in Linux."""
    quantum = part.get("quantum")
    words = [f"quantum {bytes_of(quantum)}"] if isinstance(quantum, str) else []
    writer.qdisc("sfq", [*packets(writer, limit, 127, least=2), *words])
    kind = str(part["kind"])
    own = {"drr": "drr", "linux_qfq": "qfq"}.get(kind)
    there = f"{own} wants a class and a filter for each flow" if own else "not there"
    writer.differ("discipline", kind, f"{there}; sfq shares by hashed flows, all with the same weight")


def _cbs(writer: Writer, part: Settings, limit: Limit) -> None:
    slopes = [one.get("idle_slope") for one in part["classes"]]
    port = writer.rate or (quantities.rate(slopes[0]) * 2 if slopes and slopes[0] else None)
    slope = quantities.rate(slopes[0]) if slopes and slopes[0] else (port or 0) * part["share"] / max(1, len(slopes))
    if not port or not slope:
        raise refused("cbs: neither the line's rate nor an idle_slope is known; write idle_slope=2Mbit/s in a class")
    first = part["classes"][0]
    falls = quantities.rate(first["send_slope"]) if first.get("send_slope") else port - slope
    # IEEE 802.1Q annex L: the credits of one class beside packets of the MTU.
    high, low = MTU * slope / port, MTU * falls / port
    high = quantities.size(first["hi_credit"]) if first.get("hi_credit") else high
    low = quantities.size(first["lo_credit"]) if first.get("lo_credit") else low
    writer.qdisc("cbs", [f"hicredit {round(high)}", f"locredit {-round(low)}", f"sendslope {-round(falls / 1000)}",
                         f"idleslope {round(slope / 1000)}", "offload 0"])  # fmt: skip
    if len(slopes) > 1 or part.get("default") != first["name"]:
        writer.differ("classes", f"{len(slopes)} and what is left", "one; the others are queues of mqprio above it")
    if part.get("paper"):
        writer.differ("paper", part["paper"], "credit grows below zero only")


def _token_bucket(writer: Writer, part: Settings, limit: Limit) -> None:
    rate = part.get("rate")
    if rate is None:
        raise refused("token_bucket: no rate, and tc wants one; write token_bucket(rate=1Mbit/s)")
    peak = part.get("peak_rate")
    if peak is not None and quantities.rate(peak) <= quantities.rate(rate):
        writer.differ("peak_rate", peak, "left out: it has to be above the rate")
        peak = None
    mtu = part.get("mtu") or f"{MTU} B" if peak is not None else None
    words = QDISCS["tbf"].words({**part, "peak_rate": peak, "mtu": mtu})
    writer.qdisc("tbf", [*words, f"limit {in_bytes(writer, limit, TXQUEUELEN * MTU)}"])


_TINS = {here: there for there, here in cake.CAKE_TINS.items() if there != "diffserv"}
_ISOLATION = {here: there for there, here in cake.CAKE_ISOLATION.items()}


def _cake(writer: Writer, part: Settings, limit: Limit) -> None:
    writer.qdisc("cake", _words_of_cake(part))
    _left_of_cake(writer, part, limit)


def _cake_mq(writer: Writer, part: Settings, limit: Limit) -> None:
    each = {**part["cake"], "rate": part.get("rate")}
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
        words.append(str(rtt) if rtt in cake.CAKE_RTTS else f"rtt {as_time(rtt)}")
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


def _dualpi2(writer: Writer, part: Settings, limit: Limit) -> None:
    _of_table(writer, part, limit, "dualpi2", ["drop_enqueue"] if part["at"] == "enqueue" else [])


def police(writer: Writer, part: Settings) -> None:
    """The commands of a policer before the queue: a filter where packets leave the device."""
    if part.get("rate") is None:
        raise refused("police: no rate, and tc wants one; write police(rate=10Mbit/s)")
    burst, mtu = bytes_of(part["burst"]), bytes_of(part["mtu"]) if part.get("mtu") is not None else LONGEST
    refuse_below_a_packet("police", "burst", burst, "burst=15kB")
    refuse_below_a_packet("police", "mtu", mtu, f"mtu={MTU}B")
    words = [f"rate {as_rate(part['rate'])}", f"burst {burst}"]
    if part.get("peak_rate") is not None and quantities.rate(part["peak_rate"]) > 0:
        words.append(f"peakrate {as_rate(part['peak_rate'])}")
    # Without one tc would have 2040 B, and drop super-packets.
    words.append(f"mtu {mtu}")
    writer.say("qdisc replace dev", writer.dev, "clsact")
    writer.say("filter replace dev", writer.dev, "egress prio 1 handle 1 matchall action police", *words,
               "conform-exceed drop/ok")  # fmt: skip


WRITERS: Mapping[str, Callable[[Writer, Settings, Limit], None]] = {
    "fifo": _fifo, "pfifo_fast": _pfifo_fast, "cbs": _cbs, "token_bucket": _token_bucket, "linux_fq": _linux_fq,
    "fq_pacing": _fq_pacing, "linux_sfq": _linux_sfq, "hhf": _hhf, "skbprio": _skbprio, "fq_codel": _fq_codel,
    "fq_pie": _fq_pie, "cake": _cake, "cake_mq": _cake_mq, "dualpi2": _dualpi2,
}  # fmt: skip
BUFFERS: Mapping[str, Callable[[Writer, Settings, Limit], None]] = {
    "codel": _codel, "pie": _pie, "red": _red, "choke": _choke, "sfb": _sfb, "head_drop": _head_drop,
    "wred": _wred,
}  # fmt: skip
