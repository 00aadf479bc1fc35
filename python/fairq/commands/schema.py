"""`fairq schema`: the JSON Schemas."""

from __future__ import annotations

from argparse import Namespace

from fairq import api
from fairq.commands.options import (
    Commands,
    command,
)


def add(commands_of: Commands) -> None:
    """Add the command."""
    parser = command(commands_of, "schema", schema, "print a JSON Schema, for editors and checkers",
                      "fairq schema scenario > scenario.schema.json")  # fmt: skip
    parser.add_argument("name", metavar="NAME", nargs="?", choices=api.SCHEMAS, default="scenario",
                        help=f"what it is of: {', '.join(api.SCHEMAS)} (default scenario)")  # fmt: skip


def schema(arguments: Namespace) -> str:
    """`fairq schema`: to the byte the file in schema/."""
    return api.SCHEMAS[arguments.name]()
