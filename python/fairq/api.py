"""What Python can call. The command line is these functions with the same names.

Functions take keyword arguments with units in text, return frozen objects with tables (the unit at
the end of a column's name), keep no state and print nothing. Every command waits for this module:
what takes long to load, as dataclasses do, is loaded where it is needed.

A function that takes the words of a question picks them from its `locals()`, so that none is
forgotten on the way; test_declared.py holds its signature to what is declared.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import fairq._native as _native
from fairq.audits.audit_results import Audit as Audit
from fairq.benchmarks.bench_results import Disciplines
from fairq.core.arguments import checked
from fairq.core.declared import picked
from fairq.core.errors import UsageError
from fairq.core.held import LiveRun as LiveRun
from fairq.core.inputs import (
    STANDARD_INPUT,
    Scenario,
    Settings,
    check_capture,
    pairs,
    read,
    replayed,
    room,
    split,
)
from fairq.core.output import folder
from fairq.core.own import audited
from fairq.core.results import Result as Result
from fairq.core.results import Table, row_class
from fairq.core.rows import row_of
from fairq.core.runs import Experiment as Experiment
from fairq.core.runs import cores as cores
from fairq.emulation.emulating import doctor as doctor
from fairq.emulation.emulating import emulate as emulate
from fairq.entries import LISTS as LISTS
from fairq.entries import WIDTH_MIN as WIDTH_MIN
from fairq.entries import What as What
from fairq.entries import cards as cards
from fairq.entries import explain as explain
from fairq.entries import explained as explained
from fairq.entries import listing as listing
from fairq.entries import scenes as scenes
from fairq.entries import schema as schema
from fairq.laboratory import notebook
from fairq.questions.calls import compare_alone as compare_alone
from fairq.questions.calls import least_buffer as least_buffer
from fairq.replays.replay_results import Replay as Replay
from fairq.serving import serve_options as serving
from fairq.serving.serve_options import SERVED as SERVED
from fairq.serving.serving_results import Serving as Serving
from fairq.topologies.topology_results import Topology as Topology

if TYPE_CHECKING:
    from fairq.benchmarks.bench_results import Benchmarks
    from fairq.core import _types
    from fairq.core.estimating import Estimate
    from fairq.core.own import Parts
    from fairq.core.progress import Print, Tell
    from fairq.detection.detected import Detected
    from fairq.papers.verdicts import Reproduction
    from fairq.questions.agreed import Agreed
    from fairq.questions.baseline_results import Baseline
    from fairq.questions.question_results import Advice, Comparison, Effects
    from fairq.studies.difference import Diff
    from fairq.studies.stored_runs import Results
    from fairq.studies.study_results import Found, Page, Sweep
    from fairq.theories.theory_results import Delay, DelayBounds, DelayCurve, Pgps, Sharing, TcpRate
    from fairq.traffic_control.tc_results import TcCommands, TcRead


@checked
def run(
    scenario: Scenario,
    *,
    set: Settings = (),
    workers: int | None = None,
    series: str | None = None,
    packets: str | None = None,
    states: bool = False,
    overlay: bool = False,
    trace: bool = False,
    parts: Parts | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Result:
    """Run the scenario on `workers` threads (all cores if None); the result is the same for any number.

    With `series`, a time like "1 s" or "auto" for 200 samples, the table `series` holds samples
    over time; with `packets`, a flow's name or an entry's, `packets` says when each of its packets
    was sent and received; with `states`, `states` what each discipline counts and keeps at the end,
    as `tc -s` shows it, and with `series` at each sample too; with `overlay`, `theory` what max-min
    fairness, delay bounds and TCP formulas say of each flow, and the gaps. With `trace` the first
    run is kept as a trace for viewers, which `Result.write_trace` writes. `parts` are own parts
    that the scenario may name, classes by their names or a file that has some; one thread then runs
    everything (docs/guide/own-discipline.md). `set` writes fields by their paths. `progress` is told
    the fraction done, the simulated seconds and the packet-hops; what it raises ends the run. In a
    notebook None shows a bar while the call lasts, False none.

    >>> run("scenarios/dumbbell.toml", set={"defaults.buffer": "40 packets"}, workers=1)
    <Result: points 2, flows 6, links 4, queues 4>
    >>> link = {"name": "line", "from": "a", "to": "b", "rate": "1 Mbit/s", "queue": "drr", "buffer": "20 packets"}
    >>> flow = {"name": "file", "from": "a", "to": "b", "traffic": "ftp", "transport": "reno", "count": 4}
    >>> result = run({"edition": 2, "measure": {"duration": "10 s"}, "links": [link], "flows": [flow]}, workers=1)
    >>> [row["flow"] for row in result.flows]
    ['file.1', 'file.2', 'file.3', 'file.4']

    Raises ScenarioError with file, line and field.
    """
    scenario = read(scenario, parts=parts)
    result = Experiment(scenario, pairs(set), series, packets, states, trace).run(workers or cores(), progress or None)
    if overlay:
        from fairq.core.results import table_of
        from fairq.theories.overlay import beside

        text, name, own = scenario
        shares, routes = max_min(scenario, set=set), json.loads(_native.routes(text, name, pairs(set), own))
        result.theory = table_of("theory", beside(result.scenario, result.points, shares, routes))
    return result


@checked
def baseline(
    control: str,
    *,
    rate: str,
    rtt: str,
    buffer: str = "1 BDP",
    queue: str = "fifo",
    duration: str | None = None,
    profile: str = "linux",
    series: str | None = None,
    receive_window: str | None = None,
    trace: bool = False,
    progress: Tell | Literal[False] | None = None,
) -> Baseline:
    """Run one flow of a congestion control alone on an ideal line: its samples and its phases.

    `rtt` is the round trip without queueing; `buffer` the room of the line's queue; `profile` the
    system of the hosts (docs/guide/hosts.md), and `receive_window` theirs in place of the profile's,
    as "6MB" or "4000packets". Without a `duration` it runs until throughput and round trip stand
    still, from 30 s to 240 s. Samples are a quarter of a round trip apart, or as `series` says.
    With `trace`, `result.write_trace` writes what each packet did, for viewers.

    >>> found = baseline("bbr3", rate="20Mbit/s", rtt="100ms", duration="10 s")
    >>> [phase["phase"] for phase in found.phases][:3]
    ['Startup', 'Drain', 'ProbeBW_CRUISE']

    Raises UsageError that names the word and what would make sense.
    """
    given = locals()
    from fairq.questions import baselines

    return baselines.baseline(baselines.Question(**picked(baselines.Question, given)), trace, progress or None)


@checked
def experiment(
    scenario: Scenario,
    *,
    set: Settings = (),
    series: str | None = None,
    packets: str | None = None,
    states: bool = False,
    parts: Parts | None = None,
) -> Experiment:
    """Read and check a scenario: its `runs()` are one point of the axes and one seed each, to be run anywhere.

    `collect` makes a result of their tables in the order of the runs, the same as `run` gives.
    Other arguments are those of `run`.

    >>> made = experiment("scenarios/dumbbell.toml", set={"measure.replications": 2, "measure.duration": "5 s"})
    >>> runs = made.runs()
    >>> [run.seed for run in runs], len(runs[0].digest)
    ([1, 2, 1, 2], 32)
    >>> made.collect(run.finish() for run in runs)
    <Result: points 2, flows 6, links 4, queues 4>

    Raises ScenarioError with file, line and field.
    """
    return Experiment(read(scenario, parts=parts), pairs(set), series, packets, states)


@checked
def live(
    scenario: Scenario,
    *,
    seed: int = 1,
    set: Settings = (),
    links: str | Sequence[str] | None = None,
    parts: Parts | None = None,
) -> LiveRun:
    """Hold a run of a scenario: take it step by step, look at it, change it, and take it back.

    The scenario has one point: `set` chooses among axes. `links` are held, both directions; None
    holds all of them. What happens on others is told as it suits, and they can't be changed; they
    keep their shortcuts, so that the run is faster. `parts` are own parts that the scenario may
    name.

    >>> with live("scenarios/dumbbell.toml", seed=1, set={"axes": [], "defaults.queue": "fq"}) as run:
    ...     run.run_to("10 s")
    ...     run.change("links.bottleneck.rate", "28 kbit/s")
    ...     waiting = run.look("waiting")
    ...     dropped = [event.flow for event in run.events(links=["bottleneck"], of={"dropped"}, until="20 s")]
    ...     run.now
    20.0

    Raises ScenarioError with file, line and field.
    """
    names = [links] if isinstance(links, str) else links
    return LiveRun(read(scenario, parts=parts), pairs(set), seed, names)


@checked
def lab(scenario: Scenario | None = None) -> Any:
    """Show the lab in a notebook: the page of `fairq lab`, on a scenario or on its first scene.

    It is a widget: `widget.state` is what a link of the page holds, as a dict. It follows what is
    done in the page, and setting it does that there. It needs anywidget: `pip install
    anywidget`.

    Raises ScenarioError with file, line and field, and UsageError if the page was not built.
    """
    return notebook.lab(scenario)


@checked
def compare(
    *,
    rate: str,
    flows: str | Sequence[str],
    rtt: str | Sequence[str] | None = None,
    hosts: str | Sequence[str] | None = None,
    queue: str | Sequence[str] | None = None,
    host_queue: str | Sequence[str] | None = None,
    buffer: str | Sequence[str] | None = None,
    ecn: bool = False,
    loss: str | float | None = None,
    jitter: str | None = None,
    reorder: str | None = None,
    seeds: int = 10,
    duration: str | None = None,
    warm_up: str | None = None,
    profile: str = "linux",
    receive_window: str | None = None,
    paired: bool = False,
    parts: Parts | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Comparison:
    """Compare queues, buffers or congestion controls over one line: the words are those of `fairq compare`.

    `rate` is DOWN or DOWN/UP, each one rate, "30Mbit/s..130Mbit/s" for one that walks between two
    ends, or "trace:FILE"; `loss` is "1%", or "2%@burst=5" in bursts. An item of `flows` is
    CONTROL[(settings)][:COUNT][@RTT][(start=, size=, direction=, dscp=)], or `web`, `call(rate=)`,
    `flood(rate=)`; `hosts` says "16x1,1x4" for sixteen hosts with one connection each and one with
    four, which take the items in turn. Every value of `queue`, `host_queue`, `buffer` and `rtt` is
    crossed with every other. A list is text with commas, or a list of texts. `parts` are own queues
    and controls, which stand there by their names.

    With `ecn` queues mark in place of dropping where both ends can. `jitter` is the greatest extra
    delay, "2ms"; `reorder` the part that comes late, "1%@5ms". `seeds` are runs of each point;
    without `duration` and `warm_up`, as "30s", a run lasts until it stands still. `profile` is the
    system of the hosts, `receive_window` theirs in its place, as "6MB" or "4000packets". With
    `paired` the answer has the differences between runs of the same seeds, in `paired`.

    >>> found = compare(rate="10Mbit/s", rtt="20ms", flows="cubic,bbr", queue="fifo,fq_codel", seeds=2, workers=1)
    >>> found.answer["best"], len(found.rows), len(found.queues)
    ('fq_codel', 4, 2)

    Raises UsageError that names the word and what would make sense.
    """
    given = locals()
    from fairq.questions import asked, comparing

    question = asked.ask(parts, **picked(asked.Question, given))
    return comparing.compare(question, paired=paired, workers=workers or cores(), progress=progress or None)


@checked
def advise(
    *,
    down: str,
    up: str,
    rtt: str | Sequence[str],
    flows: str | Sequence[str] | None = None,
    capture: str | os.PathLike[str] | None = None,
    me: str | None = None,
    criterion: str | None = None,
    utilisation_min: str | float | None = None,
    queue: str | Sequence[str] | None = None,
    buffer: str | Sequence[str] | None = None,
    seeds: int = 10,
    duration: str | None = None,
    warm_up: str | None = None,
    dev: str = "eth0",
    lan: str = "eth1",
    below: str | float | None = None,
    latency_target: str | None = None,
    users: int | None = None,
    shared: str | Sequence[str] | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Advice:
    """Rank queues and buffers of Linux for a line: the words are those of `fairq advise`.

    The line has the rates `down` and `up` and each of the round trips `rtt`. Each candidate is run
    as its `tc` commands set it up: they shape at the rate less `below` (0.05) on the devices `dev`,
    to the line, and `lan`, to your network. `flows` are as in `compare`, by default bulk in both
    directions, a call and a user of the web. With a `capture`, the packets of it from and to your
    addresses `me` take the place of the call; they come at their recorded times, whatever the
    network does. Candidates are ranked among those that use `utilisation_min` of the rate set up
    (0.95): by `criterion`, or by the call, and those within 5 ms of the best call by transfers,
    then by the queueing of bulk flows, then by utilisation. With a `latency_target` the call is
    ranked by the part of its packets that arrive within that time, one way, propagation included.
    `users` stand for the flows of as many people. `shared` says kinds of users that share the line,
    as "work=70%: 3 downloads + call, guests: 10 downloads": trees of classes are candidates as
    well, and the first criterion is what each kind gets of its guaranteed part. Each run leaves out
    `warm_up` and measures for `duration`.

    >>> found = advise(down="20Mbit/s", up="5Mbit/s", rtt="30ms", queue="fifo,fq_codel", seeds=3, duration="5s",
    ...     utilisation_min=0.9, workers=1)
    >>> found.winner
    'fq_codel'

    Raises UsageError that names the word and what would make sense, and CaptureError.
    """
    given = locals()
    from fairq.questions import advising

    wish = advising.wish(**picked(advising.Line, given))
    return advising.advise(wish, workers or cores(), progress or None)


@checked
def effects(
    name: str,
    *,
    rate: str = "20Mbit/s",
    rtt: str = "40ms",
    flows: str | Sequence[str] | None = None,
    seeds: int | None = None,
    duration: str | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Effects:
    """Vary each setting of an entry alone, and measure delay, share and loss.

    A quantity takes a quarter, half, twice and four times its default, a choice each of its
    choices. A discipline has the `flows` of the words of `compare`, by default four bulk flows, two
    of which take marks, and a call; a congestion control shares a FIFO of one bandwidth-delay
    product with CUBIC. Without `seeds` there are ten, or as many as 60 s of the processor's time
    have room for, at least three.

    >>> found = effects("codel", seeds=2, duration="1s", workers=1)
    >>> [row["value"] for row in found.rows if row["setting"] == "target" and row["flow"] == "cubic"]
    ['1.25ms', '2.5ms', '5ms', '10ms', '20ms']

    Raises UsageError if the name has no settings that can be varied, or a word makes no sense.
    """
    from fairq.questions import effects as asked

    return asked.effects(
        name, rate=rate, rtt=rtt, flows=flows, seeds=seeds, duration=duration, workers=workers or cores(),
        progress=progress or None,
    )  # fmt: skip


@checked
def estimate(
    scenario: Scenario, *, set: Settings = (), parts: Parts | None = None, workers: int | None = None
) -> Estimate:
    """What a scenario's runs will cost on `workers` threads: it is tried for a second, and nothing of it is kept.

    Counts points, seeds and runs, and estimates packet-hops, time and memory, without samples over time and packets.

    >>> cost = estimate("scenarios/dumbbell.toml", workers=1)
    >>> cost.points, cost.seeds, cost.runs
    (2, 1, 2)

    Raises ScenarioError with file, line and field.
    """
    from fairq.core import estimating

    return estimating.estimate(read(scenario, parts=parts), pairs(set), workers or cores())


@checked
def read_result(path: str | os.PathLike[str]) -> Result:
    """Read a result of `run` again: `path` is a folder of `fairq run --out`, or a file of `--json`.

    Raises UsageError if there is none, or if it is of another version of results.
    """
    from fairq.core import results

    return results.read_result(path)


@checked
def max_min(scenario: Scenario, *, set: Settings = ()) -> Table[_types.Share]:
    """The max-min fair shares of the scenario's flows, from its routes, rates and weights alone.

    Flows share from their starts to their stops; a share, in bit/s, is the mean over the measured
    time. `set` writes fields by their paths.

    Raises ScenarioError with file, line and field.
    """
    text, name, own = read(scenario)
    return Table.of(row_class("shares"), json.loads(_native.max_min(text, name, pairs(set), own)))


@overload
def theory(result: Literal["delay-bounds"], **words: object) -> DelayBounds: ...
@overload
def theory(result: Literal["delay"], **words: object) -> Delay: ...
@overload
def theory(result: Literal["delay-curve"], **words: object) -> DelayCurve: ...
@overload
def theory(result: Literal["max-min"], **words: object) -> Table[_types.Share]: ...
@overload
def theory(result: Literal["pgps"], **words: object) -> Pgps: ...
@overload
def theory(result: Literal["tcp"], **words: object) -> Table[TcpRate]: ...
@overload
def theory(result: Literal["sharing"], **words: object) -> Sharing: ...
@overload
def theory(result: str, **words: object) -> Any: ...
@checked
def theory(
    result: str, **words: object
) -> DelayBounds | Delay | DelayCurve | Pgps | Sharing | Table[TcpRate] | Table[_types.Share]:
    """What the papers derive: the results and their words are those of `fairq theory`.

    docs/guide/theory.md says what each result is, docs/reference/commands.md lists its words. Times,
    sizes and rates are texts with units; `loss`, `load` and `rho` are numbers or lists of numbers.

    >>> [round(row.rate_packets_per_s) for row in theory("tcp", rtt="100ms", loss=[0.01])]
    [122, 100, 99]

    Raises UsageError that names the word and what would make sense.
    """
    given: dict[str, Any] = words
    if result == "max-min":
        return max_min(**given)
    from fairq.theories import formulas

    return formulas.answer(result, given)


REPLAYED = ("fifo", "fq(on_drop=refund)")
"""The disciplines of a replay that names none. `fq` by itself charges dropped packets, the rule of 1990: traffic that
does not slow down, as that of a capture, would stay shut out."""


@checked
def replay(
    capture: str | os.PathLike[str],
    *,
    rate: str | None = None,
    me: str | None = None,
    down: str | None = None,
    up: str | None = None,
    rtt: str | None = None,
    buffer: str,
    only: str | None = None,
    queue: str | Sequence[str] | None = None,
    disciplines: Sequence[str] | None = None,
    classifier: str | None = None,
    gap_max: str = "10 s",
    fluid: bool = True,
    under: Literal["device", "class"] = "device",
    class_burst: str = "0 s",
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Tell | Literal[False] | None = None,
) -> Replay:
    """Send every packet of a capture at its recorded time through one gateway, once for each queue.

    All packets pass a line of `rate`. Or else those to the address `me` pass one of `down`, those from there one of
    `up`, each with its own gateway, and others none; `me` may be several addresses and networks with commas between.
    `only` is a filter in tcpdump's words, as "udp and not port 53", and up and down; what it leaves out is as not
    captured. `buffer` is what may wait, as "40packets", "60kB", "50ms" of the line, or "1BDP" of it
    and `rtt`; `queue` are the disciplines, `REPLAYED` if none are named (`disciplines` is its older
    name).

    `classifier` says what a flow is, in all tables and for each discipline that names none; without it each discipline
    tells flows apart by its own (`classifier` of its report; None where it tells none apart), and so do its rows
    (`rows_by`). `gap_max` is the longest idle gap kept; without `fluid` no lateness is measured, which is faster;
    `under` a "class" of htb and not the device, a discipline is not asked again when it holds nothing, and if it holds
    something `class_burst` before a transmission ends. `out` is a folder that receives packets.parquet and
    capture.pcapng for each discipline, and for each direction in it, whole or not at all; a folder of another replay is
    refused, unless `replace` allows it. The capture "-" is read from standard input.

    Raises CaptureError, UsageError or OutputError.
    """
    if queue is not None and disciplines is not None:
        raise UsageError("queue: disciplines is its older name; write queue alone")
    asked = split(queue) if isinstance(queue, str) else queue
    options: dict[str, Any] = {
        "rate": rate,
        "me": me,
        "down": down,
        "up": up,
        "buffer": room(buffer, rtt),
        "only": only,
        "disciplines": list(next((each for each in (asked, disciplines) if each is not None), REPLAYED)),
        "classifier": classifier,
        "gap_max": gap_max,
        "fluid": fluid,
        "under": under,
        "class_burst": class_burst,
        "out": None,
    }
    check_capture(capture)
    if gap_max.strip().rstrip("smunpµ ") in ("0", "0.0"):
        raise UsageError(f"gap_max: {gap_max} makes one burst of the capture; write the longest gap, as 10s")
    source = STANDARD_INPUT if capture == "-" else os.fspath(capture)
    if out is None:
        document = json.loads(_native.replay(source, json.dumps(options), progress or None))
    else:
        work = replayed(capture, options)
        with folder(out, wrote=f"fairq replay {Path(capture).name}", of=work, replace=replace) as inside:
            options["out"] = str(inside)
            document = json.loads(_native.replay(source, json.dumps(options), progress or None))
            (inside / "replay.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return Replay(document=document, run_info={})


@checked
def serve(
    log: str | os.PathLike[str] | None = None,
    *,
    tenants: str | None = None,
    seats: int,
    policy: str | Sequence[str] | None = None,
    weights: str | Mapping[str, float] | None = None,
    priorities: str | Mapping[str, float] | None = None,
    speed: float = 1.0,
    cost_known: str = "no",
    seeds: int | None = None,
    duration: str | None = None,
    done: str | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Serving:
    """Serve requests of tenants on a server with `seats`, once for each policy.

    `log` has time, tenant and cost of each request, as CSV, JSON lines or Parquet; "-" is
    standard input. Or else `tenants` says what they ask,
    "a:rate=5/s,cost=lognormal(mean=2s,sd=3s);b:…", with `seeds` of random numbers (10), for
    `duration` (10min). A request takes a seat for its cost in seconds, or in units of which a seat
    serves `speed` a second. `policy` are texts, as "fcfs,drr(quantum=2s)"; `SERVED` if none are
    named. `weights` and `priorities` are dicts, or text as "a=2,b=0.5". `cost_known` is "no", "yes"
    or "error=30%". `done` is the column of the log with the end of each request: then the log as it
    was has rows too, and `likeness` says which policy it looks like.

    >>> asked = "a:rate=9/s,cost=1s;b:rate=1/s,cost=1s"
    >>> found = serve(tenants=asked, seats=5, policy="fcfs,sfq_d", duration="60s")
    >>> found.answer.tenant, found.answer.best
    ('b', ['sfq_d'])

    Raises UsageError: of a log with its row and column.
    """
    options = {
        "tenants": tenants,
        "seats": seats,
        "policies": serving.policies(SERVED if policy is None else policy),
        "weights": serving.numbers("weights", weights),
        "priorities": serving.whole("priorities", priorities),
        "speed": serving.speed(speed),
        "cost_known": cost_known,
        "done": done,
        "workers": workers or cores(),
        **serving.randomness(log, seeds, duration),
    }
    with serving.log(log, done) as place:
        return Serving(document=json.loads(_native.serve(json.dumps(options | place), progress or None)))


@overload
def tc(queue: Scenario, *, dev: str = "eth0") -> TcCommands | TcRead: ...
@overload
def tc(*, read: str, dev: str = "eth0", beside: str | os.PathLike[str] | None = None) -> TcRead: ...
@checked
def tc(
    queue: Scenario | None = None,
    *,
    read: str | None = None,
    dev: str = "eth0",
    beside: str | os.PathLike[str] | None = None,
) -> TcCommands | TcRead:
    """Translate a queue to tc commands of Linux, or such commands to a queue.

    `queue` is a queue's text form or a scenario, which gives `commands` for the device `dev` and
    what `differs` in Linux. `read` are qdisc, class and filter commands, one a line or separated by
    semicolons, or what `tc qdisc show` and `tc class show` print; they give the `text` form of the
    queue, the `rate` of the line, what `differs`, what Linux `warns` of and, from `tc -s`, the
    `counters`. Of several devices `dev` is read, or the first. With `beside`, a folder of `--out`
    or a file of `--json` of a run or a replay by `tos`, `beside` has the counters of each leaf
    beside those of it. The words of a qdisc, as "fq_codel target 5ms", need no `read`.

    >>> tc("fq_codel(target=3ms) + 1000packets").commands
    ['tc qdisc replace dev eth0 root handle 1: fq_codel limit 1000 target 3ms']
    >>> tc(read="qdisc add dev eth0 root cake bandwidth 20mbit").text
    'cake(rate=20Mbit/s)'

    Raises UsageError with the word that is wrong, and ScenarioError.
    """
    from fairq import traffic_control

    if queue is None and read is not None:
        run = None if beside is None else traffic_control.read_beside(beside)
        return traffic_control.read(read, dev, beside=run)
    if queue is None or read is not None:
        raise UsageError(f"tc: {'nothing is given' if queue is None else 'both are given'}; write queue= or read=")
    if beside is not None:
        raise UsageError("tc: beside goes with what tc -s shows; write read=")
    return traffic_control.translated(queue, dev)


@checked
def detect(*paths: str | os.PathLike[str]) -> Table[Detected]:
    """Say of each flow whether its bottleneck was fair, from the times of its packets at both ends alone.

    `paths` are the captures of the sending and of the receiving end, or one folder that a run with
    `packets` or, for a discipline, a replay wrote, or one .csv table with the columns sent_s, received_s, bytes (and
    flow).

    >>> detect("sent.pcap", "received.pcap")[0]["verdict"]    # doctest: +SKIP
    'fair queueing'

    Raises CaptureError or UsageError.
    """
    from fairq.detection.detection import detect as found

    return found(paths)


@checked
def sweep(
    study: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    part: str | None = None,
    engine: Literal["threads", "dask"] = "threads",
    address: str | None = None,
    client: object | None = None,
    workers: int | None = None,
    until: str | None = None,
    replications_max: int = 1000,
    fail_fast: bool = False,
    mix_versions: bool = False,
    verify: bool = False,
    parts: Parts | None = None,
    show: Print | Literal[False] | None = None,
) -> Sweep:
    """Run what is missing of a study, the path of its file, and say what has become of its runs.

    Each run that has come to its end stays in the store, whatever ends the call; `read_store` gives
    them. `part` is the share of one of several calls, as "3/16". `client` is a Dask client of one's
    own, or `address` that of a scheduler. `verify` reads every part and checks its digest. `until`
    adds replications until it holds, as "goodput half-width < 1%", `replications_max` at most.
    `parts` are own parts that the scenario may name; a run whose part has changed is run again.
    `fail_fast` ends at the first run that fails; `mix_versions` goes on in a store that another
    version of fairq wrote. `show` is told a line of progress; a notebook
    shows it by itself, unless `show` is False.

    Raises ScenarioError for what is wrong in the study, with its line, and OutputError if the store
    cannot be written.
    """
    given = locals()
    from fairq.studies import sweeping

    del given["study"]
    options = sweeping.Options(**given | {"store": os.fspath(store) if store is not None else None})
    return sweeping.sweep(study, options)


@checked
def read_store(folder: str | os.PathLike[str]) -> Results:
    """The runs of a study and their tables, as its store has them now.

    Raises UsageError if there is no store in the folder.
    """
    from fairq.studies.stored_runs import Results

    return Results(folder)


@checked
def query(study: str | os.PathLike[str], sql: str, *, store: str | os.PathLike[str] | None = None) -> Found:
    """Ask the results of a study in SQL.

    `study` is its file, the folder of its store, or that of a run's `--out`.
    The tables of the study are views with its axes, the seed and the digest as columns; `runs` has
    a row for each run. It needs DuckDB: `pip install duckdb`.

    Raises UsageError for what DuckDB refuses, in one line.
    """
    from fairq.studies import sql as sqls

    return sqls.query(sqls.asked_of(study, store), sql)


@checked
def report(
    study: str | os.PathLike[str],
    *,
    store: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Page:
    """Write the results of a study or a run as one HTML page that asks for no other file.

    `study` is its file, the folder of its store, or that of a run's or an emulation's `--out`; the
    page is beside it, if no other path is given.

    Raises UsageError if no run exists, and OutputError if the page cannot be written.
    """
    from fairq.reports import run_report
    from fairq.reports import study_report as reports
    from fairq.studies.run_folder import RunFolder
    from fairq.studies.sql import asked_of

    results = asked_of(study, store)
    return run_report.write(study, out) if isinstance(results, RunFolder) else reports.write(study, results, out)


@checked
def diff(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> Diff:
    """Say what changed from study `a` to study `b`, and what that did, in pairs of runs of a seed.

    Raises UsageError if a folder is no store.
    """
    from fairq.studies import difference as diffs
    from fairq.studies.sql import opened

    return diffs.diff(opened(a), opened(b))


@checked
def reproduce(
    paper: str,
    *,
    seeds: int | None = None,
    quick: bool = False,
    start: Literal["together", "drawn"] = "together",
    workers: int | None = None,
    out: str | os.PathLike[str] | None = None,
    replace: bool = False,
    progress: Tell | Literal[False] | None = None,
    printed: Print | None = None,
    width: int | None = None,
) -> Reproduction:
    """Run a paper's scenarios, or those of all papers, and compare each published number with ours.

    `paper` is the name of one of `listing("papers")`, or "all". Without `seeds` there are as many as
    the paper's comparison asks for, or with `quick` fewer. With
    `start="drawn"` the scenarios are run twice, and the report says which verdicts random starts
    move. `out` is a folder that receives the tables,
    figures, the report and a page of it all (index.html), whole or not at all; a folder of another
    reproduction, or of one with other seeds, is refused unless `replace` allows it. `printed` is
    called with each part of the report, in order and as soon as its scenarios have run:
    `printed=print` shows the first table while the others run. With `width` its tables have no
    more columns of text than that; the report has all.

    >>> reproduce("demers1990", seeds=10).rows[0]["verdict"]    # doctest: +SKIP
    'agrees'
    """
    from fairq.papers import reproduction

    return reproduction.reproduce(
        paper, seeds=seeds, quick=quick, start=start, workers=workers or cores(), out=out, replace=replace,
        progress=progress or None, printed=printed, width=width,
    )  # fmt: skip


@checked
def topology(
    file: str | os.PathLike[str],
    *,
    strict: bool = False,
    default_rate: str | None = None,
    default_delay: str | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Topology:
    """Read a topology: GML, GraphML, BRITE, the output of tiers, or an edge list in CSV.

    A file that ends in .toml or .json is a scenario, whose topology and links are described; `fat_tree(k=4)` and the
    like are the shapes that a scenario may name (`fairq.listing("topologies")`).

    `default_rate` is for links of which the file says none (1 Gbit/s), `default_delay` for links without a delay and
    without coordinates at both ends (1 ms). With `strict` a warning is an error. `progress` is called with the part
    done, then two zeros, at most ten times a second.

    >>> topology("fat_tree(k=4)")
    <Topology: nodes 36, links 48, connected True, parts 1, diameter_s 3e-05>

    Raises TopologyError with file and line.
    """
    if file == "-":
        raise UsageError("-: the name of a file tells its format; give the path of a file")
    options = {"strict": strict, "default_rate": default_rate, "default_delay": default_delay}
    document = json.loads(_native.topology(os.fspath(file), json.dumps(options), progress or None))
    return Topology(document=document)


@checked
def audit(
    discipline: str | type,
    *,
    seeds: int | None = None,
    quick: bool = False,
    run: str | None = None,
    parts: Parts | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Audit:
    """Check the invariants of a discipline call by call, and measure the bounds of its card.

    `discipline` is a name of the registry, a text form like "sfq + red", which may name own
    `parts`, or the class of an own part; `seeds` of each kind of run (200, or 10 if `quick`); `run`
    names one run of an earlier audit, which alone is run again.

    >>> audit("sfq", quick=True).passed
    True

    Raises UsageError with the near miss, and PartError if an own part raises.
    """
    discipline, own = audited(discipline, parts)
    options = {"seeds": seeds, "quick": quick, "replay": run}
    return Audit(document=json.loads(_native.audit(discipline, json.dumps(options), progress or None, own)))


@checked
def agree(witness: str, name: str | None = None) -> Agreed:
    """How far fairq is from a real kernel, by what was recorded of `witness`: "linux", Linux 6.1.

    `cells` are the recorded cells with the discipline or congestion control `name`, each with what both gave, `verdict`
    and the reason of a miss; without a name `summary` has a row for each name. `text` says it in a sentence.

    >>> agree("linux", "codel")["cells"][0]["verdict"]
    'agrees'

    Raises UsageError with the names that there are.
    """
    from fairq.questions import agreement

    if witness != "linux":
        raise UsageError(f"witness: {witness} was not recorded; write linux")
    return agreement.documented(name)


@checked
def bench(
    names: Sequence[str] = (), *, quick: bool = False, progress: Tell | Literal[False] | None = None
) -> Benchmarks:
    """Measure this machine on the workloads called `names` (all if none): `rows`, medians of five, and `run_info`.

    Raises UsageError with the names if there is none called so.
    """
    from fairq.benchmarks import workloads

    return workloads.run(workloads.chosen(names), quick=quick, progress=progress or None)


@checked
def bench_disciplines(
    names: Sequence[str] = (),
    *,
    mixed: bool = False,
    quick: bool = False,
    progress: Tell | Literal[False] | None = None,
) -> Disciplines:
    """Measure the disciplines called `names` (all if none) beside their floors: `floors`, `rows` and `run_info`.

    With `mixed`, flows have weights of 1 to 4 and packets 64 to 1500 bytes; else all are equal.

    >>> bench_disciplines(["fifo"], quick=True)["rows"][0]["discipline"]
    'fifo'

    Raises UsageError with the near miss of a name that there is not.
    """
    options = json.dumps({"names": list(names), "mixed": mixed, "quick": quick})
    return row_of(Disciplines, json.loads(_native.bench_disciplines(options, progress or None)))
