"""How a replay is shown: the disciplines beside each other for each flow, and the rows of its picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def beside(disciplines: Sequence[Row]) -> list[tuple[str, list[str], list[dict[str, Any]]]]:
    """The flows with the disciplines beside each other: how flows are told apart, the disciplines' names, the rows.

    A row has the direction, if there are two, the flow, its packets, and under the name of each discipline the flow's
    row there. Those with most packets come first.
    """
    tables: dict[str, tuple[dict[str, None], list[dict[str, Any]]]] = {}
    for (_, rows_by), lanes in _grouped(disciplines).items():
        names, rows = tables.setdefault(rows_by, ({}, []))
        names.update(dict.fromkeys(lane["name"] for lane in lanes))
        for flow, each in _flows(lanes):
            of_lanes = {lane["name"]: row for lane, row in zip(lanes, each, strict=True)}
            rows.append({**_direction(lanes[0]), "flow": flow, "packets": each[0]["packets"], "disciplines": of_lanes})
    return [
        (rows_by, list(names), sorted(rows, key=lambda row: -row["packets"]))
        for rows_by, (names, rows) in tables.items()
    ]


def over_time(series: Iterable[Row], panels_max: int) -> list[dict[str, Any]]:
    """Rows of a picture of delay over time: of all packets, and of as many of the flows with most as have a panel."""
    rows = list(series)
    shown: dict[Any, list[Any]] = {}
    for row in rows:
        flows = shown.setdefault(row.get("direction"), [])
        if row["flow"] not in flows:
            flows.append(row["flow"])
    # one flow alone is all packets
    kept = {way: flows[:1] if len(flows) == 2 else flows[: panels_max // len(shown)] for way, flows in shown.items()}
    return [
        {
            "discipline": row["discipline"],
            "flow": ": ".join(filter(None, [row.get("direction"), row["flow"] or "all packets"])),
            "time_s": row["time_s"] + row["bin_s"] / 2,
            "delay_s": row["delay_s_mean"],
        }
        for row in rows
        if row["flow"] in kept[row.get("direction")]
    ]


def _grouped(disciplines: Sequence[Row]) -> dict[tuple[str | None, str], list[Row]]:
    """The disciplines whose rows are the same flows, by direction and classifier of the rows."""
    groups: dict[tuple[str | None, str], list[Row]] = {}
    for one in disciplines:
        groups.setdefault((one.get("direction"), one["rows_by"]), []).append(one)
    return groups


def _flows(lanes: Sequence[Row]) -> list[tuple[str, tuple[Row, ...]]]:
    """Each flow and its row under each discipline, those with most packets first."""
    # the rows of one classifier are in the order of the flows' first packets
    each = [(rows[0]["flow"], rows) for rows in zip(*(lane["flows"] for lane in lanes), strict=True)]
    return sorted(each, key=lambda item: -item[1][0]["packets"])


def _direction(lane: Row) -> dict[str, Any]:
    return {"direction": lane["direction"]} if "direction" in lane else {}
