"""The kernel's rules told once more (tests/peers/linux/oracle.py) are those of the record and of fairq."""

import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RATE = 1_000_000
SECOND = 10**9


@pytest.fixture(scope="module", autouse=True)
def _modules():
    sys.path[:0] = [str(ROOT / "tests" / "peers")]
    yield
    sys.path.remove(str(ROOT / "tests" / "peers"))


def _disciplines():
    """Each discipline by the name of its cases: the oracle, fairq's text form, and whether flows are precedences."""
    from linux.oracle import Drr, Fq, FqCodel, Sfq

    codel = {"limit": 1000, "alone": True}
    forever = {"target": 100 * SECOND, "interval": 1000 * SECOND}
    weights = [300 * at for at in range(1, 9)]
    bands = [1500, 3000, 600, 1514, 4000, 2000]
    in_order = f"map=[{', '.join(map(str, range(8)))}]"
    return {
        "drr": (lambda: Drr(dict.fromkeys(range(8), 1514)), "linux_drr(quantum=1514B) + port_pair", False),
        "drr_small": (lambda: Drr(dict.fromkeys(range(8), 300)), "linux_drr(quantum=300B) + port_pair", False),
        "drr_weights": (lambda: Drr(dict(enumerate(weights))),
                        f"ets(strict=0, quanta=[{', '.join(f'{one}B' for one in weights)}], {in_order})", True),
        "ets_mixed": (lambda: Drr({2 + at: one for at, one in enumerate(bands)}, strict=(0, 1)),
                      f"ets(strict=2, quanta=[{', '.join(f'{one}B' for one in bands)}], {in_order})", True),
        "sfq": (Sfq, "linux_sfq(depth=1000, flows=256) + 3000packets", False),
        "sfq_mixed": (lambda: Sfq(3000), "linux_sfq(quantum=3000B, depth=1000, flows=256) + 3000packets", False),
        "fq": (lambda: Fq(flow_limit=5000), "linux_fq(flow_limit=5000) + 10000packets", False),
        "fq_mixed": (lambda: Fq(flow_limit=5000), "linux_fq(flow_limit=5000) + 10000packets", False),
        "fq_small": (lambda: Fq(limit=20, flow_limit=4), "linux_fq(flow_limit=4) + 20packets", False),
        "fq_ce_threshold": (lambda: Fq(flow_limit=5000, ce_threshold=30_000_000),
                            "linux_fq(flow_limit=5000, ce_threshold=30ms) + 10000packets", False),
        "fq_codel": (FqCodel, "fq_codel + 10240packets", False),
        "fq_codel_turns": (lambda: FqCodel(**forever), "fq_codel(target=100s, interval=1000s) + 10240packets", False),
        "fq_codel_mtu300": (lambda: FqCodel(quantum=300), "fq_codel(quantum=300B) + 10240packets", False),
        "fq_codel_ecn": (FqCodel, "fq_codel + 10240packets", False),
        "fq_codel_ce_threshold": (lambda: FqCodel(ce_threshold=10_000_000),
                                  "fq_codel(ce_threshold=10ms) + 10240packets", False),
        "codel": (lambda: FqCodel(**codel, ecn=False), "fifo + codel + 1000packets", False),
        "codel_ecn": (lambda: FqCodel(**codel), "fifo + codel(ecn=true) + 1000packets", False),
        "codel_ce_threshold": (lambda: FqCodel(**codel, ce_threshold=20_000_000),
                               "fifo + codel(ce_threshold=20ms, ecn=true) + 1000packets", False),
        "codel_small": (lambda: FqCodel(limit=5, alone=True, ecn=False), "fifo + codel + 5packets", False),
    }  # fmt: skip


IN_PLACE = {"fq_mixed.idle": 0.99}
"""The part of the places that it knows, where that is less than 99.9 %: the phase of ticks is not in the record."""


