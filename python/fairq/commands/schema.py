"""`fairq schema`: the JSON Schemas."""

from __future__ import annotations

from argparse import Namespace

from fairq import schemas
from fairq.commands.options import (
    Commands,
    command,
)


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "schema", schema, "fairq schema scenario > scenario.schema.json",
                      f"There are {', '.join(schemas.NAMES)}.")  # fmt: skip
    parser.add_argument("name", metavar="NAME", nargs="?", choices=schemas.NAMES, default="scenario",
                        help="scenario (default), result, or a command, as theory-tcp")  # fmt: skip


def schema(arguments: Namespace) -> str:
    """`fairq schema`: to the byte the file in schema/."""
    return schemas.text(arguments.name)
