"""What several tests read: scenarios, captures and the paper's folder, and a stand-in for the paper's runs."""

import functools
import json
import os
import random
import struct
import subprocess
import sys
import types
from pathlib import Path

import messages
import pytest
from browser import Browser
from lab_page import chromium, lab, lab_address, lasting_lab, one_window  # noqa: F401

from fairq import FairqError, schemas
from fairq.cli import printing, program
from fairq.core import streams
from fairq.papers import papers
from fairq.papers.verdicts import read_published
from fairq.theories import fq_delay

# A check that fails there says what it compared.
pytest.register_assert_rewrite("page_checks")

# pytest-xdist says that its workers have a terminal of 80 columns; what a page shows is of a pipe.
os.environ.pop("COLUMNS", None)

DUMBBELL = """
edition = 1
title = "dumbbell"

[measure]
warm_up = "5 s"
duration = "20 s"

[defaults]
transport = "jk"
buffer = "20 packets"
access = { rate = "10 Mbit/s" }

[[links]]
name = "bottleneck"
from = "left"
to = "right"
rate = "1 Mbit/s"
delay = "10 ms"

[[flows]]
name = "ftp"
from = "left"
to = "right"
traffic = "ftp"
count = 2

[[flows]]
name = "telnet"
from = "left"
to = "right"
traffic = { kind = "telnet", mean_gap = "500 ms" }

[[flows]]
name = "blast"
from = "left"
to = "right"
traffic = { kind = "ill_behaved", rate = "2 Mbit/s" }
transport = "uncontrolled"
"""


def pytest_configure(config):
    config.pluginmanager.register(messages.Plugin(config), "messages")


LONGEST = ("test_wheel", "test_papers_page", "test_report", "test_figures", "test_sweeps")
"""Files that begin first: of two cores, neither waits for one of these at the end."""


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem not in LONGEST)
    if os.environ.get("FAIRQ_NIGHTLY") != "1":
        for item in items:
            if item.get_closest_marker("nightly"):
                item.add_marker(pytest.mark.skip(reason="SKIPPED: takes minutes; `make nightly` runs it"))


@pytest.fixture
def dumbbell(tmp_path):
    """A scenario of two file transfers, a terminal session and a blast over one line of 1 Mbit/s."""
    path = tmp_path / "dumbbell.toml"
    path.write_text(DUMBBELL)
    return path


@pytest.fixture
def fairq(capsys, documents):
    """Runs a command; gives exit status, standard output and standard error."""

    def run(*arguments):
        documents.clear()
        status = program.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        if "--json" in arguments and said.out and arguments[0] != "schema":
            unchecked = f"fairq {arguments[0]}: its JSON does not leave by as_json, and was held to no schema"
            assert documents == [said.out.rstrip("\n")], unchecked
        return status, said.out, said.err

    return run


@pytest.fixture
def document(fairq):
    """Runs a command with --json; gives the one document that it printed and nothing else."""

    def run(*arguments):
        status, out, err = fairq(*arguments, "--json")
        assert (status, err) == (0, "")
        return json.loads(out)

    return run


@pytest.fixture
def refused(fairq):
    """Runs a command that must be refused in one line, with status 2 and nothing on standard output; gives the line."""

    def run(*arguments):
        status, out, err = fairq(*arguments)
        assert (status, out) == (2, "")
        assert err.startswith("fairq: ") and err.count("\n") == 1 and "Traceback" not in err
        return err

    return run


@pytest.fixture
def process(request):
    """Runs the command in a process of its own; gives it when it has ended."""

    def run(*arguments, **options):
        command = [sys.executable, "-m", "fairq", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
        request.config.pluginmanager.get_plugin("messages").record_lines(done.stderr)
        return done

    return run


def ip_packet(source, destination, length):
    """Ethernet, IPv4 and UDP: `length` bytes on the wire in all."""
    ethernet = bytes.fromhex("020000000002 020000000001 0800")
    udp = struct.pack(">HHHH", 1000 + source, 2000 + destination, length - 34, 0)
    addresses = bytes([10, 0, 0, source, 10, 0, 0, destination])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, length - 14, 0, 0, 64, 17, 0) + addresses
    return (ethernet + ip + udp).ljust(length, b"\0")


