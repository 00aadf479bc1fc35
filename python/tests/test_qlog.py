"""`--qlog`: what each flow's sender did and heard, as viewers of QUIC's logs read it."""

import json

import jsonschema
import pytest

import fairq as package

NUMBER, WHOLE, TEXT = {"type": "number", "minimum": 0}, {"type": "integer", "minimum": 0}, {"type": "string"}


def record(required, **properties):
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


HEAD = record(
    ["qlog_version", "qlog_format", "trace"], qlog_version={"const": "0.3"}, qlog_format={"const": "JSON-SEQ"},
    title=TEXT, description=TEXT,
    trace=record(
        ["vantage_point"], title=TEXT,
        vantage_point=record(["type"], name=TEXT, type={"enum": ["client", "server", "network", "unknown"]}),
        common_fields=record([], time_format={"const": "relative"}, reference_time=NUMBER, group_id=TEXT),
    ),
)  # fmt: skip
"""QlogFileSeq of draft-ietf-quic-qlog-main-schema-02, in JSON Schema."""

HEADER = record(["packet_type"], packet_type={"const": "1RTT"}, packet_number=WHOLE)
RANGE = {"type": "array", "items": WHOLE, "minItems": 2, "maxItems": 2}
ACK = record(["frame_type"], frame_type={"const": "ack"}, acked_ranges={"type": "array", "items": RANGE, "minItems": 1})
DATA = {
    "transport:packet_sent": record(["header"], header=HEADER, raw=record([], length=WHOLE)),
    "transport:packet_received": record(["header"], header=HEADER, frames={"type": "array", "items": ACK}),
    "recovery:packet_lost": record([], header=HEADER),
    "recovery:metrics_updated": record(
        [], congestion_window=WHOLE, bytes_in_flight=WHOLE, smoothed_rtt=NUMBER, pacing_rate=NUMBER
    ),
    "recovery:congestion_state_updated": record(["new"], old={"type": ["string", "null"]}, new=TEXT),
}
"""The events of draft-ietf-quic-qlog-quic-events-02 that are written, and what they hold."""


EVENT = record(["time", "name", "data"], time=NUMBER, name={"enum": [*DATA]}, data={})
# made once: `jsonschema.validate` checks the schema itself at each call
OF_EVENT, *OF_DATA = map(jsonschema.Draft202012Validator, (EVENT, *DATA.values()))
OF_DATA = dict(zip(DATA, OF_DATA, strict=True))


def read(path):
    """Head and events of a log: records of RFC 7464, each as the drafts have it, in order of time."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("\x1e") and text.endswith("\n")
    head, *events = (json.loads(each) for each in text.split("\x1e")[1:])
    jsonschema.validate(head, HEAD)
    for event in events:
        OF_EVENT.validate(event)
        OF_DATA[event["name"]].validate(event["data"])
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    return head, events


def named(events, name):
    return [event["data"] for event in events if event["name"].endswith(name)]


def test_a_log_has_what_the_tables_count(document, tmp_path):
    path = tmp_path / "cubic.qlog"
    words = ("cubic", "--rate", "10Mbit/s", "--rtt", "40ms", "--buffer", "0.2BDP", "--duration", "4s", "--qlog", path)
    found = document("baseline", *words)
    head, events = read(path)
    assert head["trace"]["vantage_point"] == {"name": "flow", "type": "server"}

    sent, lost = named(events, "packet_sent"), named(events, "packet_lost")
    numbers = [each["header"]["packet_number"] for each in sent]
    assert numbers == list(range(len(sent))) and {each["raw"]["length"] for each in sent} <= {40, 1500}
    # each packet that was sent again had been given up
    assert len(lost) == found["flow"]["retransmitted"] > 0
    acknowledged = {number for each in named(events, "packet_received") for frame in each["frames"]
                    for first, last in frame["acked_ranges"] for number in range(first, last + 1)}  # fmt: skip
    gone = {each["header"]["packet_number"] for each in lost}
    assert acknowledged <= set(numbers) and not acknowledged & gone
    # what is neither is in flight at the end
    left = len(sent) - len(acknowledged) - len(gone)
    assert left == pytest.approx(found["series"][-1]["flight_bytes"] / 1500, abs=40)

    windows = [each["congestion_window"] for each in named(events, "metrics_updated") if "congestion_window" in each]
    assert windows[-1] == pytest.approx(found["series"][-1]["window_bytes"])
    phases = [each["new"] for each in named(events, "congestion_state_updated")]
    assert phases[0] == "slow start" and "recovery" in phases


def test_of_several_flows_each_has_a_log_of_its_own(fairq, tmp_path, dumbbell):
    status, out, _ = fairq("run", dumbbell, "--qlog", tmp_path / "all.qlog")
    names = sorted(path.name for path in tmp_path.glob("*.qlog"))
    assert status == 0 and len(names) > 1 and all(name.startswith("all.") for name in names)
    assert all(f"Written: {tmp_path / name}" in out for name in names)
    for name in names:
        head, events = read(tmp_path / name)
        assert name == f"all.{head['trace']['vantage_point']['name']}.qlog" and named(events, "packet_sent")


def test_a_flow_that_is_not_there_and_a_run_without_a_trace_are_told(dumbbell):
    with pytest.raises(package.UsageError, match="trace: no run kept one"):
        package.run(dumbbell).write_qlog("ftp.1", print)
    with pytest.raises(package.UsageError, match=r"there is no flow ftp\.9; did you mean ftp\.\d\?"):
        package.run(dumbbell, trace=True).write_qlog("ftp.9", print)
