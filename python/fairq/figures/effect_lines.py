"""What each setting of a part does: small multiples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from fairq.figures import axis_units, text
from fairq.figures.means import (
    first,
    interval_said,
    mean_curve,
    named,
    number_axis,
    numbers_of,
    sentences,
    shifted_said,
    size_of,
    values_of,
)
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import Key, columns_for, from_zero, handle, left, name_panel, sheet
from fairq.figures.style import PAGE, Look, Style

Rows = Sequence[Mapping[str, Any]]

QUANTITIES = ("share", "queueing_s_mean", "loss")
"""What a setting acts on, the most telling first."""


SCALES_APART = 5
"""Panels of a quantity whose tops are further apart than this have scales of their own."""


@plotted(needs=("setting", "value"))
def effects(
    rows: Rows, title: str, *, quantities: Sequence[str] = QUANTITIES, caption: str = "", style: Style = PAGE
) -> Figure:
    """A panel for each quantity and setting: means over its values, a curve for each flow.

    `rows` have `setting`, `value` (text or number), the quantities with the ends of their
    intervals, and may have `flow`, and `is_default`: its value has an upright line. Where all
    quantities of all settings would be too many panels, the last quantities are left out.
    """
    settings, unseen_settings = first(list(dict.fromkeys(row["setting"] for row in rows)), style.panels_max)
    known = [quantity for quantity in quantities if any(row.get(quantity) is not None for row in rows)] or [
        quantities[0]
    ]
    kinds, unseen = first(known, max(1, style.panels_max // len(settings)))
    flows = list(dict.fromkeys(row.get("flow") for row in rows))
    looks = {flow: style.look(number) for number, flow in enumerate(flows)}
    key = [(handle(style, look), named(["flow"], [flow])) for flow, look in looks.items()] if len(flows) > 1 else []
    has_default = any(row.get("is_default") for row in rows)
    said = sentences(
        interval_said(rows, kinds, "mark", "upright line at it"), shifted_said(len(looks)),
        "line through the panel: the default" if has_default else "",
        caption, left(unseen_settings, "setting"),
        f"not shown: {', '.join(axis_units.words(quantity)[0] for quantity in known[len(kinds) :])}" if unseen else "",
    )  # fmt: skip
    most = columns_for(style, len(settings))
    if style.height is not None and len(settings) < len(kinds):
        # a fixed height has no room for a line of panels for each quantity
        most = columns_for(style, len(kinds))
    columns = len(kinds) if most != len(settings) and 1 < len(kinds) <= most else most
    by_setting = columns == len(kinds) and len(kinds) > 1 and columns != len(settings)
    order = [(s, k) for s in settings for k in kinds] if by_setting else [(s, k) for k in kinds for s in settings]
    drawn = sheet(style, len(order), title, keys=[Key(key)], caption=said, columns=columns)
    tops: dict[tuple[str, str], float] = {}
    for panel, (setting, quantity) in zip(drawn.panels, order, strict=True):
        mine = [row for row in rows if row["setting"] == setting]
        size, label = axis_units.scaled(quantity, values_of(rows, quantity))
        across = _draw(panel, mine, quantity, size, looks, setting, style, drawn.room)
        name_panel(drawn, panel, label, across)
        tops[setting, quantity] = panel.get_ylim()[1]
    for panel, (setting, quantity) in zip(drawn.panels, order, strict=True):
        others = [top for (_, of), top in tops.items() if of == quantity]
        panel.set_ylim(0, shared(tops[setting, quantity], others) or 1.0)
        from_zero(panel, values_of(rows, quantity))
    return drawn.finish()


def shared(top: float, tops: Sequence[float]) -> float:
    """The top of the scale that a panel has in common with others, all within SCALES_APART.

    >>> [shared(top, [1000, 400, 20, 18, 6]) for top in (1000, 400, 20, 6)]
    [1000, 1000, 20, 20]
    """
    scale = 0.0
    for other in sorted(tops, reverse=True):
        if other * SCALES_APART < scale or not scale:
            scale = other
        if other <= top:
            break
    return scale


def _draw(
    panel: Any,
    rows: Rows,
    quantity: str,
    size: float,
    looks: Mapping[Any, Look],
    setting: str,
    style: Style,
    room: float,
) -> str:
    """The curves of one panel; gives the label of its axis across."""
    renamed = [{**row, setting: row["value"]} for row in rows]
    values = list(dict.fromkeys(str(row["value"]) for row in rows))
    is_number = axis_units.numbers(row["value"] for row in rows) is not None
    span, label = size_of(renamed, setting) if is_number else (1.0, axis_units.words(setting)[0])
    places = {value: place / span for value, place in numbers_of(renamed, setting).items()} if is_number else {
        value: float(number) for number, value in enumerate(values)
    }  # fmt: skip
    for default in {str(row["value"]) for row in rows if row.get("is_default")}:
        panel.axvline(places[default], color=style.faint, linewidth=0.8 * style.line, linestyle=":", zorder=1)
    for number, (flow, look) in enumerate(looks.items()):
        known = [row for row in rows if row.get("flow") == flow and row.get(quantity) is not None]
        own = sorted(((places[str(row["value"])], row) for row in known), key=lambda each: each[0])
        if own:
            mean_curve(panel, own, quantity, size, look, style, number - (len(looks) - 1) / 2)
    if is_number:
        number_axis(panel, sorted(set(places.values())), style, room)
    else:
        panel.set_xlim(-0.5, len(values) - 0.5)
        shown = [text.cut(value, 0.9 * room / len(values), style.small) for value in values]
        panel.set_xticks(range(len(values)), shown, fontsize=style.small)
    return label