def pcap(packets):
    """A pcap file of (microsecond, frame)."""
    records = [
        struct.pack("<IIII", at // 1_000_000, at % 1_000_000, len(data), len(data)) + data for at, data in packets
    ]
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(records)


@pytest.fixture
def capture(tmp_path):
    """Two conversations: forty packets of 1000 bytes in a burst, then one of 100 bytes; after 30 s, one more."""
    burst = [(1_000_000 + 10 * i, ip_packet(1, 2, 1000)) for i in range(40)]
    path = tmp_path / "tiny.pcap"
    path.write_bytes(pcap([*burst, (1_001_000, ip_packet(3, 2, 100)), (31_001_000, ip_packet(3, 2, 100))]))
    return path


@pytest.fixture(scope="session")
def data():
    """The folder of real data."""
    if "FAIRQ_DATA" not in os.environ:
        pytest.skip("FAIRQ_DATA does not name a folder of real captures: NOT TESTED on them")
    return Path(os.environ["FAIRQ_DATA"])


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser for all tests of a file."""
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def demers1990():
    return papers.load("demers1990")


@pytest.fixture
def printed_runs(monkeypatch, stand_in, tmp_path):
    """What `stand_in` does, for one test."""
    return stand_in(monkeypatch, tmp_path)


@pytest.fixture(scope="session")
def stand_in(demers1990):
    """Stands in for the simulator: every seed is the published run with a little noise, figure 1 its mended curve.

    Gives a function of a monkeypatch and a folder for the paper; the function gives the list of
    calls made: (file name, settings).
    """
    return lambda monkeypatch, folder: _stand_in(demers1990, monkeypatch, folder)


def _stand_in(demers1990, monkeypatch, tmp_path):
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
    monkeypatch.setattr("fairq.papers.reproduction.load", lambda name: paper)

    def scenario(number, seeds):
        mine = [cell for cell in cells if cell.item == f"scenario {number}"]
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
                wait = fq_delay.poisson_delay(3, rho, delta)
                noise = random.Random(f"{policy}/{rho}").uniform(0.99, 1.01)
                flows = [[{"flow": "telnet", "delay_s_mean": wait * noise + 1.0}]] * seeds
                yield {
                    "axes": {"policy": policy, "rho": rho},
                    "seeds": [{"seed": i, "flows": f} for i, f in enumerate(flows)],
                }
        for rho in (0.1, 1.0, 3.0):
            flows = [{"flow": "telnet", "delay_s_mean": fq_delay.fcfs_delay(3, 5, rho) + 1.0}]
            yield {"axes": {"policy": "FCFS", "rho": rho}, "seeds": [{"seed": i, "flows": flows} for i in range(seeds)]}

    class Experiment:
        def __init__(self, scenario, sets, series=None):
            self.stem, self.sets = Path(scenario.name).stem, dict(sets)

        def runs(self):
            return [types.SimpleNamespace(digest=f"{self.stem} {json.dumps(self.sets)}")]

        def run(self, workers, progress=None):
            calls.append((self.stem, self.sets))
            seeds = int(self.sets["measure.replications"])
            if progress is not None:
                progress(0.5, 1000.0, 1)
            points = figure(seeds) if self.stem == "figure1" else scenario(self.stem.removeprefix("scenario"), seeds)
            return types.SimpleNamespace(document={"points": list(points)})

    monkeypatch.setattr("fairq.papers.reproduction.Experiment", Experiment)
    return calls


@pytest.fixture(autouse=True)
def documents(monkeypatch):
    """Holds each document that --json prints to the schema that its command names; gives all texts."""
    left = []

    def checked(document, schema):
        text = "".join(document)
        _check(json.loads(text), schema)
        left.append(text.rstrip("\n"))
        return [text]

    monkeypatch.setattr(printing, "leaving", checked)
    return left


@pytest.fixture(autouse=True)
def recorded(request, monkeypatch):
    """Gives `messages.py` what commands say here, and the exceptions that a test expects."""
    plugin = request.config.pluginmanager.get_plugin("messages")
    write, leave = streams.write, pytest.RaisesExc.__exit__

    def written(stream, text):
        plugin.record_lines(text)
        write(stream, text)

    def left(context, kind, error, trace):
        if isinstance(error, FairqError):
            plugin.record(f"{type(error).__name__}: {error}")
        return leave(context, kind, error, trace)

    monkeypatch.setattr(streams, "write", written)
    monkeypatch.setattr(pytest.RaisesExc, "__exit__", left)


@pytest.fixture
def check_document():
    """Holds a document to the schema called so, as is done with all that --json prints in a test."""
    return _check


def _check(document, schema):
    """Fail unless the document is valid by the schema; of long tables the first rows are checked."""
    assert schema in schemas.NAMES, f"{schema}: no schema of this document; see CONTRIBUTING.md, Adding a command"
    _validator(schema).validate(_short(document))


def _short(value):
    if isinstance(value, dict):
        return {name: _short(inner) for name, inner in value.items()}
    return [_short(inner) for inner in value[:50]] if isinstance(value, list) else value


@functools.cache
def _validator(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(schemas.text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)
