"""Rules of Linux's queues beside flows: types of service, timers, memory, heavy hitters.

The oracles of tests/peers/linux/rules do what the kernel did where there is a record, and fairq does
what they do on random arrivals.
"""

import random
from dataclasses import replace

import pytest
import test_linux_oracles as shared

arrivals, oracle, order, truth = shared.arrivals, shared.oracle, shared.order, shared.truth
classes, flows, commands = shared.classes, shared.flows, shared.commands
with pytest.MonkeyPatch.context() as patched:
    patched.syspath_prepend(shared.PEERS)
    from linux.rules import hhf

MAKERS = {
    **oracle.MAKERS,
    "pfifo_fast": classes.PfifoFast,
    "skbprio": classes.Skbprio,
    "hhf": lambda given: hhf.Hhf(given.options),
}

RECORDED = [
    name
    for name in (
        "prio_tos.steady", "prio_tos.overload", "pfifo_fast.steady", "pfifo_fast_tos.steady",
        "pfifo_fast_tos.burst", "fq_maxrate.overload", "fq_codel_memory.steady",
    )
    if name in truth.names(truth.OWN)
]  # fmt: skip
"""Cases of these rules; those that the record has."""


def _made(case):
    given = commands(case.tc)
    return MAKERS[given.kind](given)


@pytest.mark.parametrize("name", RECORDED)
def test_oracle_and_fairq_do_what_the_kernel_did(name):
    (case,) = truth.cases(truth.OWN, [name])
    for found in (order.judged(case, "", *oracle.run(case, _made(case))), order.verdict(case)):
        assert min(found.in_place, found.drops_same) >= 0.999, found


TOS = [0x00, 0x02, 0x08, 0x10, 0x18, 0xB8, 0x20, 0x2A]


def _prio(draw):
    bands = draw.randint(3, 6)
    rows = [f"prio bands {bands}"]
    rows[0] += draw.choice(["", f" priomap {' '.join(str(draw.randrange(bands)) for _ in range(16))}"])
    # A filter for one code point; all other packets go by their priority.
    match = f"match ip tos 0xb8 0xfc flowid 10:{draw.randint(1, bands)}"
    return rows + draw.choice([[], [f"filter add dev r1 parent 10: protocol ip prio 1 u32 {match}"]])


def _fq_maxrate(draw):
    words = [f"fq maxrate {draw.choice([80, 150, 300, 700])}kbit"]
    words += draw.choice([[], [f"timer_slack {draw.choice([1, 50, 2000])}us"]])
    return [" ".join([*words, *draw.choice([[], [f"quantum {draw.randint(300, 4000)}"]])])]


def _fq_codel_memory(draw):
    # Down to what two packets take: then room is made once, and the limit may stay exceeded.
    words = [f"fq_codel memory_limit {draw.choice([5000, 20_000, draw.randint(5000, 90_000)])}"]
    return [" ".join([*words, *draw.choice([[], [f"drop_batch {draw.randint(1, 8)}"]])])]


def _tbf(draw):
    words = [shared._tbf(draw)[0], f"overhead {draw.choice([0, 10, 40])}"]
    words += draw.choice([[], [f"mpu {draw.randint(60, 200)}"]])
    return [" ".join([*words, *draw.choice([[], ["linklayer atm"]])])]


def _hhf(draw):
    words = [f"hhf limit {draw.choice([draw.randint(5, 60), 1000])}"]
    words += [f"admit_bytes {draw.randint(2000, 20_000)} quantum {draw.randint(256, 3000)}"]
    words += [f"reset_timeout {draw.randint(20, 400)}ms evict_timeout {draw.randint(20, 2000)}ms"]
    return [" ".join([*words, *draw.choice([[], [f"non_hh_weight {draw.randint(1, 5)}"]])])]


SEEDS = shared.SEEDS

RULES = {
    "prio": _prio,
    "pfifo_fast": lambda draw: ["pfifo_fast"],
    "fq": _fq_maxrate,
    "fq_codel": _fq_codel_memory,
    "tbf": _tbf,
    "hhf": _hhf,
    "skbprio": lambda draw: [f"skbprio limit {draw.randint(2, 64)}"],
}


