"""Draws the delay of each keystroke of scenarios/dumbbell.toml: the picture of README.md.

    .venv/bin/python scripts/keystrokes.py

A dot is a keystroke on its way to the sink, a line the mean round trip that the table of README.md shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import fairq
from fairq.figures import BLUE, ORANGE, save_as

ROOT = Path(__file__).resolve().parents[1]

FLOW = "terminal"
LOOKS = {"FIFO": (ORANGE, "o"), "FQ": (BLUE, "^")}
"""Colour and marker of each policy."""


def main() -> int:
    """Run the scenario and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs/keystrokes.svg", help="the picture")
    result = fairq.run(ROOT / "scenarios/dumbbell.toml", packets=FLOW)
    save_as(picture(result), parser.parse_args().out)
    return 0


def picture(result: fairq.Result) -> Figure:
    """The delays of the flow's packets over time, and its mean round trip, for each policy."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    panel = figure.subplots()
    for row in result.flows:
        if row["flow"] != FLOW:
            continue
        colour, marker = LOOKS[row["policy"]]
        packets = [each for each in result.document["packets"] if each["policy"] == row["policy"]]
        sent = [each["sent_s"] for each in packets]
        delay = [each["received_s"] - each["sent_s"] for each in packets]
        panel.plot(sent, delay, marker, color=colour, markersize=4, alpha=0.6, markeredgewidth=0)
        panel.axhline(row["rtt_s_mean"], color=colour, linewidth=1.5)
        panel.annotate(
            label(row), (1, row["rtt_s_mean"]), xycoords=("axes fraction", "data"), xytext=(8, 0),
            textcoords="offset points", va="center", fontsize=14, color=colour, weight="bold",
        )  # fmt: skip
    panel.set_yscale("log")
    panel.set_ylim(0.01, 4)
    panel.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
    panel.set_xlim(0, 560)
    panel.set_xlabel("time of the keystroke (s)", fontsize=11)
    panel.set_ylabel("delay (s)", fontsize=11)
    panel.set_title("Each keystroke's delay, and the mean round trip, beside two file transfers", fontsize=12)
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)
    panel.set_axisbelow(True)
    return figure


def label(row: Mapping[str, Any]) -> str:
    """A policy and its mean round trip, in tenths of a second, below one in hundredths."""
    return f"{row['policy']} {row['rtt_s_mean']:.{1 if row['rtt_s_mean'] >= 1 else 2}f} s"


if __name__ == "__main__":
    sys.exit(main())
