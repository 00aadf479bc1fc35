"""The settings of a card: the values around its default that each is given, or why it has none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, NamedTuple

from fairq.traffic_control.cake import CAKE_RTTS

FACTORS = ("0.25", "0.5", "2", "4")
"""What a quantity is multiplied by."""

WHOLE_UNITS = ("B", "packet", "packets")
"""Units of which there is no part."""

NUMBER = re.compile(r"(?P<number>[0-9.]+(?:e-?[0-9]+)?)\s*(?P<unit>[A-Za-zµ/]*)")
"""A default that can be multiplied."""

GOES_WITH = re.compile(r"With `([a-z_]+)`")
"""How a card says that a setting counts only where another is on."""

CHOICES = re.compile(r"`([a-z0-9_]+)`: [A-Z0-9]")
"""The names of a choice, each before what it does, as a card lists them."""

QUANTITIES = ("time", "size", "rate", "buffer", "integer", "number")
"""Types that have a half and a double."""


class Knob(NamedTuple):
    """A setting and the values that it is given, in their order; the default is one of them."""

    name: str
    type: str
    doc: str
    default: str
    values: tuple[str, ...]

    @property
    def others(self) -> tuple[str, ...]:
        """The values that are not the default."""
        return tuple(value for value in self.values if value != self.default)


class Fixed(NamedTuple):
    """A setting that is not varied, and the reason."""

    name: str
    reason: str


def of_card(card: Mapping[str, Any], refused: Callable[[str, str], str | None]) -> tuple[list[Knob], list[Fixed]]:
    """The settings of a card that can be varied alone, and those that cannot.

    `refused` says of a setting and a value why the value cannot be; `None` if it can.
    """
    knobs, fixed = [], []
    names = [setting["name"] for setting in card["settings"]]
    for setting in card["settings"]:
        has_parts = any(name.startswith(f"{setting['name']}.") for name in names)
        # Parts of a table stand for it, and a list for its parts.
        if setting["doc"].startswith("Another name of") or has_parts or "[]" in setting["name"]:
            continue
        found = of_setting(setting, refused)
        if isinstance(found, Knob):
            knobs.append(found)
        else:
            fixed.append(found)
    return knobs, fixed


def of_setting(setting: Mapping[str, Any], refused: Callable[[str, str], str | None]) -> Knob | Fixed:
    """The values of one setting by its type, or why it has none."""
    name, kind, default = setting["name"], setting["type"], setting["default"]
    if setting["required"]:
        return Fixed(name, "it has no default")
    is_named_time = default in CAKE_RTTS
    if kind in ("list", "table", "text") and not is_named_time:
        return Fixed(name, f"it is a {kind}, which has no half and no double")
    said = _text(default, kind)
    if said is None:
        other = GOES_WITH.match(setting["doc"])
        return Fixed(
            name, f"it goes with {other[1]}" if other else "it has no default of which to take half and double"
        )
    candidates: list[str] | None
    if kind in QUANTITIES:
        candidates = _multiples(said, kind)
        if candidates is None:
            return Fixed(name, f"its default is {said}, which has no half and no double")
    elif is_named_time:
        candidates = [each for each in CAKE_RTTS if each != said]
    elif kind == "boolean":
        candidates = ["true" if said == "false" else "false"]
    else:
        candidates = [choice for choice in CHOICES.findall(setting["doc"]) if choice != said]
    reasons = {value: refused(name, value) for value in candidates}
    taken = [value for value in candidates if reasons[value] is None]
    if kind == "number" and any(reasons.values()) and 0 < Decimal(said) < 1:
        # A part of a whole has no double beyond 1: what is left to 1 is halved.
        rest = 1 - Decimal(said)
        nearer = [_plain(1 - rest * Decimal(factor)) for factor in ("0.5", "0.25")]
        taken += [value for value in nearer if value not in taken and refused(name, value) is None]
    if not taken:
        return Fixed(name, next(filter(None, reasons.values()), "it has no other value"))
    if kind in QUANTITIES:
        ordered = _ordered([*taken, said])
    elif is_named_time:
        ordered = [each for each in CAKE_RTTS if each in (*taken, said)]
    else:
        ordered = [said, *taken]
    return Knob(name, kind, setting["doc"], said, tuple(ordered))


def of_limit(limit: str) -> Knob | None:
    """The room of a queue as a setting: packets or bytes that may wait; `None` without a limit."""
    values = _multiples(limit, "buffer")
    if values is None:
        return None
    said = _said(*_parts(limit))
    return Knob("limit", "buffer", "How much may wait in all.", said, tuple(_ordered([*values, said])))


def _ordered(values: Iterable[str]) -> list[str]:
    """Quantities of one unit, the least first."""
    return sorted(values, key=lambda value: Decimal(_parts(value)[0]))


def _text(default: Any, kind: str) -> str | None:
    """A default as a value in the text form; a boolean that is not there is off."""
    if kind == "boolean":
        return "true" if default else "false"
    if default is None:
        return None
    if kind == "number" and not isinstance(default, str):
        return _plain(Decimal(repr(default)))
    text = str(default)
    return _said(*_parts(text)) if kind in QUANTITIES and NUMBER.fullmatch(text) else text


def _parts(text: str) -> tuple[str, str]:
    """The number and the unit of a quantity."""
    found = NUMBER.fullmatch(text)
    assert found is not None, f"{text} is no quantity"
    return found["number"], found["unit"]


def _said(number: str, unit: str) -> str:
    return f"{number}{unit}"


def _multiples(text: str, kind: str) -> list[str] | None:
    """Half, double and so on of a quantity in its unit; `None` of zero and of what is none."""
    if not NUMBER.fullmatch(text):
        return None
    number, unit = _parts(text)
    value = Decimal(number)
    if not value:
        return None
    whole = kind == "integer" or unit in WHOLE_UNITS
    found = [value * Decimal(factor) for factor in FACTORS]
    if whole:
        found = [each.quantize(Decimal(1), ROUND_HALF_UP) for each in found]
    told = [_said(f"{each:f}" if whole else _plain(each), unit) for each in found if each > 0 and each != value]
    return list(dict.fromkeys(told))


def _plain(value: Decimal) -> str:
    """A number in at most six digits, without a power of ten."""
    rounded = Decimal(f"{value:.6g}")
    return f"{rounded.normalize():f}"


def many(names: Iterable[str]) -> str:
    """Names as a sentence lists them."""
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
