"""`fairq emulate --host-kernel`: hosts that are kernels in virtual time.

Runs need a user-mode Linux, which FAIRQ_HOST_KERNEL names (docs/guide/host-kernel.md); they are skipped loudly
without one.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fairq
from fairq.core.errors import UsageError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="user-mode Linux runs on Linux")

LINE = {"rate": "20Mbit/s", "rtt": "40ms"}
PING = ["ping", "-c", "3", "right"]
SERVER = "python3 -c \"import socket;c=socket.create_server(('',5000)).accept()[0]\nwhile c.recv(65536):pass\""
CLIENT = "import socket;s=socket.create_connection(('right',5000));s.sendall(bytes(500000));s.shutdown(1);s.recv(1)"
FLOW = {"name": "bulk", "from": "a", "to": "b", "traffic": "ftp", "transport": "cubic"}
NETWORK = {
    "edition": 2,
    "measure": {"duration": "5 s"},
    "links": [{"name": "line", "from": "a", "to": "b", "rate": "10 Mbit/s", "delay": "5 ms"}],
    "flows": [FLOW],
}


@pytest.fixture(scope="module")
def kernel():
    found = os.environ.get("FAIRQ_HOST_KERNEL")
    if not found:
        pytest.skip("FAIRQ_HOST_KERNEL names no user-mode Linux with time travel (docs/guide/host-kernel.md)")
    return found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "fast"}, "--mode: virtual time has no such choice"),
        ({"spin": True}, "--spin: virtual time has no such choice"),
        ({"device": "tun"}, "--device: virtual time has no such choice"),
        ({"command": None}, "--host-kernel: its hosts have no input, and so no shell; write -- COMMAND"),
        ({"watch": print}, "--watch: virtual time is over at once"),
        ({"network": NETWORK, "rate": None, "rtt": None}, "--host-kernel: its hosts run commands only"),
    ],
)
def test_what_kernels_have_not_is_refused_in_one_line(given, said):
    with pytest.raises(UsageError) as error:
        fairq.emulate(**{"command": PING, "host_kernel": "/nothing/linux", **LINE, **given})
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_kernel_that_is_none_is_named(tmp_path):
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho User Mode Linux v5.0\n")
    old.chmod(0o755)
    for path, said in [
        ("/nothing/linux", "No such file or directory"),
        ("/bin/true", "it is no user-mode Linux; docs/guide/host-kernel.md says how one is built"),
        (tmp_path, "Permission denied"),
        (old, "it has no time travel; build one with UML_TIME_TRAVEL_SUPPORT"),
    ]:
        with pytest.raises(UsageError) as error:
            fairq.emulate(host_kernel=path, command=PING, **LINE)
        assert str(error.value).startswith(f"the host's kernel {path}: {said}") and "\n" not in str(error.value)


def test_what_would_be_made_needs_no_kernel(fairq):
    words = ("--rate", "20Mbit/s", "--rtt", "40ms", "--host-kernel", "/nothing/linux", "--dry-run", "--", *PING)
    status, out, _ = fairq("emulate", *words)
    assert status == 0 and "Hosts are kernels in virtual time; it ends with its command." in out


def test_a_ping_takes_the_time_of_the_line_and_of_its_own_bits(kernel, capfd):
    found = fairq.emulate(host_kernel=kernel, command=PING, **LINE)
    # 20 ms each way, and 84 bytes at 20 Mbit/s each way.
    assert "= 40.067/" in capfd.readouterr().out
    assert (found.status, found.is_valid, found.stamp) == (0, True, "valid in virtual time")
    (flow,) = (row for row in found.conversations if row["from"] == "left")
    assert (flow["sent"], flow["throughput_packets"], round(flow["delay_s_mean"], 9)) == (3, 3, 0.0200336)
    # Two pauses of a second and a round trip, and the start of the kernels is not in it.
    assert 2.04 < found.emulation["elapsed_s"] < 3.0
    assert found.emulation["machine"]["back_end"] == "kernel" and found.emulation["lateness"]["p99_9_s"] is None


def test_real_tcp_sends_the_same_packets_twice(kernel, tmp_path):
    def run(name):
        found = fairq.emulate(
            host_kernel=kernel, right=SERVER, command=["python3", "-c", CLIENT], buffer="20 packets", queue="fq",
            series="100ms", capture=tmp_path / name, packets="left", **LINE,
        )  # fmt: skip
        document = {key: value for key, value in found.document.items() if key != "run_info"}
        return found, json.dumps(document), sorted(tmp_path.glob(f"{name}/*.pcapng"))

    found, document, captures = run("one")
    (data,) = found.flows
    assert data["goodput_packets"] > 300 and found.status == 0 and len(found.series) > 2
    assert sum(row["goodput_bytes"] for row in found.conversations if not row["is_answer"]) == 500_000
    _, again, captures_again = run("two")
    assert document == again
    assert len(captures) == 4 and captures[0].stat().st_size > 1000
    for one, other in zip(captures, captures_again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_command_has_its_folder_and_its_status_is_passed_on(kernel, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("it is here\n")
    found = fairq.emulate(host_kernel=kernel, command="cat here.txt; ping -c1 right > seen.txt; exit 7", **LINE)
    assert found.status == 7 and capfd.readouterr().out == "it is here\n"
    assert "1 received" in Path("seen.txt").read_text()


def test_a_run_without_a_command_in_front_ends_at_its_time(kernel, tmp_path):
    found = fairq.emulate(host_kernel=kernel, right="ping left", duration="5 s", **LINE)
    assert (found.status, found.emulation["elapsed_s"]) == (0, 5.0)
    (flow,) = (row for row in found.conversations if row["from"] == "right")
    assert flow["sent"] == 5


def test_hosts_ask_for_ecn_and_have_the_congestion_control_that_is_said(kernel, capfd):
    show = "cat /proc/sys/net/ipv4/tcp_ecn; ip -4 route"
    fairq.emulate(host_kernel=kernel, command=show, ecn=True, control="reno", queue="fq_codel", **LINE)
    out = capfd.readouterr().out
    assert out.startswith("1\n") and "congctl reno" in out
    with pytest.raises(UsageError, match=r"the kernel of host .* has not the congestion control none_such"):
        fairq.emulate(host_kernel=kernel, command=PING, control="none_such", **LINE)


def test_no_kernel_is_left_when_it_is_killed(kernel, tmp_path):
    link = tmp_path / f"linux-{os.getpid()}"
    link.symlink_to(Path(kernel).absolute())
    words = ("--rate", "1Mbit/s", "--rtt", "2ms", "--host-kernel", str(link), "--", "ping", "-q", "right")
    started = subprocess.Popen([sys.executable, "-m", "fairq", "emulate", *words], stderr=subprocess.DEVNULL)
    try:
        assert reached(lambda: running(link))
    finally:
        started.kill()
        started.wait()
    assert reached(lambda: not running(link))


def running(program):
    """The processes of this program."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path] if path.read_bytes().startswith(str(program).encode()) else []
        except OSError:
            continue
    return found


def reached(condition):
    """Whether a condition comes to hold within half a minute."""
    end = time.monotonic() + 30
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()
