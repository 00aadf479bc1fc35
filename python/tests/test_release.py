"""What `make release` refuses, finds and writes; the release itself is long, and made by hand.

The image of packaging/Dockerfile is built at night, where a program that builds images and its base
are there.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "packaging" / "Dockerfile"
AGREED = {
    "Cargo.toml": '[workspace.package]\nversion = "1.2.3"\n',
    "CITATION.cff": "title: x\nversion: 1.2.3\n",
    "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (1 May)\n",
}


@pytest.fixture(scope="module")
def release():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


def test_a_tree_that_agrees_is_released(release):
    assert release.refusals(AGREED, "") == []


@pytest.mark.parametrize(
    ("name", "text", "changes", "told"),
    [
        ("CITATION.cff", "version: 1.2.2\n", "", "CITATION.cff: the version is not 1.2.3"),
        ("CITATION.cff", "title: x\n", "", "CITATION.cff: the version is not 1.2.3"),
        ("CHANGELOG.md", "# Changelog\n\n## Unreleased\n", "", "CHANGELOG.md: the first heading is Unreleased"),
        ("CHANGELOG.md", "# Changelog\n", "", "CHANGELOG.md: the first heading is nothing"),
        ("CITATION.cff", AGREED["CITATION.cff"], " M a\n?? b", "the tree has 2 changes"),
    ],
)
def test_what_does_not_agree_is_named_with_what_to_write(release, name, text, changes, told):
    (line,) = release.refusals(AGREED | {name: text}, changes)
    assert line.startswith(told) and ("; write " in line or "; commit " in line)


def test_the_files_of_this_tree_name_one_version_at_least_in_two_places(release):
    told = release.refusals(release.files(), "")
    assert [line for line in told if not line.startswith("CHANGELOG.md: the first heading is Unreleased")] == []


def test_a_python_is_found_once_and_what_is_missing_has_a_row(release, monkeypatch, tmp_path):
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 3.9\n")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\nexit 1\n")
    newest = tmp_path / "newest"
    newest.write_text("#!/bin/sh\necho 3.15\n")
    for script in (old, broken, newest):
        script.chmod(0o755)
    monkeypatch.setenv("FAIRQ_PYTHONS", f"{old}:{broken}:{newest}:/no/such")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    found = release.pythons()
    assert found[15] == str(newest) and 9 not in found and list(found) == sorted(found)
    assert release.absent([11, 13]) == [12, 14, 15]
    wheel, source = Path("a.whl"), Path("a.tar.gz")
    assert release.pairs([wheel, source], {11: "", 13: ""}) == [(wheel, 11), (wheel, 13), (source, 13)]


def test_what_a_file_lacks_is_said(release, tmp_path):
    wheel = tmp_path / "fairq-1.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fairq/_papers/demers1990/published.csv", "")
    assert "fairq/laboratory/bundle/index.html" in release.lacking(wheel)
    assert ".data/data/share/man/man1/fairq.1" in release.lacking(wheel)
    source = tmp_path / "fairq-1.tar.gz"
    with tarfile.open(source, "w:gz") as archive:
        archive.add(ROOT / "Cargo.lock", "fairq-1/Cargo.lock")
    lacking = release.lacking(source)
    assert "/packaging/wheel/data/share/man/man1/fairq.1" in lacking and "/Cargo.lock" not in lacking


def test_sums_are_those_that_sha256sum_checks(release, tmp_path, monkeypatch):
    monkeypatch.setattr(release, "DIST", tmp_path)
    (tmp_path / "a.whl").write_bytes(b"one")
    release.sums([tmp_path / "a.whl"])
    text = (tmp_path / "SHA256SUMS").read_text()
    assert text == f"{hashlib.sha256(b'one').hexdigest()}  a.whl\n"
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_what_fails_is_a_row_that_says_so_and_no_end_of_the_release(release, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no room >&2\nexit 3\n")
    python.chmod(0o755)
    name, minor, result, _ = release.row(Path("fairq-0.whl"), str(python), 13)
    assert (name, minor) == ("fairq-0.whl", "3.13") and result.startswith("FAILED: ") and "status 3" in result


def test_an_image_takes_the_wheel_alone_and_runs_as_a_user_without_rights():
    text = DOCKERFILE.read_text()
    copied = re.findall(r"^COPY (?!--from)(\S+)", text, re.MULTILINE)
    users = re.findall(r"^USER (\S+)", text, re.MULTILINE)
    assert copied == ["fairq-*.whl"] and users[-1:] == ["fairq"]
    assert re.search(r'^ENTRYPOINT \["fairq"\]$', text, re.MULTILINE)
    (base,) = re.findall(r"^ARG BASE=python:3\.(\d+)-slim$", text, re.MULTILINE)
    classifiers = (ROOT / "pyproject.toml").read_text()
    assert f'"Programming Language :: Python :: 3.{base}"' in classifiers


@pytest.mark.nightly
def test_the_image_is_built_and_runs_a_scenario():
    base, wheels = os.environ.get("FAIRQ_IMAGE"), list((ROOT / "dist").glob("fairq-*.whl"))
    if shutil.which("buildah") is None or not base or len(wheels) != 1:
        pytest.skip(
            "SKIPPED: no buildah, no wheel in dist/ (make wheel), or FAIRQ_IMAGE does not name an image"
            " with Python and venv: docs/design/release.md says how to make one"
        )
    image = "localhost/fairq-test"
    of = ["--build-arg", f"BASE={base}", "-f", str(DOCKERFILE), "-t", image]
    built = subprocess.run(["buildah", "build", *of, str(ROOT / "dist")], capture_output=True, text=True)
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    box = subprocess.run(["buildah", "from", image], capture_output=True, text=True, check=True).stdout.strip()
    try:
        command = [
            "buildah",
            "run",
            "--volume",
            f"{ROOT}:/work:ro",
            box,
            "--",
            "fairq",
            "run",
            "scenarios/dumbbell.toml",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        who = subprocess.run(["buildah", "run", box, "--", "id", "-u"], capture_output=True, text=True)
    finally:
        subprocess.run(["buildah", "rm", box], capture_output=True)
    assert done.returncode == 0 and "FQ" in done.stdout, done.stderr
    assert who.stdout.strip() == "1000"
