"""tc's numbers: rates, sizes, times and handles as iproute2 reads them, and how a text form writes them.

A reader raises UsageError with the word; `Words` puts the qdisc and the option before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from fairq.core.errors import UsageError
from fairq.core.near import near_miss

RATES = {
    "bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12,
    "kibit": 2**10, "mibit": 2**20, "gibit": 2**30, "tibit": 2**40,
    "bps": 8, "kbps": 8 * 10**3, "mbps": 8 * 10**6, "gbps": 8 * 10**9, "tbps": 8 * 10**12,
    "kibps": 8 * 2**10, "mibps": 8 * 2**20, "gibps": 8 * 2**30, "tibps": 8 * 2**40,
}  # fmt: skip
"""Bits a second of a unit. A rate without one is in bits: `rate 1000` is 1 kbit/s."""

SIZES = {
    "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**10 // 8, "mbit": 2**20 // 8, "gbit": 2**30 // 8,
}  # fmt: skip
"""Bytes of a unit. A size without one is in bytes."""

TIMES = {
    "s": 10**6, "sec": 10**6, "secs": 10**6, "ms": 10**3, "msec": 10**3, "msecs": 10**3,
    "us": 1, "usec": 1, "usecs": 1, "ns": 1e-3, "nsec": 1e-3, "nsecs": 1e-3,
}  # fmt: skip
"""Microseconds of a unit. A time without one is in microseconds."""

MOST = 2**32 - 1
"""What tc's messages to the kernel hold of a size, a time in microseconds or a number."""

BASE_16 = "(?:0[xX])?[0-9a-fA-F]{1,8}"
"""A number that C reads in base 16."""

Id = tuple[int, int]
"""A class: the number of its qdisc and its own. A qdisc has 0 for the latter."""
ROOT: Id = (0xFFFF, 0xFFFF)
"""Where the qdisc of a device stands."""


def rate(word: str) -> int:
    """Bits a second."""
    if "%" in word:
        raise UsageError(f"{word!r} is a part of the device's rate, which is not known here; write it in bit/s")
    return round(_number(word, RATES, "rate", 10**16))


def size(word: str) -> int:
    """Bytes."""
    return int(_number(word, SIZES, "size", MOST))


def size_and_cell(word: str) -> int:
    """Bytes of `15k/8`; the cell, a power of 2, is of tc's table of rates, which the kernel no longer reads."""
    bytes_word, slash, cell = word.partition("/")
    if slash and whole(cell).bit_count() != 1:
        raise UsageError(f"{word!r}: {cell} is no power of 2")
    return size(bytes_word)


def time_us(word: str) -> int:
    """Whole microseconds, as tc hands them to the kernel."""
    return int(_number(word, TIMES, "time", MOST))


def _number(word: str, units: Mapping[str, float], what: str, most: int) -> float:
    if re.fullmatch(r"0[xX][0-9a-fA-F]{1,12}", word):
        word = f"{int(word, 16)}"
    found = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)([a-zA-Z]*)", word, re.ASCII)
    if found is None:
        raise UsageError(f"{word!r} is no {what}; write a number and a unit, as 10{next(iter(units))}")
    unit = found[2].lower()
    if unit and unit not in units:
        raise UsageError(f"{word!r}: {unit} is no unit of a {what}{near_miss(unit, units)}")
    value = float(found[1]) * units.get(unit, 1)
    if value < 0:
        raise UsageError(f"{word!r}: a {what} is not negative")
    if not value <= most:
        raise UsageError(f"{word!r} is more than tc takes for a {what}")
    return value


def whole(word: str) -> int:
    """A number of 32 bits, as C writes it: decimal, `0x` hexadecimal, `0` octal."""
    return _whole(word, r"0[xX](?P<x>[0-9a-fA-F]+)|(?P<o>0[0-7]*)|(?P<d>[1-9]\d*)")


def decimal(word: str) -> int:
    """A number of 32 bits, decimal."""
    return _whole(word, r"(?P<d>\d+)")


def hexadecimal(word: str) -> int:
    """A number of 32 bits, hexadecimal with or without `0x`."""
    return _whole(word, r"(?:0[xX])?(?P<x>[0-9a-fA-F]+)")


def signed(word: str) -> int:
    """A number with or without a minus."""
    return -whole(word[1:]) if word.startswith("-") else whole(word)


