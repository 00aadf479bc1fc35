"""A program of a user with two checkers of types: it uses each type of a result.

Run as `python typed_user.py SCENARIO STUDY CAPTURE TIMES TOPOLOGY FOLDER`; test_typed_user.py
checks it by mypy and by pyright, strictly, and runs it.
"""

import sys
from pathlib import Path

import polars

import fairq
from fairq.traffic_control import TcCommands

scenario, study, capture, times, topology, folder = map(Path, sys.argv[1:])
numbers: dict[str, float | None] = {}

result = fairq.run(scenario, set={"measure.duration": "2 s"}, series="500 ms", states=True)
numbers["run"] = max(flow.throughput_bit_per_s for flow in result.flows)
numbers["busiest"] = max(link.utilisation or 0.0 for link in result.links)
frame: polars.DataFrame = result.queues.to_polars()
names: list[str] = [queue.discipline for queue in result.queues]
assert frame["discipline"].to_list() == names and result.series[0].time_s > 0
result.write_json(folder / "result.json")
again: fairq.Result = fairq.read_result(folder / "result.json")
assert again.flows == result.flows and again["points"] == result.points
numbers["shares"] = sum(row.share_bit_per_s or 0.0 for row in fairq.max_min(scenario))
numbers["estimate"] = fairq.estimate(scenario).time_s

comparison = fairq.compare(
    rate="4Mbit/s", rtt="20ms", flows="cubic:2", queue=["fifo", "fq"], seeds=2, duration="2s", warm_up="1s", paired=True
)  # fmt: skip
best: str | None = comparison.answer.best
moves: list[str] = [move.quantity for move in comparison.times.moves]
numbers["share"] = comparison.rows[0].share
numbers["queueing"] = comparison.queues[0].queueing_s_mean
numbers["paired"] = comparison.paired[0].difference
sentence: str = f"{best}: {comparison.text} {comparison.linux.text} {moves} {comparison.rows.to_polars().shape}"
alone = fairq.compare_alone(rate="4Mbit/s", rtt="20ms", flows=["reno"], seeds=2, duration="2s", warm_up="1s")
numbers["alone"] = alone.rows[0].line_loss
advice = fairq.advise(down="4Mbit/s", up="1Mbit/s", rtt="20ms", queue="fifo", seeds=2, duration="2s", warm_up="1s")
commands: list[str] = advice.tc
numbers["advice"] = advice.candidates[0].given_away
least = fairq.least_buffer("90%", down="4Mbit/s", up="1Mbit/s", rtt="20ms", seeds=2, duration="2s", warm_up="1s")
numbers["products"], tried = least.rows[0].products, [row.utilisation for row in least.tried]
effects = fairq.effects("drr", rate="2Mbit/s", rtt="20ms", flows="reno", seeds=2, duration="2s")
settings: dict[str, bool] = {each.setting: each.has_effect for each in effects.settings}
baseline = fairq.baseline("reno", rate="2Mbit/s", rtt="20ms", duration="3s")
numbers["baseline"] = baseline.flow.rtt_s_mean or baseline.phases[0].duration_s or baseline.series[0].time_s

audit = fairq.audit("fifo", quick=True)
verdicts: dict[str, str] = {law.law: law.verdict for law in audit.laws}
numbers["audit"] = audit.bounds[0].worst if len(audit.bounds) else None
world = fairq.topology(topology)
numbers["topology"] = world.diameter_s + sum(link.delay_s for link in world.link_table)
replay = fairq.replay(capture, rate="1Mbit/s", buffer="unlimited")
numbers["replay"] = replay.disciplines[0].flows[0].delay_s_mean
numbers["answer"] = len(replay.answer.parts) if replay.answer is not None else None
numbers["detect"] = fairq.detect(times)[0].p_fair
agreed = fairq.agree("linux", "codel")
assert agreed.cells[0].verdict == agreed["cells"][0]["verdict"]
numbers["floors"] = fairq.bench_disciplines(["fifo"], quick=True).floors[0].ns_per_packet
numbers["theory"] = fairq.theory("tcp", rtt="100ms", loss=[0.01])[0].rate_bit_per_s
numbers["in progress"] = fairq.theory("sharing", load=0.8).rows[0].in_progress_mean
numbers["bound"] = fairq.theory("delay-bounds").rows[0].high_bytes
set_up = fairq.tc("fq_codel")
assert isinstance(set_up, TcCommands) and [row.setting for row in set_up.differs] == ["limit"]
queue: str = fairq.tc(read="; ".join(set_up.commands)).text

sweep = fairq.sweep(study)
done: int = sweep.done
found = fairq.query(study, "select flow, share from flows")
cells: list[object] = [row[found.columns[0]] for row in found.dicts]
difference: list[float | None] = [row.found.difference for row in fairq.diff(study, study).rows]
page: Path = fairq.report(study, out=folder / "page.html").path
stored: list[float] = fairq.read_store(study.with_suffix("")).table("flows").column("share")


def slow() -> tuple[str, float, int]:
    """What takes long is checked, and not run."""
    reproduction, speed = fairq.reproduce("demers1990", quick=True), fairq.bench(quick=True)
    flows = fairq.experiment(scenario).runs()[0].finish()["flows"]
    return reproduction.rows[0].verdict, speed.rows[0].cpu_s, len(flows)


comparison.write_csv(folder / "rows.csv")
print(sorted(numbers), sentence, commands, tried, settings, verdicts, done, cells, difference, page, stored)
