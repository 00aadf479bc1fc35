"""tc's numbers: rates, sizes and times as iproute2 reads them, and how a text form writes them."""

from __future__ import annotations

from fairq._native import UsageError
from fairq.near import near_miss

RATES = {
    "bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12,
    "kibit": 2**10, "mibit": 2**20, "gibit": 2**30,
    "bps": 8, "kbps": 8 * 10**3, "mbps": 8 * 10**6, "gbps": 8 * 10**9,
    "kibps": 8 * 2**10, "mibps": 8 * 2**20, "gibps": 8 * 2**30,
}  # fmt: skip
"""Bits a second of a unit. A rate without one is in bits: `rate 1000` is 1 kbit/s."""

SIZES = {
    "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30,
    "kbit": 2**10 // 8, "mbit": 2**20 // 8,
}  # fmt: skip
"""Bytes of a unit. A size without one is in bytes."""

TIMES = {
    "s": 10**6,
    "sec": 10**6,
    "secs": 10**6,
    "ms": 10**3,
    "msec": 10**3,
    "us": 1,
    "usec": 1,
    "usecs": 1,
    "ns": 1e-3,
}
"""Microseconds of a unit. A time without one is in microseconds."""


def rate(word: str) -> int:
    """Bits a second."""
    return round(_number(word, RATES, "rate", 1))


def size(word: str) -> int:
    """Bytes."""
    return round(_number(word, SIZES, "size", 1))


def time_us(word: str) -> float:
    """Microseconds."""
    return _number(word, TIMES, "time", 1)


def _number(word: str, units: dict[str, int] | dict[str, float], what: str, without: int) -> float:
    digits = word.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = word[len(digits) :].lower()
    try:
        value = float(digits)
    except ValueError:
        raise UsageError(f"tc: {word!r} is no {what}; write a number and a unit, as 10{next(iter(units))}") from None
    if unit and unit not in units:
        raise UsageError(f"tc: {word!r}: {unit} is no unit of a {what}{near_miss(unit, units)}")
    return value * (units[unit] if unit else without)


def whole(word: str) -> int:
    """A whole number, decimal or hexadecimal."""
    try:
        return int(word, 0)
    except ValueError:
        raise UsageError(f"tc: {word!r} is no whole number") from None


def part(word: str) -> float:
    """A part of 1, or a percentage."""
    try:
        return float(word[:-1]) / 100 if word.endswith("%") else float(word)
    except ValueError:
        raise UsageError(f"tc: {word!r} is no part of 1; write 0.1 or 10%") from None


def rate_form(bit_per_s: float) -> str:
    """A rate as a text form has it."""
    for unit, of in (("Gbit/s", 10**9), ("Mbit/s", 10**6), ("kbit/s", 10**3)):
        if bit_per_s >= of and bit_per_s % of == 0:
            return f"{round(bit_per_s / of)}{unit}"
    return f"{round(bit_per_s)}bit/s"


def time_form(us: float) -> str:
    """A time as a text form and tc have it."""
    for unit, of in (("s", 10**6), ("ms", 10**3)):
        if us >= of and us % of == 0:
            return f"{round(us / of)}{unit}"
    return f"{us:g}us"


def rate_word(bit_per_s: float) -> str:
    """A rate as tc has it."""
    return rate_form(bit_per_s).removesuffix("bit/s").lower() + "bit"