def _oracle(make, packets, by_device):
    from linux.oracle import Packet, run

    arrivals = [(p.arrival, Packet(p.number, p.flow, p.length, p.tos & 3 in (1, 2))) for p in packets]
    return run(make(), arrivals, RATE, by_device)


def _agrees(one, other):
    """Whether two orders of numbers, and drops, are the same in 99.9 %."""
    common = [number for number in one.starts if number in other.starts]
    places = [number for number in other.starts if number in one.starts]
    same = sum(a == b for a, b in zip(common, places, strict=True)) / max(len(common), 1)
    lost = (
        len(one.dropped & other.dropped) / max(len(one.dropped | other.dropped), 1)
        if one.dropped | other.dropped
        else 1
    )
    marks = len(one.marked & other.marked) / len(one.marked | other.marked) if one.marked | other.marked else 1
    return same, lost, marks


def test_the_oracle_is_the_kernel_of_the_record():
    from linux import truth
    from linux.oracle import Sent

    known, seen = _disciplines(), 0
    for name in truth.names(truth.OWN):
        kind = name.split(".")[0]
        if kind not in known:
            continue
        (case,) = truth.cases(truth.OWN, [name])
        make, _, _ = known[kind]
        theirs = Sent(
            {
                p.number: p.departure
                for p in sorted(case.packets, key=lambda p: p.departure or 0)
                if p.departure is not None
            },
            {p.number for p in case.packets if p.marked},
            {p.number for p in case.packets if p.departure is None},
        )
        same, lost, marks = _agrees(_oracle(make, case.packets, by_device=False), theirs)
        has_marks = any(p.marked is not None for p in case.packets)
        assert same >= IN_PLACE.get(name, 0.999) and lost >= 0.999 and (marks >= 0.999 or not has_marks), (
            name,
            same,
            lost,
            marks,
        )
        seen += 1
    assert seen >= 25


@pytest.mark.parametrize("seed", range(8))
def test_fairq_sends_what_the_oracle_sends(seed, tmp_path):
    from linux import order, truth
    from linux.oracle import Sent

    draw = random.Random(seed)
    for kind, (make, text, by_precedence) in _disciplines().items():
        packets, now = [], 0
        load = draw.choice([0.7, 1.05, 1.4])
        for number in range(draw.choice([150, 600])):
            flow = draw.randrange(8)
            tos = (flow << 5 if by_precedence else 0) | draw.choice([0, 2])
            length = draw.choice([60, 200, 590, 1000, 1514])
            packets.append(truth.Packet(number, flow, length, tos, 1, 1, now, None, None))
            # Bursts, and gaps in which the line is idle.
            gap = draw.choice([0.0, 0.3, 1.0, 4.0, 40.0 * (draw.random() < 0.05)])
            now += 8 + int(gap * draw.expovariate(1.0) * 6_000_000 / load)
        theirs = _oracle(make, packets, by_device=True)
        case = truth.Case(kind, "", text, "1Mbit/s", "unlimited", False, packets)
        (tmp_path / kind).mkdir()
        left, marked = order._run(case, order.Setup(text, "1Mbit/s"), tmp_path / kind)
        ours = Sent(
            {number: time // 1000 for number, time in left.items()}, marked, {p.number for p in packets} - set(left)
        )
        assert _agrees(ours, theirs) == (1.0, 1.0, 1.0), (kind, load, _agrees(ours, theirs))
        late = [number for number, time in ours.starts.items() if abs(time - theirs.starts[number]) > 1000]
        assert not late, (kind, late[:3])


def test_another_rule_would_be_found():
    """CoDel's exact square root is not the kernel's step of Newton's method."""
    from linux import truth
    from linux.oracle import FqCodel

    (case,) = truth.cases(truth.OWN, ["codel.overload"])
    make = lambda: FqCodel(limit=1000, alone=True, ecn=False, is_newton=False)  # noqa: E731 - a discipline made twice
    exact, newton = (_oracle(one, case.packets, by_device=False) for one in (make, _disciplines()["codel"][0]))
    assert _agrees(exact, newton)[1] < 0.9
