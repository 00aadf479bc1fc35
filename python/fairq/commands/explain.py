"""`fairq explain`: the card of an entry, and scenes of a transport."""

from __future__ import annotations

from argparse import Namespace

from fairq import api, streams, tables
from fairq.commands.options import (
    Commands,
    command,
    looks,
    plot,
)
from fairq.commands.printing import as_json, look, picture, save, sections, style, written


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "explain", explain, "print the card of one entry of the registry",
                       "fairq explain fq")  # fmt: skip
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--scenes", action="store_true", help="drive a transport alone through named scenes"
                         " and print one line a round")  # fmt: skip
    plot(parser, "draw the same scenes into FILE")
    looks(parser)


CARD_WIDTH = 100
"""Columns of a card where there is no screen."""


CARD_WIDTH_MAX = 120
"""Columns of a card at most: longer lines are hard to read."""


def explain(arguments: Namespace) -> str:
    """`fairq explain`."""
    if arguments.scenes or arguments.plot:
        return _scenes(arguments)
    if arguments.json:
        return as_json(api.explained(arguments.name), "explain")
    width = streams.screen_width() or CARD_WIDTH
    return api.explain(arguments.name, width=min(max(width, api.WIDTH_MIN), CARD_WIDTH_MAX))


def _scenes(arguments: Namespace) -> str:
    """A table for each scene of a transport; or one figure of them all."""
    drawing = picture(arguments.plot) if arguments.plot else None
    played = api.scenes(arguments.name)
    if drawing:
        from fairq import figures

        save(figures.scenes(played, f"{arguments.name}, driven alone", style=style(arguments)), drawing)
    if arguments.json:
        return as_json(played, "explain-scenes")
    if drawing:
        return written(arguments, drawing).lstrip("\n")
    return sections(
        {
            tables.prose(f"{scene['scene']}: {scene['shows']}"): tables.text(scene["rounds"], **look(arguments))
            for scene in played
        }
    )
