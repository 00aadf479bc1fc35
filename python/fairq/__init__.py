"""fairq: a laboratory for fair queueing and congestion control.

>>> import fairq
>>> result = fairq.run("scenarios/dumbbell.toml", set={"measure.replications": 2})
>>> {row["flow"]: round(row["throughput_bit_per_s"]) for row in result.flows if row["policy"] == "FQ"}
{'file 1': 27968, 'file 2': 27960, 'terminal': 71}

Scenarios:

    run                run a scenario; flows, links, queues and what else is measured, as tables
    Network            build a scenario in Python, link by link
    experiment         read and check a scenario, to run each point and seed anywhere
    lab                show the lab in a notebook: see inside a queue
    live               hold a run: step by step, looked at, changed, taken back
    estimate           what its runs will cost
    read_result        read a result again that was written
    max_min            the max-min fair shares of its flows
    topology           read a file of a topology

Questions about one line:

    compare            compare queues, buffers or congestion controls
    compare_alone      give each control a line of its own
    advise             rank Linux's queues and buffers for a line
    least_buffer       find the least buffer that keeps a part of the line used
    effects            vary each setting of an entry alone
    baseline           run one flow alone on an ideal line
    theory             compute what the papers derive

Linux:

    tc                 translate a queue to tc commands, or such commands to a queue

    emulate            run real programs over a line with any queue
    doctor             what this machine can emulate

Captures of packets:

    replay             send a capture through queues
    detect             say of each flow whether its bottleneck was fair

Servers:

    serve              serve requests of tenants on a server with seats, under each policy

Studies of many runs:

    sweep              run what is missing of a study
    read_store         read the runs of a study and their tables
    query              ask them in SQL
    report             write them as one page
    diff               say what changed between two studies

Evidence:

    reproduce          run a paper's scenarios and compare its numbers with ours
    agree              how far fairq is from a real kernel
    audit              check the invariants and the bounds of a discipline
    bench              measure this machine on the reference workloads
    bench_disciplines  measure disciplines beside their floors

Inside a server:

    Dispatcher         whose request runs next: seats for tenants, by a fair policy

What there is:

    listing            list the disciplines, transports, traffic, receivers, topologies or papers
    explain            the card of an entry as text
    explained          the same as a document
    cards              the cards of a name as fields
    scenes             a transport driven alone, round by round
    schema             the JSON Schema of a document

Own parts, to derive from (docs/guide/own-discipline.md):

    Rank               a scheduler from one function: the least rank leaves first
    Scheduler          which queue sends next
    Policy             which packets are dropped or marked before the buffer is full
    Discipline         a whole queueing discipline
    Control            a congestion control
    Source             a source of packets
    NotBefore          the answer that no packet leaves before a time

Ctrl-C is `Interrupted`, with the result of the runs that were complete.
Results are frozen types with tables: docs/guide/tables.md. `.plot()` of one with a picture gives a
`Figure`: docs/guide/notebook.md. All errors are a `FairqError`.

Nothing heavy is imported until it is used: the compiled part and the plotting package load on first need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairq._native import NotBefore
    from fairq.api import (
        Audit,
        Experiment,
        LiveRun,
        Replay,
        Result,
        Serving,
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
        doctor,
        effects,
        emulate,
        estimate,
        experiment,
        explain,
        explained,
        lab,
        least_buffer,
        listing,
        live,
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
        serve,
        sweep,
        tc,
        theory,
        topology,
    )
    from fairq.core.errors import (
        CaptureError,
        FairqError,
        Interrupted,
        OutputError,
        PartError,
        RefusedError,
        ScenarioError,
        TopologyError,
        UsageError,
    )
    from fairq.core.parts import Control, Discipline, Policy, Rank, Scheduler, Source
    from fairq.core.pictured import Figure
    from fairq.core.scenario_builder import Network
    from fairq.papers.verdicts import Reproduction
    from fairq.serving.dispatcher import Dispatcher

    __version__: str

__all__ = [
    "Audit",
    "CaptureError",
    "Control",
    "Discipline",
    "Dispatcher",
    "Experiment",
    "FairqError",
    "Figure",
    "Interrupted",
    "LiveRun",
    "Network",
    "NotBefore",
    "OutputError",
    "PartError",
    "Policy",
    "Rank",
    "RefusedError",
    "Replay",
    "Reproduction",
    "Result",
    "ScenarioError",
    "Scheduler",
    "Serving",
    "Source",
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
    "doctor",
    "effects",
    "emulate",
    "estimate",
    "experiment",
    "explain",
    "explained",
    "lab",
    "least_buffer",
    "listing",
    "live",
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
    "serve",
    "sweep",
    "tc",
    "theory",
    "topology",
]

_ELSEWHERE = {
    **{name: "fairq.core.errors" for name in __all__ if name.endswith("Error")},
    "Interrupted": "fairq.core.errors",
    **dict.fromkeys(("Control", "Discipline", "Policy", "Rank", "Scheduler", "Source"), "fairq.core.parts"),
    "Dispatcher": "fairq.serving.dispatcher",
    "Figure": "fairq.core.pictured",
    "Network": "fairq.core.scenario_builder",
    "NotBefore": "fairq._native",
    "Reproduction": "fairq.papers.verdicts",
}
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