def _case(kind, seed):
    draw = random.Random(f"queues/{kind}/{seed}")
    first, *rest = RULES[kind](draw)
    shapes = kind == "tbf"
    line = [] if shapes else arrivals.LINE
    above = "root handle 10:" if shapes else arrivals.UNDER
    lines = "; ".join([*line, f"qdisc add dev r1 {above} {first}", *rest])
    packets = [replace(p, tos=TOS[p.flow]) for p in shared._packets(draw, kind)]
    return truth.Case(f"{kind}/{seed}", lines, "", "1Gbit/s" if shapes else "1Mbit/s", "unlimited", False, packets)


@pytest.mark.parametrize("kind", RULES)
def test_fairq_does_what_the_oracle_does(kind):
    differing, decided = {}, 0
    for seed in range(SEEDS):
        case = _case(kind, seed)
        discipline = shared._as_fairq(_made(case))
        found = shared._beside(case, discipline)
        # Of equally fat queues the one with the lowest hash loses, which is fairq's.
        if getattr(discipline, "ties", 0):
            continue
        decided += 1
        if shared._differs(found):
            differing[case.tc] = found
    assert not differing
    assert decided > SEEDS / 4


def _without_slack(fq, options, made=flows.Fq.__init__):
    made(fq, options)
    fq.slack = 1


def _of_lengths(length):
    return length


def _burst_alone(bucket, options, made=shared.tbf.Tbf.__init__):
    made(bucket, options)
    # A packet must fit into it.
    bucket.full = max(options.number("burst") * 10**9 // bucket.rate, bucket.time(1514, bucket.rate))


def _all_are_light(hitters, now, packet):
    return False


WRONG = {
    "a timer that is not late": ("fq", flows.Fq, "__init__", _without_slack),
    "memory of lengths": ("fq_codel", flows, "truesize", _of_lengths),
    "a bucket of the burst": ("tbf", shared.tbf.Tbf, "__init__", _burst_alone),
    "one band": ("prio", classes.Prio, "band_of", lambda prio, packet: 1),
    "no heavy hitter": ("hhf", hhf.Hhf, "is_heavy", _all_are_light),
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_wrong_rule_is_seen_on_random_arrivals(rule, monkeypatch):
    kind, owner, attribute, value = WRONG[rule]
    monkeypatch.setattr(owner, attribute, value)
    cases = [_case(kind, seed) for seed in range(SEEDS)]
    assert any(shared._differs(shared._beside(case, shared._as_fairq(_made(case)))) for case in cases)


def test_a_mark_or_a_drop_of_sfqs_red_takes_the_place_of_a_long_queue():
    # sfq_enqueue: RED of each queue, by what `ecn` and `headdrop` say.
    plain = "sfq limit 3000 depth 1000"
    red = f"{plain} redflowlimit 30000 min 6000 max 18000 probability 0.2"
    found = {}
    for options in (plain, red, f"{red} ecn", f"{red} ecn headdrop", f"{red} ecn harddrop"):
        case = _of_one_flow(options)
        found[options.removeprefix(plain)] = order.verdict(case)
    drops = {name: verdict.drops[1] for name, verdict in found.items()}
    waits = {name: verdict.wait_ms[1] for name, verdict in found.items()}
    first, *others = drops
    assert drops[first] == 0 and all(drops[name] > 30 for name in others if name.endswith(("0.2", "harddrop")))
    assert drops[others[1]] == drops[others[2]] == 0
    assert waits[others[0]] < waits[first] / 3


def _of_one_flow(options):
    """A flow that accepts CE at 1.3 of the line, and nothing of what a kernel did."""
    draw = random.Random(1)
    time, packets = 0, []
    for number in range(400):
        packets.append(truth.Packet(number, 0, 1000, 2, 1, 1, time, None, None))
        time += round(draw.expovariate(1) * 8_000_000 / 1.3)
    lines = "; ".join([*arrivals.LINE, f"qdisc add dev r1 {arrivals.UNDER} {options}"])
    return truth.Case("one", lines, "", "1Mbit/s", "unlimited", False, packets)
