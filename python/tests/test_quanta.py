"""What the kernel warns of the quanta of htb."""

import json

import pytest

from fairq import traffic_control as tc
from fairq.cli import program

LOGGED = """
tc qdisc add dev wlp1s0 root handle 1: htb default 30
tc class add dev wlp1s0 parent 1: classid 1:1 htb rate 100mbit ceil 100mbit
tc class add dev wlp1s0 parent 1:1 classid 1:10 htb rate 50mbit ceil 100mbit prio 1
tc class add dev wlp1s0 parent 1:1 classid 1:20 htb rate 10mbit ceil 100mbit prio 2
tc class add dev wlp1s0 parent 1:1 classid 1:30 htb rate 40mbit ceil 100mbit prio 3
"""
"""A public log of a shell: after these commands the kernel warned of three classes."""
OF_LOG = [f"sch_htb: quantum of class {name} is big. Consider r2q change." for name in ("10001", "10010", "10030")]


def test_the_kernel_warns_of_the_classes_of_which_it_warned_in_a_log():
    found = tc.read(LOGGED)
    assert [row["warning"] for row in found.warns] == OF_LOG
    assert found.warns[0]["why"] == "100Mbit/s over r2q 10 is 1250000 B; Linux and htb here take 200000 B"
    assert found.warns[0]["remedy"] == "write quantum 200000, or r2q 63"


@pytest.mark.parametrize(
    ("rate", "options", "r2q", "warned"),
    [
        # 1000 B and 200,000 B are neither small nor big: 80 kbit/s and 16 Mbit/s over 10.
        ("80kbit", "", "", ""),
        ("79999bit", "", "", "small"),
        ("16mbit", "", "", ""),
        ("16000080bit", "", "", "big"),
        ("16mbit", "", "r2q 9", "big"),
        ("1gbit", "", "r2q 625", ""),
        ("80kbit", "", "r2q 11", "small"),
        # What is named is taken as it is.
        ("1gbit", "quantum 300000", "", ""),
        ("8kbit", "quantum 200", "", ""),
    ],
)
def test_a_quantum_is_small_or_big_where_the_kernel_says_so(rate, options, r2q, warned):
    commands = f"qdisc add dev e root handle 1: htb default 1 {r2q}; class add dev e parent 1: classid 1:1 htb"
    found = tc.read(f"{commands} rate {rate} {options}")
    said = [row["warning"] for row in found.warns]
    assert said == ([f"sch_htb: quantum of class 10001 is {warned}. Consider r2q change."] if warned else [])
    if warned:
        assert found.warns[0]["why"].endswith(f"take {1000 if warned == 'small' else 200_000} B")
        # What the remedy says ends the warning.
        quantum, r2q_there = found.warns[0]["remedy"].removeprefix("write ").split(", or ")
        assert tc.read(f"{commands} rate {rate} {quantum}").warns == []
        again = commands.replace(r2q, r2q_there) if r2q else commands.replace("default 1", f"default 1 {r2q_there}")
        assert tc.read(f"{again} rate {rate}").warns == []


def test_warnings_are_lines_and_in_the_document(capsys):
    assert program.main(["tc", "--read", LOGGED]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if OF_LOG[2] in line and line.startswith("Linux warns: class 1:30: ")]
    assert program.main(["tc", "--read", LOGGED, "--json"]) == 0
    assert [row["warning"] for row in json.loads(capsys.readouterr().out)["warns"]] == OF_LOG
