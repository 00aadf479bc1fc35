"""`fairq schema`: the JSON Schemas."""

from __future__ import annotations

from argparse import Namespace

from fairq import schemas
from fairq.commands.options import Commands, declare
from fairq.declared import Option, Spec

SPEC = Spec(
    "schema",
    "fairq schema scenario > scenario.schema.json",
    (
        Option("name", "scenario (default), result, or a command, as theory-tcp", metavar="NAME",
               choices=schemas.NAMES, default="scenario", is_argument=True, nargs="?"),
    ),
    f"There are {', '.join(schemas.NAMES)}.",
    functions=("schema",),
)  # fmt: skip


def add(commands_of: Commands) -> None:
    """Add the command."""
    declare(commands_of, SPEC, schema)


def schema(arguments: Namespace) -> str:
    """`fairq schema`: to the byte the file in schema/."""
    return schemas.text(arguments.name)
