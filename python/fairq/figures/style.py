"""How a figure looks: sizes, letters, colours, and what tells curves apart without colour."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fairq.core.errors import UsageError

For = Literal["paper", "slide", "page"]

COLOURS = ("#0060a0", "#b84a00", "#1f1f1f", "#4a7a7a", "#7a3cc8", "#b03060")
COLOURS_DARK = ("#56b4e9", "#e69f00", "#f2f2f2", "#00a87e", "#cc79a7", "#f0e442")
"""Six colours of marks. Each has a contrast of at least 4.5 with the ground, and any two of them
differ by at least 15 (CIELAB) for an eye without the cones of red or of green (Machado, Oliveira
and Fernandes 2009, matrices of severity 1).
"""

MARKERS = "os^DvP"
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
HATCHES = ("", "////", "+++", "\\\\\\\\", "xxxx", "----")
"""Each colour has one of these as well; from the seventh look on the pairs are others.

A hatch of dots takes a quarter of a megabyte in an SVG, one of lines a kilobyte.
"""


@dataclass(frozen=True)
class Look:
    """What a curve, a marker or an area is plotted with."""

    colour: str
    marker: str
    dash: Any
    hatch: str


@dataclass(frozen=True)
class Style:
    """Sizes in points of the printed page, and colours.

    `height` is that of every figure, or None if a figure is as high as what it holds, `height_max`
    at most.
    """

    width: float
    height: float | None
    height_max: float
    text: float
    small: float
    title: float
    line: float
    marker: float
    panel_width: float
    panel_height: float
    columns_max: int
    panels_max: int
    lines_max: int
    dpi: int
    dark: bool = False
    bare: bool = False
    """Whether title and caption are left out: they stand in the text around the figure."""

    @property
    def ground(self) -> str:
        """The colour behind everything."""
        return "#15181d" if self.dark else "#ffffff"

    @property
    def ink(self) -> str:
        """The colour of text and frames."""
        return "#e8e8e8" if self.dark else "#222222"

    @property
    def faint(self) -> str:
        """The colour of notes and of what stands behind, still with a contrast of 4.5."""
        return "#a8adb5" if self.dark else "#666666"

    @property
    def grid(self) -> str:
        """The colour of lines that nothing is read from."""
        return "#343a44" if self.dark else "#dddddd"

    @property
    def verdicts(self) -> Mapping[str, str]:
        """The colour of each verdict on a published number."""
        good, bad, other = ("#4cc38a", "#ff7a85", "#56b4e9") if self.dark else ("#1f7a30", "#c00020", "#0060a0")
        return {"agrees": good, "differs": bad, "undecided": self.faint, "unreadable": self.faint, "beyond": other}

    def look(self, number: int) -> Look:
        """The look of the curve of that number: 36 differ in colour, marker or dash."""
        colours = COLOURS_DARK if self.dark else COLOURS
        place, turn = number % len(colours), number // len(colours)
        other = (place + turn) % len(colours)
        return Look(colours[place], MARKERS[(place + 2 * turn) % len(MARKERS)], DASHES[other], HATCHES[other])


_SIZES: Mapping[For, Style] = {
    # a column of a paper: 80 mm
    "paper": Style(
        width=80 / 25.4 * 72, height=None, height_max=660, text=7, small=6.25, title=8, line=1.0, marker=3.2,
        panel_width=58, panel_height=72, columns_max=2, panels_max=12, lines_max=8, dpi=300,
    ),
    # 16:9, read from the last row
    "slide": Style(
        width=960, height=540, height_max=540, text=18, small=16, title=25, line=2.4, marker=8, panel_width=150,
        panel_height=120, columns_max=4, panels_max=6, lines_max=6, dpi=144,
    ),
    # 1280 pixels of a screen
    "page": Style(
        width=960, height=None, height_max=1800, text=10.5, small=9.5, title=13, line=1.5, marker=5, panel_width=150,
        panel_height=165, columns_max=4, panels_max=12, lines_max=10, dpi=96,
    ),
}  # fmt: skip

SIZES: tuple[For, ...] = tuple(_SIZES)
"""What a figure can be for: a paper's column of 80 mm, a slide of 16:9, a page of 1280 pixels."""


def style(size: For = "page", *, dark: bool = False, bare: bool = False) -> Style:
    """The style for a `paper`, a `slide` or a `page`, on a light or a dark ground.

    With `bare` title and caption are left out, for a text that has its own.

    >>> style("paper").text, style("slide").height
    (7, 540)

    Raises UsageError with the sizes that there are.
    """
    from dataclasses import replace

    if size not in _SIZES:
        raise UsageError(f"size: a figure is for no {size}; write {', '.join(SIZES)}")
    return replace(_SIZES[size], dark=dark, bare=bare)


PAGE = style()


def contrast(one: str, other: str) -> float:
    """The contrast of two colours like "#0060a0", 1 to 21 (WCAG 2.2, relative luminance).

    >>> round(contrast("#000000", "#ffffff"), 1), round(contrast("#777777", "#ffffff"), 2)
    (21.0, 4.48)
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


BLUE, ORANGE, GREY = COLOURS[0], COLOURS[1], PAGE.faint
