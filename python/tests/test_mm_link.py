"""`fairq mm-link`: the words of Mahimahi, and its logs."""

import json
import sys

import pytest

from fairq.core.errors import UsageError
from fairq.emulation import mahimahi
from fairq.emulation.mahimahi import Link, queue

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="emulation needs Linux")


@pytest.fixture
def traces(tmp_path, monkeypatch):
    """A trace of 12 Mbit/s up and one of 24 Mbit/s down."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FAIRQ_EMULATION", raising=False)
    (tmp_path / "up").write_text("1\n2\n", encoding="ascii")
    (tmp_path / "down").write_text("1\n1\n2\n2\n3\n3\n", encoding="ascii")
    return "up", "down"


@pytest.mark.parametrize(
    ("kind", "args", "text"),
    [
        ("infinite", "", "fifo + unlimited"),
        ("droptail", "packets=100", "fifo + 100packets"),
        ("droptail", "bytes=15000", "fifo + 15000B"),
        ("drophead", "packets=7", "fifo + head_drop + 7packets"),
        ("codel", "packets=100, target=5, interval=100", "codel(target=5ms, interval=100ms) + 100packets"),
        ("pie", "packets=100, qdelay_ref=20, max_burst=100", "pie(target=20ms, burst=100ms) + 100packets"),
        ("codel", "target=5", "codel(target=5ms) + unlimited"),
        ("fq_codel", "", "fq_codel"),
        ("fq + codel", "packets=100", "fq + codel + 100packets"),
        ("drr(quantum=500B)", "packets=100", "drr(quantum=500B) + 100packets"),
    ],
)
def test_queues_of_mahimahi_and_ours(kind, args, text):
    assert queue("--uplink-queue", kind, args) == text


@pytest.mark.parametrize(
    ("kind", "args", "said"),
    [
        ("droptail", "", "--uplink-queue droptail: it has a limit; write --uplink-queue-args=packets=100"),
        ("droptail", "packets=1, bytes=2", "write packets or bytes"),
        ("droptail", "packets", "packets is not NAME=NUMBER"),
        ("droptail", "packets=1, target=5", "no other setting"),
        ("infinite", "packets=1", "an infinite queue has no settings"),
        ("codel", "packets=1, packets=2", "packets is there twice"),
        ("codl", "", "--uplink-queue codl:"),
        ("drr(quantum=500B)", "quantum=2", "write all of them there"),
    ],
)
def test_a_wrong_word_is_named_in_one_line(kind, args, said):
    with pytest.raises(UsageError) as error:
        queue("--uplink-queue", kind, args)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_the_uplink_is_the_way_from_the_command(traces, fairq):
    queues = ("--uplink-queue=droptail", "--uplink-queue-args", "packets=9", "--downlink-queue=fq_codel")
    status, out, err = fairq("mm-link", "--json", "up", "down", *queues, "--dry-run", "ping", "-c", "1", "--once")
    assert (status, err) == (0, "")
    found = json.loads(out)
    ways = {line["from"]: line for line in found["lines"]}
    assert (ways["left"]["rate_bit_per_s"], ways["left"]["limit"]) == (12_000_000, "9 packets")
    assert (ways["right"]["rate_bit_per_s"], ways["right"]["discipline"]) == (24_000_000, "fq_codel")
    assert all(line["is_trace"] and line["delay_s"] == 0 for line in ways.values())
    # What stands behind the traces is the command, with its own options.
    assert found["commands"] == [{"host": "left", "command": "ping -c 1 --once", "ends_run": True}]
    assert found["ends_s"] is None


def test_once_ends_with_the_shorter_trace(traces, fairq):
    assert (
        json.loads(fairq("mm-link", "--json", "up", "down", "--once", "--dry-run", "--", "true")[1])["ends_s"] == 0.002
    )


def test_a_trace_that_is_not_there_is_said(traces, fairq):
    status, _, err = fairq("mm-link", "up", "nowhere", "--", "true")
    assert status == 2 and "downlink nowhere: there is no such file" in err


def test_a_log_begins_as_mahimahis_does(traces, monkeypatch):
    monkeypatch.setenv("MAHIMAHI_SHELL_PREFIX", "[delay 20 ms] ")
    link = Link(uplink="up", downlink="down", downlink_log="down.log")
    assert mahimahi.heads(link) == {
        "down.log": "# mahimahi mm-link (Downlink) [down] > down.log\n# base timestamp: 0\n"
        "# mahimahi config: [delay 20 ms] \n"
    }


def test_the_base_is_the_outer_hosts_address_and_nested_links_reach_their_own(traces, monkeypatch):
    link = Link(uplink="up", downlink="down", command=("true",), uplink_log="up.log")
    hosts = {"hosts": [{"host": "right", "addresses": ["10.77.1.1"]}, {"host": "left", "addresses": ["10.77.2.1"]}]}
    job = mahimahi.job(link, hosts)
    assert job["environment"]["MAHIMAHI_BASE"] == "10.77.1.1" and job["outer"] is None
    assert list(job["logs"]) == ["line/reverse"]
    monkeypatch.setenv("FAIRQ_EMULATION", "77")
    assert mahimahi.job(link, hosts)["outer"] == "right"
