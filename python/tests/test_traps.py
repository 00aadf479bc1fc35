"""Notes on queues that Linux's tc would set up otherwise on the same line."""

import pytest

from fairq.questions import asked, traps


def notes(rate, queue):
    return traps.notes(asked.ask(rate=rate, rtt="20ms", flows="cubic", queue=queue))


@pytest.mark.parametrize(
    ("rate", "queue", "said"),
    [
        # 1.5 packets of 1514 B last 5 ms at 3.63 Mbit/s.
        ("3.6Mbit/s", "cake", "without a rate its target stays at 5 ms, and tc's bandwidth makes it 5.05 ms"),
        ("100Mbit/s/1Mbit/s", "cake", "makes it 18.2 ms at 1Mbit/s; fairq advise shapes each direction"),
        ("3.7Mbit/s", "cake", None),
        ("1Mbit/s", "cake(rate=1Mbit/s)", None),
        # Two packets last 5 ms at 4.84 Mbit/s.
        ("4.8Mbit/s", "fq_codel", "its target of 5 ms is below the time of 2 packets at 4.8Mbit/s, 5.05 ms"),
        ("4.9Mbit/s", "fq_codel", None),
        ("1Mbit/s", "fifo + codel", "write for example codel(target=24.2ms)"),
        ("1Mbit/s", "fq_codel(target=30ms)", None),
        ("100Mbit/s", "red", "tc would set up fifo + red(min=5000B, max=15000B"),
        ("100Mbit/s", "linux_fq", None),
        ("100Mbit/s", "drr", None),
    ],
)
def test_a_queue_has_a_note_where_tc_would_set_up_another(rate, queue, said):
    found = notes(rate, queue)
    assert len(found) == (said is not None)
    assert said is None or (said in found[0]["text"] and found[0]["where"] == f"--queue {queue}")


def test_a_comparison_tells_them(document):
    line = ("--rate", "1Mbit/s", "--rtt", "20ms", "--flows", "cubic", "--queue", "cake", "--seeds", "1", "--duration",
            "100ms", "--warm-up", "0s", "--quiet")  # fmt: skip
    assert "target" in [note["code"] for note in document("compare", *line)["notes"]]


def test_what_tc_sets_up_marks_where_marks_are_asked_for():
    question = asked.ask(rate="5Mbit/s", rtt="20ms", flows="dctcp", queue="red", ecn=True)
    (note,) = [note for note in traps.notes(question) if note["code"] == "tc"]
    assert note["text"].startswith("tc would set up fifo + red(min=5000B") and "ecn=false" not in note["text"]
