"""Results as programs of users take them apart: rows by key, by attribute and unpacked, `pickle`,
`_asdict`.

Each function of the package that gives a result gives one here, of the smallest work.
`kept/results.txt` has the fields of each and the columns of each of its tables: none may go.
"""

import pickle
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest
from kept import hold
from sweep_studies import write_study

import fairq
from fairq.core.rows import Table

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "scenarios" / "dumbbell.toml"
LINE = {"down": "4Mbit/s", "up": "1Mbit/s", "rtt": "20ms"}
SHORT = {"seeds": 2, "duration": "2s", "warm_up": "1s"}
WARNED = "qdisc add dev e root handle 1: htb; class add dev e parent 1: classid 1:1 htb rate 100mbit"
FLOWS = ["cubic", "call(rate=100kbit/s)"]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """Gives the result called so; each is made once."""
    folder = tmp_path_factory.mktemp("kinds")
    capture = folder / "tiny.pcap"
    capture.write_bytes(captured())
    study = write_study(folder, replications=2, duration="200 ms")
    fairq.sweep(study)
    make = {
        "run": ran,
        "compare": lambda: fairq.compare(rate="4Mbit/s", rtt="20ms", flows=FLOWS, paired=True, **SHORT),
        "compare_alone": lambda: fairq.compare_alone(rate="4Mbit/s", rtt="20ms", flows=["cubic", "reno"], **SHORT),
        "advise": lambda: fairq.advise(**LINE, flows=FLOWS, queue=["fifo", "fq_codel"], buffer="50ms", **SHORT),
        "least_buffer": lambda: fairq.least_buffer("90%", **LINE, flows=["cubic"], queue=["fifo"], **SHORT),
        "effects": lambda: fairq.effects("drr", rate="2Mbit/s", rtt="20ms", flows=["reno"], seeds=2, duration="2s"),
        "baseline": lambda: fairq.baseline("reno", rate="2Mbit/s", rtt="20ms", duration="3s"),
        "estimate": lambda: fairq.estimate(SCENARIO),
        "audit": lambda: fairq.audit("fifo", seeds=1, quick=True),
        "topology": lambda: fairq.topology(ROOT / "docs" / "guide" / "four_cities.gml"),
        "replay": lambda: fairq.replay(capture, rate="1Mbit/s", buffer="unlimited"),
        "serve": lambda: fairq.serve(tenants="a:rate=9/s,cost=1s;b:rate=1/s,cost=1s", seats=5, seeds=2, duration="20s"),
        "sharing": lambda: fairq.theory("sharing", load=[0.8, 0.9], distribution=2),
        "delay_bounds": lambda: fairq.theory("delay-bounds", rate="56kbit/s"),
        "delay": lambda: fairq.theory("delay", rho=0.5, rate="56kbit/s"),
        "delay_curve": lambda: fairq.theory("delay-curve"),
        "pgps": lambda: fairq.theory("pgps", burst="1250B", packet="125B", share="100kbit/s", lines="1Mbit/s"),
        "tc": lambda: fairq.tc("fifo"),
        "tc_read": lambda: fairq.tc(read=WARNED),
        "sweep": lambda: fairq.sweep(study),
        "report": lambda: fairq.report(study, out=folder / "page.html"),
        "diff": lambda: fairq.diff(study, study),
        "max_min": lambda: fairq.max_min(SCENARIO),
        "tcp": lambda: fairq.theory("tcp", rtt="100ms", loss=0.01),
        "detect": lambda: fairq.detect(table_of_detect(folder)),
    }
    return cache(lambda name: make[name]())


TUPLES = ("compare", "compare_alone", "advise", "least_buffer", "effects", "baseline", "estimate", "audit", "topology",
          "replay", "serve", "sharing", "delay_bounds", "delay", "delay_curve", "pgps", "tc", "tc_read", "sweep",
          "report", "diff")  # fmt: skip
OTHERS = ("run", "max_min", "tcp", "detect")
NO_PICKLE = ("baseline",)
"""It holds a result of `fairq.run`, which is of the compiled part."""


def ran():
    """A run with all its tables that a dumbbell has."""
    return fairq.run(SCENARIO, set={"measure.duration": "2 s"}, series="500 ms", packets="file 1", states=True)


