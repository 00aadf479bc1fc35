"""Own parts in Python equal the registry's to the packet."""

import own_parts
import pytest

import fairq

PARTS = {
    "own_drr": own_parts.OwnDrr,
    "own_codel": own_parts.OwnCodel,
    "own_fifo": own_parts.OwnFifo,
    "own_newreno": own_parts.OwnNewreno,
    "ticks": own_parts.Ticks,
}


def network(queue="fifo + 30packets", transport="newreno", traffic="constant_rate(rate=800kbit/s, packet=1000B)"):
    """Three connections of different round trips, and packets at a constant rate, over one line."""
    flows = [
        {
            "name": name,
            "from": "a",
            "to": "b",
            "traffic": "ftp",
            "transport": transport,
            "connection": {"recovery": "newreno"},
            "access": {"rate": "1 Gbit/s", "delay": delay},
        }
        for name, delay in (("near", "1 ms"), ("far", "15 ms"), ("farther", "40 ms"))
    ]
    flows.append({"name": "call", "from": "a", "to": "b", "traffic": traffic, "transport": "uncontrolled"})
    link = {"name": "line", "from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "5 ms", "queue": queue}
    return {"edition": 2, "measure": {"duration": "30 s"}, "links": [link], "flows": flows}


def packets(**said):
    """Each packet of each flow, and what the queues counted."""
    found = []
    for flow in ("near", "far", "farther", "call"):
        result = fairq.run(network(**said), packets=flow, parts=PARTS, workers=1)
        found.append([tuple(row.values()) for row in result.packets])
    (queue,) = [row for row in result.queues if row["direction"] == "forward"]
    return found, queue["dropped"]


@pytest.mark.parametrize(
    ("own", "known"),
    [
        ({"queue": "own_drr + 30packets"}, {"queue": "drr + 30packets"}),
        ({"queue": "own_drr(quantum=300) + 30packets"}, {"queue": "drr(quantum=300B) + 30packets"}),
        ({"queue": "own_codel + 300packets"}, {"queue": "codel(rfc=true) + 300packets"}),
        ({"queue": "fq + own_codel + 300packets"}, {"queue": "fq + codel(rfc=true) + 300packets"}),
        ({"queue": "own_fifo + 30packets"}, {"queue": "fifo + 30packets"}),
        ({"transport": "own_newreno"}, {"transport": "newreno"}),
        ({"traffic": "ticks"}, {}),
    ],
)
def test_an_own_part_is_the_known_one_to_the_packet(own, known):
    found, expected = packets(**own), packets(**known)
    assert min(map(len, found[0])) > 1000 and found[1] > 0
    assert found == expected
