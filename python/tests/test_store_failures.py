"""A store whose files cannot be read for a moment, that was changed, or that has no hard links.

Only what is missing, cut or changed is damage: all else is one line, and nothing is moved.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweep_studies import STUDY, rows_of, write_study

from fairq.core import remedies
from fairq.studies import claims, linking, store, threads
from fairq.studies.stored_runs import Results
from fairq.studies.sweeping import Options, sweep

ERRORS = [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE, errno.EPERM]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of twelve runs in three parts that was run."""
    monkeypatch.setattr(threads, "PART_RUNS", 4)
    path = write_study(tmp_path)
    sweep(path, Options(workers=1))
    return path


def files_of(root):
    """All that the store has for good."""
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
@pytest.mark.parametrize(("call", "folder"), [("stat", "parts"), ("read_bytes", "done"), ("stat", "done")])
def test_what_cannot_be_read_for_a_moment_is_one_line_and_stays(study, refused, monkeypatch, number, call, folder):
    root = study.with_suffix("")
    before, real, calls = files_of(root), getattr(Path, call), []

    def fails(path, *rest, **named):
        if folder in path.parts and path.suffix:
            calls.append(path)
            if len(calls) == 2:
                raise OSError(number, os.strerror(number), str(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(Path, call, fails)
    for command in ("sweep", "query", "report"):
        calls.clear()
        line = refused(command, study, *(["select * from runs"] if command == "query" else []))
        assert remedies.reason(OSError(number, os.strerror(number))) in line and "nothing was moved" in line
        assert remedies.REMEDIES[number] in line
    monkeypatch.undo()
    assert files_of(root) == before
    assert sweep(study, Options()).ran == 0


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads everything")
def test_the_store_of_another_user_is_not_run_again(study, tmp_path):
    root = study.with_suffix("")
    before = files_of(root)
    for path in root.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o600)
    for folder in (tmp_path, root, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o077)
    (root / "store.json").chmod(0o644)
    words = [sys.executable, "-m", "fairq", "sweep", str(study)]
    if os.geteuid() == 0:
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
    done = subprocess.run(words, capture_output=True, text=True)
    if os.geteuid() == 0:
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert "cannot be read: permission denied; ask its owner for the right" in done.stderr
    assert files_of(root) == before


# What was changed.


def flip(part):
    """Change one bit with size and time kept."""
    stat = part.stat()
    content = bytearray(part.read_bytes())
    content[len(content) // 3] ^= 4
    part.write_bytes(content)
    os.utime(part, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_verify_reads_every_digest(study, fairq):
    root = study.with_suffix("")
    expected = rows_of(Results(root), "flows")
    part = sorted((root / "parts" / "flows").iterdir())[1]
    flip(part)
    assert fairq("sweep", study)[:2][0] == 0 and not (root / "aside").exists()
    assert len(Results(root, verify=True).damages) == 1
    for words in (["query", study, "select 1"], ["report", study]):
        err = fairq(*words, "--verify")[2]
        assert f"{part}: was changed after it was written" in err and err.count("\n") <= 2
    status, out, err = fairq("sweep", study, "--verify")
    assert status == 0 and "4 run now" in out and "was changed after it was written; its 4 runs are missing" in err
    assert rows_of(Results(root, verify=True), "flows") == expected


def rewritten(root, change):
    """Write a part anew, with a marker that fits its bytes."""
    import hashlib

    part = sorted((root / "parts" / "flows").iterdir())[0]
    marker = root / "done" / f"{part.stem}.json"
    said = json.loads(marker.read_text())
    content = change(part.read_bytes())
    part.write_bytes(content)
    said["files"]["flows"] |= {"bytes": len(content), "digest": hashlib.sha256(content).hexdigest()}
    said["files"]["flows"]["changed_s"] = part.stat().st_mtime_ns // store.NS
    marker.write_text(json.dumps(said))
    return part


def without_rows(content):
    """The same table with fewer rows."""
    import io

    parquet = pytest.importorskip("pyarrow.parquet")
    to = io.BytesIO()
    parquet.write_table(parquet.read_table(io.BytesIO(content)).slice(2), to, compression="none")
    return to.getvalue()


def of_another_run(content):
    """The same table whose rows are of a run that nothing names."""
    name = content[content.index(b"PAR1") :]
    at = next(at for at in range(len(name)) if name[at : at + 32].isalnum() and len(name[at : at + 32]) == 32)
    return content.replace(content[at : at + 32], b"0" * 32)


@pytest.mark.parametrize("change", [without_rows, of_another_run], ids=["fewer rows", "another run"])
def test_a_part_without_the_rows_of_its_marker_is_one_line_with_its_name(study, refused, change):
    part = rewritten(study.with_suffix(""), change)
    for words in (["query", study, "select count(*) from flows"], ["report", study]):
        line = refused(*words)
        assert str(part) in line and "sweep --verify" in line


def test_a_part_that_is_damaged_inside_is_one_line_whatever_it_holds(study, process):
    """Lengths that lead out of a file, missing dictionaries, negative numbers: none is a panic."""
    root = study.with_suffix("")
    part = sorted((root / "parts" / "flows").iterdir())[0]
    whole, kept = part.read_bytes(), (root / "done" / f"{part.stem}.json").read_text()
    code = """
import sys
from pathlib import Path
from fairq.core.errors import OutputError
from fairq.studies.stored_runs import Results
root, part = map(Path, sys.argv[1:])
whole = part.read_bytes()
results = Results(root)
refused = 0
for at in range(4, len(whole), max(1, len(whole) // 400)):
    for bit in (1, 0x80):
        content = bytearray(whole)
        content[at] ^= bit
        part.write_bytes(content)
        try:
            results.table("flows")
        except OutputError as error:
            refused += 1
            assert str(part) in str(error) and "\\n" not in str(error), error
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", code, root, part], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stderr == "", done.stderr[-2000:]
    assert int(done.stdout) > 100
    part.write_bytes(whole)
    assert (root / "done" / f"{part.stem}.json").read_text() == kept


# Where it lies.


def test_a_link_that_leads_nowhere_is_said(tmp_path, refused):
    study = write_study(tmp_path)
    study.with_suffix("").symlink_to(tmp_path / "not mounted")
    line = refused("sweep", study)
    assert "is a link to" in line and "not mounted, which is not there; make that folder" in line


def test_a_store_of_another_version_is_said_by_its_readers(study, fairq):
    root = study.with_suffix("")
    header = json.loads((root / "store.json").read_text())
    (root / "store.json").write_text(json.dumps({**header, "results": "0", "fairq": "0.0.1"}))
    for words in (["query", study, "select count(*) from flows"], ["report", study]):
        status, _, err = fairq(*words)
        assert status == 0 and err.count("\n") == 1
        assert "fairq 0.0.1 wrote it, and the values of this fairq" in err and "may differ" in err


# A file system without hard links: SMB, exFAT, some FUSE.


@pytest.fixture(params=[errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS], ids=errno.errorcode.get)
def no_links(request, monkeypatch):
    """Makes link(2) say that there are none."""

    def link(*_, **__):
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(os, "link", link)


def test_a_study_runs_where_there_are_no_hard_links(tmp_path, no_links):
    study = write_study(tmp_path)
    found = sweep(study, Options(workers=2))
    assert (found.done, found.missing) == (12, 0)
    root = study.with_suffix("")
    assert len(rows_of(Results(root), "flows")) == 24 and not list((root / "claims").iterdir())
    assert sweep(study, Options()).ran == 0


def test_claims_without_hard_links_are_of_one_owner_and_end_with_it(tmp_path, no_links):
    for name in store.FOLDERS:
        (tmp_path / name).mkdir()
    with claims.Owner(tmp_path) as one:
        with claims.Owner(tmp_path) as other:
            assert one.claim("a") and not other.claim("a") and one.holds("a") and not other.holds("a")
            assert other.claim("b") and not other.may_get("a")
        assert one.claim("b")
    # killed: its owner file is left, of a process that is not there
    with claims.Owner(tmp_path) as one:
        dead = json.dumps({**one.process._asdict(), "number": 2**22 + 1})
        (tmp_path / "owners" / "dead").write_text(dead)
        (tmp_path / "claims" / "c").write_text(json.dumps({"owner": "dead"}))
        assert one.claim("c")


def test_an_answer_of_link_that_was_lost_is_a_link(tmp_path, monkeypatch):
    real = os.link

    def link(*given, **named):
        real(*given, **named)
        raise OSError(errno.ESTALE, "Stale file handle")

    monkeypatch.setattr(os, "link", link)
    (tmp_path / "hidden").write_text("whole")
    linking.give_name(tmp_path / "hidden", tmp_path / "name")
    assert (tmp_path / "name").read_text() == "whole"
    assert sweep(write_study(tmp_path), Options(workers=1)).done == 12


# The clock, and what others do meanwhile.


def test_a_clock_that_is_set_back_loses_no_run(study, monkeypatch):
    """As a machine whose clock was an hour ahead: its files are of the future."""
    root = study.with_suffix("")
    ahead = time.time() + 3600
    for path in root.rglob("*.parquet"):
        os.utime(path, (ahead, ahead))
    study.write_text(STUDY.replace("replications = 3", "replications = 4"))
    found = sweep(study, Options(workers=1))
    assert (found.done, found.ran, found.damages) == (16, 4, [])


@pytest.mark.parametrize("folder", ["claims", "owners", "tmp", "failed", "parts", "done"])
def test_a_folder_that_is_removed_while_it_runs_ends_in_a_line_or_whole(tmp_path, fairq, monkeypatch, folder):
    study = write_study(tmp_path)
    root = study.with_suffix("")
    monkeypatch.setattr(threads, "PART_RUNS", 2)
    real, times = store.Store.publish, []

    def publish(self, *rest, **named):
        times.append(1)
        if len(times) == 3:
            shutil.rmtree(root / folder)
        return real(self, *rest, **named)

    monkeypatch.setattr(store.Store, "publish", publish)
    status, _, err = fairq("sweep", study, "--workers", 1)
    assert status in (0, 2) and (status == 0 or err.count("\n") == 1), err
    monkeypatch.undo()
    status, out, _ = fairq("sweep", study)
    assert status == 0 and "12 done, 0 failed, 0 missing" in out


# A folder or a disk that cannot be written.

NOBODY = pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root writes everywhere")


@NOBODY
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    study = write_study(tmp_path)
    tmp_path.chmod(0o555)
    for folder in tmp_path.parents:
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    done = subprocess.run(unprivileged(sys.executable, "-m", "fairq", "sweep", study), capture_output=True, text=True)
    tmp_path.chmod(0o755)
    assert done.returncode == 2, done
    assert done.stderr.count("\n") == 1 and "cannot be written: permission denied" in done.stderr


@NOBODY
def test_a_finished_study_can_be_looked_at_where_nothing_can_be_written(tmp_path):
    study = write_study(tmp_path)
    sweep(study, Options())
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    words = ("-m", "fairq", "sweep", study, "--json")
    done = subprocess.run(unprivileged(sys.executable, *words), capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["done"] == 12, done
    study.write_text(STUDY.replace("replications = 3", "replications = 4"))
    done = subprocess.run(unprivileged(sys.executable, *words), capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert f"{study.with_suffix('')}: cannot be written: permission denied; what is done stays" in done.stderr


def unprivileged(*words):
    """The command of a user that is not root."""
    words = list(map(str, words))
    if os.geteuid() != 0:
        return words
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]


FULL = """
import json, subprocess, sys
from pathlib import Path
words = json.loads(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={sys.argv[2]}k", "tmpfs", "disk"], check=True)
done = subprocess.run(words, capture_output=True, text=True)
left = sorted(path.name for path in Path("disk/store").glob("tmp/*"))
print(json.dumps([done.returncode, done.stderr, left]))
subprocess.run(["mount", "-o", "remount,size=100m", "disk"], check=True)
done = subprocess.run([*words, "--json"], capture_output=True, text=True)
print(done.stdout.replace("\\n", " "))
"""


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path):
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("unshare -rm cannot make a mount namespace here: a FULL DISK is NOT TESTED")
    study = write_study(tmp_path, replications=50)
    (tmp_path / "disk").mkdir()
    code = "import sys; from fairq.cli import program; from fairq.studies import threads; threads.PART_RUNS = 20; "
    code += "sys.exit(program.main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "sweep", str(study), "--store", "disk/store"]
    done = subprocess.run(["unshare", "-rm", sys.executable, "-c", FULL, json.dumps(words), "200"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    status, said, left = json.loads(first)
    assert status == 2 and said.count("\n") == 1 and "no space left on device; what is done stays" in said, said
    assert left == []
    after = json.loads(second)
    assert after["done"] == 200 and 0 < after["ran"] < 200