def captured():
    """A capture of two flows of UDP."""
    from conftest import ip_packet, pcap

    return pcap([(1_000_000 + 10 * at, ip_packet(1 + at % 2, 9, 1000)) for at in range(40)])


def table_of_detect(folder):
    """The times of packets of two flows before and behind a bottleneck, as `fairq detect` reads
    them."""
    path = folder / "times.csv"
    rows = [f"{1 + at % 2},1000,{0.001 * at:.4f},{0.01 + 0.002 * at:.4f}" for at in range(400)]
    path.write_text("\n".join(["flow,bytes,sent_s,received_s", *rows]) + "\n")
    return path


@pytest.mark.parametrize("name", TUPLES)
def test_a_result_is_a_tuple_with_names(kinds, name):
    result = kinds(name)
    assert list(result._asdict()) == list(result._fields)
    for at, (field, value) in enumerate(result._asdict().items()):
        assert getattr(result, field) is value and result[at] is value
    first, *rest = result
    assert first is result[0] and len(rest) == len(result._fields) - 1
    assert result._replace(**result._asdict()) == result
    assert repr(result)


@pytest.mark.parametrize("name", [name for name in (*TUPLES, "max_min", "tcp", "detect") if name not in NO_PICKLE])
def test_a_result_can_be_sent_away(kinds, name):
    result = kinds(name)
    again = pickle.loads(pickle.dumps(result))
    assert again == result and type(again) is type(result)


@pytest.mark.parametrize("table", ["flows", "links", "queues", "series", "packets", "states"])
def test_a_row_of_a_run_is_read_by_key_by_attribute_and_unpacked(kinds, table):
    rows = getattr(kinds("run"), table)
    row = rows[0]
    assert len(rows) > 0 and tuple(row) == rows.columns
    for name in row:
        attribute = f"{name}_" if name == "from" else name.replace(" ", "_")
        assert row[name] == row.get(name) and (" " in name or getattr(row, attribute) == row[name])
        assert rows[name][0] == rows.column(name)[0] == row[name]
    assert {**row} == dict(row) == dict(row.items())
    first, *rest = row.values()
    assert first == row[rows.columns[0]] and len(rest) == len(row) - 1
    assert pickle.loads(pickle.dumps(row)) == row
    assert next(dict(each) for each in rows) == dict(row)


def test_a_result_that_is_read_back_answers_by_key(kinds, fairq, tmp_path):
    import fairq as package

    status, _, _ = fairq("run", SCENARIO, "--set", "measure.duration=2 s", "--out", tmp_path / "out")
    assert status == 0
    again = package.read_result(tmp_path / "out")
    assert set(again) >= set(kinds("run").document) - {"run_info"}
    point = kinds("run").document["points"][0]
    assert again["points"][0]["flows"][0]["flow"] == point["flows"][0]["flow"]
    assert list(again["points"][0]["flows"][0]) == list(point["flows"][0])


def test_the_fields_and_columns_are_those_that_are_committed(kinds):
    lines = [line for name in (*TUPLES, *OTHERS) for line in sorted(set(shape(name, kinds(name))))]
    hold("results.txt", lines, "python/tests/test_kept_results.py")


def shape(place, value, depth=0):
    """The fields of a result, of its tables and of what these hold, each with its place; documents
    are in `kept/schemas.txt`."""
    if isinstance(value, fairq.Result):
        for name in (*(name for name in dir(value) if isinstance(getattr(type(value), name, None), property)),):
            yield f"{place}.{name}"
        yield from shape(f"{place}.document", value.document, 2)
        for name in ("flows", "links", "queues", "series", "packets", "states"):
            yield from (f"{place}.{name} {column}" for column in getattr(value, name).columns)
    elif hasattr(value, "_fields"):
        for field, inner in value._asdict().items():
            yield f"{place}.{field}"
            if field != "document":
                yield from shape(f"{place}.{field}", inner, depth)
    elif isinstance(value, Mapping) and depth < 3:
        for key, inner in value.items():
            yield f"{place} {key}"
            yield from shape(f"{place} {key}", inner, depth + 1)
    elif isinstance(value, Sequence | Table) and not isinstance(value, str | bytes):
        for inner in value:
            yield from shape(place, inner, depth)
