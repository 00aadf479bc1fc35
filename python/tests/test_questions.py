"""Questions that people asked in public, each as one line: theory, or a kernel, says the answer.

Each test has a band, whose source it names, and a control: the same line with one change, which
must fall outside the band. No band was fitted to fairq's own output.
"""

import csv
import shlex
import statistics
from pathlib import Path

import pytest

RECORD = Path(__file__).resolve().parents[2] / "tests" / "peers" / "linux" / "truth" / "tcp.csv"
"""What a Linux 6.1 kernel did: three runs of each cell; the columns are described beside it."""

SHARE_TOLERANCE, QUEUE_TOLERANCE = 0.05, 0.2
"""How near to the kernel a share of the line, and a mean wait, must be: docs/agreement/linux.md."""


@pytest.fixture
def ask(document):
    """Asks a line; gives the document of the answer."""
    return lambda line: document("compare", *shlex.split(line), "--quiet")


def kernel(cell):
    """The kernel's shares of the line by control, and its mean wait in s, from 5 s to 20 s."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        runs = [row for row in csv.DictReader(file) if row["cell"] == cell and row["window"] == "5-20"]
    assert len(runs) >= 3
    flows, rate = runs[0]["flows"].split("+"), float(runs[0]["rate_mbit"])
    goodput = [[float(part) for part in run["goodput_mbit"].split(";")] for run in runs]
    shares = [statistics.fmean(each) / rate for each in zip(*goodput, strict=True)]
    return dict(zip(flows, shares, strict=True)), statistics.fmean(float(run["queue_ms_mean"]) for run in runs) / 1e3


def of(found, column, table="rows", **only):
    """The value of the one row whose columns are these."""
    rows = [row for row in found[table] if all(row[name] == value for name, value in only.items())]
    assert len(rows) == 1, f"{len(rows)} rows of {table} have {only}"
    return rows[0][column]


def is_within(value, centre, by):
    """Whether a value is no farther from the centre of its band than this."""
    return abs(value - centre) <= by


# 1. CachyOS#338, vyos-1x#2349, quickbox#236, micromirrors#11, systemd#9725:
# BBR: fq or fq_codel on the host?
HOST_QUEUE = (
    "--rate 20Mbit/s --rtt 60ms --flows cubic,bbr --queue 'fifo + 100packets,fq_codel' --duration 15s --seeds 10 "
    "--host-queue {}"
)


def test_the_bottleneck_and_not_the_hosts_queue_decides_what_bbr_leaves(ask):
    """Band: the kernel's shares, from hosts without fq, behind pfifo and behind fq_codel.

    Behind fq_codel they hold for hosts with fq too: each flow has its own queue there, and BBR
    paces itself since Linux 4.13 (commit 218af599fa63, "tcp: internal implementation for pacing").
    Controls: the other bottleneck, and a host's queue that caps each flow.
    """
    cells = {"fifo + 100packets": "pfifo", "fq_codel": "fq_codel"}
    shares = {queue: kernel(f"20M.60ms.{cell}.1c1b")[0] for queue, cell in cells.items()}
    found = ask(HOST_QUEUE.format("linux_fq,fq_codel"))

    def bbr(queue, host_queue, found=found):
        return of(found, "share", queue=queue, host_queue=host_queue, flow="bbr")

    fifo, fair = (shares[queue]["bbr"] for queue in cells)
    assert is_within(bbr("fifo + 100packets", "fq_codel"), fifo, SHARE_TOLERANCE)
    assert is_within(bbr("fq_codel", "fq_codel"), fair, SHARE_TOLERANCE)
    assert is_within(bbr("fq_codel", "linux_fq"), fair, SHARE_TOLERANCE)
    assert not is_within(bbr("fifo + 100packets", "linux_fq"), fair, SHARE_TOLERANCE)
    cap = "linux_fq(maxrate=5Mbit/s)"
    assert not is_within(bbr("fq_codel", cap, ask(HOST_QUEUE.format(f"'{cap}'"))), fair, SHARE_TOLERANCE)
    answer = found["answer"]
    assert answer["quantity"] == "jain" and answer["best"].startswith("fq_codel")


# 2. h2o/quicly#688, #678, #676: is my CUBIC variant fair? 60 paired runs, 95 % intervals.
VARIANT = (
    "--rate 20Mbit/s --rtt 100ms --flows 'cubic,cubic(decrease={})' --buffer 1BDP --duration 60s --paired --seeds 60"
)


def test_a_cubic_that_gives_up_less_takes_what_its_equation_says(ask):
    """Band: by RFC 9438 a window is between two limits.

    Losses that meet both flows alike often: the mean window is
    (C (3 + b) / (4 (1 - b)))^(1/4) (RTT/p)^(3/4), section 5.1, so that the ratio of b = 0.8 to
    b = 0.7 is (19 / 12.33)^(1/4) = 1.114. Losses that meet both at once: both windows need the same
    K = cbrt(W (1 - b) / C), figure 2, so that the greatest windows are as 0.3 / 0.2 and the means,
    W (3 + b) / 4, as 1.54. The part of the two that the variant gets is then from 0.527 to 0.606.
    Control: the variant that is no variant.
    """
    separate = (19 / (3.7 / 0.3)) ** 0.25
    at_once = (0.3 * 3.8) / (0.2 * 3.7)
    low, high = (ratio / (1 + ratio) for ratio in (separate, at_once))

    def part(found, decrease):
        mine = of(found, "share", flow=f"cubic(decrease={decrease})")
        return mine / (mine + of(found, "share", flow="cubic"))

    found = ask(VARIANT.format(0.8))
    # the interval of the mean share, 60 seeds
    sure = [of(found, end, flow="cubic(decrease=0.8)") for end in ("share_low", "share_high")]
    assert low <= sure[1] and sure[0] <= high and sure[1] - sure[0] < 0.02
    assert found["answer"]["decided"] and found["answer"]["best"] == "cubic(decrease=0.8)"
    assert of(found, "decided", "paired", quantity="share_per_flow") is True
    same = ask(VARIANT.format(0.7))
    assert part(same, 0.7) < low
    assert not same["answer"]["decided"]


# 8. mahimahi#168: does the delay include propagation?
DELAY = "--rate 20Mbit/s --rtt 60ms --flows cubic --duration 15s --seeds 5 --queue {}"


def test_queueing_delay_is_without_propagation(ask):
    """Band: the mean wait in the kernel's qdisc, without the way of 30 ms. Control: fq_codel."""
    _, wait = kernel("20M.60ms.pfifo.1c")
    ours = of(ask(DELAY.format("'fifo + 100packets'")), "queueing_s_mean")
    assert is_within(ours, wait, QUEUE_TOLERANCE * wait)
    assert not is_within(ours + 0.030, wait, QUEUE_TOLERANCE * wait)
    assert not is_within(of(ask(DELAY.format("fq_codel")), "queueing_s_mean"), wait, QUEUE_TOLERANCE * wait)


