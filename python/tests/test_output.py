"""An output folder is written whole or not at all."""

import contextlib
import errno
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fairq import OutputError
from fairq.core import output
from fairq.core.output import MARKER, check, check_file, file, folder

ROOT = Path(__file__).resolve().parents[2]


def write(path, name="a", **work):
    with folder(path, wrote="a test", **work) as inside:
        (inside / name).write_text(name)


def test_a_folder_is_made_with_its_parents_and_marked(tmp_path):
    write(tmp_path / "x" / "y")
    assert {p.name for p in (tmp_path / "x" / "y").iterdir()} == {"a", MARKER}
    assert [p.name for p in (tmp_path / "x").iterdir()] == ["y"]


def test_an_own_folder_is_replaced_whole(tmp_path):
    write(tmp_path / "x", "a")
    write(tmp_path / "x", "b")
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"b", MARKER}


def test_nothing_is_left_when_the_work_fails(tmp_path):
    write(tmp_path / "x", "a")
    with pytest.raises(KeyboardInterrupt), folder(tmp_path / "x", wrote="a test") as inside:
        (inside / "b").write_text("b")
        raise KeyboardInterrupt
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x" / "a").exists()


@pytest.mark.parametrize("refuse", [check, write])
def test_what_fairq_did_not_write_is_kept(tmp_path, refuse):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    for name in ("x", "file", "link", "file/below"):
        with pytest.raises(OutputError) as caught:
            refuse(tmp_path / name)
        assert "\n" not in str(caught.value)
    assert (tmp_path / "x" / "thesis.tex").read_text() == "years of work"
    assert {p.name for p in tmp_path.iterdir()} == {"x", "file", "link"}


def test_the_result_of_other_work_is_replaced_only_if_that_was_asked_for(tmp_path):
    write(tmp_path / "x", "a", of={"scenario": 1, "set": [("a", "1")]})
    for refuse in (check, write):
        with pytest.raises(OutputError, match=r"the result of other work .a test,.* --replace"):
            refuse(tmp_path / "x", of={"scenario": 2, "set": []})
    assert (tmp_path / "x" / "a").exists()
    write(tmp_path / "x", "b", of={"set": [("a", "1")], "scenario": 1})
    write(tmp_path / "x", "c", of={"scenario": 2}, replace=True)
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"c", MARKER}
    check(tmp_path / "x")


def test_a_folder_of_before_has_no_work_in_its_marker_and_is_replaced(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / MARKER).write_text("fairq run x.toml\n")
    write(tmp_path / "x", "a", of={"scenario": 1})
    assert (tmp_path / "x" / "a").exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "map.svg"
    path.write_text("good")
    path.chmod(0o640)
    (tmp_path / "link.svg").symlink_to(path)

    def full(place):
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"map.svg: cannot be written: no space"), file(path) as place:
        full(place)
    with pytest.raises(KeyboardInterrupt), file(path) as place:
        raise KeyboardInterrupt
    assert path.read_text() == "good"
    with file(tmp_path / "link.svg") as place:
        assert place.suffix == ".svg"
        place.write_text("better")
    assert path.read_text() == "better" and path.stat().st_mode & 0o777 == 0o640
    assert {p.name for p in tmp_path.iterdir()} == {"map.svg", "link.svg"}
    with pytest.raises(OutputError), file(tmp_path / "no" / "map.svg"):
        pytest.fail("the folder is not there")


def names(folder):
    return {entry.name for entry in folder.iterdir()}


