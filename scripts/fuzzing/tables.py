"""Tables in text: delivery traces, traffic in CSV, and journeys of packets in CSV."""

from __future__ import annotations

from fuzzing.drawing import Case, Draw, damaged


def trace(draw: Draw) -> bytes:
    """A delivery trace as Mahimahi records it."""
    now, lines = 0, []
    for _ in range(1 + draw.up_to(draw.one((3, 30, 300)))):
        now += draw.one((0, 0, 1, 1, 3, 20, 1000))
        lines.append(str(now))
    lines.append(str(now + 1))
    return damaged(draw, draw.one(("\n", "\n", "\r\n", "\n\n")).join(lines), (), 0.3).encode()


def traffic(draw: Draw) -> bytes:
    """A table of packets: when, of which flow, how long."""
    separator = draw.one(",,,,,;") if draw.chance(0.1) else ","
    columns = ["time", "flow", "bytes"]
    now, lines = 0.0, [separator.join(columns)]
    for _ in range(1 + draw.up_to(draw.one((3, 30, 100)))):
        now += draw.one((0.0, 0.0001, 0.001))
        row = {"time": f"{now:.6f}", "flow": draw.one(("a", "b", "a b", '"q"')), "bytes": draw.one(("40", "1500", "1"))}
        lines.append(separator.join(row[column] for column in columns))
    return damaged(draw, draw.one(("\n", "\n", "\r\n")).join(lines) + "\n", ("time", "flow", "bytes"), 0.3).encode()


def traces(draw: Draw) -> Case:
    """A scenario whose line follows a trace, and whose traffic is a table."""
    text = SCENARIO
    if draw.chance(0.5):
        text = text.replace('rate = "1 Mbit/s"', 'trace = "t.trace"')
    if draw.chance(0.6):
        of = draw.one(("", ", flow=a", ", flow=b"))
        text += f'[[flows]]\nname = "c"\nfrom = "a"\nto = "b"\ntraffic = "csv(file=t.csv{of})"\n'
    command = ("run", "s.toml", "--workers", "1", "--json")
    return Case((command,), {"s.toml": text.encode(), "t.trace": trace(draw), "t.csv": traffic(draw)})


SCENARIO = """edition = 2
[measure]
duration = "60 ms"
[[links]]
name = "l"
from = "a"
to = "b"
rate = "1 Mbit/s"
[[flows]]
name = "f"
from = "a"
to = "b"
start = "0 s"
traffic = "ftp"
"""


def journeys(draw: Draw) -> Case:
    """A table of packets with the times of both ends."""
    separator = draw.one((",", ",", ";", "\t"))
    columns = ["sent_s", "received_s", "bytes", *draw.some(("flow", "seed", "n"), 0.4)]
    draw.shuffle(columns)
    sent, free, lines = draw.one((0.0, 1e9)), 0.0, [separator.join(columns)]
    gap, other = draw.one((0.0001, 0.001, 0.01)), draw.chance(0.5)
    for at in range(draw.up_to(draw.one((5, 50, 400)))):
        sent += gap * (0.3 + draw.random())
        size = draw.one((1500, 1500, 40))
        free = max(free, sent) + size * 8e-7 * (1 + (other and draw.chance(0.5)))
        received = "" if draw.chance(0.02) else f"{free + 0.01:.7f}"
        row = {"sent_s": f"{sent:.7f}", "received_s": received, "bytes": str(size), "flow": draw.one(("a", "a", "b")),
               "seed": "1", "n": str(at)}  # fmt: skip
        lines.append(separator.join(row[column] for column in columns))
    text = damaged(draw, draw.one(("\n", "\r\n")).join(lines) + "\n", ("sent_s", "received_s", "bytes", "flow"), 0.3)
    options = [word for one in draw.some((("--json",), ("--all",), ("--wide",)), 0.3) for word in one]
    return Case((("detect", "t.csv", *options),), {"t.csv": text.encode(errors="surrogatepass")})
