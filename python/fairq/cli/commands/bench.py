"""`fairq bench`: the speed of this machine, and of disciplines."""

from __future__ import annotations

from argparse import Namespace

from fairq import api
from fairq.cli.options import LOOKS, QUICK, Commands, Parser, declare
from fairq.cli.printing import as_json, look, sections
from fairq.core import tables
from fairq.core.declared import Option, Spec, argument, switch
from fairq.core.errors import UsageError
from fairq.core.progress import Bar

SPEC = Spec(
    "bench",
    "fairq bench --quick",
    (
        QUICK,
        *LOOKS,
        Option("rows", "measure only this workload; may be repeated (default: all)", "NAME", "Sequence[str]",
               default=(), flags=("--row",), called="names"),
    ),
    functions=("bench",),
    beside=("progress",),
)  # fmt: skip

DISCIPLINES = Spec(
    "bench disciplines",
    "fairq bench disciplines drr fq --mixed",
    (
        argument("names", "schedulers, buffer policies (over fifo), designs (default: all)", "NAME",
                 "Sequence[str]", default=(), typed=None, nargs="*"),
        switch("mixed", "use weights of 1 to 4 and packets of 64 to 1500 bytes, not equal ones"),
        QUICK,
        *LOOKS,
    ),
    summary="measure disciplines beside the least work of their kind",
    functions=("bench_disciplines",),
    beside=("progress",),
)  # fmt: skip


def add(commands_of: Commands) -> None:
    """Add the command, and the one inside it."""
    parser = declare(commands_of, SPEC, bench)
    inside = parser.add_subparsers(metavar="WHAT", parser_class=Parser)
    declare(inside, DISCIPLINES, bench_disciplines, inside=SPEC)


BENCH_COLUMNS = (
    "row",
    "about",
    "packet_hops",
    "data_packets",
    "packets",
    "rows",
    "table_bytes",
    "table_memory_ratio",
    "dropped",
    "cpu_s",
    "cpu_s_min",
    "cpu_s_max",
    "million_packet_hops_per_cpu_s",
    "simulated_s_per_cpu_s",
    "million_packets_per_cpu_s",
    "peak_memory_bytes",
    "wall_s",
    "ratio",
    "note",
)
"""The columns of `fairq bench`."""


BENCHED = """
A packet-hop is one packet sent on one line, acknowledgements included; every packet is simulated by itself. CPU time is
that of the run, without the start of the program and the writing of results; memory is that of the whole program. Shown
is the median of five, each a program of its own, with the least and the greatest time. ratio: how long two programs
take beside each other with half of the runs each, over what one takes with two workers. table memory ratio: the
greatest memory of the table and its copy while polars takes it, over the table's own. Compare numbers of one machine
in the same minutes only."""
"""What the numbers of `fairq bench` mean."""


DISCIPLINE_COLUMNS = ["discipline", "part", "flows", "ns_per_packet", "floor", "ratio", "unfairness_packets",
                      "idle_flow_bytes", "backlogged_flow_bytes", "dropped_share"]  # fmt: skip
"""The columns of `fairq bench disciplines`."""


MEASURED = """\
ns per packet: enqueue + dequeue in CPU time, less what the loop costs around nothing; two packets of
each flow wait. Floor A: a ring for each flow, served in turn; B: the next flow from a heap
of finish numbers. ratio: to the floor, timed in turn.
unfairness: the worst between two of 16 flows over any interval of the run, in greatest packets for a flow of weight 1;
- where a flow was not backlogged throughout. Bytes: allocated, for each flow when all were seen and nothing waits, and
when two packets of each wait. For instructions count a run of the example `workload backlog NAME FLOWS PACKETS` of
crates/bench with callgrind: docs/design/performance.md."""
"""What the numbers of `fairq bench disciplines` mean."""


def bench(arguments: Namespace) -> str:
    """`fairq bench`."""
    with Bar("bench") as bar:
        result = api.bench(**SPEC.words(vars(arguments)), progress=bar)
    if arguments.json:
        return as_json(result, "bench")
    shown = [{name: row[name] for name in BENCH_COLUMNS if name in row} for row in result["rows"]]
    columns = [name for name in BENCH_COLUMNS if any(name in row for row in shown)]
    info = ", ".join(f"{key} {value}" for key, value in result["run_info"].items() if value is not None)
    return f"{tables.text(shown, columns, **look(arguments))}\n\n{tables.prose(info)}\n\n{tables.prose(BENCHED)}"


def bench_disciplines(arguments: Namespace) -> str:
    """`fairq bench disciplines`."""
    if arguments.rows:
        raise UsageError("--row: it names a workload of fairq bench; write names behind fairq bench disciplines")
    with Bar("bench disciplines") as bar:
        result = api.bench_disciplines(**DISCIPLINES.words(vars(arguments)), progress=bar)
    if arguments.json:
        return as_json(result, "bench-disciplines")
    floors = [{"floor": row["floor"], "flows": row["flows"], "ns_per_packet": row["ns_per_packet"]}
              for row in result["floors"]]  # fmt: skip
    has_notes = any(row["note"] for row in result["rows"])
    columns = [*DISCIPLINE_COLUMNS, *(["note"] if has_notes else [])]
    shown = {"Floors": tables.text(floors, **look(arguments)),
             "Disciplines": tables.text(result["rows"], columns, **look(arguments))}  # fmt: skip
    return f"{sections(shown)}\n\n{tables.prose(MEASURED)}"