def test_the_working_folder_and_what_it_is_in_keep_their_place(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    inode = Path().stat().st_ino
    for name in ("a", "b"):
        write(".", name)
        assert names(tmp_path / "here") == {name, MARKER} and Path().stat().st_ino == inode
        assert names(tmp_path) == {"here"}
    monkeypatch.chdir(tmp_path / "here")
    write(tmp_path / "here", "c")
    assert Path().stat().st_ino == inode and names(Path()) == {"c", MARKER}
    (tmp_path / "here" / "in").mkdir()
    monkeypatch.chdir(tmp_path / "here" / "in")
    write("..", "d")
    assert (tmp_path / "here").stat().st_ino == inode and names(tmp_path / "here") == {"d", MARKER}


def test_a_folder_that_stays_is_as_it_was_when_the_work_or_the_moving_fails(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with folder(".", wrote="a test") as inside:
        for name in "abc":
            (inside / name).write_text(name)
    before = {path.name: path.read_text() for path in Path().iterdir()}
    with pytest.raises(ZeroDivisionError), folder(".", wrote="a test") as inside:
        (inside / "a").write_text("half")
        raise ZeroDivisionError
    rename, calls = Path.rename, []

    def fails_at(number):
        def renames(self, to):
            calls.append(to)
            if len(calls) == number:
                raise OSError(16, "Device or resource busy")
            return rename(self, to)

        return renames

    for number in range(2, 8):
        calls.clear()
        monkeypatch.setattr(Path, "rename", fails_at(number))
        with pytest.raises(OutputError, match="device or resource busy"), folder(".", wrote="a test") as inside:
            for name in "bcd":
                (inside / name).write_text("new")
        assert {path.name: path.read_text() for path in Path().iterdir()} == before, number
    monkeypatch.setattr(Path, "rename", fails_at(99))
    write(".", "d")
    assert names(Path()) == {"d", MARKER}


@pytest.mark.parametrize("code", [errno.EXDEV, errno.EBUSY, errno.EPERM, errno.EACCES])
def test_a_folder_that_turns_out_to_stay_is_filled(tmp_path, monkeypatch, code):
    """A folder of a lower layer of overlayfs, as in a container, cannot be renamed (EXDEV)."""
    write(tmp_path / "x", "a")

    def refuses(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(output, "_swap", refuses)
    inode = (tmp_path / "x").stat().st_ino
    write(tmp_path / "x", "b")
    assert names(tmp_path / "x") == {"b", MARKER} and names(tmp_path) == {"x"}
    assert (tmp_path / "x").stat().st_ino == inode


@pytest.mark.parametrize("swaps", [True, False])
@pytest.mark.parametrize("other", ["folder", "link", "file"])
def test_what_takes_the_place_of_an_old_result_after_the_look_stays(tmp_path, monkeypatch, swaps, other):
    out, mine = tmp_path / "x", tmp_path / "mine"
    write(out)
    mine.mkdir()
    (mine / "thesis").write_text("mine")
    real = output._deliver

    def deliver(*given):
        shutil.rmtree(out)
        if other == "link":
            out.symlink_to(mine)
        elif other == "folder":
            shutil.copytree(mine, out)
        else:
            out.write_text("mine")
        real(*given)

    monkeypatch.setattr(output, "_deliver", deliver)
    if not swaps:
        monkeypatch.setattr(output, "_swap", lambda *_: False)
    with pytest.raises(OutputError, match=re.escape(f"{out}: ")) as refused:
        write(out, "b")
    assert ".fairq-" not in str(refused.value)
    assert (out if other == "file" else out / "thesis").read_text() == "mine" and out.is_symlink() == (other == "link")
    assert (mine / "thesis").read_text() == "mine" and {path.name for path in tmp_path.iterdir()} == {"x", "mine"}


def test_links_that_race_with_the_result_lead_it_nowhere(tmp_path):
    out, mine, done = tmp_path / "x", tmp_path / "mine", threading.Event()
    mine.mkdir()
    (mine / "thesis").write_text("mine")

    def race():
        turn = 0
        while not done.is_set():
            turn += 1
            link = tmp_path / "link"
            link.symlink_to(mine)
            with contextlib.suppress(OSError):
                link.replace(out)
            link.unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                out.unlink()

    racing = threading.Thread(target=race)
    racing.start()
    whole = 0
    try:
        for _ in range(150):
            with contextlib.suppress(OutputError):
                write(out)
                whole += 1
    finally:
        done.set()
        racing.join()
    assert whole and {path.name for path in mine.iterdir()} == {"thesis"} and (mine / "thesis").read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} <= {"x", "mine"}


def test_without_an_exchange_in_one_step_the_old_folder_is_aside_for_a_moment(tmp_path, monkeypatch):
    monkeypatch.setattr(output, "_swap", lambda *_: False)
    for name in ("a", "b"):
        write(tmp_path / "x", name)
        assert names(tmp_path / "x") == {name, MARKER} and names(tmp_path) == {"x"}


def test_folders_above_are_made_when_the_work_is_done(tmp_path):
    with pytest.raises(ZeroDivisionError), folder(tmp_path / "a" / "b" / "c", wrote="a test"):
        raise ZeroDivisionError
    assert names(tmp_path) == set()
    write(tmp_path / "a" / "b" / "c")
    assert names(tmp_path / "a") == {"b"} and names(tmp_path / "a" / "b") == {"c"}


def test_what_comes_while_the_work_is_done_is_not_replaced(tmp_path):
    with (
        pytest.raises(OutputError, match=r"did not write .thesis.tex"),
        folder(tmp_path / "x", wrote="a test") as inside,
    ):
        (inside / "a").write_text("a")
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "thesis.tex").write_text("years of work")
    assert names(tmp_path / "x") == {"thesis.tex"} and names(tmp_path) == {"x"}


def test_the_rights_of_a_folder_stay(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x").chmod(0o2770)
    write(tmp_path / "x")
    assert (tmp_path / "x").stat().st_mode & 0o7777 == 0o2770
    write(tmp_path / "y")
    assert (tmp_path / "y").stat().st_mode & 0o777 == 0o777 & ~output._umask()


LEAVES = """
import os, signal, sys
from fairq.core.output import file, folder
with {}(sys.argv[1]{}) as place:
    print(flush=True)
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("what", [folder, file])
def test_what_a_killed_process_left_is_removed_but_not_what_another_writes(tmp_path, what):
    options = {"wrote": "a test"} if what is folder else {}
    code = LEAVES.format(what.__name__, ", wrote='a test'" if options else "")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path / "x.svg"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in started:
        process.stdout.readline()
    killed, writing = started
    killed.communicate()
    assert len(names(tmp_path)) == 2
    with what(tmp_path / "x.svg", **options) as place:
        (place / "a" if what is folder else place).write_text("a")
    assert len(names(tmp_path)) == 2, "the target, and what is still being written"
    writing.communicate()
    with what(tmp_path / "x.svg", **options):
        pass
    assert names(tmp_path) == {"x.svg"}


@pytest.mark.parametrize("name", ["a" * 255, "é" * 127, "x.fairq-abcdefgh", "a.new", "[a-z]*", " ", "-x", "a\nb"])
def test_any_name_will_do(tmp_path, name):
    for _ in range(2):
        write(tmp_path / name)
    assert names(tmp_path) == {name}
    for _ in range(2):
        with file(tmp_path / f"{name[:100]}.svg") as place:
            assert place.suffix == ".svg"
            place.write_text("a")
    assert names(tmp_path) == {name, f"{name[:100]}.svg"}


def test_a_name_that_is_too_long_is_refused_in_one_line(tmp_path):
    for refuse in (check, write, check_file):
        with pytest.raises(OutputError, match="file name too long"):
            refuse(tmp_path / ("a" * 256))
    assert names(tmp_path) == set()


def test_a_file_that_cannot_be_replaced_is_refused_before(tmp_path):
    (tmp_path / "folder.svg").mkdir()
    os.mkfifo(tmp_path / "pipe.svg")
    (tmp_path / "round.svg").symlink_to(tmp_path / "round.svg")
    (tmp_path / "leads.svg").symlink_to(tmp_path / "no" / "x.svg")
    (tmp_path / "file").write_text("")
    for name, said in {
        "folder.svg": "is a folder",
        "pipe.svg": "is no regular file",
        "round.svg": "circle|symbolic links",
        "leads.svg": "there is no folder",
        "no/x.svg": "there is no folder",
        "file/x.svg": "there is no folder",
    }.items():
        with pytest.raises(OutputError, match=said) as caught:
            check_file(tmp_path / name)
        assert "\n" not in str(caught.value)
    (tmp_path / "to.svg").symlink_to(tmp_path / "new.svg")
    with file(tmp_path / "to.svg") as place:
        place.write_text("a")
    assert (tmp_path / "to.svg").is_symlink() and (tmp_path / "new.svg").read_text() == "a"


AS_ANOTHER = """
# what another user may not read in root's folders is loaded before
import ctypes, fcntl, hashlib, os, shutil, sys, tempfile
from pathlib import Path
from fairq import OutputError
from fairq.core.output import check, check_file, folder
os.chdir(sys.argv[1])
os.setuid(65534)
with folder("closed/mine", wrote="a test") as inside:
    (inside / "a").write_text("a")
print(sorted(one.name for one in Path("closed/mine").iterdir()))
with folder("sticky/mine", wrote="a test") as inside:
    (inside / "a").write_text("a")
print(sorted(one.name for one in Path("sticky/mine").iterdir()))
for refuse, name in ((check, "closed/no"), (check, "closed/no/no"), (check, "closed/theirs"), (check, "sticky/theirs"),
                     (check_file, "closed/x.svg"), (check_file, "sticky/theirs.svg"), (check_file, "open/locked.svg")):
    try:
        refuse(name)
    except OutputError as error:
        print(error)
    else:
        print(name, "is not refused")
"""


def test_what_may_not_be_written_is_refused_before_and_what_may_is_done(tmp_path):
    """As a user that is not root: folders in closed parents, and folders of others."""
    if os.getuid() != 0:
        pytest.skip("not root, who can become another: FOLDERS OF OTHERS are NOT TESTED")
    for name, mode in (("closed", 0o755), ("sticky", 0o1777), ("open", 0o777)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
    for name in ("closed/mine", "closed/theirs", "sticky/mine", "sticky/theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777 if "mine" in name else 0o755)
    for name in ("sticky/theirs.svg", "open/locked.svg"):
        (tmp_path / name).write_text("theirs")
    (tmp_path / "sticky/theirs.svg").chmod(0o666)
    for above in tmp_path.parents:
        if above != Path("/tmp") and above.is_relative_to("/tmp"):
            above.chmod(0o755)
    tmp_path.chmod(0o755)
    done = subprocess.run([sys.executable, "-c", AS_ANOTHER, tmp_path], capture_output=True, text=True)
    if "PermissionError" in done.stderr and "fairq" not in done.stderr.splitlines()[-1]:
        pytest.skip("another user cannot read this folder: FOLDERS OF OTHERS are NOT TESTED")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[:2] == ["['.fairq', 'a']"] * 2
    assert [line.split(":")[0] for line in lines[2:]] == [
        "closed/no", "closed/no/no", "closed/theirs", "sticky/theirs", "closed/x.svg", "sticky/theirs.svg",
        "open/locked.svg",
    ]  # fmt: skip
    assert not any("is not refused" in line for line in lines), lines


IN_NAMESPACE = """
import json, os, subprocess, sys
from pathlib import Path
from fairq import OutputError
from fairq.core.output import check_file, folder

def mount(*words):
    subprocess.run(["mount", *words], check=True)

def write(path, *made):
    with folder(path, wrote="a test") as inside:
        for name in made:
            (inside / name).mkdir() if name == "deep" else (inside / name).write_text(name)

os.chdir(sys.argv[1])
for name in ("disk", "bind", "a b", "nested", "source", "source2"):
    Path(name).mkdir()
Path("x.svg").write_text("")
Path("y.svg").write_text("")
mount("-t", "tmpfs", "tmpfs", "disk")
mount("--bind", "source", "bind")
mount("--bind", "source2", "a b")
mount("--bind", "y.svg", "x.svg")
mount("-t", "tmpfs", "tmpfs", "nested")
Path("disk/lost+found").mkdir()
for name in ("disk", "bind", "a b", "nested"):
    write(name, "a", "b")
    write(name, "b", "deep")
    print(json.dumps([name, sorted(one.name for one in Path(name).iterdir())]))
mount("-t", "tmpfs", "tmpfs", "nested/deep")
try:
    write("nested", "c")
except OutputError as error:
    print(json.dumps([str(error), sorted(one.name for one in Path("nested").iterdir())]))
try:
    check_file("x.svg")
except OutputError as error:
    print(json.dumps([str(error), []]))
print(json.dumps(["beside", sorted(one.name for one in Path().iterdir())]))
"""


def test_a_mount_point_keeps_its_place(tmp_path):
    """A disk, a folder mounted elsewhere (as docker -v does), a name with a space, a file system's own lost+found."""
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("unshare -rm cannot make a mount namespace here: MOUNT POINTS are NOT TESTED")
    words = ["unshare", "-rm", sys.executable, "-c", IN_NAMESPACE, tmp_path]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *folders, busy, a_file, beside = (json.loads(line) for line in done.stdout.splitlines())
    own = [MARKER, "b", "deep"]
    assert folders == [["disk", [*own, "lost+found"]], ["bind", own], ["a b", own], ["nested", own]]
    assert busy == ["nested: cannot be written: device or resource busy; choose another folder with --out", own]
    assert "x.svg: is a mount point" in a_file[0]
    assert beside[1] == ["a b", "bind", "disk", "nested", "source", "source2", "x.svg", "y.svg"]


def test_nothing_of_the_package_writes_a_file_by_itself():
    """Every file is written into a folder that is exchanged whole, or by `file`; this lists what opens one to write."""
    writers = re.compile(r"\.write_text\(|\.write_bytes\(|open\(\"w|savefig\(|\.open\(\"w")
    found = {
        path.relative_to(ROOT / "python" / "fairq").as_posix(): len(writers.findall(path.read_text(encoding="utf-8")))
        for path in (ROOT / "python" / "fairq").rglob("*.py")
    }
    assert {name: count for name, count in found.items() if count} == {
        # into the folder that is exchanged, the place that `file` gives, or a temporary folder
        "api.py": 1, "benchmarks/capture.py": 1, "benchmarks/sweep.py": 2, "cli/commands/run.py": 1,
        # the head of a log that grows while it runs, as Mahimahi's does
        "cli/commands/mm_link.py": 1,
        # the pages of a folder that packaging makes, the peak of memory of the process, the place
        # that `file` gives
        "cli/man_pages.py": 1, "core/memory.py": 1, "core/pictured.py": 1,
        "cli/printing.py": 2, "cli/reference.py": 1, "core/output.py": 3, "core/rows.py": 1, "core/tables.py": 1,
        "figures/saved.py": 1, "papers/reproduction.py": 3, "questions/own_capture.py": 1,
        "reports/study_report.py": 1,
        # of a store, under a hidden name that is linked to its own
        "studies/claims.py": 1, "studies/store.py": 1,
    }  # fmt: skip
