"""Makes what is published, in dist/, and tries it where nothing else is installed.

    make release                                        all of it
    .venv/bin/python scripts/release.py --trial         also with an unclean tree or an unreleased version
    .venv/bin/python scripts/release.py --trial --built --no-source    try the wheel that dist/ has

1. Versions agree, the changelog has a heading for them, the tree is clean.
2. `make wheel`; the source archive, with the built page of the lab, so that it needs no npm;
   SHA256SUMS.
3. The wheel is installed into an empty environment of every Python from 3.11 that is on PATH, of
   pyenv or named by FAIRQ_PYTHONS (paths with : between), and tried; the source archive with the
   newest of them.

The table at the end says what was tried with which Python, and which Python is not here. Exit status
1 if anything failed, 2 if step 1 refuses.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from release_trials import TRIALS, Environment, Failed

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUNDLES = ("python/fairq/laboratory/bundle/index.html", "python/fairq/manual/bundle/index.html")
"""What is built by other tools than Rust's, of what there is: an archive of sources has it built."""
OLDEST, NEWEST = 11, 15
"""The Pythons 3.x that the table has a row for."""
PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"

Row = tuple[str, str, str, str]
"""File, Python, what became of it, how long it took."""


def main() -> int:
    """Make and try; gives the exit status."""
    parser = argparse.ArgumentParser(description="Makes and tries what is published.")
    parser.add_argument("--trial", action="store_true", help="only say what step 1 would refuse")
    parser.add_argument("--built", action="store_true", help="take the wheel that dist/ has")
    parser.add_argument("--no-source", action="store_true", help="neither make nor try the source archive")
    given = parser.parse_args()
    told = refusals(files(), said("git", "status", "--porcelain"))
    for line in told:
        print(f"release: {line}", file=sys.stderr)
    if told and not given.trial:
        print("release: mend these, or try it as it is with --trial", file=sys.stderr)
        return 2
    if not given.built:
        step("the wheel", ["make", "wheel"])
    made = [only("fairq-*.whl")]
    if not given.no_source:
        for old in DIST.glob("fairq-*.tar.gz"):
            old.unlink()
        step("the source archive", [maturin(), "sdist", "--out", str(DIST)])
        made.append(only("fairq-*.tar.gz"))
    missing = [f"{file.name} lacks {name}" for file in made for name in lacking(file)]
    sums(made)
    found = pythons()
    rows = [row(file, found[minor], minor) for file, minor in pairs(made, found)]
    rows += [(made[0].name, f"3.{minor}", "not tried: no such Python here", "") for minor in absent(found)]
    print(table([("file", "Python", "result", "s"), *rows]))
    for line in missing:
        print(f"release: {line}", file=sys.stderr)
    return 1 if missing or not found or any("FAILED" in what for _, _, what, _ in rows) else 0


def files() -> dict[str, str]:
    """The files that name a version."""
    return {name: (ROOT / name).read_text("utf-8") for name in ("Cargo.toml", "CITATION.cff", "CHANGELOG.md")}


def refusals(texts: Mapping[str, str], changes: str) -> list[str]:
    """What is not as a release needs it."""
    version = tomllib.loads(texts["Cargo.toml"])["workspace"]["package"]["version"]
    told = []
    cited = re.search(r"^version: (\S+)$", texts["CITATION.cff"], re.MULTILINE)
    if cited is None or cited[1] != version:
        told.append(f"CITATION.cff: the version is not {version}, as in Cargo.toml; write version: {version}")
    heading = re.search(r"^## (\S+)", texts["CHANGELOG.md"], re.MULTILINE)
    if heading is None or heading[1] != version:
        now = heading[1] if heading else "nothing"
        told.append(f"CHANGELOG.md: the first heading is {now}; write ## {version}, and its day, over what is released")
    if changes:
        told.append(f"the tree has {len(changes.splitlines())} changes; commit them, so that the release has a commit")
    return told


def lacking(file: Path) -> list[str]:
    """What a built file should hold and does not: pages for man, the papers, the bundles that this tree has."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
        wanted = [".data/data/share/man/man1/fairq.1", "fairq/_papers/demers1990/published.csv"]
    else:
        with tarfile.open(file) as packed:
            names = packed.getnames()
        wanted = ["/packaging/wheel/data/share/man/man1/fairq.1", "/Cargo.lock", "/LICENSE-MIT"]
        wanted += ["python/fairq/_papers/demers1990/published.csv"]
    built = [name for name in BUNDLES if (ROOT / name).parent.parent.is_dir()]
    wanted += [name.removeprefix("python/") for name in built]
    return [name for name in wanted if not any(inside.endswith(name) for inside in names)]


def pythons() -> dict[int, str]:
    """The Pythons 3.x of this machine that can make an environment, by x: the first of each."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names = [name for name in os.environ.get("FAIRQ_PYTHONS", "").split(":") if name]
    names += [f"python3.{minor}" for minor in range(OLDEST, NEWEST + 5)]
    names += [str(path) for path in sorted(installed.glob("*/bin/python3.[0-9][0-9]"))]
    found: dict[int, str] = {}
    for name in names:
        path = shutil.which(name)
        done = subprocess.run([path, "-c", PROBE], capture_output=True, text=True) if path else None
        if path and done is not None and done.returncode == 0:
            major, minor = map(int, done.stdout.split("."))
            if major == 3 and minor >= OLDEST:
                found.setdefault(minor, path)
    return dict(sorted(found.items()))


def absent(found: Iterable[int]) -> list[int]:
    """The Pythons that the table should have and this machine has not."""
    return [minor for minor in range(OLDEST, NEWEST + 1) if minor not in found]


def pairs(made: Sequence[Path], found: Mapping[int, str]) -> list[tuple[Path, int]]:
    """Which file is tried with which Python: the wheel with each, a source archive with the newest."""
    return [(made[0], minor) for minor in found] + [(file, max(found)) for file in made[1:] if found]


def row(file: Path, python: str, minor: int) -> Row:
    """Install a file into an empty environment and try it there."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        try:
            environment = Environment.made(Path(folder), python, file)
            for what, trial in TRIALS.items():
                say(f"Python 3.{minor}, {file.name}: {what}")
                trial(environment)
            result = f"passed: {', '.join(TRIALS)}"
        except Failed as failed:
            result = f"FAILED: {failed}"
            print(f"release: Python 3.{minor}, {file.name}: {failed.output}", file=sys.stderr)
    return file.name, f"3.{minor}", result, f"{time.monotonic() - began:.0f}"


def sums(made: Sequence[Path]) -> None:
    """Write SHA256SUMS, as `sha256sum --check SHA256SUMS` in dist/ reads it."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made]
    (DIST / "SHA256SUMS").write_text("".join(lines), encoding="ascii")
    for file in made:
        say(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


def step(what: str, command: Sequence[str]) -> None:
    """Run a command that builds; ends if it fails."""
    say(what)
    if subprocess.run(command, cwd=ROOT, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}).returncode != 0:
        sys.exit(f"release: {' '.join(command)}: it failed; its lines are above")


def only(pattern: str) -> Path:
    """The one file of dist/ that is called so."""
    found = sorted(DIST.glob(pattern))
    if len(found) != 1:
        sys.exit(f"release: dist/ has {len(found)} files {pattern}, not one; make wheel writes it anew")
    return found[0]


def maturin() -> str:
    """The maturin beside this Python."""
    return str(Path(sys.executable).parent / "maturin")


def table(rows: Sequence[Row]) -> str:
    """Rows as columns."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def say(what: str) -> None:
    """A line of progress."""
    print(f"release: {what}", file=sys.stderr, flush=True)


def said(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
