"""Put real connections through the gateway, and say where they differ from the simulator's.

    python tests/emulate/run.py
    python tests/emulate/run.py --cells fq,codel --json

It needs namespaces, iperf3 and tcpdump, makes its load inside namespaces of its own, and takes two
minutes. A part that cannot run counts as a failure. Exit status: 1 if a value differs or another
check fails; 2 for a mistake of the user's.

A real run is one draw. It agrees with the simulator if it is within a tenth of the mean over
seeds, or in their range with half of it added on both sides: the range of ten seeds alone leaves
out two in eleven further draws. A cell with a value that differs, or with a doubtful stamp, is
emulated again; a value that differs each time differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python"))

PAGE = ROOT / "docs/agreement/emulation.md"

CELLS = {
    "fifo": "fifo",
    "drr": "drr + five_tuple",
    "fq": "fq + five_tuple",
    "linux_fq": "linux_fq",
    "fq_codel": "fq_codel",
    "codel": "fifo + codel",
}
"""The disciplines through which four kinds of sources go."""

KINDS = {"reno": 5201, "cubic": 5202, "bbr": 5203, "flood": 5204}
"""The flows of four_kinds.toml, and the port of the real one."""

SECONDS = 12
NEAR = 0.1
"""Values agree within this part of the simulated one."""
SMALL = {"share": 0.02, "utilisation": 0.02, "loss": 0.01, "delay": 0.002}
"""And within this: of the line, of the line, of the packets sent, seconds."""
DELAY_S = 0.005
"""The delay of the line of `truth`."""
TRUTH_S = 20e-6
TRUTH_TRIES = 5
PAIRED_MIN = 5000
SYSTEM_PYTHON = "/usr/bin/python3"
AT_ONCE = 3
"""Cells that are emulated at the same time."""
TRIES = 3
"""How often a cell is emulated at most."""


PAGE_HEAD = """# Do real connections do what the simulator says?

Reno, CUBIC, BBR and a flood of datagrams at 15 Mbit/s, by iperf3 on a real Linux, go
through one line of 10 Mbit/s, 40 ms and 100 packets; the simulator runs
`tests/emulate/four_kinds.toml` with ten seeds. {agreeing} of {values} values agree: within
a tenth of the mean, or in the range of the seeds with half of it added on both sides, as a
real run is one draw. Shares and utilisation are parts of the line, losses of the packets
sent, delays seconds.

Behind `fifo`, `linux_fq` with one limit for all, and `codel` the flood takes the line;
behind `drr`, `fq_codel` and `fq`, which charges a flow for what it loses, each connection
has its share.

Written by `.venv/bin/python tests/emulate/run.py --write`, on Linux {kernel}.

| discipline | flow | quantity | emulated | simulated, with its range | |
|---|---|---|---|---|---|
"""


class Value(NamedTuple):
    """A value that was emulated beside the simulator's over its seeds."""

    cell: str
    flow: str
    quantity: str
    emulated: float
    simulated: float
    least: float
    most: float

    @property
    def agrees(self) -> bool:
        """Whether it is near the mean, or in the widened range of the seeds."""
        room = max(NEAR * abs(self.simulated), SMALL[self.quantity])
        wider = (self.most - self.least) / 2
        is_near = abs(self.emulated - self.simulated) <= room
        return is_near or self.least - wider <= self.emulated <= self.most + wider


class FailedError(Exception):
    """A check that failed, in one line."""