def _whole(word: str, pattern: str) -> int:
    found = re.fullmatch(pattern, word, re.ASCII)
    if found is None:
        raise UsageError(f"{word!r} is no whole number from 0 on")
    (base, digits), *_ = ((base, digits) for base, digits in found.groupdict().items() if digits is not None)
    # Python refuses to read thousands of digits; ten are more than 32 bits already.
    digits = digits.lstrip("0") or "0"
    value = int(digits, {"x": 16, "o": 8, "d": 10}[base]) if len(digits) < 20 else MOST + 1
    if value > MOST:
        raise UsageError(f"{word!r} is more than 32 bits hold")
    return value


def part(word: str) -> float:
    """A part of 1."""
    return _real(word, lambda value: 0 <= value <= 1, "part of 1; write 0.1")


def _real(word: str, fits: Callable[[float], bool], what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not fits(value):
        raise UsageError(f"{word!r} is no {what}")
    return value


def linklayer(word: str) -> str | None:
    """What cuts packets up; None is Ethernet, which does not."""
    for name, here in (("ethernet", None), ("atm", "atm"), ("adsl", "atm")):
        if name.startswith(word):
            return here
    raise UsageError(f"{word!r} is no linklayer{near_miss(word, ['ethernet', 'atm', 'adsl'])}")


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
    return int(_real(word, lambda value: 0 <= value < 2**16, "gain; write 0.16") * 256) / 256


def hundredths(word: str) -> int:
    """A percentage, as `10` or `10%`."""
    value = decimal(word.removesuffix("%"))
    if value > 100:
        raise UsageError(f"{word!r} is more than 100 %")
    return value


def qdisc_id(word: str) -> int:
    """The number of a qdisc: `1:`, hexadecimal, with or without `0x` (strtoul with base 16)."""
    found = re.fullmatch(rf"({BASE_16})(:.*)?", word, re.ASCII)
    if found is None or int(found[1], 16) > 0xFFFF:
        raise UsageError(f"{word!r} is no handle of a qdisc; write 1: to ffff:")
    return int(found[1], 16)


def class_id(word: str) -> Id:
    """The numbers of a class, hexadecimal: `1:a`, `01:0A`, `0x1:0xa` are one (get_tc_classid)."""
    if word == "root":
        return ROOT
    found = re.fullmatch(rf"((?:{BASE_16})?)(?:(:)((?:{BASE_16})?))?", word, re.ASCII)
    if found is None or not word:
        raise UsageError(f"{word!r} is no class; write a qdisc and a number, as 1:10")
    first, second = int(found[1] or "0", 16), int(found[3] or "0", 16)
    if not found[2]:
        first, second = first >> 16, first & 0xFFFF
    if first > 0xFFFF or second > 0xFFFF:
        raise UsageError(f"{word!r}: the numbers of a class are up to ffff")
    return first, second


def id_form(of: Id) -> str:
    """A class or qdisc as tc writes it."""
    if of == ROOT:
        return "root"
    return f"{of[0]:x}:{of[1]:x}" if of[1] else f"{of[0]:x}:"


def rate_form(bit_per_s: float) -> str:
    """A rate as a text form has it."""
    for unit, of in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bit_per_s >= of and bit_per_s % of == 0:
            return f"{round(bit_per_s / of)}{unit}"
    return f"{round(bit_per_s)}bit/s"


def time_form(us: float) -> str:
    """A time as a text form and tc have it, with all its digits down to a picosecond."""
    us = round(us, 6)
    for unit, of in (("s", 10**6), ("ms", 10**3)):
        if us >= of and us % of == 0:
            return f"{round(us / of)}{unit}"
    return f"{round(us)}us" if us == round(us) else f"{us!r}us"


def rate_word(bit_per_s: float) -> str:
    """A rate as tc has it."""
    return rate_form(bit_per_s).removesuffix("bit/s").lower() + "bit"


def form(name: str, settings: Mapping[str, Any]) -> str:
    """A part of a text form with the settings that are not None."""
    said = [f"{key}={value}" for key, value in settings.items() if value is not None]
    return f"{name}({', '.join(said)})" if said else name


def quoted(text: str) -> str:
    """The text form of a queue as the value of a setting; quotes within need no escape."""
    return f'"{text}"'
