"""Qdiscs without classes, from tc and to tc: by tables, and what follows from several settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from fairq.core import quantities
from fairq.core.errors import UsageError
from fairq.traffic_control import cake, red
from fairq.traffic_control.command_words import Differs
from fairq.traffic_control.draft import Limit, Settings, Writer, changed, in_bytes, left, packets
from fairq.traffic_control.qdisc_options import FQ_WEIGHT_MIN, PRIOMAP
from fairq.traffic_control.qdisc_tables import (
    FQ_PACING,
    LAW_OF_PIE,
    MTU,
    QDISCS,
    SFQ_DEPTH,
    TXQUEUELEN,
    Table,
    bytes_of,
)
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.units import form, quoted, rate_form, whole

FQ_WEIGHTS = [589_824, 196_608, 65_536]


Given = Mapping[str, Any]
Write = Callable[[Writer, Settings, Limit], None]


def text(kind: str, given: Given, differs: Differs) -> str:
    """The text form of a qdisc."""
    table = QDISCS[kind]
    differs.leave(given, *table.left.split())
    if kind in _OWN:
        return _OWN[kind](given, differs)
    for word, row in table.rows().values():
        if row.counts is not None and word in given:
            differs.say(word, *row.counts)
    said = {**table.text(given), **(_MORE[kind](given, differs) if kind in _MORE else {})}
    limit = said.pop("limit", given.get("limit", table.limit))
    return table.frame.format(part=form(table.kind, said), limit=limit)


def _by_table(word: str, table: Table) -> Write:
    """Writes a qdisc by its table, and what follows from several settings."""
    rows, more = table.rows(), _MORE_WORDS.get(table.kind)
    least, *_ = table.bounds.get("limit", (1,))

    def write(writer: Writer, part: Settings, limit: Limit) -> None:
        held = packets(writer, limit, table.limit, least=least)
        words = changed(writer, table, part)
        writer.qdisc(word, [*held, *(more(writer, part, words) if more else words)])
        if table.since:
            writer.differ("kernel", "any", f"{table.since} or later")
        for name, (_, row) in rows.items():
            if row.least and bytes_of(part[name]) < row.least:
                writer.differ(name, part[name], f"at least {row.least} B")
        left(writer, table.kind, part, *rows, *table.settings.split())

    return write


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


def unknown_buffer(writer: Writer, part: Settings, limit: Limit) -> None:
    """A fifo with a buffer policy that is not in Linux."""
    if part["kind"] != "tail_drop":
        writer.differ("buffer", str(part["kind"]), "drops what arrives at a full queue")
    _fifo(writer, part, limit)


def _cbs(given: Given, queue: str, differs: Differs) -> str:
    if not given.get("sendslope"):
        differs.say("sendslope", "the queue in it", "0, so that credit never falls and no packet waits for it")
        return queue
    # What tc is not told is zero; credits below zero and the slope of sending are told as they are, with a minus.
    said = {
        "name": "a", "idle_slope": rate_form(1000 * given["idleslope"]),
        "send_slope": rate_form(-1000 * given["sendslope"]),
        "hi_credit": f"{given.get('hicredit', 0)}B", "lo_credit": f"{-given.get('locredit', 0)}B",
        "queue": quoted(queue),
    }  # fmt: skip
    return form("cbs", {"classes": f"[{form('', said)}]", "default": "a"})


def around(kind: str, given: Given, queue: str, differs: Differs) -> str:
    """The text form of a shaper with one queue in it."""
    table = QDISCS[kind]
    differs.leave(given, *table.left.split())
    if kind == "cbs":
        return _cbs(given, queue, differs)
    said = _tbf({"limit": 0, **given}, differs)
    del said["limit"]
    return form(table.kind, {**table.text(given), **said, "queue": quoted(queue)})


def _write_cbs(writer: Writer, part: Settings, limit: Limit) -> None:
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
    if limit is not None and first.get("queue") is not None:
        writer.differ("limit", f"{limit[0]} {limit[1]} for all", "that of the qdisc in it alone")
    writer.leaf("1", str(first["name"]), first.get("queue"))
    if part.get("paper"):
        writer.differ("paper", part["paper"], "credit grows below zero only")


def _sfq(given: Given, _: Differs) -> Given:
    most = min(given.get("depth", SFQ_DEPTH), SFQ_DEPTH) * given.get("flows", 128)
    return {"red": red.of_sfq(given) if "redflowlimit" in given else None,
            "limit": min(given.get("limit", SFQ_DEPTH), most)}  # fmt: skip


def _words_of_sfq(writer: Writer, part: Settings, words: list[str]) -> list[str]:
    return [*words, *red.words_of_sfq(writer, part["red"])] if part.get("red") else words


def _words_of_skbprio(writer: Writer, part: Settings, words: list[str]) -> list[str]:
    if part["by"] == "dscp":
        writer.differ("by", "dscp", "by what gives packets their priority, as a filter with skbedit inheritdsfield")
    return words


def fair(writer: Writer, part: Settings, limit: Limit) -> None:
    """Whatever shares by flows and is not in Linux."""
    quantum = part.get("quantum")
    words = [f"quantum {bytes_of(quantum)}"] if isinstance(quantum, str) else []
    writer.qdisc("sfq", [*packets(writer, limit, 127, least=2), *words])
    kind = str(part["kind"])
    own = {"drr": "drr", "linux_qfq": "qfq"}.get(kind)
    there = f"{own} wants a class and a filter for each flow" if own else "not there"
    writer.differ("discipline", kind, f"{there}; sfq shares by hashed flows, all with the same weight")


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


def _words_of_fq(writer: Writer, part: Settings, words: list[str]) -> list[str]:
    weights = [bytes_of(weight) for weight in part["weights"]]
    if not weights:
        return words
    if len(weights) != 3 or min(weights) < FQ_WEIGHT_MIN:
        writer.differ("weights", f"{part['weights']}", f"3 bands with weights from {FQ_WEIGHT_MIN} on")
        return words
    writer.differ("kernel", "any", "6.7 or later")
    return [*words, "bands 3 priomap", *map(str, part["priomap"]), "weights", *map(str, weights)]


def _words_of_fq_pacing(writer: Writer, _: Settings, words: list[str]) -> list[str]:
    linux = "fq, which is linux_fq here: it paces by the quantum and makes up for lateness"
    writer.differ("scheduler", "fq_pacing", linux)
    return words


def _fq_codel(given: Given, _: Differs) -> Given:
    selector, mask = given.get("ce_threshold_selector", (None, None))
    return {"ce_threshold_mask": mask, "ce_threshold_selector": selector}


def _words_of_fq_codel(_: Writer, part: Settings, words: list[str]) -> list[str]:
    if part["ce_threshold_mask"]:
        said = f"ce_threshold_selector {part['ce_threshold_selector']}/{part['ce_threshold_mask']}"
        words.insert(len(words) - words.count("noecn"), said)
    return words


def _fq_pie(given: Given, _: Differs) -> Given:
    return {"pie": form("", LAW_OF_PIE.text(given))}


def _words_of_fq_pie(writer: Writer, part: Settings, words: list[str]) -> list[str]:
    left(writer, "pie", part["pie"], *LAW_OF_PIE.settings.split())
    return [*words, *changed(writer, LAW_OF_PIE, part["pie"])]


def _sfb(given: Given, _: Differs) -> Given:
    """Of bin_max and bin_size one follows from the other if it is not said (q_sfb.c)."""
    most, size = given.get("max"), given.get("target")
    if most is None and size is not None:
        return {"bin_max": (size * 5 + 1) // 4}
    return {"bin_size": (most * 4 + 3) // 5} if size is None and most is not None else {}


def _words_of_sfb(_: Writer, part: Settings, words: list[str]) -> list[str]:
    bins = [word for word in words if word.split()[0] in ("target", "max")]
    if len(bins) != 1:
        return words
    # What tc is not told of the two follows from the other.
    return [*(word for word in words if word not in bins), f"target {part['bin_size']}", f"max {part['bin_max']}"]


def _tbf(given: Given, differs: Differs) -> dict[str, Any]:
    limit = given.get("limit")
    if limit is None:
        buckets = [(given["rate"], given["burst"]), (given.get("peakrate"), given.get("mtu", MTU))]
        limit = min(rate / 8 * given["latency"] / 1e6 + held for rate, held in buckets if rate)
    differs.say("packets longer than burst or mtu", "sent from a full bucket, on debt", "dropped")
    return {"limit": int(limit), **({} if "peakrate" in given else {"mtu": None})}


def _write_tbf(writer: Writer, part: Settings, limit: Limit) -> None:
    rate = part.get("rate")
    if rate is None:
        raise refused("token_bucket: no rate, and tc wants one; write token_bucket(rate=1Mbit/s)")
    peak = part.get("peak_rate")
    if peak is not None and quantities.rate(peak) <= quantities.rate(rate):
        writer.differ("peak_rate", peak, "left out: it has to be above the rate")
        peak = None
    mtu = part.get("mtu") or f"{MTU} B" if peak is not None else None
    words = QDISCS["tbf"].words({**part, "peak_rate": peak, "mtu": mtu})
    queue = part.get("queue")
    if queue is None:
        writer.qdisc("tbf", [*words, f"limit {in_bytes(writer, limit, TXQUEUELEN * MTU)}"])
        return
    # tc wants a limit, of the FIFO whose place the queue takes.
    writer.qdisc("tbf", [*words, f"limit {TXQUEUELEN * MTU}"])
    if limit is not None:
        writer.differ("limit", f"{limit[0]} {limit[1]} for all", "that of the qdisc in it alone")
    writer.leaf("1", "queue", queue)


def _dualpi2(given: Given, differs: Differs) -> Given:
    if given.get("split_gso") is False:
        differs.say("no_split_gso", "left out", "on")
    if isinstance(step := given.get("step_thresh"), str):
        differs.say("step_thresh", "a time, the default", step)
    return {"at": "enqueue" if given.get("enqueue") else None}


def _words_of_dualpi2(_: Writer, part: Settings, words: list[str]) -> list[str]:
    return [*words, "drop_enqueue"] if part["at"] == "enqueue" else words


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
    "cake": cake.read_cake, "cake_mq": cake.read_cake_mq, "netem": _netem,
    "mq": _unlike("fifo + 1000packets", "a queue for each of the device's"),
    "noqueue": _unlike("fifo + 1packets", "nothing may wait"),
}  # fmt: skip
"""The text forms that follow no table."""
_MORE: Mapping[str, Callable[[Given, Differs], Given]] = {
    "sfq": _sfq, "tbf": _tbf, "fq": _fq, "fq_codel": _fq_codel, "fq_pie": _fq_pie,
    "red": partial(red.curve, "red"), "choke": partial(red.curve, "choke"),
    "sfb": _sfb, "dualpi2": _dualpi2,
}  # fmt: skip
"""The settings, and the limit, that follow from several options, beside those of the table."""


_MORE_WORDS: Mapping[str, Callable[[Writer, Settings, list[str]], list[str]]] = {
    "linux_sfq": _words_of_sfq, "skbprio": _words_of_skbprio, "linux_fq": _words_of_fq,
    "fq_pacing": _words_of_fq_pacing, "fq_codel": _words_of_fq_codel, "fq_pie": _words_of_fq_pie,
    "sfb": _words_of_sfb, "dualpi2": _words_of_dualpi2,
}  # fmt: skip
"""The options that follow from several settings, with those of the table."""
_OF_TABLES = ("sfq", "hhf", "skbprio", "fq", "fq_codel", "fq_pie", "dualpi2", "codel", "pie", "sfb", "pfifo_head_drop")
WRITERS: Mapping[str, Write] = {
    **{QDISCS[word].kind: _by_table(word, QDISCS[word]) for word in _OF_TABLES},
    "fq_pacing": _by_table("fq", FQ_PACING), "fifo": _fifo, "pfifo_fast": _pfifo_fast, "cbs": _write_cbs,
    "token_bucket": _write_tbf, "cake": cake.write_cake, "cake_mq": cake.write_cake_mq, "red": red.write_red,
    "choke": red.write_choke, "wred": red.write_wred,
}  # fmt: skip
"""By the kind of a scheduler, of a design, or of the buffer policy of a fifo."""
