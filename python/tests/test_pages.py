"""What the pages show is what the commands print, and what they link to is there."""

import doctest
import re
import shlex
from pathlib import Path

import office
import pytest

import fairq
from fairq.cli import program

ROOT = Path(__file__).resolve().parents[2]


CONSOLE = re.compile(r"```console\n\$ \.venv/bin/fairq (.*?)\n(.*?)\n```", re.DOTALL)
"""A command on a page, and what it prints; `…` at an end of that stands for lines left out."""
SESSION = re.compile(r"```pycon\n(.*?)```", re.DOTALL)
"""Lines of Python on a page, each with what it gives."""
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
"""A file of Python on a page."""
TOML = re.compile(r"```toml\n(.*?)```", re.DOTALL)


def guide(name):
    """A page of the guide."""
    return (ROOT / "docs" / "guide" / f"{name}.md").read_text(encoding="utf-8")


def prints_what_it_shows(page, commands, capsys):
    """Run the commands of a page, which these are, and compare what they print."""
    found = CONSOLE.findall(page)
    assert [command.split()[0] for command, _ in found] == commands.split()
    for command, shown in found:
        assert program.main(shlex.split(command)) == 0
        out = capsys.readouterr().out
        if shown.startswith("…"):
            assert shown.strip("…\n") in out
        elif shown.endswith("…"):
            assert out.startswith(shown.rstrip("…"))
        else:
            assert out.rstrip("\n") == shown


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("advise", "advise"),
        ("audit", "audit"),
        ("baseline", "baseline"),
        ("buffers", "advise"),
        ("drop-precedence", "run"),
        ("emulate", "emulate"),
        ("linux", "tc tc tc tc"),
        ("losses", "compare"),
        ("moving-lines", "compare"),
        ("policing", "compare tc"),
        ("serve", "serve"),
        ("several-queues", "compare"),
        ("shared-line", "advise"),
        ("theory", "theory run"),
    ],
)
def test_a_page_shows_what_is_printed(name, commands, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    prints_what_it_shows(guide(name), commands, capsys)


@pytest.mark.parametrize("name", ["linux", "live", "tc-show", "theory"])
def test_a_page_shows_what_python_gives(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    (session,) = SESSION.findall(guide(name))
    done = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(session, {}, name, None, 0))
    assert done.attempted > 1 and done.failed == 0


def test_the_run_in_the_readme_is_the_real_one(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    prints_what_it_shows(readme.partition("## Which queue")[0], "run", capsys)


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
    page = guide("first-scenario")
    (scenario,) = TOML.findall(page)
    Path("my.toml").write_text(scenario)
    prints_what_it_shows(page, "run", capsys)


def test_the_first_scenario_of_the_guide_tells_its_queues_apart(tmp_path):
    (scenario,) = TOML.findall(guide("first-scenario"))
    (tmp_path / "my.toml").write_text(scenario)
    delay = {(row["queue"], row["flow"]): row["delay_s_mean"] for row in fairq.run(tmp_path / "my.toml").flows}
    for one, other, flow in [("fifo", "fq", "call"), ("fq", "fq_codel", "upload.1"), ("fq", "fq_codel", "upload.2")]:
        assert delay[one, flow] > 5 * delay[other, flow], f"{one} and {other} differ for {flow}"


def test_the_study_of_the_guide_is_one(tmp_path):
    from fairq.studies.study import read_study

    text = TOML.findall(guide("sweeps"))[0]
    # the file that it names is where it says, beside the checkout's own
    assert (ROOT / re.findall(r'scenario = "([^"]+)"', text)[0]).is_file()
    (tmp_path / "buffers.toml").write_text(text)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    study = read_study(tmp_path / "buffers.toml")
    assert study.axes == ("rate", "access", "buffer", "bdp", "policy")
    # a queue of 500 packets is more than four times the delay-bandwidth product at 10 Mbit/s
    assert len(study.points) == (3 * 3 - 1) * 2 and all(len(point.digests) == 20 for point in study.points)


def test_the_hosts_of_the_guide_are_those_of_the_scenario(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    ((command, shown),) = CONSOLE.findall(guide("hosts"))
    assert program.main(command.split()) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in shown.removeprefix("…\n").splitlines() if line not in printed] == []


def test_the_guest_of_the_guide_is_that_of_the_scenario():
    block = TOML.search(guide("traffic").split("## Start and stop")[1])
    assert block is not None
    assert block[1] in (ROOT / "scenarios" / "come_and_go.toml").read_text()


def test_the_tree_of_classes_in_the_guide_is_that_of_the_scenario():
    block = TOML.search(guide("classes"))
    assert block is not None
    assert block[1].rstrip("\n") in (ROOT / "scenarios" / "htb.toml").read_text()


def test_the_topologies_of_the_guide_run_and_print_what_is_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    page = guide("topologies")
    shape, file = TOML.findall(page)
    prints_what_it_shows(page, "topology", capsys)
    scenario = tmp_path / "my.toml"
    scenario.write_text(shape)
    assert program.main(["run", str(scenario)]) == 0
    assert "across.8" in capsys.readouterr().out
    flow = '[[flows]]\nname = "f"\nfrom = "{}"\nto = "{}"\ntraffic = "ftp"\n[measure]\nduration = "1 s"\n'
    (tmp_path / "four_cities.gml").write_text((ROOT / "docs" / "guide" / "four_cities.gml").read_text())
    scenario.write_text(file + flow.format("Lisbon", "4"))
    assert program.main(["run", str(scenario)]) == 0
    (link,) = TOML.findall(guide("imperfect-links"))
    (tmp_path / "Verizon-LTE-short.down").write_text("1\n5\n9\n")
    scenario.write_text(link + flow.format("base", "mobile"))
    assert program.main(["run", str(scenario)]) == 0


def test_the_questions_of_the_guide_have_the_answers_that_are_shown(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    page = guide("compare")
    prints_what_it_shows(page, "compare explain compare", capsys)
    assert program.main(["run", "asked.toml", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith(CONSOLE.findall(page)[-1][1].rstrip("…"))


@pytest.mark.parametrize("name", ["own-discipline", "own-control"])
def test_own_parts_of_the_guide_give_what_is_shown(name, capsys, monkeypatch, tmp_path):
    from matplotlib import __version__

    monkeypatch.chdir(tmp_path)
    page = guide(name)
    parts = PYTHON.findall(page)
    assert all(part.count("\n") <= 30 for part in parts)
    Path("mine.py").write_text("\n".join(parts), encoding="utf-8")
    prints_what_it_shows(page, "compare", capsys)
    committed = (ROOT / "docs" / "guide" / f"{name}.svg").read_text(encoding="utf-8")
    # another version of the plotting package writes other bytes
    if f"Matplotlib v{__version__}," in committed:
        (drawn,) = tmp_path.glob("*.svg")
        assert drawn.read_text(encoding="utf-8") == committed, f"{name}.svg: run the command of the page"
    if name == "own-discipline":
        assert fairq.audit("start_time", seeds=1, parts="mine.py").passed


def test_the_setup_of_the_guide_is_replayed_and_drawn_as_shown(capsys, monkeypatch, tmp_path):
    from matplotlib import __version__

    monkeypatch.chdir(tmp_path)
    office.capture(Path("mine.pcap"))
    page = guide("my-tc-setup")
    script = re.search(r"```sh\n(.*?)```", page, re.DOTALL)
    assert script is not None
    Path("my-tc.sh").write_text(script[1], encoding="utf-8")
    # The page gives the shell a variable.
    tree = fairq.tc(read=script[1]).text
    assert 'TREE="$(fairq tc --read my-tc.sh | head -n 1)"' in page
    prints_what_it_shows(page.replace('$TREE" --plot', f'{tree.replace(chr(34), chr(92) + chr(34))}" --plot'),
                         "tc replay", capsys)  # fmt: skip
    committed = (ROOT / "docs" / "guide" / "my-tc-setup.svg").read_text(encoding="utf-8")
    # another version of the plotting package writes other bytes
    if f"Matplotlib v{__version__}," in committed:
        drawn = Path("my-tc-setup.svg").read_text(encoding="utf-8")
        assert drawn == committed, "my-tc-setup.svg: run the command of the page"


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
            # the site has the figure of a script of the gallery
            if place.suffix == ".svg" and place.parent.resolve() == ROOT / "docs" / "gallery":
                place = place.with_suffix(".py")
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
