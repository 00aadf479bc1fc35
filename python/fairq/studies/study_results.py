"""What `fairq sweep`, `fairq query` and `fairq report` give."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fairq.core.pictured import Pictured
from fairq.core.records import Beside, Named, Record
from fairq.core.rows import Row


class Sweep(
    Pictured, Record, named="Swept",
    places=("done", "failed", "missing", "skipped", "ran", "errors", "damages", "store", "unreached"),
):  # fmt: skip
    """What has become of the runs of a study: done, failed and missing are all of them.

    `skipped` is how many of the missing are left to others: another part's, or claimed by another
    process. `damages` are parts that were set aside, whose runs were run again.
    """

    done: Annotated[int, "Runs that exist."]
    failed: Annotated[int, "Runs that do not exist, and failed when they were tried."]
    missing: Annotated[int, "The other runs that do not exist."]
    skipped: Annotated[int, "Of the missing, those that are left to another part or another process."]
    ran: Annotated[int, "Runs that came to their end by this command, well or not."]
    store: Annotated[str, "The folder that holds them."]
    errors: Annotated[dict[str, str], "Why runs have failed, by their digests."]
    damages: Annotated[list[str], "Parts that were not as their markers say: they were set aside."]
    unreached: Annotated[int, "Points at which the condition of --until does not hold."] = 0


class MissingRun(Row):
    """A run of a study that does not exist."""

    digest: Annotated[str, "What its tables depend on, as 32 hexadecimal digits."]
    seed: Annotated[int, "Its seed."]
    axes: Annotated[dict[str, str | int | float | bool], "The values of the axes and what is derived of them."]


class Left(Row):
    """What is left to run of a study."""

    points: Annotated[int, "Points of its axes."]
    runs: Annotated[int, "Its runs."]
    missing: Annotated[int, "Those that do not exist, of the part that was asked for."]
    workers: Annotated[int, "Threads that would run them."]
    time_s: Annotated[
        float | None, "About how long they would take, in seconds; null where a run needs too much memory to be tried."
    ]
    longest_times: Annotated[float, "How many times as much it may take until what is measured stands still."]


Scalar = str | int | float | bool | None
"""A value of an axis, or of a cell of a query."""


class Found(Record, named="Queried", places=("columns", "rows")):
    """The rows that `fairq query` gives.

    Columns of the same name are told apart by _2, _3 and so on.
    """

    columns: Annotated[list[str], "The columns in their order; of one name the second has _2 behind."]
    dicts: Annotated[list[dict[str, Scalar]], Named("rows"), "The rows; a list or struct of SQL is JSON in text."]
    rows: Annotated[list[tuple[Any, ...]], Beside("The rows as tuples.")]


class Page(Record, named="Reported", places=("path", "runs", "bytes")):
    """What `fairq report` wrote."""

    path: Annotated[Path, "The path of the page."]
    runs: Annotated[int, "The runs that it is of."]
    bytes: Annotated[int, "Its size."]
