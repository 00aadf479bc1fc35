"""Questions of one line whose answer is a table of its own: controls alone, and least buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from fairq.core.arguments import checked
from fairq.core.declared import picked
from fairq.core.runs import cores

if TYPE_CHECKING:
    from fairq.core.own import Parts
    from fairq.core.progress import Tell
    from fairq.questions.question_results import Alone, LeastBuffer


@checked
def compare_alone(
    *,
    rate: str,
    flows: str | Sequence[str],
    rtt: str | Sequence[str] | None = None,
    queue: str | Sequence[str] | None = None,
    host_queue: str | Sequence[str] | None = None,
    buffer: str | Sequence[str] | None = None,
    ecn: bool = False,
    loss: str | float | Sequence[str] | None = None,
    jitter: str | None = None,
    reorder: str | None = None,
    seeds: int = 10,
    duration: str | None = None,
    warm_up: str | None = None,
    profile: str = "linux",
    receive_window: str | None = None,
    parts: Parts | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> Alone:
    """Give each item of `flows` a line of its own, at each `loss`, as `fairq compare --alone`.

    A loss is a part of the packets, as "1%", or in bursts as "2%@burst=5": 2 % in all, 5 in a row
    in the mean. Beside what a flow gets are the formulas of Padhye and of RFC 9438.

    >>> found = compare_alone(rate="10Mbit/s", rtt="40ms", flows="reno,bbr", loss="0,2%", seeds=2,
    ...     warm_up="2s", duration="10s", workers=1)
    >>> [(row["flow"], row["line_loss"], row["share"] > 0.8) for row in found.rows]
    [('reno', 0.0, True), ('bbr', 0.0, True), ('reno', 0.02, False), ('bbr', 0.02, True)]

    Raises UsageError that names the word and what would make sense.
    """
    given = locals()
    from fairq.questions import asked
    from fairq.questions.each_alone import each_alone

    question = asked.ask(parts, alone=True, **picked(asked.Question, given))
    return each_alone(question, workers=workers or cores(), progress=progress or None)


@checked
def least_buffer(
    share: str | float,
    *,
    down: str,
    up: str,
    rtt: str | Sequence[str],
    flows: str | Sequence[str] | None = None,
    queue: str | Sequence[str] | None = None,
    seeds: int = 10,
    duration: str | None = None,
    warm_up: str | None = None,
    workers: int | None = None,
    progress: Tell | Literal[False] | None = None,
) -> LeastBuffer:
    """Find the least buffer with which `share` of a line is used, as `fairq advise --buffer-for`.

    Rooms from 0.02 to 4 bandwidth-delay products are tried, with `flows` (four downloads of CUBIC)
    and each `queue` (fifo and fq_codel). Each row has the least in products and bytes, with
    its interval and the rule of thumb; `None` if no room is enough.

    >>> found = least_buffer("90%", down="20Mbit/s", up="20Mbit/s", rtt="40ms", flows="reno",
    ...     queue="fifo", seeds=2, warm_up="5s", duration="20s", workers=1)
    >>> 0.1 < found.rows[0]["products"] < 1, found.rows[0]["rule_products"]
    (True, 1.0)

    Raises UsageError that names the word and what would make sense.
    """
    given = locals()
    from fairq.questions import least_buffer as buffers

    sought = buffers.ask(share, **{word: given[word] for word in buffers.WORDS})
    return buffers.least_buffer(sought, workers=workers or cores(), progress=progress or None)
