"""The picture of each result: what `--plot` of a command draws and `.plot()` of its result gives.

Above the rooms, for a result is of one room and its picture of another. matplotlib is loaded when a
picture is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fairq.core import lazy, tables
from fairq.core.errors import UsageError
from fairq.core.near import near_miss
from fairq.core.pictured import Figure
from fairq.core.results import Result

if TYPE_CHECKING:
    from fairq.audits.audit_results import Audit
    from fairq.core.held import Timeline
    from fairq.core.progress import Tell
    from fairq.figures import Style
    from fairq.papers.verdicts import Reproduction
    from fairq.questions.baseline_results import Baseline
    from fairq.questions.question_results import Advice, Comparison, Effects
    from fairq.replays.replay_results import Replay
    from fairq.serving.serving_results import Serving
    from fairq.studies.stored_runs import Results
    from fairq.studies.study_results import Sweep
    from fairq.theories.theory_results import DelayCurve
    from fairq.topologies.topology_results import Topology


def loaded() -> Any:
    """`fairq.figures`; UsageError without the plotting package."""
    try:
        from fairq import figures
    except ImportError as error:
        if (lacking := lazy.lacking(error, "a picture")) is None:
            raise
        raise lacking from None
    return figures


def of(result: Any, what: str | None, size: str, dark: bool, bare: bool) -> Figure:
    """The figure of a result that has one."""
    figures = loaded()
    style = figures.style(size, dark=dark, bare=bare)
    if isinstance(result, Result):
        figure = of_run(result, what, style)
    elif type(result).__name__ in ("Results", "Sweep"):
        figure = of_study(result, what, style)
    elif type(result).__name__ == "Reproduction":
        figure = of_reproduction(result, what, style)
    else:
        draw = KINDS[type(result).__name__]
        if what is not None:
            kind = type(result).__name__
            raise UsageError(f"what: {what}: a result of the type {kind} has one picture; leave it out")
        figure = draw(result, style)
    return Figure(figure, lambda form: figures.drawn(figure, form))


WHAT = {
    "means": "flows",
    "series": "series",
    "packets": "packets",
    "theory": "theory",
}
"""The pictures of a run, and the table that each is of."""

KEPT = {
    "series": 'no samples were kept; run it again with series="auto"',
    "packets": 'no packets were kept; run it again with packets="NAME", the name of a flow',
    "theory": "it was not asked for; run it again with overlay=True",
}
"""What keeps a table that is not there."""


def of_run(result: Result, what: str | None, style: Style) -> Any:
    """A run's picture; None takes packets, series, theory or means, the first that there is."""
    if what is not None and what not in WHAT:
        raise UsageError(f"what: {what}: a run has no such picture{near_miss(what, WHAT)}")
    if what in KEPT and not getattr(result, WHAT[what]):
        raise UsageError(f"what: {what}: {KEPT[what]}")
    samples = {"series": True, "means": False, "theory": False}.get(what or "")
    if what == "means" and result.theory:
        result = Result(result._native)
    return loaded().of_result(result, samples=samples, style=style)


def of_comparison(comparison: Comparison, style: Style) -> Any:
    """The means of each group of flows with their intervals, by all that was varied."""
    figures = loaded()
    question = comparison.document["question"]
    drawn = [name for name in DRAWN if any(row[name] is not None for row in comparison.rows)]
    # A limit that follows from the queue is no axis of its own, nor a round trip that a flow has.
    fixed = {} if question["buffer"] else {"buffer": None}
    fixed |= {} if len(question["rtt"]) > 1 else {"rtt_s": None}
    rows = [{**row, **fixed} for row in comparison.rows]
    flows, line = question["flows"], f"over a line of {question['rate']}"
    # Several are an axis of the figure.
    line += f" with a round trip of {question['rtt'][0]}" if len(question["rtt"]) == 1 else ""
    title = figures.title_of(style, flows, line)
    figure = figures.compared(rows, title, quantities=drawn, caption=_caption(comparison), style=style)
    figure.set_label(f"{', '.join(flows)} {line}")
    return figure