def test_a_packet_alone_waits_for_no_other_however_long_the_way(ask):
    """Band: a call alone finds an empty line: no wait. Control: a connection fills the queue."""
    line = "--rate 20Mbit/s --rtt 20ms,400ms --flows {} --duration 5s --seeds 3"
    alone = ask(line.format("'call(rate=100kbit/s)'"))
    assert [row["queueing_s_p99"] for row in alone["rows"]] == pytest.approx([0.0, 0.0], abs=1e-6)
    beside = ask(line.format("'call(rate=100kbit/s),cubic'"))
    waits = [row["queueing_s_p99"] for row in beside["rows"] if row["flow"].startswith("call")]
    assert min(waits) > 12e-3 / 20, "a packet of 1500 B takes 0.6 ms"


# 11. cilium#29083: fq_codel at 250 us / 5 ms in a data centre?
def test_fq_codel_with_times_of_a_data_centre_is_that_of_the_internet_twenty_times_as_fast(ask):
    """Band: the kernel's mean wait at 20 Mbit/s, 20 ms and 5 ms / 100 ms, over twenty.

    Where all rates are twenty times as great and all times a twentieth, everything happens in the
    same order; CUBIC's windows of some packets grow as Reno's (RFC 9438, section 4.3), by round
    trips. Control: the same line with the times of the internet.
    """
    faster = 20
    _, wait = kernel("20M.20ms.fq_codel.4c")
    tuned = "fq_codel(target=250us, interval=5ms)"
    found = ask(
        f"--rate 400Mbit/s --rtt 1ms --flows cubic:4 --queue 'fq_codel,{tuned}' --seeds 3 --duration 1s --warm-up 2s"
    )
    waits = {queue: of(found, "queueing_s_mean", queue=queue) for queue in ("fq_codel", tuned)}
    assert is_within(waits[tuned] * faster, wait, QUEUE_TOLERANCE * wait)
    assert not is_within(waits["fq_codel"] * faster, wait, QUEUE_TOLERANCE * wait)
    assert found["answer"]["best"] == tuned and found["answer"]["decided"]


