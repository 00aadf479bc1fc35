"""`fairq theory max-min`: the shares of a scenario's flows, against answers that are known."""

from pathlib import Path

import pytest


def scenario(folder, links, flows):
    """`links` are rates in Mbit/s of lines one after another; `flows` name: (first node, last node, weight, demand)."""
    text = ""
    for number, capacity in enumerate(links):
        text += f'[[links]]\nname = "l{number}"\nfrom = "n{number}"\nto = "n{number + 1}"\nrate = "{capacity} Mbit/s"\n'
    for name, (first, last, weight, demand) in flows.items():
        traffic = "ftp" if demand is None else f"constant_rate(rate={demand}Mbit/s)"
        text += f'[[flows]]\nname = "{name}"\nfrom = "n{first}"\nto = "n{last}"\ntraffic = "{traffic}"\n'
        text += f"weight = {weight}\n"
    path = folder / "x.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("links", "flows", "shares"),
    [
        # one flow over two lines, weights 1, 2, 1
        ([3, 3], {"both": (0, 2, 1, None), "left": (0, 1, 2, None), "right": (1, 2, 1, None)}, [1, 2, 2]),
        ([1, 1], {"both": (0, 2, 1, None), "right": (1, 2, 1, None)}, [0.5, 0.5]),
        # demands 1, 4, 8 of a line of 10
        ([10], {"a": (0, 1, 1, 1), "b": (0, 1, 1, 4), "c": (0, 1, 1, 8)}, [1, 4, 5]),
        # the parking lot
        ([1] * 3, {"long": (0, 3, 1, None), **{f"s{k}": (k, k + 1, 1, None) for k in range(3)}}, [0.5] * 4),
        # lines of 10 and 4
        ([10, 4], {"a": (0, 1, 1, None), "b": (0, 2, 1, None), "c": (1, 2, 1, None)}, [8, 2, 2]),
        # and a third of 1
        (
            [10, 4, 1],
            {"a": (0, 1, 1, None), "b": (0, 2, 1, None), "c": (1, 3, 1, None), "d": (1, 2, 1, None)},
            [8.5, 1.5, 1, 1.5],
        ),
    ],
)
def test_the_shares_are_those_known(document, tmp_path, links, flows, shares):
    rows = document("theory", "max-min", scenario(tmp_path, links, flows))
    assert [row["flow"] for row in rows] == list(flows)
    assert [row["share_bit_per_s"] / 1e6 for row in rows] == pytest.approx(shares)


def test_a_field_can_be_changed(document, tmp_path):
    path = scenario(tmp_path, [10], {"a": (0, 1, 1, None), "b": (0, 1, 1, None)})
    rows = document("theory", "max-min", path, "--set", "flows.a.weight=4")
    assert [row["share_bit_per_s"] for row in rows] == pytest.approx([8e6, 2e6])


def test_a_scenario_that_is_wrong_is_refused(refused, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("[[links]]\nname = 'a'\nspeed = 3\n")
    assert "x.toml" in refused("theory", "max-min", path)


@pytest.mark.parametrize("name", ["web", "flow_arrivals", "multicast"])
def test_where_transfers_or_sessions_come_and_go_nothing_is_said(fairq, document, name):
    scenario = Path(__file__).resolve().parents[2] / "scenarios" / f"{name}.toml"
    rows = document("theory", "max-min", scenario)
    assert rows and all(row["share_bit_per_s"] is None for row in rows)
    _, out, _ = fairq("theory", "max-min", scenario)
    assert "transfers or sessions come and go" in out
