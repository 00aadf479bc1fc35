"""Every block of the site that is not Python runs here, in the test a table names, or has a reason
not to.

A new block that is in no table fails, and so does an entry of a table without its block.
"""

import re
import shlex
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

import fairq
from fairq.cli import program

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^ *(`{3,}|~{3,})(?:\{code-block\} *)?([\w+-]*)\n(.*?)^ *\1$", re.DOTALL | re.MULTILINE)
SHOWS = re.compile(r"<!-- shows: (\S+) -->\s*")
PYTHON = {"python", "pycon"}
"""What test_site_blocks.py runs."""

SHOWN_BY = {
    "advise": "test_pages.py",
    "audit": "test_pages.py",
    "baseline": "test_pages.py",
    "buffers": "test_pages.py",
    "compare": "test_pages.py",
    "drop-precedence": "test_pages.py",
    "emulate": "test_pages.py",
    "first-scenario": "test_pages.py",
    "from-tc": "test_pages_of_networks.py",
    "hosts": "test_pages.py",
    "lab-scenes": "test_lab_scenes.py",
    "linux": "test_pages.py",
    "losses": "test_pages.py",
    "moving-lines": "test_pages.py",
    "my-tc-setup": "test_pages.py",
    "own-control": "test_pages.py",
    "own-discipline": "test_pages.py",
    "policing": "test_pages.py",
    "serve": "test_pages.py",
    "several-queues": "test_pages.py",
    "shared-line": "test_pages.py",
    "targets": "test_advise.py",
    "theory": "test_pages.py",
    "topologies": "test_pages.py",
    "traffic": "test_pages.py",
}
"""The pages of the guide with commands and what these print, and the test that runs them."""

SCENARIOS_OF = {
    "classes": "test_pages.py",
    "first-scenario": "test_pages.py",
    "from-ns": "test_pages_of_networks.py",
    "from-tc": "test_pages_of_networks.py",
    "imperfect-links": "test_pages.py",
    "lab-scenes": "test_lab_scenes.py",
    "sweeps": "test_pages.py",
    "topologies": "test_pages.py",
    "traffic": "test_pages.py",
}
"""The pages of the guide whose TOML another file of tests runs; what is more stands in `WHOLE`."""

LINK = '[[links]]\nname = "{0}"\nfrom = "{1}"\nto = "{2}"\nrate = "10 Mbit/s"\ndelay = "5 ms"\n'
FLOW = '[[flows]]\nname = "f"\nfrom = "{0}"\nto = "{1}"\n'
FTP = FLOW + 'traffic = "ftp"\n'
TREE = """[[links]]
name = "line"
from = "a"
to = "b"
rate = "100 Mbit/s"
queue = {{ scheduler = {{ kind = "htb", default = "work", classes = [{{ name = "all", rate = "20 Mbit/s" }}, {0}] }} }}
"""
WHOLE = {
    ("guide/changes", 0): lambda text: LINK.format("uplink", "home", "isp") + FTP.format("home", "isp") + text,
    ("guide/changes", 1): lambda text: FTP.format("home", "isp") + text,
    ("guide/classes", 1): lambda text: TREE.format(text.strip().rstrip(",")) + FTP.format("a", "b"),
    ("guide/edges-and-pools", 0): lambda text: LINK.format("l", "core 1", "b") + FTP.format("core 1", "b") + text,
    ("guide/edges-and-pools", 1): lambda text: LINK.format("l", "gateway", "b") + FTP.format("gateway", "b") + text,
    ("guide/hosts", 0): lambda text: text + LINK.format("l", "a", "b") + FTP.format("a", "b"),
    ("guide/hosts", 1): lambda text: LINK.format("l", "a", "b") + FTP.format("a", "b") + text,
    ("guide/multicast", 0): lambda text: LINK.format("l", "source", "fast") + text,
    ("guide/traffic", 0): lambda text: LINK.format("l", "a", "b") + FLOW.format("a", "b") + text,
    ("guide/transfers", 0): lambda text: LINK.format("l", "servers", "users") + text,
    ("guide/transfers", 1): lambda text: (
        LINK.format("l", "a", "b").replace("[[links]]\n", "")
        .join(re.split(r"(?<=\[\[links\]\]\n)", text, maxsplit=1))
        .replace("[[flows]]\n", FLOW.format("a", "b"))
    ),
    ("guide/transports", 0): lambda text: text + LINK.format("l", "a", "b") + FTP.format("a", "b"),
}  # fmt: skip
"""Parts of scenarios, and what makes each a scenario that runs."""

CARGO = {"guide/own-parts-in-rust", "guide/path-in-tests", "reference/crates/sched"}
"""Pages whose TOML is of a Cargo.toml: the crates are there."""

OUTPUT = "what a command prints, which stands beside it"
OTHERS = "what was written for another program"
SYSTEM = "changes the machine or needs another one"
NOT_RUN = {
    ("agreement/peers", "sh"): "needs ns-2 and ns-3; test_peers.py reads its options",
    ("design/performance", "sh"): "measures for minutes",
    ("design/release", "sh"): SYSTEM,
    ("design/store", "sql"): "a query as `fairq query` makes it; test_query.py runs such",
    ("guide/dispatcher", "text"): OUTPUT,
    ("guide/from-c", "sh"): "crates/c/tests/header.rs builds the example",
    ("guide/from-c", "text"): OUTPUT,
    ("guide/from-ns", "cpp"): OTHERS,
    ("guide/from-ns", "tcl"): OTHERS,
    ("guide/host-kernel", "sh"): SYSTEM,
    ("guide/lab", "html"): "test_lab_command.py opens such a page: docs/guide/course-page.html",
    ("guide/notes", "text"): OUTPUT,
    ("guide/path-in-tests", "text"): OUTPUT,
    ("guide/peers", "sh"): "needs ns-2 and ns-3; test_peers.py reads its options",
    ("guide/sweeps-on-clusters", "yaml"): SYSTEM,
    ("notebooks/index", "sh"): "test_notebooks.py runs the notebooks",
    ("start/install", "console"): "test_wheel.py and test_release.py install the wheel and ask for its version",
}
"""Kinds of blocks that no test runs, by page, and why."""


def found():
    """Each block of the site: its page, its kind and its text; the kind is empty where none is
    written."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if match := SHOWS.fullmatch(text):
            text = (ROOT / match[1]).read_text(encoding="utf-8")
        for _, kind, block in BLOCK.findall(text):
            yield page.relative_to(DOCS).with_suffix("").as_posix(), kind, block


BLOCKS = [block for block in found() if block[1] not in PYTHON]
OF_SH = [(page, text) for page, kind, text in BLOCKS if kind == "sh"]
OF_TOML = {}
for _page, _kind, _text in BLOCKS:
    if _kind == "toml":
        OF_TOML[_page, sum(page == _page for page, _ in OF_TOML)] = _text


def is_told(page, kind):
    """Whether a block of this kind on this page is in a table."""
    name = page.removeprefix("guide/")
    if (page, kind) in NOT_RUN or kind in ("", "mermaid"):
        return True
    if kind == "console":
        return page.startswith("guide/") and name in SHOWN_BY
    return kind in ("rust", "c", "toml", "sh")


def test_every_block_of_the_site_runs_or_says_why_not():
    assert len(BLOCKS) > 80
    assert sorted({(page, kind) for page, kind, _ in BLOCKS if not is_told(page, kind)}) == []


def test_what_the_tables_name_is_there():
    there = {(page, kind) for page, kind, _ in BLOCKS}
    told = {*NOT_RUN, *((f"guide/{name}", "console") for name in SHOWN_BY),
            *((f"guide/{name}", "toml") for name in SCENARIOS_OF), *((page, "toml") for page in CARGO)}  # fmt: skip
    assert sorted(told - there) == [] and sorted(set(WHOLE) - set(OF_TOML)) == []
    for name, test in {*SHOWN_BY.items(), *SCENARIOS_OF.items()}:
        assert name in Path(__file__).with_name(test).read_text("utf-8"), f"{test} does not run {name}"


def test_each_part_of_a_cargo_toml_names_crates_that_are_there():
    for (page, _), text in OF_TOML.items():
        if page in CARGO:
            lines = [line for lines in tomllib.loads(text).values() for line in lines.values()]
            assert lines and all((ROOT / line["path"].removeprefix("../fairq/")).is_dir() for line in lines)


LEFT = [key for key in OF_TOML if key[0] not in CARGO and
        (key in WHOLE or key[0].removeprefix("guide/") not in SCENARIOS_OF)]  # fmt: skip


@pytest.mark.parametrize("key", LEFT, ids=lambda key: f"{key[0]}-{key[1]}")
def test_each_part_of_a_scenario_runs(key, monkeypatch):
    monkeypatch.chdir(ROOT)
    scenario = tomllib.loads(WHOLE.get(key, str)(OF_TOML[key]))
    # its changes come late
    duration = "26 s" if key[0] == "guide/changes" else "1 s"
    result = fairq.run({"edition": 2, **scenario}, set={"measure.duration": duration, "measure.warm_up": "0 s"})
    assert any(link.utilisation > 0 for link in result.links)


def is_quoted(piece, folder, ends):
    """Whether code stands in a file of a folder, however it is indented."""
    wanted = "".join(piece.split())
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in ends and "target" not in path.parts]
    return any(wanted in "".join(path.read_text("utf-8").split()) for path in files)


def test_rust_and_c_of_the_pages_stand_in_files_that_are_built():
    # those of this crate's README are tests of its documentation
    assert 'include_str!("../README.md")' in (ROOT / "crates" / "sched" / "src" / "lib.rs").read_text("utf-8")
    code = [(page, kind, text) for page, kind, text in BLOCKS if kind in ("rust", "c")]
    assert len(code) > 8
    for page, kind, text in code:
        if page == "reference/crates/sched":
            continue
        folders = ("crates/c/examples",) if kind == "c" else ("examples", "crates/sched/examples")
        assert any(is_quoted(text, folder, (".rs", ".c")) for folder in folders), f"{page}: {text[:60]}"


def commands(text):
    """The commands of fairq in lines of a shell, as words."""
    lines = re.sub(r"(?<!\S)#.*", "", text.replace("\\\n", " "))
    # a text in quotes may go over lines
    for piece in re.findall(r"""(?:"[^"]*"|'[^']*'|[^\n"'])+""", lines):
        words = shlex.split(piece)
        while "fairq" in words:
            words = words[words.index("fairq") + 1 :]
            yield [*takewhile(lambda word: word not in (">", "|", "&&", "&"), words)]


def read_by_the_command(words):
    """What the command line makes of words; refused ones raise."""
    given = program._joined(words)
    return program.parser(program._meant(given)).parse_args(given)


@pytest.mark.parametrize("page", sorted({page for page, _ in OF_SH if (page, "sh") not in NOT_RUN}))
def test_each_command_in_a_shell_has_words_that_fairq_knows(page):
    asked = [words for name, text in OF_SH if name == page for words in commands(text)]
    assert asked, f"{page} has lines for a shell without fairq: say in NOT_RUN why they are not run"
    for words in asked:
        assert callable(read_by_the_command(words).command)
