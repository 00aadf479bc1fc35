"""What the pages show is what the commands print, and what they link to is there."""

import re
import shlex
from pathlib import Path

import pytest

import fairq
from fairq import cli

ROOT = Path(__file__).resolve().parents[2]


def test_the_run_in_the_readme_is_the_real_one(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    block = re.search(
        r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n…\n```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert block is not None
    assert cli.main(block[1].split()) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    shown = [line.rstrip() for line in block[2].splitlines()]
    assert printed[: len(shown)] == shown


def test_the_other_runs_in_the_readme_are_those_of_the_guide():
    """Which are the real ones, by the tests of their pages."""
    blocks = r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```"
    of_guide = {}
    for page in (ROOT / "docs" / "guide").glob("*.md"):
        of_guide |= dict(re.findall(blocks, page.read_text(encoding="utf-8"), re.DOTALL))
    shown = re.findall(blocks, (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1:]
    assert [command.split()[0] for command, _ in shown] == ["compare", "advise"]
    for command, lines in shown:
        assert all(part.strip() in of_guide[command] for part in lines.split("…"))


def test_the_picture_in_the_readme_shows_the_round_trips_of_its_run(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import keystrokes

    rows = fairq.run(ROOT / "scenarios" / "dumbbell.toml").flows
    labels = [keystrokes.label(row) for row in rows if row["flow"] == keystrokes.FLOW]
    drawn = (ROOT / "docs" / "keystrokes.svg").read_text(encoding="utf-8")
    assert labels and all(f"<!-- {label} -->" in drawn for label in labels), "run scripts/keystrokes.py"
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    times = [label.split(maxsplit=1)[1] for label in labels]
    assert f"mean round trip from {' to '.join(times)}" in readme


def test_the_picture_in_the_readme_is_what_its_script_makes(monkeypatch, tmp_path):
    from matplotlib import __version__

    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import keystrokes

    committed = (ROOT / "docs" / "keystrokes.svg").read_text(encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["keystrokes.py", "--out", str(tmp_path / "x.svg")])
    assert keystrokes.main() == 0
    # another version of the plotting package writes other bytes
    if f"Matplotlib v{__version__}," in committed:
        assert (tmp_path / "x.svg").read_text(encoding="utf-8") == committed, "run scripts/keystrokes.py"


def test_the_first_scenario_of_the_guide_prints_what_is_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guide" / "first-scenario.md").read_text()
    block = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    shown = re.search(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n…\n```", page, re.DOTALL)
    assert block is not None and shown is not None
    Path("my.toml").write_text(block[1])
    assert cli.main(shown[1].split()) == 0
    printed = "\n".join(line.rstrip() for line in capsys.readouterr().out.splitlines())
    assert printed.startswith(shown[2] + "\n")


def test_the_first_scenario_of_the_guide_tells_its_queues_apart(tmp_path):
    page = (ROOT / "docs" / "guide" / "first-scenario.md").read_text()
    block = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert block is not None
    (tmp_path / "my.toml").write_text(block[1])
    delay = {(row["queue"], row["flow"]): row["delay_s_mean"] for row in fairq.run(tmp_path / "my.toml").flows}
    for one, other, flow in [("fifo", "fq", "call"), ("fq", "fq_codel", "upload.1"), ("fq", "fq_codel", "upload.2")]:
        assert delay[one, flow] > 5 * delay[other, flow], f"{one} and {other} differ for {flow}"


def test_the_study_of_the_guide_is_one(tmp_path):
    from fairq.sweeps.study import read_study

    page = (ROOT / "docs" / "guide" / "sweeps.md").read_text()
    block = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert block is not None
    # the file that it names is where it says, beside the checkout's own
    assert (ROOT / re.findall(r'scenario = "([^"]+)"', block[1])[0]).is_file()
    (tmp_path / "buffers.toml").write_text(block[1])
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    study = read_study(tmp_path / "buffers.toml")
    assert study.axes == ("rate", "access", "buffer", "bdp", "policy")
    # a queue of 500 packets is more than four times the delay-bandwidth product at 10 Mbit/s
    assert len(study.points) == (3 * 3 - 1) * 2 and all(len(point.digests) == 20 for point in study.points)


def test_the_audit_of_the_guide_is_the_real_one(capsys):
    page = (ROOT / "docs" / "guide" / "audit.md").read_text()
    block = re.search(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert cli.main(block[1].split()) == 0
    assert capsys.readouterr().out.rstrip("\n") == block[2]


def test_the_baseline_of_the_guide_is_the_real_one(capsys):
    page = (ROOT / "docs" / "guide" / "baseline.md").read_text()
    block = re.search(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert cli.main(block[1].split()) == 0
    assert capsys.readouterr().out.rstrip("\n") == block[2]


def test_the_commands_of_tc_in_the_guide_are_the_real_ones(capsys):
    page = (ROOT / "docs" / "guide" / "linux.md").read_text()
    blocks = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        assert cli.main(shlex.split(command)) == 0
        assert capsys.readouterr().out.rstrip("\n") == shown


def test_the_policer_of_the_guide_drops_what_is_shown(capsys):
    page = (ROOT / "docs" / "guide" / "policing.md").read_text()
    blocks = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert [command.split()[0] for command, _ in blocks] == ["compare", "tc"]
    for command, shown in blocks:
        assert cli.main(shlex.split(command)) == 0
        assert capsys.readouterr().out.rstrip("\n") == shown


def test_the_drop_precedences_of_the_guide_are_those_of_the_scenario(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "guide" / "drop-precedence.md").read_text()
    ((command, shown),) = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n…\n```", page, re.DOTALL)
    assert cli.main(shlex.split(command)) == 0
    assert capsys.readouterr().out.startswith(f"{shown}\n")


def test_the_hosts_of_the_guide_are_those_of_the_scenario(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "guide" / "hosts.md").read_text()
    block = re.search(r"```console\n\$ \.venv/bin/fairq (.*?)\n…\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert cli.main(block[1].split()) == 0
    printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert [line for line in block[2].splitlines() if line not in printed] == []


def test_the_guest_of_the_guide_is_that_of_the_scenario():
    page = (ROOT / "docs" / "guide" / "traffic.md").read_text()
    block = re.search(r"## Start and stop.*?```toml\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert block[1] in (ROOT / "scenarios" / "come_and_go.toml").read_text()


def test_the_tree_of_classes_in_the_guide_is_that_of_the_scenario():
    page = (ROOT / "docs" / "guide" / "classes.md").read_text()
    block = re.search(r"```toml\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert block[1] in (ROOT / "scenarios" / "htb.toml").read_text()


def test_the_topologies_of_the_guide_run_and_print_what_is_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "guide" / "topologies.md").read_text()
    shape, file = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    block = re.search(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert block is not None
    assert cli.main(block[1].split()) == 0
    assert capsys.readouterr().out.rstrip("\n") == block[2]
    scenario = tmp_path / "my.toml"
    scenario.write_text(shape)
    assert cli.main(["run", str(scenario)]) == 0
    assert "across.8" in capsys.readouterr().out
    flow = '[[flows]]\nname = "f"\nfrom = "{}"\nto = "{}"\ntraffic = "ftp"\n[measure]\nduration = "1 s"\n'
    (tmp_path / "four_cities.gml").write_text((ROOT / "docs" / "guide" / "four_cities.gml").read_text())
    scenario.write_text(file + flow.format("Lisbon", "4"))
    assert cli.main(["run", str(scenario)]) == 0
    page = (ROOT / "docs" / "guide" / "imperfect-links.md").read_text()
    (link,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "Verizon-LTE-short.down").write_text("1\n5\n9\n")
    scenario.write_text(link + flow.format("base", "mobile"))
    assert cli.main(["run", str(scenario)]) == 0


def test_the_questions_of_the_guide_have_the_answers_that_are_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "guide" / "compare.md").read_text()
    blocks = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        assert cli.main(shlex.split(command)) == 0
        out = capsys.readouterr().out
        assert shown.strip("…\n") in out if shown.startswith("…") else out.startswith(shown.rstrip("…"))
    assert cli.main(["run", "asked.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(shown.rstrip("…"))


@pytest.mark.parametrize("name", ["moving-lines", "losses", "buffers", "several-queues"])
def test_the_other_questions_of_the_guide_have_the_answers_that_are_shown(name, capsys):
    page = (ROOT / "docs" / "guide" / f"{name}.md").read_text()
    ((command, shown),) = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert cli.main(shlex.split(command)) == 0
    assert capsys.readouterr().out.rstrip("\n") == shown


def test_the_advice_of_the_guide_is_the_real_one(capsys):
    page = (ROOT / "docs" / "guide" / "advise.md").read_text()
    (block,) = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert cli.main(block[0].split()) == 0
    assert capsys.readouterr().out.rstrip("\n") == block[1]


def test_the_theory_of_the_guide_is_the_real_one(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / "guide" / "theory.md").read_text()
    blocks = re.findall(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", page, re.DOTALL)
    assert len(blocks) == 2
    for command, shown in blocks:
        assert cli.main(command.split()) == 0
        assert shown.strip("…\n") in capsys.readouterr().out


LINES_MAX = 110
"""Lines of a page of the guide: two screens."""

PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("papers/*/*.md"),
    *ROOT.glob("crates/*/*.md"),
    *ROOT.glob("tests/peers/**/*.md"),
]


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*?)\s*$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_and_heading_that_is_linked_is_there():
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            place = page.parent / target if target else page
            assert place.exists(), f"{page.relative_to(ROOT)} links to {target}"
            if anchor and place.suffix == ".md":
                assert anchor in anchors(place), f"{page.relative_to(ROOT)} links to {target}#{anchor}"


def test_the_readme_leads_to_every_page_of_the_guide_by_its_question():
    guide = ROOT / "docs" / "guide"
    assert "](docs/guide/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    linked = re.findall(
        r"^- \[(.*)\]\(([\w-]+\.md)\)$", (guide / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    pages = [page for page in guide.glob("*.md") if page.name != "README.md"]
    asked = [(page.read_text(encoding="utf-8").split("\n")[0].removeprefix("# "), page.name) for page in pages]
    assert sorted(linked) == sorted(asked)


def test_a_page_of_the_guide_asks_and_answers_on_two_screens():
    for page in (ROOT / "docs" / "guide").glob("*.md"):
        heading, answer = page.read_text(encoding="utf-8").split("\n\n")[:2]
        assert re.fullmatch(r"# .*\?", heading), f"{page.name} begins with no question"
        assert answer[0].isalnum() or answer[0] in "`[", f"{page.name} answers in no paragraph"
        lines = page.read_text(encoding="utf-8").count("\n")
        assert lines <= LINES_MAX, f"{page.name} has {lines} lines; split it by question"


def test_the_calibration_that_is_shown_is_the_one_that_was_kept(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import detect_calibrate

    page = (ROOT / "docs" / "design" / "detect.md").read_text(encoding="utf-8")
    table = detect_calibrate.calibration(detect_calibrate.kept())
    assert len(table) == 9
    for row in table:
        low, high, worlds, said, _, fair, *interval = row.values()
        numbers = [f"{value:.3f}" for value in (said, fair, *interval)]
        assert f"| {low:g} to {high:g} | {worlds:.0f} | {' | '.join(numbers)} |" in page
