"""What several tests read: the paper's folder, and a stand-in for its runs."""

import json
import random

import pytest

from fairq import _native, papers, theory
from fairq.verdicts import read_published


@pytest.fixture(scope="session")
def demers1990():
    return papers.load("demers1990")


@pytest.fixture
def printed_runs(monkeypatch, demers1990, tmp_path):
    """Stands in for the simulator: every seed is the published run with a little noise, figure 1 its mended curve.

    Gives the list of calls made: (file name, settings).
    """
    calls = []
    cells = read_published(demers1990.folder / "published.csv")
    columns = demers1990.compare.COLUMNS
    # scenario files need not be there to be stood in for
    folder = tmp_path / "papers" / "demers1990"
    folder.mkdir(parents=True)
    for name in ("figure1", *(f"scenario{number}" for number in range(1, 7))):
        (folder / f"{name}.toml").write_text("")
    (folder / "published.csv").write_text((demers1990.folder / "published.csv").read_text())
    paper = papers.Paper("demers1990", folder, demers1990.compare)
    monkeypatch.setattr("fairq.reproduction.load", lambda name: paper)

    def scenario(number, seeds):
        mine = [cell for cell in cells if cell.scenario == number]
        for policy in dict.fromkeys(cell.policy for cell in mine):
            rows = []
            for seed in range(seeds):
                noise = random.Random(f"{policy}/{seed}")
                flows = {}
                for cell in mine:
                    if cell.policy == policy:
                        value = cell.value
                        if value is not None and cell.quantity == "rtt":
                            value *= noise.uniform(0.99, 1.01)
                        flows.setdefault(cell.source, {"flow": cell.source})[columns[cell.quantity]] = value
                rows.append({"seed": seed, "flows": list(flows.values())})
            yield {"axes": {"policy": policy}, "seeds": rows}

    def figure(seeds):
        for policy, delta in demers1990.compare.DELTAS.items():
            for rho in (0.1, 0.5, 0.8):
                wait = theory.poisson_delay(3, rho, delta)
                flows = [[{"flow": "telnet", "delay_s_mean": wait * random.uniform(0.99, 1.01) + 1.0}]] * seeds
                yield {
                    "axes": {"policy": policy, "rho": rho},
                    "seeds": [{"seed": i, "flows": f} for i, f in enumerate(flows)],
                }
        for rho in (0.1, 1.0, 3.0):
            flows = [{"flow": "telnet", "delay_s_mean": theory.fcfs_delay(3, 5, rho) + 1.0}]
            yield {"axes": {"policy": "FCFS", "rho": rho}, "seeds": [{"seed": i, "flows": flows} for i in range(seeds)]}

    def run(text, name, sets, workers, progress=None):
        stem = name.rsplit("/", 1)[-1].removesuffix(".toml")
        calls.append((stem, dict(sets)))
        seeds = int(dict(sets)["measure.replications"])
        if progress is not None:
            progress(0.5, 1000.0, 1)
        points = figure(seeds) if stem == "figure1" else scenario(stem.removeprefix("scenario"), seeds)
        return json.dumps({"points": list(points)})

    monkeypatch.setattr(_native, "run", run)
    return calls
