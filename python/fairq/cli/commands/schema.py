"""`fairq schema`: the JSON Schemas."""

from __future__ import annotations

from argparse import Namespace

from fairq import schemas
from fairq.core.declared import Spec, argument

SPEC = Spec(
    "schema",
    "fairq schema scenario > scenario.schema.json",
    (
        argument("name", "scenario (default), result, or a command, as theory-tcp", "NAME",
                 choices=schemas.NAMES, default="scenario", nargs="?"),
    ),
    f"There are {', '.join(schemas.NAMES)}.",
    functions=("schema",),
)  # fmt: skip


def schema(arguments: Namespace) -> str:
    """`fairq schema`: the text of the schema called so."""
    return schemas.text(arguments.name)
