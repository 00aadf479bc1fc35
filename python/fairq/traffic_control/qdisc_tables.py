"""What each qdisc and class may be told: tc's words, their units, and the settings that they are.

From a table follow the reader of a command with what it refuses, the text form, and the command of
a text form. What is not regular is code: `qdisc_options.py` has what tc and the kernel refuse of
several options, `qdiscs.py`, `red.py`, `cake.py` and `trees.py` what follows from several settings.
The default of a setting is that of fairq, which is Linux's; the limit's is in the table.

Source: iproute2 6.1, tc/q_*.c; the bands of `fq` 6.7, `dualpi2` 6.17. Linux 6.1, net/sched/sch_*.c.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fairq.core import quantities
from fairq.traffic_control import units
from fairq.traffic_control.command_words import ON, Option, Several, Words, options
from fairq.traffic_control.units import MOST, rate_form, rate_word, time_form

MTU = 1514
"""Of an Ethernet device, its header included."""
TXQUEUELEN = 1000
SFQ_DEPTH = 127
CHOKE_MAX = 128 * 1024 - 1
HH_LIMIT_MAX = 2048
"""hhf_policy: twice the places of its table."""
PRIORITIES = 16
BANDS_MAX = 16
SFB_ONE = 0xFFFF
"""A probability of 1 in the kernel's sfb."""


@dataclass(frozen=True)
class Unit:
    """How a value is said on both sides."""

    read: Callable[[str], Any] | Option
    """What tc's word is."""
    here: Callable[[Any], Any]
    """What was read, as a text form has it; `None` is not said."""
    there: Callable[[Any], str]
    """A setting, as tc has it."""
    step: tuple[str, float] | None = None
    """What tc counts in, and how much of the setting, or how many microseconds, that is."""
    is_word: bool = False
    """Whether `there` gives the option itself."""


def bytes_of(text: str) -> int:
    """A size with its unit, in bytes."""
    return round(quantities.size(text))


def us_of(text: str) -> float:
    """A time with its unit, in microseconds."""
    return quantities.time(text) * 1e6


def as_rate(value: Any) -> str:
    """A rate as tc has it."""
    return rate_word(quantities.rate(value))


def as_time(value: Any) -> str:
    """A time in whole microseconds, at least one if it is not zero."""
    return time_form(max(1, round(us_of(value))) if us_of(value) else 0)


def _as_seconds(value: Any) -> str:
    return f"{max(1, round(us_of(value) / 1e6)) if us_of(value) else 0}"


def _sfb_part(value: float) -> float:
    return float(f"{int(value * SFB_ONE + 0.5) / SFB_ONE:.9g}")


def _three_bands(words: Words, of: str) -> list[int]:
    """The bands of fq by priority, which tc takes behind their number alone."""
    if words.value(of, units.decimal) != 3 or words.next(of) != "priomap":
        raise words.refused("bands are 3, and priomap follows; write bands 3 priomap 1 2 2 …")
    return words.numbers("priomap", units.decimal, PRIORITIES)


def _curve_form(curve: Mapping[str, Any]) -> str:
    """A curve of hfsc; of one without a first part, m1 and d say nothing."""
    first = {"m1": rate_form(curve["m1"]) if curve["m1"] else None, "d": time_form(curve["d"])} if curve["d"] else {}
    return units.form("", {**first, "m2": rate_form(curve["m2"])})


def _curve_words(curve: Mapping[str, Any]) -> str:
    last = f"m2 {as_rate(curve['m2'])}"
    if not curve.get("d") or not us_of(curve["d"]):
        return last
    return f"m1 {as_rate(curve['m1']) if curve.get('m1') else '0bit'} d {as_time(curve['d'])} {last}"


def _same(value: Any) -> Any:
    return value


def _in_bytes(value: int) -> str:
    return f"{value}B"


