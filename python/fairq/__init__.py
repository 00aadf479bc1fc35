"""fairq: a laboratory for fair queueing and congestion control.

>>> import fairq
>>> result = fairq.run("scenarios/dumbbell.toml", set={"measure.replications": 2})
>>> {row["flow"]: round(row["throughput_bit_per_s"]) for row in result.flows if row["policy"] == "FQ"}
{'file 1': 27968, 'file 2': 27960, 'terminal': 71}

Nothing heavy is imported until it is used: the compiled part and the plotting package load on first need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairq.api import (
        Audit,
        Experiment,
        Replay,
        Result,
        Topology,
        advise,
        agree,
        audit,
        baseline,
        bench,
        bench_disciplines,
        cards,
        compare,
        compare_alone,
        detect,
        diff,
        effects,
        estimate,
        experiment,
        explain,
        explained,
        least_buffer,
        listing,
        max_min,
        query,
        read_result,
        read_store,
        replay,
        report,
        reproduce,
        run,
        scenes,
        schema,
        sweep,
        topology,
    )
    from fairq.errors import CaptureError, FairqError, OutputError, ScenarioError, TopologyError, UsageError
    from fairq.verdicts import Reproduction

    __version__: str

__all__ = [
    "Audit",
    "CaptureError",
    "Experiment",
    "FairqError",
    "OutputError",
    "Replay",
    "Reproduction",
    "Result",
    "ScenarioError",
    "Topology",
    "TopologyError",
    "UsageError",
    "advise",
    "agree",
    "audit",
    "baseline",
    "bench",
    "bench_disciplines",
    "cards",
    "compare",
    "compare_alone",
    "detect",
    "diff",
    "effects",
    "estimate",
    "experiment",
    "explain",
    "explained",
    "least_buffer",
    "listing",
    "max_min",
    "query",
    "read_result",
    "read_store",
    "replay",
    "report",
    "reproduce",
    "run",
    "scenes",
    "schema",
    "sweep",
    "topology",
]

_ELSEWHERE = {name: "fairq.errors" for name in __all__ if name.endswith("Error")} | {"Reproduction": "fairq.verdicts"}
"""The modules of what is not in `fairq.api`."""


def __getattr__(name: str) -> Any:
    """Load what is asked for, once."""
    if name == "__version__":
        value: Any = import_module("fairq._native").version()
    elif name in __all__:
        value = getattr(import_module(_ELSEWHERE.get(name, "fairq.api")), name)
    else:
        raise AttributeError(f"module 'fairq' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
