"""`fairq sweep`: the runs of a study, those that are missing."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fairq.cli.commands import Broken
from fairq.cli.options import DRY_RUN, LOOKS, PARTS, STORE, STUDY, VERIFY, WORKERS
from fairq.cli.printing import as_json, look
from fairq.core import streams, tables
from fairq.core.declared import OneOf, Option, Spec, switch, typed_only
from fairq.core.errors import UsageError
from fairq.core.progress import Line, span
from fairq.studies import enough
from fairq.studies.study_results import Left, Sweep
from fairq.studies.sweeping import ENGINES, REPLICATIONS_MAX, Options

POINTS_SHOWN = 40
"""Rows of the answer so far that a screen shows."""


SPEC = Spec(
    "sweep",
    "fairq sweep study.toml --until 'throughput half-width < 1%'",
    (
        STUDY._replace(metavar="STUDY.toml", help="the study file"),
        STORE._replace(help="keep the runs there (default: the study's path without .toml)"),
        Option("part", "run only the share of task I of N, as 3/16", "I/N"),
        Option("engine", "the engine that runs the study (default threads)", kind="Literal['threads', 'dask']",
               default="threads", choices=ENGINES),
        Option("address", "the scheduler of --engine dask, as tcp://10.0.0.1:8786", "URL"),
        PARTS,
        WORKERS,
        Option("until", "add replications until it holds, as 'goodput half-width < 1%'", "CONDITION"),
        Option("replications_max",
               f"the most replications that --until adds up to (default {REPLICATIONS_MAX})", "N", "int",
               default=REPLICATIONS_MAX, typed=None),
        switch("fail_fast", "end at the first run that fails"),
        switch("mix_versions", "go on in a store that another version of fairq wrote"),
        VERIFY,
        DRY_RUN,
        *LOOKS,
        OneOf(typed_only(
            switch("list_missing", "list the runs that are missing, and end"),
            switch("watch", "run nothing; show how far other processes have come"),
        )),
    ),
    "Ctrl-C, and the same command again, goes on where it stopped; so does a machine that failed. Any number of"
    " processes may work on one store. docs/guide/sweeps.md shows a study and job arrays; fairq schema study has"
    " its fields.",
    functions=("sweep",),
    beside=("client", "show"),
)  # fmt: skip


def sweep(arguments: Namespace) -> str:
    """`fairq sweep`."""
    from fairq.studies import sweeping

    if arguments.replications_max is not None and arguments.until is None:
        raise UsageError("--replications-max goes with --until; write the number of replications into the study")
    given = SPEC.words(vars(arguments)) | {"replications_max": arguments.replications_max or REPLICATIONS_MAX}
    del given["study"]
    options = Options(**given)
    if arguments.list_missing:
        missing = sweeping.list_missing(arguments.study, options)
        if arguments.json:
            return as_json(missing, "sweep-missing")
        rows = [{"digest": run["digest"], "seed": run["seed"], **run["axes"]} for run in missing]
        return tables.text(rows, keep=["digest", "seed"], **look(arguments)) if rows else "No run is missing.\n"
    if arguments.dry_run:
        left = sweeping.estimate(arguments.study, options)
        return as_json(left, "sweep-left") if arguments.json else _left(left)
    with Line() as line:
        options.show = line.show if line.is_shown else None
        if arguments.watch:
            found = _last(sweeping.watch(arguments.study, options), line)
        else:
            found = sweeping.sweep(arguments.study, options)
    for damage in found.damages:
        streams.note(f"{damage}; it was set aside")
    if found.unreached:
        points = f"{found.unreached} point{'s' if found.unreached > 1 else ''}"
        why = "some of their runs are not there" if found.missing or found.failed else "see --replications-max"
        streams.note(f"--until does not hold at {points}; {why}")
    text = as_json(found.document, "sweep") + "\n" if arguments.json else _text(found)
    if not arguments.json and not arguments.quiet:
        text = "\n\n".join([*_answers(arguments, options), text])
    if found.failed:
        raise Broken(text)
    return text


def _answers(arguments: Namespace, options: Options) -> Iterator[str]:
    """The answer so far: what --until goes by, if given, and each group of flows by itself."""
    from fairq.studies import sweeping

    if arguments.until and (rows := sweeping.answers(arguments.study, options)):
        over = enough.until(arguments.until).quantity.over
        yield _table(f"Of each run the {over} over its rows, at each point the {MEANS}", rows, arguments)
    if rows := sweeping.groups(arguments.study, options):
        yield _table(f"Of each group of flows, at each point the {MEANS}", rows, arguments)


MEANS = "mean over runs and its 95 % interval"


def _table(title: str, rows: Sequence[Mapping[str, Any]], arguments: Namespace) -> str:
    """A table under what it shows; of many rows the first."""
    lines = [title, tables.text(rows[:POINTS_SHOWN], keep=["runs", "flow"], **look(arguments))]
    if len(rows) > POINTS_SHOWN:
        lines.append(f"… and {len(rows) - POINTS_SHOWN} more rows")
    return "\n".join(lines)


def _left(left: Left) -> str:
    work = f"{left.missing} of {left.runs} runs of {left.points} points are missing"
    if not left.missing:
        return f"{work}.\n"
    if left.time_s is None:
        return f"{work}: how long they take was not tried, as one needs more than 1 GB of memory.\n"
    most = ""
    if left.longest_times > 1:
        most = f" That is at least; at most {left.longest_times:.3g} times as much."
    return f"{work}: about {span(left.time_s)} on {left.workers} threads.{most}\n"


def _last(states: Iterable[Sweep], line: Line) -> Sweep:
    """Show each state; gives the last."""
    for state in states:
        line.show(f"{state.done} done  {state.failed} failed  {state.missing} missing")
    return state


def _text(found: Sweep) -> str:
    counts = [f"{found.done} done", f"{found.failed} failed", f"{found.missing} missing"]
    if found.skipped:
        counts[-1] += f" ({found.skipped} left to other processes)"
    lines = [f"{found.store}: {', '.join(counts)}; {found.ran} run now"]
    for digest, error in list(found.errors.items())[:10]:
        lines.append(f"failed {digest[:8]}: {error}")
    if len(found.errors) > 10:
        lines.append(f"… and {len(found.errors) - 10} more, in {found.store}/failed")
    return "\n".join(lines) + "\n"
