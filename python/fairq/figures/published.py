"""The papers' figures of published values beside measured ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from fairq.figures import text
from fairq.figures.means import number_axis, sentences
from fairq.figures.plot_settings import plotted
from fairq.figures.sheet import GROUND, Key, Sheet, columns_for, handle, left, name_panel, plain_logarithm, sheet
from fairq.figures.style import PAGE, Look, Style

Rows = Sequence[Mapping[str, Any]]

LOOKS = {"agrees": "o", "differs": "X", "undecided": "s", "unreadable": "s", "beyond": "D"}
SIZES = {"agrees": 0.7, "differs": 1.3, "undecided": 0.7, "unreadable": 0.7, "beyond": 0.7}
"""The marker of each verdict, which says it without the colour, and its size in markers."""

OF_RUN = "Bar: 95 % interval of one run"

RING = 1.6
"""The size of a published value's ring, in markers."""

BETWEEN = 1.5
"""The room between the sources of one policy and those of the next, in places."""


@plotted()
def published_beside_measured(
    rows: Rows, title: str, quantities: Mapping[str, str], across: str = "source", *, style: Style = PAGE
) -> Figure:
    """A panel for each of the quantities; in it a group for each policy, a place for each source.

    A ring is the published value, a dot with a bar our mean and the interval of one run, coloured
    by verdict. If the policies do not fit beside each other, they wrap.
    """
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    sources = list(dict.fromkeys(row["source"] for row in rows))
    shown = [quantity for quantity in quantities if any(_is_seen(row) for row in rows if row["quantity"] == quantity)]
    slot = max(1.35 * RING * style.marker, *(text.width(source, style.small) + 0.5 * style.small for source in sources))
    inner = style.width - 6 * style.text
    fits = max(1, int(inner // ((len(sources) + BETWEEN) * slot)))
    fits = math.ceil(len(policies) / math.ceil(len(policies) / fits))
    blocks = [policies[at : at + fits] for at in range(0, len(policies), fits)]
    blocks = blocks[: max(1, style.panels_max // max(len(shown), 1))]
    shown = shown[: style.panels_max // len(blocks)] or list(quantities)[:1]
    unseen = left(len(policies) - sum(map(len, blocks)), "policy group")
    drawn = sheet(
        style, len(blocks) * len(shown), title, keys=[Key(_verdicts(rows, style))], columns=1,
        caption=sentences(OF_RUN, unseen),
        panel_height=0.8 * style.panel_height if len(blocks) == 1 else 0.55 * style.panel_height,
    )  # fmt: skip
    limits = {quantity: _limits([row for row in rows if row["quantity"] == quantity]) for quantity in shown}
    for number, panel in enumerate(drawn.panels):
        block, quantity = blocks[number // len(shown)], shown[number % len(shown)]
        place = {
            (policy, source): index * (len(sources) + BETWEEN) + at
            for index, policy in enumerate(block)
            for at, source in enumerate(sources)
        }
        mine = [row for row in rows if row["quantity"] == quantity and row["policy"] in block]
        _draw_cells(panel, mine, place, style)
        is_first, is_last = number % len(shown) == 0, number % len(shown) == len(shown) - 1
        name_panel(drawn, panel, quantities[quantity], across if is_last else "")
        if quantities[quantity].endswith("(s)") and limits[quantity][1] > 10 * limits[quantity][0]:
            panel.set_yscale("log")
            panel.set_ylim(limits[quantity][0] / 1.6, 1.6 * limits[quantity][2])
            plain_logarithm(panel.yaxis)
        else:
            panel.set_ylim(-0.06 * limits[quantity][2], 1.08 * limits[quantity][2])
        panel.set_xlim(-1.25, len(block) * (len(sources) + BETWEEN) - 1.25)
        panel.set_xticks(list(place.values()), [source if is_last else "" for _, source in place], fontsize=style.small)
        panel.grid(visible=False, axis="x")
        for index in range(1, len(block)):
            panel.axvline(index * (len(sources) + BETWEEN) - 1.25, color=style.grid, linewidth=style.line, gid=GROUND)
        if is_first and any(block):
            _name_policies(panel, block, len(sources), inner / len(block) - 0.5 * style.text, style)
    return drawn.finish()


@plotted()
def by_source(
    rows: Rows, groups: Mapping[str, Sequence[str]], across: str, up: str, title: str,
    ideal: Mapping[str, float] | None = None, ideal_label: str = "", *, log: bool = False, style: Style = PAGE,
) -> Figure:  # fmt: skip
    """What each source got over the ideal: a curve for each policy, a panel for each group.

    A bar is the interval of one run; a ring is a published value.
    """
    sources = list(dict.fromkeys(row["source"] for row in rows))
    place = {source: float(number) for number, source in enumerate(sources)}
    known: dict[str, Sequence[str]] = {}
    for group, policies in groups.items():
        if found := [policy for policy in policies if any(row["policy"] == policy for row in rows)]:
            known[group] = found
    known = known or dict(list(groups.items())[:1])
    keys = [
        Key([(handle(style, style.look(number)), policy) for number, policy in enumerate(policies)], group, at)
        for at, (group, policies) in enumerate(known.items())
    ]
    common: list[tuple[Any, str]] = [(_behind(style), ideal_label)] if ideal is not None else []
    common += [(_ring(style), "published")] if any(row["published"] is not None for row in rows) else []
    keys.append(Key(common))
    wide = max(len(sources) * 1.3 * style.text, style.panel_width)
    columns = max(1, min(len(known), int(style.width // wide), columns_for(style, len(known))))
    drawn = sheet(style, len(known), title, keys=keys, caption=f"{OF_RUN}.", columns=columns,
                  panel_height=1.2 * style.panel_height)  # fmt: skip
    for number, (panel, (group, policies)) in enumerate(zip(drawn.panels, known.items(), strict=True)):
        if ideal is not None:
            panel.plot(place.values(), [ideal[source] for source in sources], color=style.faint,
                       linewidth=2.5 * style.line, zorder=1)  # fmt: skip
        for turn, policy in enumerate(policies):
            mine = [row for row in rows if row["policy"] == policy]
            _draw_policy(panel, mine, place, style.look(turn), turn - (len(policies) - 1) / 2, style)
        panel.set_xticks(list(place.values()), sources, fontsize=style.small)
        panel.set_xlim(-0.6, len(sources) - 0.4)
        name_panel(drawn, panel, f"{group}\n{up}", across if number >= len(known) - columns else "")
    _same_height(drawn, log=log)
    return drawn.finish()


@plotted()
def by_number(
    panels: Mapping[str, Mapping[str, Rows]], across: str, title: str, whole: str | None = None, *, style: Style = PAGE
) -> Figure:
    """Curves over a number, each row's source, on logarithmic axes; a panel for each label.

    A bar is the row's interval, a ring a published value. The panel of the label `whole` is linear,
    with a line at 1.
    """
    names = {label: sorted(curves) for label, curves in panels.items()}
    keys = [
        Key([(handle(style, style.look(number)), name) for number, name in enumerate(of)], label, at)
        for at, (label, of) in enumerate(names.items())
    ]
    if len({tuple(of) for of in names.values()}) == 1:
        keys = [Key(keys[0].entries)]
    rows = [row for curves in panels.values() for of in curves.values() for row in of]
    common: list[tuple[Any, str]] = (
        [(_ring(style), "published")] if any(r["published"] is not None for r in rows) else []
    )
    keys.append(Key(common))
    drawn = sheet(style, len(panels), title, keys=keys, caption="Bar: 95 % interval.",
                  panel_height=1.2 * style.panel_height)  # fmt: skip
    for number, (panel, (label, curves)) in enumerate(zip(drawn.panels, panels.items(), strict=True)):
        for turn, (name, of) in enumerate(sorted(curves.items())):
            mine = sorted(of, key=lambda row: float(row["source"]))
            place = {row["source"]: float(row["source"]) for row in mine}
            _draw_policy(panel, mine, place, style.look(turn), turn - (len(curves) - 1) / 2, style)
            assert name
        numbers = sorted({float(row["source"]) for of in curves.values() for row in of})
        number_axis(panel, numbers, style, drawn.room, log=True)
        if label == whole:
            panel.axhline(1.0, color=style.faint, linewidth=0.8 * style.line, zorder=1)
        else:
            panel.set_yscale("log")
            plain_logarithm(panel.yaxis)
        name_panel(drawn, panel, label, across if number >= len(panels) - drawn.columns else "")
    return drawn.finish()


def _draw_policy(panel: Any, rows: Rows, place: Mapping[str, float], look: Look, turn: float, style: Style) -> None:
    """The curve of a policy with intervals and published rings, `turn` half markers aside."""
    beside = panel.transData + ScaledTranslation(turn * 0.5 * style.marker / 72, 0, panel.figure.dpi_scale_trans)
    known = [row for row in rows if row["measured"] is not None]
    x = [place[row["source"]] for row in known]
    mean = [row["measured"] for row in known]
    spread = [
        [row["measured"] - max(row["low"], 0.0) for row in known],
        [max(row["high"] - row["measured"], 0.0) for row in known],
    ]
    panel.update_datalim([*zip(x, mean, strict=True), *zip(x, [row["high"] for row in known], strict=True)])
    panel.errorbar(
        x, mean, spread, color=look.colour, marker=look.marker, linestyle=look.dash, markersize=0.8 * style.marker,
        linewidth=0.8 * style.line, elinewidth=0.5 * style.line, capsize=0.4 * style.marker, transform=beside, zorder=3,
    )  # fmt: skip
    printed = [row for row in rows if row["published"] is not None]
    if printed:
        at, values = [place[row["source"]] for row in printed], [row["published"] for row in printed]
        panel.update_datalim([*zip(at, values, strict=True)])
        panel.plot(at, values, transform=beside, zorder=4, **_as_ring(style))
    panel.autoscale_view()


def _draw_cells(panel: Any, rows: Rows, place: Mapping[tuple[str, str], float], style: Style) -> None:
    for verdict, colour in style.verdicts.items():
        mine = [row for row in rows if row["verdict"] == verdict and row["measured"] is not None]
        if not mine:
            continue
        x = [place[row["policy"], row["source"]] for row in mine]
        mean = [row["measured"] for row in mine]
        below = [row["measured"] - max(row["low"], 0.0) for row in mine]
        above = [row["high"] - row["measured"] for row in mine]
        panel.errorbar(
            x, mean, [below, above], fmt=LOOKS[verdict], markersize=SIZES[verdict] * style.marker, color=colour,
            capsize=0.5 * style.marker, linewidth=0.7 * style.line, zorder=3,
        )  # fmt: skip
    printed = [row for row in rows if row["published"] is not None]
    panel.plot(
        [place[row["policy"], row["source"]] for row in printed], [row["published"] for row in printed], zorder=2,
        **_as_ring(style),
    )  # fmt: skip


def _name_policies(panel: Any, policies: Sequence[str], sources: int, room: float, style: Style) -> None:
    """The names of policies over their groups; the panel's title goes up for them."""
    for index, policy in enumerate(policies):
        middle = index * (sources + BETWEEN) + (sources - 1) / 2
        panel.annotate(
            text.cut(policy, room, style.text), (middle, 1.0), fontsize=style.text,
            xycoords=("data", "axes fraction"), xytext=(0, 0.4 * style.text), textcoords="offset points", ha="center",
            color=style.ink,
        )  # fmt: skip
    panel.set_title(panel.get_title(loc="left"), fontsize=style.text, color=style.ink, loc="left", pad=2 * style.text)


def _limits(rows: Rows) -> tuple[float, float, float]:
    """The least and the greatest value that is not zero, and the greatest end of an interval."""
    values = sorted(v for row in rows for v in (row["published"], row["measured"]) if v and math.isfinite(v)) or [1.0]
    ends = [row["high"] for row in rows if row["measured"] is not None and math.isfinite(row["high"])]
    return values[0], values[-1], max([values[-1], *ends])


def _same_height(drawn: Sheet, *, log: bool) -> None:
    """One scale for all panels, from zero unless it is logarithmic."""
    for panel in drawn.panels:
        panel.set_yscale("log" if log else "linear")
    ends = [panel.get_ylim() for panel in drawn.panels]
    for panel in drawn.panels:
        panel.set_ylim(min(low for low, _ in ends) if log else 0, max(high for _, high in ends))
        if log:
            plain_logarithm(panel.yaxis)


def _is_seen(row: Mapping[str, Any]) -> bool:
    """Whether a cell shows anything but zeros."""
    return any(
        value is not None and math.isfinite(value) and value > 0 for value in (row["published"], row["measured"])
    )


def _verdicts(rows: Rows, style: Style) -> list[tuple[Any, str]]:
    """The entries of a key of verdicts."""
    verdicts = {row["verdict"] for row in rows}
    entries: list[tuple[Any, str]] = [(_ring(style), "published")]
    for verdict in ("agrees", "differs", "undecided", "beyond"):
        if verdict in verdicts:
            sample = Line2D([], [], color=style.verdicts[verdict], marker=LOOKS[verdict], linestyle="",
                            markersize=SIZES[verdict] * style.marker)  # fmt: skip
            entries.append((sample, "measured, not in the paper" if verdict == "beyond" else f"measured: {verdict}"))
    return entries


def _as_ring(style: Style) -> dict[str, Any]:
    return {"color": style.ink, "marker": "o", "linestyle": "", "markersize": RING * style.marker,
            "markerfacecolor": "none", "markeredgecolor": style.ink, "markeredgewidth": 0.6 * style.line}  # fmt: skip


def _ring(style: Style) -> Line2D:
    return Line2D([], [], **_as_ring(style))


def _behind(style: Style) -> Line2D:
    return Line2D([], [], color=style.faint, linewidth=2.5 * style.line)
