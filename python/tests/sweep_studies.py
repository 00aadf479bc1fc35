"""Small studies for the tests of sweeps."""

import fairq
from fairq.studies.study import read_study

SCENARIO = """
edition = 2

[measure]
duration = "1 s"

[[links]]
name = "line"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "10 ms"

[[flows]]
name = "file"
from = "a"
to = "b"
traffic = "ftp"
transport = "reno"
count = 2
"""

BUFFERS = ["20 packets", "40 packets"]

STUDY = """[study]
scenario = "line.toml"
replications = 3

[[axes]]
name = "buffer"
path = "defaults.buffer"
values = ["20 packets", "40 packets"]

[[axes]]
name = "queue"
path = "defaults.queue"
values = ["fifo", "fq"]
"""
"""Twelve runs of a millisecond."""


def write_study(folder, replications=3, duration="1 s", series=None):
    """The study in a folder; gives its path."""
    (folder / "line.toml").write_text(SCENARIO.replace('"1 s"', f'"{duration}"', 1))
    path = folder / "study.toml"
    keep = f'\n[keep]\nseries = "{series}"\n' if series else ""
    path.write_text(STUDY.replace("replications = 3", f"replications = {replications}") + keep)
    return path


def swept(folder, question):
    """How many runs exist, and how many are missing, of a study of a question with two seeds."""
    path = folder / "asked.toml"
    path.write_text(
        f'[study]\nname = "asked"\ncompare = {{ {question}, seeds = 2, duration = "2 s", warm_up = "1 s" }}\n'
    )
    found = fairq.sweep(path, workers=1)
    return found.done, found.missing


def digests_of(study):
    """The digests of all runs, in their order."""
    return [run.digest for run in read_study(study).runs()]


def rows_of(results, table):
    """All rows of a table by themselves, in an order that no part decides."""
    return sorted(repr(tuple(row.values())) for row in results.table(table))