FLAG = Unit(ON, lambda on: "true" if on else None, lambda on: "")
ECN = Unit(ON, lambda on: "true" if on else "false", lambda on: "ecn" if on else "noecn", is_word=True)
NOECN = replace(ECN, here=lambda on: None if on else "false")
"""Where ECN is on if nothing is said."""
BY_RATE = replace(FLAG, here=lambda on: "departure_rate" if on else None)
SIGNED = Unit(units.signed, _same, str)
HEX = replace(SIGNED, read=units.hexadecimal)
SELECTOR = replace(SIGNED, read=units.selector)
WORD = replace(SIGNED, read=str)
NUMBERS = replace(SIGNED, read=("", Several(lambda words, of: words.numbers(of, units.decimal))))
THREE_NUMBERS = replace(SIGNED, read=("", Several(lambda words, of: words.numbers(of, units.decimal, 3))))
PART = replace(SIGNED, read=units.part)
NUMBER = Unit(units.whole, _same, str)
DECIMAL = replace(NUMBER, read=units.decimal)
PLAIN_SIZE = replace(NUMBER, read=units.size)
"""A size that is a number here."""
COUNT = replace(NUMBER, there=lambda value: f"{round(value)}", step=("numbers", 1))
"""A whole number, of a setting that need not be one."""
GAIN = replace(NUMBER, read=units.gain)
LINKLAYER = replace(NUMBER, read=units.linklayer, there=lambda name: "" if name == "ethernet" else name)
SFB_PART = Unit(units.part, _sfb_part, str)
SIXTEENTHS = Unit(units.whole, lambda value: f"{value / 16:g}", lambda value: f"{min(32, round(value * 16))}",
                  ("sixteenths up to 32", 1 / 16))  # fmt: skip
PERCENT = Unit(units.hundredths, lambda value: value / 100, lambda value: f"{round(value * 100)}",
               ("hundredths", 1 / 100))  # fmt: skip
BELOW_100 = Unit(units.whole, lambda value: value / 100, lambda value: f"{min(99, round(value * 100))}",
                 ("hundredths below 100", 1 / 100))  # fmt: skip
SIZE = Unit(units.size, _in_bytes, lambda value: f"{bytes_of(value)}")
BYTES = replace(SIZE, read=units.whole)
DECIMAL_BYTES = replace(SIZE, read=units.decimal)
CELLED = replace(SIZE, read=units.size_and_cell)
RATE = Unit(units.rate, rate_form, as_rate)
TIME = Unit(units.time_us, time_form, as_time, ("microseconds", 1))
STEP = replace(TIME, read=units.step, here=lambda value: time_form(value) if isinstance(value, int) else None)
"""A time, or packets, which fairq has not."""
MILLISECONDS = Unit(units.whole, lambda value: time_form(value * 1000), lambda value: f"{round(us_of(value) / 1000)}",
                    ("milliseconds", 1000))  # fmt: skip
CURVE = Unit(ON, _curve_form, _curve_words)
"""Of hfsc; tc's three words, or other three, are read by code."""
SECONDS = Unit(units.whole, lambda value: time_form(value * 1e6), _as_seconds, ("seconds", 1e6))


@dataclass(frozen=True)
class Is:
    """The setting that an option is, and how the value is said."""

    setting: str
    unit: Unit
    least: int = 0
    """The kernel takes this for anything below."""
    unsaid: str | None = None
    """What it is here where tc is not told; such a setting is written always."""
    counts: tuple[str, str] | None = None
    """What differs if it is said: here, there."""


Entry = Is | Unit | Option
"""An option without `Is` is only read: what it is here follows from several, or it has no like."""
TRUESIZE = ("lengths of packets", "its buffers (truesize)")


def _read(one: Entry) -> Callable[[str], Any] | Option:
    unit = one.unit if isinstance(one, Is) else one
    return unit.read if isinstance(unit, Unit) else unit


