"""What the claims about PLM hang on: the table of papers/plm/README.md, as Markdown.

Each row changes what the text leaves open and runs PLM over FQ again.

    .venv/bin/python papers/plm/variants.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from fairq.papers.papers import SEEDS as SEEDS_PATH
from fairq.papers.papers import Job, load
from fairq.papers.varied import print_table, run_varied

SEEDS = 5
EXPERIMENTS = {"sessions": 3, "tcp": 1, "misbehaving": 1, "self_similar": 1}
"""Each with the number of its sessions."""


@dataclass(frozen=True)
class Variant:
    """What the text leaves open; `of_session` are fields of each session and their values."""

    scheduler: str = "fq(on_drop=refund)"
    room: str = "20 packets"
    control: str = "plm"
    of_session: Mapping[str, object] = field(default_factory=dict)

    def changes(self, sessions: int) -> dict[str, object]:
        """Fields that leave only PLM over FQ, with these settings, in a scenario of `sessions` sessions."""

        def in_each(fields: Mapping[str, object]) -> dict[str, object]:
            return {f"sessions[{n}].{name}": value for n in range(sessions) for name, value in fields.items()}

        protocol = in_each({"control": self.control, "source": "pairs"})
        gateway = {"links[0].queue": f"{self.scheduler} + longest_queue_drop + {self.room}"}
        axes = {
            "axes.protocol.values": [{"name": "PLM", "set": protocol}],
            "axes.gateway.values": [{"name": "FQ", "set": gateway}],
        }
        return {**axes, **in_each(self.of_session)}


VARIANTS = {
    "as reproduced": Variant(),
    "FQ that charges for drops": Variant(scheduler="fq"),
    "SCFQ": Variant(scheduler="scfq"),
    "WF2Q+": Variant(scheduler="wf2q_plus"),
    "DRR, quantum of a packet": Variant(scheduler="drr(quantum=500B)"),
    "DRR, quantum of three packets": Variant(scheduler="drr(quantum=1500B)"),
    "a check of 5 s": Variant(control="plm(check=5s)"),
    "a check of 5 s, FQ that charges": Variant(control="plm(check=5s)", scheduler="fq"),
    "room for 60 packets": Variant(room="60 packets"),
    "room for 60 packets, FQ that charges": Variant(room="60 packets", scheduler="fq"),
    "leaving takes no time": Variant(of_session={"leave_latency": "0 s"}),
    "leaving takes 2 s": Variant(of_session={"leave_latency": "2 s"}),
    "nine layers of 50 kbit/s (8 are right)": Variant(of_session={"rates": ["50 kbit/s"] * 9}),
}


def main() -> None:
    """Print the table: in each experiment layers, changes a minute and packets lost, means of receivers."""
    rows = ((name, (cell(each, variant) for each in EXPERIMENTS)) for name, variant in VARIANTS.items())
    print_table(["", *(name.replace("_", "-") for name in EXPERIMENTS)], rows)


def cell(experiment: str, variant: Variant) -> str:
    """One cell: layers, changes a minute, packets lost in two minutes."""
    compare: Any = load("plm").compare
    fields = {SEEDS_PATH: SEEDS, **variant.changes(EXPERIMENTS[experiment])}
    runs = compare.runs_of(run_varied("plm", Job(f"{experiment}.toml"), fields))
    layers, changes = ([had for run in runs for had in run.all(of, "PLM, FQ")] for of in ("layers", compare.CHANGES))
    lost = [row["lost_packets"] for run in runs for row in run.receivers["PLM, FQ"].values()]
    return f"{fmean(layers):.2f}, {fmean(changes):.1f}, {fmean(lost):.0f}"


if __name__ == "__main__":
    main()
