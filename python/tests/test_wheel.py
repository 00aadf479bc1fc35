"""The wheel of a user: what is in it, and that it works where nothing else is installed.

`make test` builds it as `make setup` does, which compiles next to nothing; `make nightly` takes that
of `make wheel`.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from fairq.cli import man_pages

ROOT = Path(__file__).resolve().parents[2]
BUNDLE = ROOT / "python" / "fairq" / "laboratory" / "bundle"
SITE = ROOT / "python" / "fairq" / "manual" / "bundle"
SIZE_MAX = 15_000_000
"""Bytes that the published wheel may have. With the extension of `make setup`, stripped, it had
13.4
MB: 6.8 MB the extension, 3.1 MB the page of the lab, which has the simulator twice, for browsers
and
in the module of notebooks, 2.6 MB the site of `fairq docs`, whose files have 12 MB."""
OLDEST = (3, 11)
IS_NIGHTLY = os.environ.get("FAIRQ_NIGHTLY") == "1"
VERSION = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def run(command, folder, **environment):
    return subprocess.run(
        list(map(str, command)), cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    dist = tmp_path_factory.mktemp("dist")
    maturin = Path(sys.executable).parent / "maturin"
    if not maturin.exists():
        pytest.skip("SKIPPED: there is no maturin beside this Python; make setup installs it")
    if IS_NIGHTLY:
        built = run(["make", "wheel"], ROOT)
        dist = ROOT / "dist"
    else:
        # not stripped, as make setup does not: else the extension would be compiled anew
        built = run([maturin, "build", "--profile", "quick", "--out", dist], ROOT)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    (made,) = dist.glob("fairq-*.whl")
    return made


def found():
    """The interpreters here that can make an environment, by version: the first of each."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names = [
        sys.executable,
        *(f"python3.{minor}" for minor in range(40, 10, -1)),
        *installed.glob("*/bin/python3.[0-9][0-9]"),
    ]
    versions = {}
    for name in names:
        path = shutil.which(name)
        done = run([path, "-c", VERSION], ROOT) if path else None
        if done is not None and done.returncode == 0:
            versions.setdefault(tuple(map(int, done.stdout.split("."))), path)
    return {version: path for version, path in versions.items() if version >= OLDEST}


def test_it_is_one_for_every_python_and_holds_the_papers_and_no_more(wheel):
    assert re.fullmatch(r"fairq-[\d.]+-cp311-abi3-\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tracked = run(["git", "ls-files", "papers", "python/fairq"], ROOT).stdout.split()
    wanted = {re.sub("^papers/", "fairq/_papers/", name.removeprefix("python/")) for name in tracked}
    wanted.discard("fairq/_papers")
    inside = {name for name in names if not re.search(r"\.(dist-info|libs|data)/", name)}
    # the page of the lab is in it if it was built: `make wheel` builds it
    built = [*BUNDLE.rglob("*"), *SITE.rglob("*")]
    page = {path.relative_to(ROOT / "python").as_posix() for path in built if path.is_file()}
    assert bool(page) or not IS_NIGHTLY
    assert (wanted | page) - inside == set()
    assert inside - wanted == {"fairq/_native.abi3.so"} | page


def test_it_has_the_pages_of_man_and_what_an_index_shows(wheel):
    with zipfile.ZipFile(wheel) as archive:
        data = {name.partition(".data/")[2] for name in archive.namelist() if ".data/" in name}
        (about,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        told = Parser().parsestr(archive.read(about).decode())
    assert data == {f"data/share/man/man1/{name}" for name in man_pages.pages()}
    assert "bufferbloat" in told["Keywords"].split(",") and told["License-Expression"] == "MIT OR Apache-2.0"
    assert "The paper it begins with, https://doi.org/10.1145/75246.75248" in told.get_all("Project-URL")
    classifiers = told.get_all("Classifier")
    # an index refuses a license that is said twice
    assert "Typing :: Typed" in classifiers and not any(each.startswith("License") for each in classifiers)
    assert f"Programming Language :: Python :: {OLDEST[0]}.{OLDEST[1]}" in classifiers


@pytest.mark.nightly
def test_the_published_one_is_small_and_stripped(wheel):
    assert wheel.stat().st_size <= SIZE_MAX, f"{wheel.stat().st_size} bytes"
    with zipfile.ZipFile(wheel) as archive:
        native = archive.read("fairq/_native.abi3.so")
    assert SYMBOL_TABLE not in section_types(native)


SYMBOL_TABLE = 2


def section_types(elf):
    """The types of the sections of an ELF file of 64 bits, by elf(5): e_shoff is at 40, e_shentsize
    and e_shnum at 58."""
    (headers,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    return {struct.unpack_from("<I", elf, headers + index * size + 4)[0] for index in range(count)}


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_it_reproduces_the_paper_in_a_clean_environment(wheel, tmp_path, which):
    versions = found()
    version = OLDEST if which == "oldest" else max(versions)
    if version not in versions or (which == "newest" and version == OLDEST):
        pytest.skip(f"SKIPPED: {which}: Python {OLDEST} or a newer one is not here; found {sorted(versions)}")
    made = run([versions[version], "-m", "venv", tmp_path / "venv"], tmp_path)
    assert made.returncode == 0, made.stderr
    bin = tmp_path / "venv" / "bin"
    installed = run([bin / "python", "-m", "pip", "install", "--quiet", wheel], tmp_path)
    assert installed.returncode == 0, installed.stderr
    empty = tmp_path / "empty"
    empty.mkdir()
    # what this environment says of modules and warnings is not for that one
    clean = {"PYTHONPATH": "", "PYTHONWARNINGS": "error::SyntaxWarning"}
    done = run([bin / "fairq", "reproduce", "demers1990", "--quick", "--out", "out"], empty, **clean)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert re.search(r"^680 cells: 5\d\d agrees", done.stdout, re.MULTILINE), done.stdout[-1000:]
    assert (empty / "out" / "figure1.png").is_file()
    papers = run([bin / "fairq", "list", "papers", "--json"], empty, **clean)
    assert {paper["name"] for paper in json.loads(papers.stdout)} >= {"demers1990", "miyamura2002"}
    assert '"title": "Scenario"' in run([bin / "fairq", "schema"], empty, **clean).stdout
    assert "_shtab_fairq" in run([bin / "fairq", "--print-completion", "bash"], empty, **clean).stdout