def _caption(comparison: Comparison) -> str:
    """How long a figure's values were measured, and what else the line does."""
    question, times = comparison.document["question"], comparison.document["steady"]
    warm_up, duration = (tables.value("x_s", times[name]) for name in ("warm_up_s", "duration_s"))
    burst = f" in bursts of {question['loss_burst']:g}" if question["loss_burst"] else ""
    others = [f"loss {100 * question['loss']:.3g} %{burst}"] if question["loss"] else []
    others += [f"{name} {question[name]}" for name in ("jitter", "reorder") if question[name]]
    others += ["ECN"] if question["ecn"] else []
    others += [f"hosts {', '.join(question['hosts'])}"] if question["hosts"] else []
    return "; ".join([*others, f"measured for {duration} after a warm-up of {warm_up}"])


DRAWN = ("share", "queueing_s_mean", "loss", "completion_s_mean")
"""The quantities of a figure."""


def of_advice(found: Advice, style: Style) -> Any:
    """The candidates by what they use of the line, or keep of guarantees, and what it costs."""
    from fairq.questions.measures import OF_KIND

    figures = loaded()
    line, criterion = found.document["line"], found.criterion
    across = "guarantee_kept" if found.kinds else "utilisation"
    ranked = (criterion["column"], *criterion["then"], "queueing_s_mean")
    up = next(column for column in ranked if column not in ("utilisation", *OF_KIND))
    title = f"A line of {line['down']} down and {line['up']} up"
    least = 0.0 if found.kinds else criterion["utilisation_min"]
    return figures.trade_off(
        found.candidates, across, up, "candidate", title, least=least, winner=found.winner, style=style
    )


def of_replay(result: Replay, style: Style) -> Any:
    """Delay over time under each discipline."""
    from fairq.replays import replay_tables

    if not result.series:
        raise UsageError("what: the capture has too few packets for delay over time; give a longer one")
    figures = loaded()
    rows = replay_tables.over_time(result.series, style.panels_max)
    width = tables.value("bin_s", result.series[0]["bin_s"])
    caption = f"mean delay of the packets that arrived within {width}"
    title = f"Delay under each discipline: {Path(result.capture['file']).name}"
    return figures.delays_over_time(rows, ["discipline"], ["flow"], title, caption=caption, style=style)


SERVED = ("waiting_s_p99", "share", "gap_s")
"""The columns of a server's figure."""


def of_serving(found: Serving, style: Style) -> Any:
    """How long each tenant waits, its share beside the max-min share, its gap beside the bound."""
    figures = loaded()
    by_requests = sorted(found.tenants, key=lambda row: -row["requests"])
    shown = [row["tenant"] for row in by_requests[:TENANTS]]
    rows = [row for row in found.rows if row["tenant"] in shown]
    rows.sort(key=lambda row: shown.index(row["tenant"]))
    asked = found.question
    of = "random requests" if asked["log"] is None else Path(asked["log"]).name
    left = len(by_requests) - len(shown)
    caption = "waiting: from the arrival to the start; share: of the seats while the tenant waits; gap: the most by "
    caption += "which it fell behind another while both waited, service over weight as the policy counts it"
    caption += f"; {left} tenants with fewer requests left out" if left else ""
    return figures.bars(
        rows, list(SERVED), ["policy"], "tenant", f"Tenants on {asked['seats']} seats: {of}", caption=caption,
        ideals={"share": "max_min_share", "gap_s": "bound_s"}, style=style,
    )  # fmt: skip


TENANTS = 6
"""Tenants of a server's figure: those with most requests."""