# 13. openrung#111: one client with many connections: fq_codel or CAKE dual-dsthost?
def test_a_client_with_many_connections_gets_what_its_queue_shares_by(ask):
    """Band: max-min fairness (Bertsekas and Gallager, Data Networks, 6.5.2), within a tenth.

    Twenty greedy flows share by flow: four of them have 4/20. Seventeen hosts share by host: one
    has 1/17. Control: CAKE that shares by flow.
    """
    queues = ("fq_codel", "cake(isolation=dual_destination)", "cake(isolation=flows)")
    line = "--rate 20Mbit/s --rtt 20ms --flows cubic --hosts 16x1,1x4 --seeds 3 --duration 10s"
    found = ask(f"{line} --queue '{','.join(queues)}'")
    by_flow, by_host, control = (of(found, "share", queue=queue, flow="1x4 cubic") for queue in queues)
    assert is_within(by_flow, 4 / 20, 0.1 * 4 / 20)
    assert is_within(by_host, 1 / 17, 0.1 / 17)
    assert not is_within(control, 1 / 17, 0.1 / 17)
    assert of(found, "jain_hosts", "queues", queue="fq_codel") == pytest.approx(1 / (17 * (16 + 16) / 400), abs=0.01)
    assert found["answer"]["best"] == "cake(isolation=dual_destination)" and found["answer"]["decided"]


# 16. flent#320: Jain's index.
def test_jains_index_is_one_where_round_trips_do_not_matter(ask):
    """Band: 0.99 to 1, by Jain's definition, of flows that deficit round robin gives equal shares.

    They differ by a turn of 1514 B in the 50 MB of this time. Control: FIFO, where a share depends
    on the round trip.
    """
    found = ask("--rate 20Mbit/s --flows cubic:2@20ms,cubic:2@200ms --queue drr,fifo --seeds 5 --duration 20s")
    jain = {queue: of(found, "jain", "queues", queue=queue) for queue in ("drr", "fifo")}
    assert 0.99 <= jain["drr"] <= 1
    assert not 0.99 <= jain["fifo"] <= 1
    assert found["answer"]["best"] == "drr" and found["answer"]["decided"]


# 19. moq#2432: is this jitter model an artefact?
def test_jitter_in_order_makes_no_sender_repeat_a_packet(ask):
    """Band: no retransmission. Control: packets as late, which others overtake.

    Without losses three duplicates come of reordering alone (RFC 5681, section 2), and jitter keeps
    the order. Hosts that wait for what is late (RFC 8985) repeat nothing: those of ns-2 count.
    """
    line = "--rate 20Mbit/s --rtt 40ms --flows newreno --buffer unlimited --seeds 3 --warm-up 5s --duration 10s {}"
    line += " --profile ns-2"
    in_order = ask(line.format("--jitter 10ms"))
    overtaken = ask(line.format("--reorder 1%@10ms"))
    assert [of(found, "loss") for found in (in_order, overtaken)] == [0, 0]
    assert of(in_order, "retransmitted") == 0
    assert of(overtaken, "retransmitted") > 0