def fairq(*words: str, check: bool = True, seconds: int = 90) -> subprocess.CompletedProcess[str]:
    """Run `fairq` with these words, for at most so long."""
    command = [sys.executable, "-m", "fairq", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
    if check and done.returncode != 0:
        raise FailedError(f"{' '.join(words[:4])} …: status {done.returncode}: {done.stderr.strip()[-600:]}")
    return done


def emulated(*words: str, out: Path) -> dict[str, Any]:
    """The document of an emulation."""
    shutil.rmtree(out, ignore_errors=True)
    fairq("emulate", "--out", str(out), *words)
    document: dict[str, Any] = json.loads((out / "result.json").read_text(encoding="utf-8"))
    return document


def four_kinds(cell: str, out: Path) -> list[Value]:
    """Reno, CUBIC, BBR and a flood of datagrams through one discipline, by iperf3 and simulated."""
    servers = " & ".join(f"iperf3 -s -1 -p {port}" for port in KINDS.values())
    senders = [
        f"iperf3 -4 -c right -p {port} -t {SECONDS} " + ("-u -b 15M -l 1472" if kind == "flood" else f"-C {kind}")
        for kind, port in KINDS.items()
    ]
    script = " & ".join(f"{sender} >/dev/null" for sender in senders) + " & wait"
    queue = CELLS[cell]
    line = ["--rate", "10Mbit/s", "--rtt", "40ms", "--queue", queue, "--buffer", "100packets"]
    ends = ["--right", f"{servers} & wait", "--", "sh", "-c", script]
    scenario = str(HERE / "four_kinds.toml")
    simulated = json.loads(fairq("run", scenario, "--set", f"links[0].queue={queue}", "--json").stdout)
    found: dict[tuple[str, str], Value] = {}
    for _ in range(TRIES):
        document = emulated(*line, *ends, out=out)
        for each in compared(cell, document, simulated):
            if not ((before := found.get((each.flow, each.quantity))) and before.agrees):
                found[each.flow, each.quantity] = each
        if document["emulation"]["stamp"]["is_valid"] and all(each.agrees for each in found.values()):
            break
    return list(found.values())


def compared(cell: str, document: dict[str, Any], simulated: dict[str, Any]) -> Iterator[Value]:
    """Each value of a cell beside those of the simulator's seeds."""
    seeds = simulated["points"][0]["seeds"]
    real = {kind: flow_to(document, port) for kind, port in KINDS.items()}
    total = sum(row["throughput_bytes"] for row in real.values())
    for kind, row in real.items():
        of = [next(flow for flow in seed["flows"] if flow["flow"] == kind) for seed in seeds]
        totals = [sum(flow["throughput_bit_per_s"] for flow in seed["flows"]) for seed in seeds]
        shares = [flow["throughput_bit_per_s"] / all_ for flow, all_ in zip(of, totals, strict=True)]
        yield value(cell, kind, "share", row["throughput_bytes"] / total, shares)
        yield value(cell, kind, "loss", row["dropped"] / row["sent"], [flow["dropped"] / flow["sent"] for flow in of])
        delays = [flow["delay_s_mean"] for flow in of if flow["delay_s_mean"] is not None]
        if delays and row["delay_s_mean"] is not None:
            yield value(cell, kind, "delay", row["delay_s_mean"], delays)
    line = next(row for row in document["links"] if row["direction"] == "reverse")
    yield value(cell, "line", "utilisation", line["utilisation"], [seed["links"][0]["utilisation"] for seed in seeds])


def value(cell: str, flow: str, quantity: str, emulated: float, simulated: Sequence[float]) -> Value:
    """A value beside its range."""
    mean = sum(simulated) / len(simulated)
    return Value(cell, flow, quantity, emulated, mean, min(simulated), max(simulated))


def flow_to(document: dict[str, Any], port: int) -> dict[str, Any]:
    """The flow to a port that carried most: iperf3 has a connection for its own talk beside it."""
    rows = [row for row in document["emulation"]["conversations"] if row["destination_port"] == port]
    if not rows:
        raise FailedError(f"no packet went to port {port}")
    return max(rows, key=lambda row: row["sent_bytes"])


def ill_behaved(out: Path) -> None:
    """The paper of 1990, live: beside a flood a transfer starves behind FIFO, not behind FQ."""
    shares = {}
    for queue in ("fifo", "fq"):
        document = emulated(str(HERE / "ill_behaved.toml"), "--set", f"links[2].queue={queue}", out=out)
        shares[queue] = next(row["share"] for row in document["flows"] if row["flow"] == "transfer")
    if not (shares["fifo"] < 0.15 and shares["fq"] > 0.4):
        raise FailedError(f"the transfer beside a flood has {shares} of the line")


def truth(out: Path) -> None:
    """The stamp's lateness is what a capture in the receiver's namespace sees, within 20 us."""
    apart = []
    for number in range(TRUTH_TRIES):
        apart.append(_apart(out.with_name(f"{out.name}{number}")))
        if apart[-1] <= TRUTH_S:
            return
    raise FailedError(f"the stamp and the receiver's capture are {min(apart):.6f} s apart at the nearest try")


def _apart(out: Path) -> float:
    """By how much the stamp and the receiver's own capture differ at most, over three quantiles.

    The processor may be taken away between the stamp's clock and the receiver's, so that one run of
    several decides.
    """
    captures = out.with_name(f"{out.name}.captures")
    captures.mkdir()
    seen = captures / "seen.pcap"
    listens = f"tcpdump -U --immediate-mode -Z root -i eth0 -Q in --time-stamp-precision=nano -w {seen} udp 2>/dev/null"
    line = ["--rate", "20Mbit/s", "--delay", f"{DELAY_S}s", "--queue", "fq_codel", "--capture", str(captures)]
    flood = "iperf3 -4 -c right -u -b 15M -l 1172 -t 4 >/dev/null; sleep 0.2"
    right = f"{listens} & sleep 0.8; iperf3 -s -1; sleep 9"
    fairq("emulate", *line, "--out", str(out), "--right", right, "--", "sh", "-c", flood)
    stamp = json.loads((out / "result.json").read_text(encoding="utf-8"))["emulation"]["lateness"]
    late = lateness(captures / "line.reverse.departures.pcapng", seen)
    parts = {"p50_s": 0.5, "p99_s": 0.99, "p99_9_s": 0.999}
    return max(abs(late[min(len(late) - 1, int(part * len(late)))] - stamp[name]) for name, part in parts.items())


def lateness(left: Path, came: Path) -> list[float]:
    """How late packets came by a capture of their receiver; `left` has when they left the line."""
    import fairq._native as native

    about, columns = native.pair_captures(str(left), str(came))
    first, second = (array("d", columns[at]) for at in (1, 2))
    offset = json.loads(about)["offset_s"] - DELAY_S
    late = sorted(
        there - here + offset for here, there in zip(first, second, strict=True) if here == here and there == there
    )
    if len(late) < PAIRED_MIN:
        raise FailedError(f"the receiver's capture has {len(late)} of the {len(first)} packets that left")
    return late


def hog(out: Path) -> None:
    """Beside programs that take all processors, the stamp says doubtful."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))]
    try:
        words = ["--rate", "100Mbit/s", "--rtt", "10ms", "--queue", "fq_codel", "--duration", "4s"]
        ends = ["--right", "iperf3 -s -1", "--", "iperf3", "-c", "right", "-t", "3"]
        fairq("emulate", *words, "--out", str(out), *ends)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    stamp = json.loads((out / "result.json").read_text(encoding="utf-8"))["emulation"]["stamp"]
    if stamp["is_valid"]:
        raise FailedError(f"beside {len(busy)} busy programs the run is called valid: {stamp}")


def as_other(user: str, words: Sequence[str]) -> int:
    """Run a copy of this file as a user without rights, by a Python that every user may run."""
    python = SYSTEM_PYTHON if os.access(SYSTEM_PYTHON, os.X_OK) else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        for part in ("python/fairq", "tests/emulate"):
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
        script = str(Path(folder) / "tests/emulate" / Path(__file__).name)
        command = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups", python, script, *words]
        environment = {**os.environ, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, env=environment, cwd="/", check=False).returncode


def main() -> int:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default=",".join(CELLS), metavar="LIST", help="disciplines, or none (all)")
    parser.add_argument("--as", dest="user", metavar="USER", help="do it as this user (needs root)")
    parser.add_argument("--json", action="store_true", help="print one document of JSON")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    arguments = parser.parse_args()
    cells = [] if arguments.cells == "none" else arguments.cells.split(",")
    if unknown := [cell for cell in cells if cell not in CELLS]:
        parser.error(f"no such cell: {', '.join(unknown)}; there are {', '.join(CELLS)}")
    if arguments.user and arguments.user != "root":
        return as_other(arguments.user, ["--cells", arguments.cells, *(["--json"] if arguments.json else [])])
    with tempfile.TemporaryDirectory() as folder:
        values, failed = everything(cells, Path(folder))
    if arguments.write:
        PAGE.write_text(page(values), encoding="utf-8")
    return report(values, failed, as_json=arguments.json)


def everything(cells: Sequence[str], folder: Path) -> tuple[list[Value], list[str]]:
    """All values, and the checks that failed."""
    values: list[Value] = []
    failed = []

    def done(name: str, check: Callable[[Path], Any]) -> Any:
        print(name, file=sys.stderr, flush=True)
        try:
            return check(folder / name)
        except (FailedError, subprocess.TimeoutExpired, OSError) as error:
            failed.append(f"{name}: {error}")
            return None

    # A line of 10 Mbit/s takes a tenth of a core.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for found in pool.map(lambda cell: done(cell, lambda out: four_kinds(cell, out)), cells):
            values.extend(found or ())
    for check in (ill_behaved, truth, hog):
        done(check.__name__, check)
    return values, failed


def page(values: Sequence[Value]) -> str:
    """The page of the last run, in Markdown."""
    agreeing = sum(value.agrees for value in values)
    rows = [
        f"| {each.cell} | {each.flow} | {each.quantity} | {each.emulated:.4g} | {each.simulated:.4g} "
        f"({each.least:.4g} to {each.most:.4g}) | {'agrees' if each.agrees else 'differs'} |"
        for each in values
    ]
    return PAGE_HEAD.format(agreeing=agreeing, values=len(values), kernel=os.uname().release) + "\n".join(rows) + "\n"


def report(values: Sequence[Value], failed: Sequence[str], *, as_json: bool) -> int:
    """Print what agrees and what does not; the exit status."""
    rows = [{**value._asdict(), "agrees": value.agrees} for value in values]
    agreeing = sum(row["agrees"] for row in rows)
    if as_json:
        print(json.dumps({"values": rows, "failed": list(failed)}, indent=1))
    else:
        for row in rows:
            word = "agrees" if row["agrees"] else "differs"
            names = f"{row['cell']:9}{row['flow']:7}{row['quantity']:12}"
            span = f"{row['simulated']:.4g} ({row['least']:.4g} to {row['most']:.4g})"
            print(f"{names}{row['emulated']:8.4g}  {span:32}{word}")
        for line in failed:
            print(f"failed: {line}")
        print(f"{agreeing} of {len(rows)} values agree, {len(failed)} checks failed")
    return 1 if agreeing < len(rows) or failed else 0


if __name__ == "__main__":
    sys.exit(main())
