"""`fairq audit`: the invariants and bounds of a discipline."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from fairq import api, plots
from fairq.cli.commands import Broken
from fairq.cli.options import LOOKS, PARTS, PICTURE_LOOKS, QUICK, timeline
from fairq.cli.printing import Look, as_json, look, picture, save, sections, style, written
from fairq.core import tables
from fairq.core.declared import OneOf, Option, Spec, argument
from fairq.core.errors import UsageError
from fairq.core.progress import Bar

SPEC = Spec(
    "audit",
    "fairq audit sfq --quick",
    (
        argument("discipline", "a name of the registry, or parts as 'sfq + red'; see fairq list disciplines",
                 "DISCIPLINE", "str | type"),
        OneOf((
            Option("seeds", "seeds of each kind of run (default 200)", "N", "int"),
            QUICK._replace(help="use 10 seeds of each kind of run"),
            Option("replay", "repeat one run of an audit, as returning:7, and show its packets", "RUN",
                   called="run"),
        )),
        timeline("draw the packets of --replay, and when each left the fluid"),
        *PICTURE_LOOKS,
        PARTS,
        *LOOKS,
    ),
    functions=("audit",),
    beside=("progress",),
)  # fmt: skip


BOUNDS = ["measure", "worst", "bound", "ratio", "unit", "of", "run", "runs"]
"""The columns of the worst that was measured."""


def audit(arguments: Namespace) -> str:
    """`fairq audit`."""
    drawing = picture(arguments.timeline) if arguments.timeline else None
    if drawing and arguments.replay is None:
        raise UsageError("draws one run of an audit; write --replay RUN as well", where="--timeline")
    with Bar(arguments.discipline) as bar:
        found = api.audit(**SPEC.words(vars(arguments)), progress=bar)
    if drawing:
        save(plots.of_audit(found, style(arguments), arguments.replay), drawing)
    text = as_json(found.document, "audit") if arguments.json else _audited(found, look(arguments))
    text += written(arguments, drawing)
    if not found.passed:
        raise Broken(text)
    return text


def _audited(found: api.Audit, look: Look) -> str:
    """The tables of an audit, then a line for each broken invariant, each broken bound, and each exemption."""
    name = found.discipline if found.discipline.isidentifier() else f"'{found.discipline}'"
    laws = tables.text(found.laws, ["law", "runs", "checks", "verdict"], **look) if found.laws else ""
    bounds = tables.text(found.bounds, BOUNDS, minor=["runs", "run", "of"], **look) if found.bounds else ""
    packets = [{column.replace("_ps", "_s"): _seconds(column, value) for column, value in row.items()}
               for row in found.packets]  # fmt: skip
    text = sections({
        "Laws": laws,
        "Worst measured": bounds,
        "Packets": tables.text(packets, **look) if packets else "",
        "Cost by the card": _costs(found.costs, look),
    })  # fmt: skip
    text += f"\nNot measured here; instructions are counted by:\n{found.document['costs_counted_by']}"
    broken = [f"BROKEN {row['of']}: {row['message']}; fairq audit {name} --replay {row['run']}"
              for row in found.violations]  # fmt: skip
    exempt = [f"Exempt from {row['law']}: {row['example']}; fairq audit {name} --replay {row['run']}"
              for row in found.laws if row["run"] and row["verdict"] != "broken"]  # fmt: skip
    count = f"{found.document['runs']} runs, {found.document['packets']} packets."
    verdict = "Something is broken." if broken else "All laws and bounds that are claimed hold."
    return "\n".join([text, "", *exempt, *broken, f"{count} {verdict}"])


def _costs(costs: Sequence[Mapping[str, Any]], look: Look) -> str:
    """The table of the parts' costs, and what their cards say of them below it."""
    if not costs:
        return ""
    numbers = [{name: value for name, value in row.items() if name != "cost"} for row in costs]
    cards = [tables.prose(f"{row['part']}: {row['cost']}") for row in costs]
    return "\n".join([tables.text(numbers, **look), *cards])


def _seconds(column: str, value: Any) -> Any:
    return value / 1e12 if column.endswith("_ps") and value is not None else value
