"""Figures, each a function of tables (rows as mappings) and nothing else; plotted without a screen.

The plotting package is imported here and in maps.py and nowhere else, so that only a figure pays
for it. Each function takes a `style`: for a paper, a slide or a page, on a light or a dark ground.
No setting of matplotlib from the environment or the program counts.
"""

from fairq.figures import plot_settings as plot_settings  # loads matplotlib, before any other module does

# isort: split
from fairq.figures.chosen import compared, of_result, of_rows, shares
from fairq.figures.curves import answers, curves_and_points, curves_below_each_other, curves_of_choices, steps
from fairq.figures.delay_curve import delay_curve, deltas
from fairq.figures.delays import distribution
from fairq.figures.delays import over_time as delays_over_time
from fairq.figures.effect_lines import QUANTITIES as EFFECTS
from fairq.figures.effect_lines import effects
from fairq.figures.means import bars, bars_of_panels, lines, shades
from fairq.figures.over_time import baseline, over_time
from fairq.figures.payoffs import payoffs, ways
from fairq.figures.published import by_number, by_source, published_beside_measured
from fairq.figures.saved import drawn, save, save_as, svg
from fairq.figures.scenes import scenes
from fairq.figures.sheet import title_of
from fairq.figures.style import BLUE, GREY, ORANGE, PAGE, SIZES, Style, contrast, style
from fairq.figures.timeline import timeline
from fairq.figures.trade_off import trade_off

__all__ = [
    "BLUE",
    "EFFECTS",
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
    "settings",
    "shades",
    "shares",
    "steps",
    "style",
    "svg",
    "timeline",
    "title_of",
    "trade_off",
    "ways",
]
