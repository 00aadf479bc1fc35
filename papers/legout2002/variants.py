"""What moves FQ's gain over FIFO: the tables of docs/design/legout2002.md, as Markdown.

Each row changes a parameter that the paper leaves open, or one that it states, and runs one repetition again. How many
connections, the buffer and the simulated time are arguments, for a row may take minutes:

    .venv/bin/python papers/legout2002/variants.py 400 50 '20 s'
"""

from __future__ import annotations

import sys
from typing import Any

from fairq.papers.papers import load
from fairq.papers.varied import Changes, print_table, run_varied


def with_fq(queue: str) -> Changes:
    """What makes `queue` of FQ's discipline."""
    return {"axes.policy.values.FQ.set": {"defaults.queue": queue}}


VARIANTS: dict[str, Changes] = {
    "as reproduced": {},
    "the front of the longest queue is dropped": with_fq("wfq + longest_queue_drop(from=front) + port_pair"),
    "what is dropped is charged": with_fq("fq + longest_queue_drop + port_pair"),
    "DRR": with_fq("drr(quantum=1000B) + longest_queue_drop + port_pair"),
    "NewReno": {"defaults.transport": "newreno"},
    # up to a packet's time on the slowest line, as hosts do if nothing is said
    "hosts take a random time": {"defaults.connection.processing": "800 us"},
    "timers of 100 ms and at least 1 s": {
        "defaults.connection.timeout": {"floor": "1 s", "first": "3 s", "granularity": "100 ms"}
    },
    "both nodes of a MAN have an uplink": {"topology.uplinks": 2},
    "delays of a tenth": {
        f"topology.{level}_delay_{end}": f"{delay} ms"
        for level, least, most in (("wan", 10, 15), ("man", 2, 4), ("lan", 1, 1))
        for end, delay in (("min", least), ("max", most))
    },
}


def main() -> None:
    """Print the table."""
    connections, buffer, duration = (*sys.argv[1:], *("400", "50", "20 s")[len(sys.argv) - 1 :])
    size = f"{connections} connections, {buffer} packets, {duration}"
    rows = ((name, measure(int(connections), buffer, duration, changes)) for name, changes in VARIANTS.items())
    print_table([size, "FIFO", "FQ", "mean", "deviation", "minimum"], rows)


def measure(connections: int, buffer: str, duration: str, changes: Changes) -> list[str]:
    """Both means in kbit/s, and the ratios of mean, deviation and minimum, FQ's by FIFO's."""
    compare: Any = load("legout2002").compare
    job = compare.large((connections,), (buffer,), 1)
    done = {"drawn 1": run_varied("legout2002", job, {"measure.duration": duration, **changes})}
    (run,) = compare.drawn_repetitions(done)
    means = [run.of("mean throughput", connections, buffer, policy) for policy in ("FIFO", "FQ")]
    ratios = [run.of(each, connections, buffer, compare.PAIRED) for each in compare.RATIOS]
    return [f"{mean:.0f}" for mean in means] + [f"{ratio:.3f}" for ratio in ratios]


if __name__ == "__main__":
    main()
