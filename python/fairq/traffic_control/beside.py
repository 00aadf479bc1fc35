"""The counters of a Linux device beside a run or a replay of fairq, leaf by leaf."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import fairq._native as _native
from fairq.core.results import Result, read_result
from fairq.traffic_control.counters import ALL
from fairq.traffic_control.draft import Settings, native_queue
from fairq.traffic_control.qdisc_tables import BANDS_MAX
from fairq.traffic_control.refusal import refused
from fairq.traffic_control.trees import PRIORITY_BANDS, band_name, priority

Counts = tuple[Counter[str], Counter[str]]
"""The packets that left, and those that were dropped, by leaf."""


def read(path: str | os.PathLike[str]) -> Result | Mapping[str, Any]:
    """The result of `fairq run`, or the document of `fairq replay`, of a file or a folder.

    Raises UsageError if there is neither.
    """
    place = Path(path) / "replay.json" if Path(path).is_dir() else Path(path)
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = None
    if isinstance(document, dict) and {"capture", "disciplines"} <= document.keys():
        return document
    return read_result(path)


def beside(counters: Sequence[Mapping[str, Any]], result: Result | Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each leaf that was counted.

    Raises UsageError if nothing was counted, or if no queue of the result has these leaves.
    """
    linux = {row["leaf"]: row for row in counters if row["leaf"] is not None}
    if not linux:
        raise refused("--beside: no line has counters; write what tc -s qdisc show and tc -s class show print")
    wanted = set(linux)
    sent, dropped = _of_run(result, wanted) if isinstance(result, Result) else _of_replay(result, wanted)
    totals = sum(row["packets"] for row in linux.values()), sum(sent[leaf] for leaf in linux)
    return [{
        "leaf": leaf,
        "packets_linux": row["packets"], "packets_here": sent[leaf],
        "dropped_linux": row["dropped"], "dropped_here": dropped[leaf],
        "share_linux": row["packets"] / totals[0] if totals[0] else None,
        "share_here": sent[leaf] / totals[1] if totals[1] else None,
    } for leaf, row in linux.items()]  # fmt: skip


def _with_leaves(texts: Sequence[str], wanted: set[str]) -> int:
    """Which text form has the leaves."""
    known: list[str] = []
    for at, text in enumerate(texts):
        names = list(leaves(native_queue(text)))
        if wanted <= set(names):
            return at
        known += [name for name in names if name not in known and name != ALL]
    missing = ", ".join(sorted(wanted))
    there = f"; there are {', '.join(known)}" if known else "; its queues have no classes"
    raise refused(f"--beside: no queue of the result has the leaves {missing}{there}")


def _of_run(result: Result, wanted: set[str]) -> Counts:
    """What the flows of a line sent and lost, by the leaf that each goes to."""
    if len(result.points) != 1:
        raise refused(f"--beside: the result has {len(result.points)} points; give one of a scenario without axes")
    line = result.queues[_with_leaves([row["discipline_settings"] for row in result.queues], wanted)]
    queue = native_queue(line["discipline_settings"])
    sent: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    routes = json.loads(_native.routes(json.dumps(result.scenario), "result.json", []))
    over = {row["flow"] for row in routes if [line["link"], line["direction"]] in row["data"]}
    given = {flow["name"]: flow for flow in result.scenario["flows"]}
    for row in result.flows:
        entry = given.get(row["flow"]) or given.get(row["flow"].rpartition(".")[0])
        if entry is None or row["flow"] not in over:
            continue
        leaf = leaf_of(queue, entry.get("class"), int(entry.get("tos") or 0) >> 2)
        sent[leaf] += row["sent"] - row["dropped"]
        dropped[leaf] += row["dropped"]
    return sent, dropped


def _of_replay(document: Mapping[str, Any], wanted: set[str]) -> Counts:
    """What became of the packets of each code point, by leaf."""
    # A device counts what it sends.
    rows = sorted(document["disciplines"], key=lambda row: row.get("direction") == "down")
    row = rows[_with_leaves([row["name"] for row in rows], wanted)]
    if row["rows_by"] != "tos":
        raise refused("--beside: the replay has no flows by code point; replay again with --classifier tos")
    queue = native_queue(row["name"])
    sent: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    for flow in row["flows"]:
        leaf = leaf_of(queue, None, int(flow["flow"].removeprefix("dscp ")))
        sent[leaf] += flow["packets"] - flow["dropped"]
        dropped[leaf] += flow["dropped"]
    return sent, dropped


def _part(queue: Settings) -> Settings:
    part: Settings = queue.get("scheduler") or {}
    return part


def _inside(queue: Settings | str | None) -> Settings:
    return {} if queue is None else native_queue(queue) if isinstance(queue, str) else queue


def _classes(part: Settings) -> dict[str, Settings]:
    """What stands in each class that holds packets, by name."""
    if part.get("classes"):
        inner = {one.get("parent") for one in part["classes"]}
        return {str(one["name"]): _inside(one.get("queue")) for one in part["classes"] if one["name"] not in inner}
    kind = str(part.get("kind"))
    bands = {"ets": part.get("strict", 0) + len(part.get("quanta") or ()), "priority": PRIORITY_BANDS}
    queues = [*(part.get("queues") or ()), *[None] * BANDS_MAX]
    return {band_name(number, kind): _inside(queues[number]) for number in range(bands.get(kind, 0))}


def leaves(queue: Settings, above: str = "") -> Iterator[str]:
    """The paths of all leaves; `all` of a queue without classes.

    >>> list(leaves(native_queue("priority")))[:2]
    ['band_0', 'band_1']
    """
    part = _part(queue)
    if part.get("kind") == "token_bucket" and part.get("queue") is not None:
        yield from leaves(_inside(part["queue"]), above)
        return
    classes = _classes(part)
    if not classes:
        yield above.removesuffix("/") or ALL
    for name, inside in classes.items():
        yield from leaves(inside, f"{above}{name}/")


def leaf_of(queue: Settings, path: str | None, point: int) -> str:
    """The leaf to which a flow goes: by the path that it names, and then by its code point."""
    part = _part(queue)
    if part.get("kind") == "token_bucket" and part.get("queue") is not None:
        return leaf_of(_inside(part["queue"]), path, point)
    classes = _classes(part)
    if not classes:
        return ALL
    named, _, rest = (path or "").partition("/")
    own = named if named in classes else _of_point(part, list(classes), point)
    below = leaf_of(classes[own], rest or None, point)
    return own if below == ALL else f"{own}/{below}"


def _of_point(part: Settings, names: Sequence[str], point: int) -> str:
    """The class of a code point."""
    if part["kind"] == "priority":
        return band_name(PRIORITY_BANDS - 1 - (point >> 3), "priority")
    if part["kind"] == "ets":
        if part.get("priomap"):
            return band_name(part["priomap"][priority(point)])
        places = part["map"]
        return band_name(places[point if len(places) > PRIORITY_BANDS else point >> 3])
    fitting = (one["name"] for one in part["classes"] if point in (one.get("dscp") or ()))
    return str(next(fitting, None) or part.get("default") or names[0])
