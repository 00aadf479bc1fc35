"""How the numbers of one column are written: three digits, one prefix of the unit, the interval of a mean.

A number has three parts, which stand below each other in a column: the number itself, its unit, and its interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

PREFIXES = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")),
    "bit/s": ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "bytes": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}
"""Units with their prefixes, the greatest first. Other units stand in the heading of their column."""

INSIDE = {"ns": ("s", 1e-9), "ps": ("s", 1e-12)}
"""Units that are a part of another."""

BYTES_WHOLE = 10_000
"""Fewer bytes are written without a prefix: 1514 B."""

ROUNDING = 5e-13
"""A smaller magnitude is what arithmetic leaves of 0 and is written so: a time is a whole number of picoseconds."""

NOTHING = 1e-5
"""Half of an interval that is a smaller part of its mean is written as 0."""

LEAST = 1e-4
"""What is smaller and beside far greater numbers is said to be below this."""

SPREAD = 100.0
"""Where the greatest number of a column is more than this times the least, each number has its own
prefix."""

GREAT = 1e15
"""Least number that is written with a power of ten."""

POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

INSTANT_DIGITS = 7
"""Digits of an instant: of a run of minutes to the tenth of a millisecond."""

NONE = "-"
"""What stands for a value that does not exist."""


class Cell(NamedTuple):
    """The parts of a number."""

    number: str
    unit: str = ""
    interval: str = ""

    def __str__(self) -> str:
        return " ".join(part for part in self if part)


def column(
    values: Sequence[Any], unit: str = "", lows: Sequence[Any] | None = None, highs: Sequence[Any] | None = None
) -> list[Cell]:
    """The cells of a column of numbers; `lows` and `highs` are the ends of the intervals of its means.

    >>> [str(cell) for cell in column([16.2e6, 9.81e6, None], "bit/s", [15e6, 9e6, None], [17.4e6, 10.62e6, None])]
    ['16.2 Mbit/s ± 1.2', '9.81 Mbit/s ± 0.81', '-']
    """
    unit, part = INSIDE.get(unit, (unit, 1.0))
    means = [_real(value, part) for value in values]
    ends = [(math.nan, math.nan)] * len(means)
    if lows is not None and highs is not None:
        ends = [(_real(low, part), _real(high, part)) for low, high in zip(lows, highs, strict=True)]
    finite = [abs(mean) for mean in means if math.isfinite(mean)]
    greatest = max(finite, default=0.0) or max(_finite(end for pair in ends for end in pair), default=0.0)
    common, symbol = _prefix(greatest, unit)
    least = min((mean for mean in finite if mean), default=greatest)
    is_common = least * SPREAD >= greatest
    scales = [(common, symbol) if is_common or not mean else _prefix(abs(mean), unit) for mean in means]
    scaled = [mean / scale for mean, (scale, _) in zip(means, scales, strict=True)]
    inside = [(low / scale, high / scale) for (low, high), (scale, _) in zip(ends, scales, strict=True)]
    said = [value for value in scaled if math.isfinite(value)]
    lengths = [(high - low) / 2 for low, high in inside if math.isfinite(high - low)]
    is_whole = all(map(_is_whole, [*said, *lengths]))
    is_short = not lengths and all(_is_short(value) for value in said)
    top = greatest / common
    numbers = [_number(value, top, is_whole=is_whole, is_short=is_short) for value in scaled]
    halves = [_half(value, number, *pair) for value, number, pair in zip(scaled, numbers, inside, strict=True)]
    is_even = all(half is not None for half in halves)
    return [
        Cell(
            number,
            sign if math.isfinite(value) else "",
            (half or "") if is_even else _between(pair, number),
        )
        for value, number, half, pair, (_, sign) in zip(scaled, numbers, halves, inside, scales, strict=True)
    ]


def instants(values: Sequence[Any], unit: str) -> list[Cell]:
    """The cells of a column of instants, of as many decimals each as tell one from the next.

    >>> [str(cell) for cell in instants([9.75, 10.00125, None], "s")]
    ['9.75000 s', '10.00125 s', '-']
    """
    unit, part = INSIDE.get(unit, (unit, 1.0))
    times = [_real(value, part) for value in values]
    greatest = max((abs(time) for time in times if math.isfinite(time)), default=0.0)
    scale, sign = _prefix(greatest, unit)
    before = len(f"{greatest / scale:.0f}")
    said = [f"{time / scale:.{max(0, INSTANT_DIGITS - before)}f}" for time in times if math.isfinite(time)]
    while said and "." in said[0] and all(text.endswith(("0", ".")) for text in said):
        said = [text[:-1] for text in said]
    left = iter(said)
    return [Cell(next(left), sign) if math.isfinite(time) else Cell(_number(time, 0.0)) for time in times]


def aligned(cells: Sequence[Cell]) -> list[str]:
    """The cells as texts of one width: decimal points, units and intervals stand below each other."""
    numbers = _at_points([cell.number for cell in cells])
    units = max((len(cell.unit) for cell in cells), default=0)
    intervals = _intervals([cell.interval for cell in cells])
    lines = []
    for cell, number, interval in zip(cells, numbers, intervals, strict=True):
        parts = [number, *([cell.unit.ljust(units)] if units else []), *([interval] if interval else [])]
        lines.append(" ".join(parts))
    return lines


def _intervals(texts: Sequence[str]) -> list[str]:
    if any(text.startswith("±") for text in texts):
        numbers = _at_points([text.removeprefix("± ") for text in texts])
        return [f"{'±' if text else ' '} {number}" for text, number in zip(texts, numbers, strict=True)]
    width = max(map(len, texts), default=0)
    return [text.ljust(width) for text in texts]


def _at_points(numbers: Sequence[str]) -> list[str]:
    """Numbers with their decimal points below each other."""
    parts = [number.partition(".") for number in numbers]
    before = max((len(whole) for whole, _, _ in parts), default=0)
    after = max((len(point) + len(rest) for _, point, rest in parts), default=0)
    return [whole.rjust(before) + (point + rest).ljust(after) for whole, point, rest in parts]


def _real(value: Any, part: float) -> float:
    if value is None:
        return math.nan
    try:
        real = float(value) * part
    except OverflowError:
        return math.copysign(math.inf, value)
    return 0.0 if abs(real) < ROUNDING else real


def _finite(values: Iterable[float]) -> list[float]:
    return [abs(value) for value in values if math.isfinite(value)]


def _prefix(greatest: float, unit: str) -> tuple[float, str]:
    """The scale at which `greatest` is from 1 up, when it is rounded to three digits, and its sign."""
    prefixes = PREFIXES.get(unit, ((1.0, ""),))
    if unit == "bytes" and greatest < BYTES_WHOLE:
        return prefixes[-1]
    rounded = float(f"{greatest:.2e}")
    if not rounded:
        return next(each for each in prefixes if each[0] == 1.0)
    return next((each for each in prefixes if rounded >= each[0] * (1 - 1e-9)), prefixes[-1])


def _is_whole(value: float) -> bool:
    return abs(value) < GREAT and abs(value - round(value)) <= 1e-9 * abs(value)


def _is_short(value: float) -> bool:
    """Whether three digits are all that there is of it, as of the value of a setting."""
    return value == 0 or (LEAST <= abs(value) < GREAT and abs(float(f"{value:.2e}") - value) <= 1e-9 * abs(value))


def _number(value: float, greatest: float, *, is_whole: bool = False, is_short: bool = False) -> str:
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    if is_whole:
        return f"{round(value)}"
    if value == 0:
        return "0"
    if abs(value) < LEAST and greatest >= LEAST * 100:
        return f"<{LEAST:.4f}" if value > 0 else f">-{LEAST:.4f}"
    text = significant(value)
    return text.rstrip("0").rstrip(".") if is_short and "." in text else text


def significant(value: float) -> str:
    """Three digits of a number; more only where they stand before the decimal point.

    >>> significant(16.249), significant(0.98765), significant(12345.6), significant(2.04e-10)
    ('16.2', '0.988', '12346', '2.04×10⁻¹⁰')
    """
    mantissa, exponent = f"{value:.2e}".split("e")
    power = int(exponent)
    if abs(value) >= GREAT or abs(value) < LEAST:
        return f"{mantissa}×10{str(power).translate(POWERS)}"
    return f"{value:.{max(0, 2 - power)}f}"


def _is_bound(number: str) -> bool:
    return number.startswith(("<", ">"))


def _decimals(number: str) -> int:
    return len(number.partition(".")[2]) if number.replace(".", "").lstrip("-").isdigit() else 0


def _half(value: float, number: str, low: float, high: float) -> str | None:
    """Half of an interval, "" if there is none to show, None if its halves differ."""
    if math.isnan(low) or math.isnan(high) or not math.isfinite(value) or _is_bound(number):
        return ""
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    below, above = value - low, high - value
    if min(below, above) < 0 or abs(above - below) > 0.01 * (above + below) + 1e-12 * abs(value):
        return None
    half = (above + below) / 2
    if half <= max(ROUNDING, NOTHING * abs(value)):
        return "± 0" if value else ""
    return f"± {_as_exact(half, number)}"


def _between(pair: tuple[float, float], number: str) -> str:
    low, high = pair
    if math.isnan(low) or math.isnan(high) or _is_bound(number) or low == high == 0:
        return ""
    return f"({_as_exact(low, number)}–{_as_exact(high, number)})"


def _as_exact(value: float, number: str) -> str:
    """The end of an interval with as many decimals as its mean; with more where these would leave 0 of it."""
    if not math.isfinite(value):
        return "-inf" if value < 0 else "inf"
    if value == 0:
        return "0"
    if "×" in number or abs(value) >= GREAT:
        return significant(value)
    decimals = max(_decimals(number), -math.floor(math.log10(abs(value))) if abs(value) < 1 else 0)
    text = f"{value:.{_decimals(number)}f}"
    return text if any(digit in text for digit in "123456789") else f"{value:.{decimals}f}"
