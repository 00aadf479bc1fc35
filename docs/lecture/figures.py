"""The figures of the lecture in the size of a slide, on a light and on a dark ground.

    python docs/lecture/figures.py --out slides

They are those of the gallery, whose scripts are run twice: NAME-light.png, NAME-dark.png and SVG.
"""

from __future__ import annotations

import argparse
import functools
import runpy
import sys
from pathlib import Path

from fairq import figures

GALLERY = Path(__file__).resolve().parents[1] / "gallery"

SHOWN = ("keystrokes", "fair_order", "virtual_time", "self_clocked", "weights", "ill_behaved", "max_min",
         "bufferbloat", "delays", "cubic_beside_bbr", "l4s")  # fmt: skip
"""In the order of the lecture."""

PLOTTED = ("of_result", "timeline", "compared", "delays_over_time", "steps")
"""The functions by which those scripts plot, which take a style."""


def main() -> int:
    """Run the scripts and write their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the figures")
    parser.add_argument("--only", choices=SHOWN, nargs="+", default=SHOWN, help="some of them")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    own = {name: getattr(figures, name) for name in PLOTTED}
    for ground in ("light", "dark"):
        style = figures.style("slide", dark=ground == "dark")
        for name, plot in own.items():
            setattr(figures, name, functools.partial(plot, style=style))
        for name in arguments.only:
            made = runpy.run_path(str(GALLERY / f"{name}.py"))["figure"]
            figures.save(made, arguments.out / f"{name}-{ground}")
            sys.stdout.write(f"{arguments.out / name}-{ground}.png\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