def of_effects(found: Effects, style: Style, name: str) -> Any:
    """What each setting of the entry called `name` does to each quantity."""
    figures = loaded()
    quantities = _telling(found, figures.EFFECTS)
    rows, caption = _drawn(found, style.panels_max // len(quantities))
    on = found.document["line"]
    title = f"What the settings of {name} do on {on['rate']} with a round trip of {on['rtt'][0]}"
    return figures.effects(rows, title, quantities=quantities, caption=caption, style=style)


def _telling(found: Any, quantities: Sequence[str]) -> list[str]:
    """The quantities of a figure: that first which most settings change."""
    changed = Counter(change["quantity"] for each in found.settings for change in each["changes"])
    return sorted(quantities, key=lambda quantity: -changed[quantity])


def _drawn(found: Any, most: int) -> tuple[Sequence[Mapping[str, Any]], str]:
    """The rows of a figure and its caption: settings that change something.

    If none does, `most` settings between whose values the means of the share differ most.
    """
    with_effect = [each["setting"] for each in found.settings if each["has_effect"]]
    without = [each["setting"] for each in found.settings if not each["has_effect"]]
    if with_effect:
        kept, caption = with_effect, f"no effect beyond chance: {', '.join(without)}" if without else ""
    else:
        kept = sorted(without, key=lambda setting: -_difference(found.rows, setting))[:most]
        caption = "no setting has an effect beyond chance"
        caption += "; shown are those with the largest differences of shares" if len(kept) < len(without) else ""
    return [row for row in found.rows if row["setting"] in kept], caption


def _difference(rows: Sequence[Mapping[str, Any]], setting: str) -> float:
    """How much the mean share of a group of flows differs at most between values of a setting."""
    shares: dict[str, list[float]] = {}
    for row in rows:
        if row["setting"] == setting and row["share"] is not None:
            shares.setdefault(row["flow"], []).append(row["share"])
    return max((max(of_flow) - min(of_flow) for of_flow in shares.values()), default=0.0)


def of_baseline(found: Baseline, style: Style) -> Any:
    """What the flow did over time."""
    from fairq.questions import baselines

    return loaded().baseline(found.series, baselines.title(found), style=style)


def of_delay_curve(found: DelayCurve, style: Style) -> Any:
    """Delay over the share of the line."""
    figures = loaded()
    curves = SimpleNamespace(FTPS=found.ftps, WINDOW=found.window, DELTAS=figures.deltas(found.delta_packets))
    return figures.delay_curve(curves, [], style=style)


NEAR = 0.9
"""The part of a bound from which on it was nearly broken."""

NAMED = 3
"""The most bounds that a caption names."""


def of_audit(found: Audit, style: Style, run: str = "") -> Any:
    """The run of an audit that was replayed: packets, their ends in the fluid, bounds it came near."""
    rows = [_packet(row) for row in found.packets]
    if not rows:
        raise UsageError('the audit kept no packets; audit again with run="RUN", a run of its tables')
    run = run or next(row["run"] for row in (*found.bounds, *found.violations))
    late = {row["serial"]: row["sent_s"] - row["fluid_s"] for row in rows
            if row["sent_s"] is not None and row["fluid_s"] is not None}  # fmt: skip
    latest = max(late, key=lambda serial: late[serial], default=None)
    caption = "; ".join(filter(None, (
        *(f"broken: {row['of']}, {row['message']}" for row in found.violations),
        *_nearest(found),
        None if latest is None else f"outlined: the packet that is latest against the fluid, by "
        f"{tables.value('late_s', late[latest])}",
    )))  # fmt: skip
    return loaded().timeline(
        rows,
        f"audit of {found.discipline}, run {run}",
        names=sorted({row["flow"] for row in rows}, key=lambda name: int(name.split()[-1])),
        outlined=() if latest is None else (latest,),
        caption=caption,
        style=style,
    )


def _nearest(found: Audit) -> list[str]:
    """The bounds that the run broke or nearly broke, the nearest first."""
    near = [row for row in found.bounds if row["ratio"] is not None and row["ratio"] >= NEAR]
    near.sort(key=lambda row: -row["ratio"])
    return [f"{row['measure']} {row['worst']:.6g} of {row['bound']:.6g} {row['unit']}, {row['of']}"
            for row in near[:NAMED]]  # fmt: skip


def _packet(row: Mapping[str, Any]) -> dict[str, Any]:
    """A packet of an audit as a timeline has it."""
    arrived, began, end, fluid = (
        None if row[name] is None else row[name] / 1e12 for name in ("arrival_ps", "start_ps", "end_ps", "fluid_ps")
    )
    is_sent = row["fate"] == "sent"
    return {
        "serial": row["packet"],
        "flow": f"flow {row['flow']}",
        "packet_bytes": row["bytes"],
        "arrived_s": arrived,
        "began_s": began,
        "sent_s": end if is_sent else None,
        "dropped_s": end if row["fate"].startswith("dropped") else None,
        "removed_s": end if row["fate"] == "removed" else None,
        "fluid_s": fluid,
    }


def of_timeline(found: Timeline, style: Style) -> Any:
    """The packets of a link by flow over time, beside the fluid."""
    rows = list(found.packets)
    if not rows:
        raise UsageError("no packet was at the link; write other times or another link")
    of = f"packets on {rows[0]['link']}" + (", the other way" if rows[0]["direction"] == "reverse" else "")
    return loaded().timeline(rows, of[0].upper() + of[1:], fluid=list(found.fluid), style=style)


def of_study(found: Results | Sweep, what: str | None, style: Style) -> Any:
    """The means of a quantity of a study over its axes, as its report has them."""
    from fairq.studies import enough, summary
    from fairq.studies.stored_runs import Results

    results = found if isinstance(found, Results) else Results(found.store)
    try:
        asked = enough.shown(results, None) if what is None else enough.quantity(what)
    except UsageError as error:
        raise _not_of_a_study(str(what), results.tables) or UsageError(f"what: {error}") from None
    if asked is not None and asked.table not in results.tables:
        raise UsageError(f"what: {what}: the study does not keep {asked.table}; add it to tables of [keep], and run it")
    quantity = summary.Quantity(asked.table, asked.column) if asked is not None else None
    of = summary.values(results, [quantity]).get(quantity) if quantity is not None else None
    if quantity is None or of is None:
        none = "what" if what is None else f"what: {what}"
        raise UsageError(f"{none}: no run of the study has a value of it; run it, or write another TABLE.COLUMN")
    group = summary.KEYS[quantity.table][0]
    rows = summary.means(of, quantity)
    return loaded().of_rows(rows, results.axes, [quantity.column], results.study.name, series=group, style=style)


def of_reproduction(found: Reproduction, what: str | None, style: Style) -> Any:
    """The figure called `what` of a reproduced paper; None takes the first that there is."""
    from fairq.papers import papers

    names = list(dict.fromkeys(row["paper"] for row in found.rows))
    known = []
    for name in names:
        rows = [dict(row) for row in found.rows if row["paper"] == name]
        for each in papers.load(name).compare.figures(rows, found._documents.get(name, {}), style):
            known.append(each.name if len(names) == 1 else f"{name}/{each.name}")
            if what in (None, known[-1]):
                return each.figure
    said = "" if what is None else f"what: {what}: "
    if not known:
        lacking = "run again without quick=True" if found._documents else "a pickled result lacks its runs; run again"
        raise UsageError(f"{said}{', '.join(names)}: no figure of the paper is of what was run; {lacking}")
    raise UsageError(f"{said}{', '.join(names)} has no such figure{near_miss(str(what), known)}")


def of_topology(found: Topology, style: Style, progress: Tell | None = None) -> Any:
    """Its map."""
    loaded()
    from fairq.topologies import maps

    size = f"{found.nodes} nodes, {found.links} links, diameter {found.diameter_s * 1000:.4g} ms"
    title = f"{Path(found.file).stem}: {size}"
    return maps.network(title, found.node_table, found.link_table, progress=progress, style=style)


KEPT_BY = {"series": 'series = "100 ms"', "packets": 'packets = "NAME"', "states": "states = true"}
"""What a study's [keep] says for the tables that are more than means."""


def _not_of_a_study(what: str, kept: Sequence[str]) -> UsageError | None:
    """Where a picture of a run, or of rows that are no means, is had; None for another word."""
    name = what.partition(".")[0]
    means = "a figure of a study is of means; write a column, as flows.throughput_bit_per_s"
    if name in ("means", "theory"):
        more = "; fairq.run(…, overlay=True) has theory" if name == "theory" else ", or leave it out"
        return UsageError(f"what: {what}: {means}{more}")
    if name not in KEPT_BY:
        return None
    place = f".table({name!r}) and fairq.report"
    where = f"{place} have its {name}" if name in kept else f"{place} have {name} with {KEPT_BY[name]} in [keep]"
    return UsageError(f"what: {what}: {means}; {where}")


KINDS: Mapping[str, Callable[[Any, Style], Any]] = {
    "Advice": of_advice,
    "Audit": of_audit,
    "Baseline": of_baseline,
    "Comparison": of_comparison,
    "DelayCurve": of_delay_curve,
    "Effects": lambda found, style: of_effects(found, style, found.document["name"]),
    "Replay": of_replay,
    "Serving": of_serving,
    "Timeline": of_timeline,
    "Topology": of_topology,
}
"""The pictures of results by the names of their types, whose rooms are not loaded for them."""
