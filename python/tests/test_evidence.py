"""The evidence of one's own packets in test networks that can be computed by hand."""

import numpy as np
import pytest

from fairq.detection import evidence
from fairq.detection.journeys import Journey

CAPACITY, SIZE = 1e6, 1250.0
PACKET = 8 * SIZE / CAPACITY
"""Seconds that the line needs for a packet: 10 ms."""


def trains(random, count=60, length=6, spread=0.4):
    """Times of trains, a second apart; the distances within them are random."""
    gaps = random.uniform(0.0, spread * PACKET, (count, length))
    return (np.arange(count)[:, None] + np.cumsum(gaps, axis=1)).ravel()


def journey(sent, received, size=SIZE, offset=0.0):
    return Journey("mine", sent, received + offset, np.full(len(sent), size))


def fair(sent, others):
    """A round robin among myself and `others` that always have a packet: a turn comes every others + 1 packets."""
    turn = (others + 1) * PACKET
    received, free = [], 0.0
    for time in sent:
        free = max(free, np.ceil(time / turn) * turn) + turn
        received.append(free)
    return np.array(received)


def fifo(sent, load, random):
    """One queue: what others send comes at a constant rate, beside packets at chance before each train."""
    received, free, last = [], 0.0, -1.0
    for time in sent:
        is_first = time - last > 0.5
        ahead = random.uniform(0, 20) * PACKET if is_first else max(free - time, 0.0) + load * (time - last)
        free, last = time + ahead + PACKET, time
        received.append(free)
    return np.array(received)


def test_behind_a_fair_queue_distances_do_not_follow_the_sending():
    random = np.random.default_rng(1)
    sent = trains(random)
    found = evidence.of(journey(sent, fair(sent, others=3)))
    assert 250 < found.pairs <= 60 * 5
    # others always wait: the smallest distance is a whole round
    assert found.capacity == pytest.approx(CAPACITY / 4)
    assert found.share == pytest.approx(CAPACITY / 4)
    assert abs(found.follows) < 0.3


def test_behind_a_fifo_distances_follow_the_sending():
    random = np.random.default_rng(1)
    sent = trains(random, spread=2.0)
    found = evidence.of(journey(sent, fifo(sent, 0.5, random)))
    # not quite: the smallest distances, which are taken for the capacity's, have something of others in them too
    assert found.follows > 0.95
    assert 0.2 < found.crossing <= 0.5
    assert found.unexplained > 2


def test_a_line_of_ones_own_shows_its_capacity_and_nobody_else():
    random = np.random.default_rng(1)
    sent = trains(random)
    free, received = 0.0, []
    for time in sent:
        free = max(free, time) + PACKET
        received.append(free)
    found = evidence.of(journey(sent, np.array(received)))
    assert found.capacity == pytest.approx(CAPACITY)
    assert found.share == pytest.approx(CAPACITY)
    assert found.crossing < 0.01
    assert found.unexplained < 0.6


def test_clocks_that_differ_move_nothing():
    random = np.random.default_rng(1)
    sent = trains(random)
    received = fair(sent, others=2)
    plain, moved = (evidence.of(journey(sent, received, offset=offset)) for offset in (0.0, -12_345.0))
    for name, value in vars(plain).items():
        assert getattr(moved, name) == pytest.approx(value, rel=1e-4, abs=1e-4), name


def test_what_was_lost_is_left_out_of_distances():
    random = np.random.default_rng(1)
    sent = trains(random)
    received = fair(sent, others=1)
    received[::7] = np.nan
    found = evidence.of(journey(sent, received))
    assert found.packets == len(sent)
    assert found.pairs < 300


def test_few_packets_or_none_behind_another_are_no_evidence():
    times = np.arange(1000.0)
    assert evidence.of(journey(times, times + 0.1)) is None
    assert evidence.of(journey(times[:3], times[:3] + 9)) is None
    assert evidence.of(journey(times, np.full(1000, np.nan))) is None


def test_the_smallest_distance_is_that_of_a_cluster_not_of_one_packet():
    random = np.random.default_rng(1)
    blurred = np.concatenate([random.normal(1.0, 0.02, 300), random.normal(3.0, 0.02, 700), [0.1, 0.3]])
    assert evidence.smallest(blurred) == pytest.approx(1.0, rel=0.01)


def test_the_own_backlog_counts_what_has_not_come_out():
    arrived = np.array([0.0, 1.0, 2.0, 10.0])
    received = np.array([1.5, 3.0, 4.5, 11.5])
    bits = np.array([10.0, 20.0, 30.0, 40.0])
    assert list(evidence.own_backlog(arrived, received, bits)) == [10.0, 30.0, 50.0, 40.0]
