"""Figures, each a function of tables (rows as mappings) and nothing else; plotted without a screen.

The plotting package is imported here and in maps.py and nowhere else, so that only a figure pays for it. Each function
takes a `style`: for a paper, a slide or a page, on a light or a dark ground.
"""

from fairq.figures.chosen import compared, of_result, of_rows, shares
from fairq.figures.delays import distribution
from fairq.figures.delays import over_time as delays_over_time
from fairq.figures.effects import effects
from fairq.figures.means import bars, lines, shades
from fairq.figures.over_time import baseline, over_time
from fairq.figures.papers import (
    answers,
    bars_of_panels,
    by_number,
    by_source,
    curves_and_points,
    curves_below_each_other,
    curves_of_choices,
    delay_curve,
    deltas,
    payoffs,
    published_beside_measured,
    steps,
    ways,
)
from fairq.figures.saved import drawn, save, save_as, svg
from fairq.figures.scenes import scenes
from fairq.figures.style import BLUE, GREY, ORANGE, PAGE, SIZES, Style, contrast, style
from fairq.figures.trade_off import trade_off

__all__ = [
    "BLUE",
    "GREY",
    "ORANGE",
    "PAGE",
    "SIZES",
    "Style",
    "answers",
    "bars",
    "bars_of_panels",
    "baseline",
    "by_number",
    "by_source",
    "compared",
    "contrast",
    "curves_and_points",
    "curves_below_each_other",
    "curves_of_choices",
    "delay_curve",
    "delays_over_time",
    "deltas",
    "distribution",
    "drawn",
    "effects",
    "lines",
    "of_result",
    "of_rows",
    "over_time",
    "payoffs",
    "published_beside_measured",
    "save",
    "save_as",
    "scenes",
    "shades",
    "shares",
    "steps",
    "style",
    "svg",
    "trade_off",
    "ways",
]