@dataclass(frozen=True)
class Table:
    """A qdisc or a class; lists of names are words of a string."""

    options: Mapping[str, Entry]
    """By tc's word, in the order in which they are written; `burst|buffer` are two words for one."""
    kind: str = ""
    """What the part is called here."""
    frame: str = "{part} + {limit}packets"
    """The text form around the part."""
    limit: int = 0
    """Linux's limit where none is said."""
    settings: str = ""
    """Those of a text form in its order, where not all of the options in theirs; others follow from code."""
    zero: str = ""
    """Options of which tc does not send a 0: the kernel's default stays."""
    short: str = ""
    """Options that may be cut to any beginning; of several the first is meant."""
    once: str = ""
    """Options that tc refuses a second time."""
    needs: str = ""
    """Options without which tc refuses the command."""
    example: str = ""
    """What to write where one of those is missing."""
    bounds: Mapping[str, tuple[int, int, str]] = field(default_factory=dict)
    """The least and the most of an option, and what to say of others."""
    beside: Mapping[str, str] = field(default_factory=dict)
    """By option what to write beside it, another option first, without which it is refused."""
    left: str = ""
    """Options that have no like here."""
    since: str = ""
    """The first kernel that has it, where older ones are in use."""

    def read(self, words: Words) -> dict[str, Any]:
        """The options of a command, without the zeros that tc does not send.

        Raises UsageError with what tc or the kernel refuses.
        """
        known = options({name: _read(one) for name, one in self.options.items()})
        said, zero = words.take(known, self.short.split(), self.once.split()), self.zero.split()
        found = {name: value for name, value in said.items() if value != 0 or value is False or name not in zero}
        for name in self.needs.split():
            if not found.get(name):
                raise words.refused(f"no {name}; write {self.example}")
        for name, (least, most, why) in self.bounds.items():
            if not least <= found.get(name, least) <= most:
                raise words.refused(f"{name} {found[name]}; {why}")
        for name, more in self.beside.items():
            if name in found and not found.get(other := more.split()[0]):
                raise words.refused(f"{name} without {other}; write {more}")
        return found

    def rows(self) -> dict[str, tuple[str, Is]]:
        """By the setting: tc's word and the rest, in the order of a command."""
        own = self.settings.split()
        return {one.setting: (words.partition("|")[0], one) for words, one in self.options.items()
                if isinstance(one, Is) and (not own or one.setting in own)}  # fmt: skip

    def text(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of a text form; `None` where tc was not told, or where code says them."""
        rows = self.rows()
        found = dict.fromkeys(self.settings.split() or rows)
        for name, (word, row) in rows.items():
            if word in given and name in found:
                value = given[word]
                found[name] = row.unit.here(max(value, row.least) if row.least else value)
            elif row.unsaid is not None:
                found[name] = row.unsaid
        return found

    def words(self, part: Mapping[str, Any]) -> list[str]:
        """The options of all settings that a part has, in the order of a command."""
        said = {word: row.unit.there(part[name]) for name, (word, row) in self.rows().items() if part.get(name)}
        return [f"{word} {value}" for word, value in said.items() if value]


CODEL: Mapping[str, Entry] = {
    "target": Is("target", TIME),
    "interval": Is("interval", TIME),
    "ce_threshold": Is("ce_threshold", TIME),
}
NOT_MARKING: Mapping[str, Entry] = {"ecn": Is("ecn", ECN, unsaid="false"), "noecn": ("ecn", False)}
"""Marks if it is told to."""
PIE: Mapping[str, Entry] = {
    "target": Is("target", TIME), "tupdate": Is("update", TIME), "alpha": Is("alpha", SIXTEENTHS),
    "beta": Is("beta", SIXTEENTHS),
}  # fmt: skip
FLAGS_OF_PIE: Mapping[str, Entry] = {
    "dq_rate_estimator": Is("delay", BY_RATE), "no_dq_rate_estimator": ("dq_rate_estimator", False),
    "bytemode": Is("byte_mode", FLAG), "nobytemode": ("bytemode", False), **NOT_MARKING,
}  # fmt: skip
ECN_PROB: Mapping[str, Entry] = {"ecn_prob": Is("ecn_threshold", BELOW_100)}
RED: Mapping[str, Entry] = {
    "limit": SIZE, "min": SIZE, "max": SIZE, "avpkt": SIZE, "burst": NUMBER,
    "probability": Is("probability", PART, unsaid="0.02"), "bandwidth": RATE, "ecn": Is("ecn", ECN, unsaid="false"),
}  # fmt: skip
BOUNDS_OF_PIE = {**dict.fromkeys(["alpha", "beta"], (0, 32, "it is in sixteenths, 0 to 32")),
                 "ecn_prob": (0, 99, "it is a percentage below 100")}  # fmt: skip
FLOWS = {"flows": (0, 65_536, "there are at most 65536")}
QUANTA_OF_FQ: Mapping[str, Entry] = {
    "quantum": Is("quantum", BYTES), "initial_quantum": Is("initial_quantum", BYTES),
    "refill_delay": Is("refill_delay", TIME),
}  # fmt: skip
FQ = Table({
    "limit": NUMBER, "flow_limit": Is("flow_limit", NUMBER), **QUANTA_OF_FQ, "maxrate": Is("maxrate", RATE),
    "buckets": NUMBER, "orphan_mask": NUMBER, "pacing": ON, "nopacing": ("pacing", False),
    "low_rate_threshold": Is("low_rate_threshold", RATE), "ce_threshold": Is("ce_threshold", TIME),
    "timer_slack": Is("timer_slack", TIME), "horizon": TIME, "offload_horizon": TIME, "horizon_cap": ON,
    "horizon_drop": ("horizon_cap", False), "defrate": RATE, "bands": ("priomap", Several(_three_bands)),
    "weights": THREE_NUMBERS,
}, "linux_fq", limit=10_000,
   settings="flow_limit quantum initial_quantum maxrate low_rate_threshold refill_delay ce_threshold timer_slack"
            " weights priomap",
   left="horizon horizon_cap offload_horizon orphan_mask defrate")  # fmt: skip
FQ_PACING = Table({**QUANTA_OF_FQ, "maxrate": Is("rate_max", RATE)}, "fq_pacing", limit=FQ.limit)
LAW_OF_PIE = Table({**PIE, **ECN_PROB, **FLAGS_OF_PIE}, "pie",
                   settings="target update alpha beta delay byte_mode ecn_threshold ecn",
                   zero="target tupdate alpha beta ecn_prob")  # fmt: skip
"""The part of `fq_pie` that is pie's."""

QDISCS: Mapping[str, Table] = {
    "pfifo": Table({"limit": SIZE}, frame="fifo + {limit}packets", limit=TXQUEUELEN),
    "bfifo": Table({"limit": SIZE}, frame="fifo + {limit}B", limit=TXQUEUELEN * MTU),
    "pfifo_head_drop": Table({"limit": SIZE}, "head_drop", "fifo + {part} + {limit}packets", limit=TXQUEUELEN),
    "pfifo_fast": Table({}, "pfifo_fast", limit=TXQUEUELEN),
    "prio": Table({"bands": DECIMAL, "priomap": NUMBERS, "multiqueue": ON}, once="priomap",
                  left="multiqueue", bounds={"bands": (2, BANDS_MAX, f"write 2 to {BANDS_MAX}")}),
    "ets": Table({"bands": DECIMAL, "strict": DECIMAL, "quanta": NUMBERS,
                  "priomap": NUMBERS}, once="bands strict quanta priomap"),
    "sfq": Table({"limit": NUMBER, "quantum": Is("quantum", SIZE), "depth": Is("depth", NUMBER),
                  "flows": Is("flows", NUMBER), "divisor": Is("divisor", NUMBER), "headdrop": Is("headdrop", FLAG),
                  "perturb": Is("perturb", SECONDS), "redflowlimit": NUMBER, "min": NUMBER, "max": NUMBER,
                  "avpkt": SIZE, "burst": NUMBER, "probability": PART, "ecn": ON, "harddrop": ON},
                 "linux_sfq", limit=SFQ_DEPTH, settings="quantum depth flows divisor headdrop perturb red",
                 zero="quantum flows divisor depth perturb", bounds={"limit": (2, MOST, "write at least 2")},
                 beside=dict.fromkeys(["min", "max", "avpkt", "burst", "probability", "ecn", "harddrop"],
                                      "redflowlimit 100000")),
    "hhf": Table({"limit": NUMBER, "quantum": Is("quantum", BYTES, 256), "hh_limit": Is("hh_limit", NUMBER),
                  "reset_timeout": Is("reset_timeout", TIME), "admit_bytes": Is("admit_bytes", BYTES),
                  "evict_timeout": Is("evict_timeout", TIME), "non_hh_weight": Is("non_hh_weight", NUMBER)},
                 "hhf", limit=1000,
                 settings="quantum non_hh_weight hh_limit admit_bytes reset_timeout evict_timeout",
                 zero="limit quantum hh_limit reset_timeout admit_bytes evict_timeout non_hh_weight",
                 bounds={"hh_limit": (0, HH_LIMIT_MAX, f"it is at most {HH_LIMIT_MAX}")}),
    "skbprio": Table({"limit": NUMBER}, "skbprio", limit=64, settings="by"),
    "drr": Table({}, "drr"),
    "qfq": Table({}, "linux_qfq"),
    "hfsc": Table({"default": HEX}, "hfsc", zero="default", short="default", once="default"),
    "htb": Table({"r2q": Is("r2q", DECIMAL), "default": HEX, "debug": WORD, "direct_qlen": DECIMAL,
                  "offload": ON}, "htb", zero="default", short="r2q default debug direct_qlen offload",
                 left="direct_qlen offload"),
    "tbf": Table({"limit": SIZE, "latency": TIME, "rate": Is("rate", RATE),
                  "burst|buffer|maxburst": Is("burst", CELLED), "peakrate": Is("peak_rate", RATE),
                  "mtu|minburst": Is("mtu", CELLED), "overhead": Is("overhead", DECIMAL),
                  "mpu": Is("mpu", PLAIN_SIZE), "linklayer": Is("linklayer", LINKLAYER)},
                 "token_bucket", "{part} + {limit}B",
                 zero="limit latency burst mtu rate peakrate mpu overhead",
                 short="limit latency burst peakrate overhead linklayer",
                 once="limit latency burst mtu mpu rate peakrate", needs="rate burst",
                 example="rate 1mbit burst 5kb latency 50ms", beside={"peakrate": "mtu 1540"}),
    "cbs": Table({"offload": NUMBER, "hicredit": SIGNED, "locredit": SIGNED, "sendslope": SIGNED, "idleslope": SIGNED},
                 zero="offload", short="offload hicredit locredit sendslope idleslope",
                 once="offload hicredit locredit sendslope idleslope", left="offload",
                 needs="idleslope", example="idleslope 2000, in kbit/s"),
    "fq": FQ,
    "fq_codel": Table({"limit": NUMBER, "flows": Is("queues", NUMBER), "quantum": Is("quantum", BYTES, 256),
                       "memory_limit": Is("memory", SIZE, counts=TRUESIZE), **CODEL,
                       "ce_threshold_selector": SELECTOR, "drop_batch": Is("drop_batch", NUMBER),
                       "ecn": Is("ecn", NOECN), "noecn": ("ecn", False)}, "fq_codel", limit=10_240,
                      settings="queues quantum target interval ce_threshold ce_threshold_mask ce_threshold_selector"
                               " memory drop_batch ecn",
                      zero="limit flows quantum target interval drop_batch", bounds=FLOWS),
    "codel": Table({"limit": NUMBER, **CODEL, **NOT_MARKING}, "codel", "fifo + {part} + {limit}packets", 1000,
                   zero="limit target interval"),
    "fq_pie": Table({"limit": NUMBER, **LAW_OF_PIE.options, "flows": Is("queues", NUMBER),
                     "quantum": Is("quantum", SIZE), "memory_limit": Is("memory", SIZE, counts=TRUESIZE)},
                    "fq_pie", limit=10_240,
                    settings="queues quantum memory pie",
                    zero="limit flows target tupdate alpha beta quantum memory_limit ecn_prob",
                    bounds={**BOUNDS_OF_PIE, **FLOWS}),
    "pie": Table({"limit": NUMBER, **PIE, **FLAGS_OF_PIE}, "pie", "fifo + {part} + {limit}packets", 1000,
                 zero="limit target tupdate alpha beta", bounds=BOUNDS_OF_PIE),
    "red": Table({**RED, "harddrop": Is("hard_drop", FLAG), "nodrop": ON, "adaptive|adaptative": ON}, "red",
                 "fifo + {part} + {limit}B", zero="limit min max avpkt burst bandwidth", left="adaptive nodrop",
                 settings="min max probability weight mean_packet ecn hard_drop",
                 needs="limit avpkt", example="red limit 400000 min 30000 max 90000 avpkt 1000",
                 beside={"nodrop": "ecn nodrop"}),
    "choke": Table({**RED, "limit": NUMBER, "min": NUMBER, "max": NUMBER}, "choke",
                   "fifo + {part} + port_pair + {limit}packets", 1000, zero="limit min max burst bandwidth",
                   settings="min max probability weight mean_packet ecn",
                   needs="limit bandwidth", example="choke limit 1000 bandwidth 10mbit",
                   bounds={"limit": (0, CHOKE_MAX, f"it is at most {CHOKE_MAX}")}),
    "sfb": Table({"limit": NUMBER, "target": Is("bin_size", NUMBER), "max": Is("bin_max", NUMBER),
                  "increment": Is("increment", SFB_PART), "decrement": Is("decrement", SFB_PART),
                  "rehash": Is("rehash", MILLISECONDS), "db": Is("warmup", MILLISECONDS),
                  "penalty_rate": Is("penalty_rate", NUMBER), "penalty_burst": Is("penalty_burst", NUMBER)},
                 "sfb", "fifo + {part} + port_pair + {limit}packets", TXQUEUELEN,
                 zero="limit max target"),
    "cake": Table({}, "cake"),
    "cake_mq": Table({}, "cake_mq"),
    "dualpi2": Table({"limit": DECIMAL, "memlimit": DECIMAL, "target": Is("target", TIME),
                      "tupdate": Is("update", TIME), "step_thresh": Is("step", STEP), "min_qlen_step": DECIMAL,
                      "coupling_factor": Is("coupling", COUNT), "alpha": Is("alpha", GAIN), "beta": Is("beta", GAIN),
                      "overflow": ON, "drop_on_overload": ("overflow", False), "drop_enqueue": ("enqueue", True),
                      "drop_dequeue": ("enqueue", False), "any_ect": ON, "l4s_ect": ("any_ect", False),
                      "classic_protection": Is("classic_share", PERCENT), "max_rtt": TIME, "typical_rtt": TIME,
                      "split_gso": ON, "no_split_gso": ("split_gso", False)},
                     "dualpi2", limit=10_000, settings="target update alpha beta coupling step classic_share at",
                     zero="limit memlimit target tupdate step_thresh max_rtt typical_rtt",
                     left="memlimit min_qlen_step any_ect max_rtt typical_rtt overflow", since="6.17"),
    "netem": Table({}),
    "mq": Table({}),
    "noqueue": Table({}),
}  # fmt: skip

ABOVE_ZERO = {"quantum": (1, MOST, "write at least 1")}
CLASSES: Mapping[str, Table] = {
    "htb": Table({"rate": Is("rate", RATE), "ceil": Is("ceil", RATE), "burst|buffer|maxburst": Is("burst", CELLED),
                  "cburst|cbuffer|cmaxburst": Is("cburst", CELLED), "prio": Is("priority", DECIMAL),
                  "quantum": Is("quantum", DECIMAL_BYTES), "mtu": DECIMAL, "overhead": Is("overhead", DECIMAL),
                  "mpu": Is("mpu", DECIMAL), "linklayer": Is("linklayer", LINKLAYER)},
                 zero="rate ceil burst cburst quantum mtu mpu overhead",
                 short="prio mtu mpu overhead linklayer quantum burst cburst", once="rate ceil", needs="rate",
                 example="rate 1mbit"),
    "hfsc": Table({"rt": Is("real_time", CURVE), "ls": Is("link_share", CURVE), "ul": Is("upper_limit", CURVE)}),
    "drr": Table({"quantum": Is("quantum", SIZE)}, bounds=ABOVE_ZERO),
    "qfq": Table({"weight": Is("weight", DECIMAL), "maxpkt": Is("maxpkt", DECIMAL_BYTES)}, short="weight maxpkt"),
    "ets": Table({"quantum": DECIMAL}, bounds=ABOVE_ZERO),
}  # fmt: skip
