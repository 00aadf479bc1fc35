"""`fairq serve`: what tenants get of a server under each policy."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from fairq import api, plots
from fairq.cli.options import LOOKS, WORKERS, plot
from fairq.cli.printing import FLOWS_SHOWN, as_json, look, picture, save, sections, style, written
from fairq.core import tables
from fairq.core.declared import LIST, PATH, Option, Spec, argument, switch, typed_only
from fairq.core.progress import Bar

ROWS = ["policy", "tenant", "requests", "waiting_s_mean", "waiting_s_mean_low", "waiting_s_mean_high", "waiting_s_p50",
        "waiting_s_p95", "waiting_s_p99", "waiting_s_p99_low", "waiting_s_p99_high", "slowdown_mean",
        "slowdown_mean_low", "slowdown_mean_high", "share", "share_low", "share_high", "max_min_share", "gap_s",
        "bound_s"]  # fmt: skip
"""The columns of tenants under policies; --wide has all."""

MINOR = ["requests", "waiting_s_p50", "waiting_s_p95", "waiting_s_mean", "slowdown_mean"]
"""The columns that go first where a screen is too narrow."""

SPEC = Spec(
    "serve",
    "fairq serve requests.csv --seats 8 --policy fcfs,vtc",
    (
        argument("log", "a log of time,tenant,cost: CSV, JSON lines or Parquet; - reads standard input", "LOG",
                 PATH, nargs="?"),
        Option("tenants", "random requests: 'a:rate=5/s,cost=lognormal(mean=2s,sd=3s);b:…'", "TENANTS"),
        Option("seats", "requests that the server serves at a time", "N", "int", required=True),
        Option("policy", f"policies, one after the other (default {','.join(api.SERVED)})", "LIST", LIST,
               typed=",".join(api.SERVED)),
        Option("weights", "weights of tenants, as a=2,b=0.5 (default 1)", "LIST", "str | Mapping[str, float]"),
        Option("priorities", "priorities of tenants, as a=2,b=1; the greatest first (default 0)", "LIST",
               "str | Mapping[str, float]"),
        Option("speed", "units of cost that a seat serves a second, if costs are no seconds", "NUMBER", "float",
               default=1.0),
        Option("cost_known", "no, yes or error=30%: what is known of a cost beforehand", "TEXT", default="no"),
        Option("seeds", "seeds of random requests (default 10)", "N", "int"),
        Option("duration", "how long random requests arrive (default 10min)", "TIME"),
        Option("done", "the column of the log with the end of each request: judge it as it was", "COLUMN"),
        WORKERS,
        *typed_only(
            switch("all", "show all tenants, not only those with most requests"),
        ),
        *plot("draw waiting times and shares by policy and tenant"),
        *LOOKS,
    ),
    "A request takes a seat for its cost. waiting: from the arrival to the start. share: of the"
    " seats while the tenant waits, beside the max-min share of that time. gap: the most by which a"
    " tenant fell behind another while both waited, in seconds of service over weight, beside the"
    " proven bound of its policy. --done adds the log as it was, and says which policy it looks like.",
    functions=("serve",),
    beside=("progress",),
)  # fmt: skip


def serve(arguments: Namespace) -> str:
    """`fairq serve`."""
    drawing = picture(arguments.plot) if arguments.plot else None
    with Bar(Path(arguments.log).name if arguments.log else "serve") as bar:
        found = api.serve(**SPEC.words(vars(arguments)), progress=bar)
    if drawing:
        save(plots.of_serving(found, style(arguments)), drawing)
    if arguments.json:
        return as_json(found.document, "serve")
    by_requests = sorted(found.tenants, key=lambda row: -row["requests"])
    kept = [row["tenant"] for row in (by_requests if arguments.all else by_requests[:FLOWS_SHOWN])]
    tenants = [row for row in found.tenants if row["tenant"] in kept]
    rows = [row for row in found.rows if row["tenant"] in kept]
    shown = look(arguments)
    parts = {
        "Tenants": tables.text(tenants, keep=["tenant"], **shown),
        "Policies": tables.text(found.policies, keep=["policy"], minor=["duration_s"], **shown),
        "Tenants under policies": tables.text(
            rows, None if arguments.wide else ROWS, keep=["policy", "tenant"], minor=MINOR, **shown
        ),
    }
    if found.likeness:
        parts["Likeness"] = tables.text(found.likeness, keep=["policy", "agreement"], **shown)
    text = sections(parts)
    if left := len(found.tenants) - len(tenants):
        text += f"\nand {left} tenants with fewer requests; --all shows them"
    text += f"\n\n{tables.prose(found.text)}"
    return text + written(arguments, drawing)
