"""The store of a study: the tables of its runs in files, and what says that a run is there.

A run exists if and only if a marker in done/ names it; the marker names the files of its tables and
their digests, and is linked under its name after these files are on the disk. All else in the
folder is of no account. Many processes may use a store at the same time, on one machine or on
several. docs/design/store.md says what is where, and why.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import fairq._native as _native
from fairq.core import shapes
from fairq.core.errors import OutputError, UsageError
from fairq.core.remedies import reason, remedy_of, system_error, told
from fairq.core.results import TABLES, described
from fairq.studies.claims import LEASE_S, Owner
from fairq.studies.linking import give_name
from fairq.studies.study import Keep, Study, restored

FORMAT = 1
"""The version of the layout."""
HEADER = "store.json"
"""The file that makes a folder a store: the study, and the versions that its runs are of."""
FOLDERS = ("parts", "done", "failed", "claims", "owners", "tmp")
NS = 1_000_000_000
TIMES_S = 2.5
"""How fine the times of a file system are at least: two seconds on the coarsest."""


class Finished(NamedTuple):
    """A run that has come to its end: its tables and what it cost in seconds."""

    digest: str
    tables: _native.Tables
    cost_s: float


class File(NamedTuple):
    """A part, as its marker describes it; `changed_s` is when it last changed, in whole seconds."""

    digest: str
    bytes: int
    rows: int
    changed_s: int | None = None


class Marker(NamedTuple):
    """What a marker says: the runs that exist by it, their costs, and their files."""

    name: str
    keep: Keep
    runs: Mapping[str, float]
    files: Mapping[str, File]
    """By table; one without rows has no file."""

    def gives(self, keep: Keep) -> bool:
        """Whether its runs have all that is to be kept."""
        mine, asked = self.keep, keep
        return (
            set(asked.tables) <= set(mine.tables)
            and asked.series in (None, mine.series)
            and asked.packets in (None, mine.packets)
            and asked.states <= mine.states
        )


class Damage(NamedTuple):
    """A part that is not as its marker says."""

    path: Path
    what: str
    runs: int

    def __str__(self) -> str:
        return f"{self.path}: {self.what}; its {self.runs} run{'s are' if self.runs > 1 else ' is'} missing"


def versions() -> dict[str, str]:
    """What runs must share to be put together: the versions of values and of columns."""
    columns = [[name, *((each["name"], each["kind"]) for each in described()[name]["columns"])] for name in TABLES]
    digest = hashlib.sha256(json.dumps(columns).encode()).hexdigest()
    return {"results": str(_native.results_version()), "columns": digest[:8]}


class Store:
    """A folder with the runs of a study.

    `done` has the marker of each run that exists, by its digest. It is as new as the last `scan`.
    With `verify` every part is read and held to its digest, which takes the time of reading all.
    """

    def __init__(self, root: str | os.PathLike[str], keep: Keep | None = None, *, verify: bool = False) -> None:
        self.root = Path(root)
        self.done: dict[str, Marker] = {}
        self.damages: list[Damage] = []
        self._known: dict[str, Marker | None] = {}
        self._changed_ns = -1
        self._seen_s = 0.0
        self._keep = keep
        self._verify = verify
        self.other_version: str | None = None
        """What is said of a store of another version, by `study`."""

    # Making and opening.

    def header(self) -> dict[str, Any] | None:
        """What the folder says of itself; None if it is not there or empty.

        OutputError if it is no store.
        """
        try:
            said = json.loads((self.root / HEADER).read_text(encoding="utf-8"))
            if isinstance(said, dict) and isinstance(said.get("format"), int):
                if said["format"] > FORMAT:
                    raise OutputError(f"{self.root}: is a store of a later fairq (layout {said['format']}); use that")
                return said
            raise OutputError(f"{self.root / HEADER}: is no header of a store; choose another folder with --store")
        except (ValueError, RecursionError):
            raise OutputError(f"{self.root / HEADER}: cannot be read; move it away and sweep again") from None
        except FileNotFoundError:
            pass
        except OSError as error:
            raise _unread(self.root, error) from None
        self._check_free()
        return None

    def _check_free(self) -> None:
        """Refuse a folder that holds something else."""
        if self.root.is_symlink() and not self.root.exists():
            raise OutputError(f"{self.root}: is a link to {self.root.readlink()}, which is not there; make that folder,"
                              " or choose another --store")  # fmt: skip
        try:
            # a store without a header has these: its first process may have been killed
            held = sorted(entry.name for entry in self.root.iterdir() if entry.name not in FOLDERS)
        except FileNotFoundError:
            return
        except OSError as error:
            raise _unread(self.root, error) from None
        held = [name for name in held if name != "lost+found"]
        if held:
            raise OutputError(
                f"{self.root}: holds something that is no store of a study ({held[0]}); choose another --store"
            )

    def open(self, study: Study, *, mix: bool = False, write: bool = True) -> None:
        """Make the store that of this study, or refuse.

        The study gets the replications that --until added to it before.

        Nothing is written if the study is as it was, or without `write`.
        """
        header = self.header()
        if header is not None:
            self._check(header, study, mix)
            _extend(study, self._restored(header))
        self._keep = study.keep
        said = {"format": FORMAT, "fairq": _native.version(), **versions(), **study.described()}
        # a later fairq with the same versions changes nothing that counts
        is_new = header is None or {**header, "fairq": ""} != json.loads(json.dumps({**said, "fairq": ""}))
        if write and is_new:
            self._write_header(said)

    def _check(self, header: Mapping[str, Any], study: Study, mix: bool) -> None:
        if header.get("name") != study.name:
            raise OutputError(
                f"{self.root}: is the store of the study {header.get('name')}, not of {study.name}; choose another"
                " folder with --store, or if the file was renamed, write the old name in [study]"
            )
        other = self._differs(header)
        if other is not None and not mix:
            raise OutputError(f"{other}; choose another folder with --store, or write --mix-versions")

    def _differs(self, header: Mapping[str, Any]) -> str | None:
        """What is said of a header whose versions are not those of this fairq."""
        theirs = {name: header.get(name) for name in versions()}
        if theirs == versions():
            return None
        what = "values" if theirs["results"] != versions()["results"] else "columns"
        return (
            f"{self.root}: fairq {header.get('fairq')} wrote it, and the {what} of this fairq"
            f" ({_native.version()}) may differ from its"
        )

    def _write_header(self, said: Mapping[str, Any]) -> None:
        with self.owner() as owner, self.writing():
            hidden = owner.folder / HEADER
            _write(hidden, json.dumps(said).encode())
            hidden.replace(self.root / HEADER)
            _sync_folder(self.root)

    def study(self) -> Study:
        """The study that the store is of; OutputError if the folder is no store."""
        header = self.header()
        if header is None:
            raise UsageError(f"{self.root}: there is no store of a study; make one by fairq sweep {self.root}.toml")
        study = self._restored(header)
        self._keep = study.keep
        self.other_version = self._differs(header)
        return study

    def _restored(self, header: Mapping[str, Any]) -> Study:
        try:
            return restored(header)
        except ValueError:
            raise OutputError(f"{self.root / HEADER}: cannot be read; move it away and sweep again") from None

    def tidy(self) -> None:
        """Remove what killed processes left, if there is any and the folder can be written."""
        with contextlib.suppress(OSError, OutputError):
            if any(any((self.root / folder).iterdir()) for folder in ("claims", "owners", "tmp")):
                with self.owner() as owner:
                    owner.sweep(self.done)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """What the system refuses within the block becomes one line.

        With the remedy of that failure.
        """
        try:
            yield
        except (OSError, OutputError) as error:
            failure = system_error(error)
            if failure is None:
                # it says itself what is wrong
                raise
            remedy = remedy_of(failure)
            remedy = f"{remedy}; " if remedy else ""
            raise OutputError(
                f"cannot be written: {reason(failure)}; what is done stays: {remedy}"
                "the same command goes on from there",
                where=str(self.root),
            ) from None

    @contextmanager
    def owner(self, lease_s: float = LEASE_S) -> Iterator[Owner]:
        """The process that asks as an owner of claims, within the block."""
        with contextlib.ExitStack() as held:
            with self.writing():
                for folder in FOLDERS:
                    (self.root / folder).mkdir(parents=True, exist_ok=True)
                owner = held.enter_context(Owner(self.root, lease_s))
            yield owner

    # Reading.

    def scan(self) -> list[Marker]:
        """Read the markers that are new since the last scan, and give those that count.

        A run belongs to the first marker by name that has what the study keeps. A marker whose
        files are not as it says does not count; it is one of `damages`.
        """
        folder = self.root / "done"
        try:
            if not self._may_be_new(folder):
                return []
            # names alone, for there are thousands
            there = os.listdir(folder)  # noqa: PTH208
            names = sorted(name for name in {*there} - self._known.keys() if name.endswith(".json"))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _unread(folder, error) from None
        new = []
        try:
            for name in names:
                marker = self._known[name] = self._marker(folder / name)
                if marker is not None:
                    new.append(marker)
        except OutputError:
            # what was not looked at is new for the next scan
            self._changed_ns = -1
            raise
        for marker in new:
            for digest in marker.runs:
                other = self.done.get(digest)
                if other is None or self._is_better(marker, other):
                    self.done[digest] = marker
        return new

    def _may_be_new(self, folder: Path) -> bool:
        """Whether markers may have come since the last scan, by the folder's time.

        Two markers that come at about the same time may leave the same time.
        """
        changed_ns, now = folder.stat().st_mtime_ns, time.monotonic()
        if changed_ns != self._changed_ns:
            self._changed_ns, self._seen_s = changed_ns, now
            return True
        if now - self._seen_s < TIMES_S:
            return True
        is_first = self._seen_s >= 0
        self._seen_s = -TIMES_S
        return is_first

    def _is_better(self, one: Marker, other: Marker) -> bool:
        """Which of two markers a run belongs to that both name."""
        return (not self._gives(one), one.name) < (not self._gives(other), other.name)

    def _gives(self, marker: Marker) -> bool:
        return self._keep is None or marker.gives(self._keep)

    def has(self, digest: str) -> bool:
        """Whether a run exists with all that the study keeps."""
        marker = self.done.get(digest)
        return marker is not None and self._gives(marker)

    def path(self, table: str, marker: Marker) -> Path:
        """The file of a table that a marker names."""
        return self.root / "parts" / table / f"{marker.name}.parquet"

    def _marker(self, path: Path) -> Marker | None:
        """The marker in a file, if it and the files that it names are whole.

        OutputError if one cannot be read: that is no damage, and nothing is moved for it.
        """
        try:
            written = path.stat().st_mtime_ns
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unread(path, error) from None
        try:
            marker = _parsed(path.name.removesuffix(".json"), content)
        except (ValueError, RecursionError):
            self.damages.append(Damage(path, "cannot be read as a marker", 1))
            return None
        if marker.name != _key(marker.runs, marker.keep):
            self.damages.append(Damage(path, "is no marker of its runs", len(marker.runs) or 1))
            return None
        for table, file in marker.files.items():
            part = self.path(table, marker)
            if (what := _damage(part, file, written, whole=self._verify)) is not None:
                self.damages.append(Damage(part, what, len(marker.runs)))
                return None
        return marker

    def failed(self) -> dict[str, dict[str, Any]]:
        """Why runs have failed, by their digests; those that exist by now are left out."""
        try:
            names = [entry.name for entry in os.scandir(self.root / "failed")]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise _unread(self.root / "failed", error) from None
        digests = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        said = {digest: self.failure(digest) for digest in digests if not self.has(digest)}
        return {digest: failure for digest, failure in said.items() if failure is not None}

    def failure(self, digest: str) -> dict[str, Any] | None:
        """Why a run has failed; None if it has not."""
        path = self.root / "failed" / f"{digest}.json"
        try:
            said = json.loads(path.read_bytes())
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        except OSError as error:
            raise _unread(path, error) from None
        return said if isinstance(said, dict) else None

    # Writing.

    def set_aside(self) -> list[Damage]:
        """Move damaged parts into aside/; gives what was moved. Their runs are missing then."""
        damages, self.damages = self.damages, []
        with self.writing():
            for damage in damages:
                name = damage.path.stem
                # a marker of this name may come again
                self._known.pop(f"{name}.json", None)
                aside = self.root / "aside"
                aside.mkdir(exist_ok=True)
                # the marker first: without it the files are of no account
                parts = (folder / f"{name}.parquet" for folder in (self.root / "parts").glob("*"))
                for path in (self.root / "done" / f"{name}.json", *parts):
                    with contextlib.suppress(FileNotFoundError):
                        path.rename(aside / f"{path.parent.name} {path.name}")
        return damages

    def publish(self, owner: Owner, runs: Sequence[Finished], keep: Keep, source: str) -> Marker | None:
        """Make runs exist: write their tables, then their marker; gives up the claims.

        Runs whose claim was lost are left to the process that has them now. OutputError if the disk
        refuses: what is half-written is removed.
        """
        with self.writing():
            runs = [run for run in runs if owner.holds(run.digest)]
            marker = self._publish(owner, runs, keep, source) if runs else None
            for run in runs:
                (self.root / "failed" / f"{run.digest}.json").unlink(missing_ok=True)
                owner.release(run.digest)
        return marker

    def _publish(self, owner: Owner, runs: Sequence[Finished], keep: Keep, source: str) -> Marker:
        owner.folder.mkdir(parents=True, exist_ok=True)
        name = _key([run.digest for run in runs], keep)
        if (marker := self._marker(self.root / "done" / f"{name}.json")) is not None:
            # another process has run the same
            return marker
        files: dict[str, File] = {}
        made = []
        try:
            for table in keep.names:
                rows = _native.joined(table, [(run.digest, run.tables) for run in runs])
                if not len(rows):
                    continue
                hidden = owner.folder / f"{table} {name}"
                made.append(hidden)
                rows.write_parquet(os.fspath(hidden), source)
                files[table] = File(_sync(hidden), hidden.stat().st_size, len(rows))
            marker = Marker(name, keep, {run.digest: round(run.cost_s, 6) for run in runs}, files)
            for table in files:
                to = self.path(table, marker)
                to.parent.mkdir(exist_ok=True)
                _place(owner.folder / f"{table} {name}", to)
                files[table] = files[table]._replace(changed_s=to.stat().st_mtime_ns // NS)
                _sync_folder(to.parent)
            said = {"results": _native.results_version(), "fairq": _native.version(), **marker._asdict()}
            said |= {"keep": keep._asdict(), "files": {table: file._asdict() for table, file in files.items()}}
            hidden = owner.folder / f"done {name}"
            made.append(hidden)
            _write(hidden, json.dumps(said).encode())
            with contextlib.suppress(FileExistsError):
                # another process has run the same: these are its files
                give_name(hidden, self.root / "done" / f"{name}.json")
            _sync_folder(self.root / "done")
        finally:
            for hidden in made:
                with contextlib.suppress(OSError):
                    hidden.unlink(missing_ok=True)
        return marker

    def fail(self, owner: Owner, digest: str, said: Mapping[str, Any]) -> None:
        """Keep the reason why a run has failed, and give up its claim."""
        with self.writing():
            hidden = owner.folder / f"failed {digest}"
            _write(hidden, json.dumps(said, indent=1).encode())
            hidden.replace(self.root / "failed" / f"{digest}.json")
        owner.release(digest)


def _extend(study: Study, before: Study) -> None:
    """Give the points of a study the replications that --until added to them before."""
    added = {point.digests[0]: point.digests for point in before.points if len(point.digests) > point.asked}
    for point in study.points:
        longer = added.get(point.digests[0], [])
        if len(longer) > len(point.digests) and longer[: len(point.digests)] == point.digests:
            point.digests = longer


def _key(digests: Iterable[str], keep: Keep) -> str:
    """The name of a marker and of its files: it is of the runs and of what is kept of them."""
    return hashlib.sha256(json.dumps([list(digests), keep]).encode()).hexdigest()[:32]


def _unread(path: Path, error: OSError) -> OutputError:
    """What is said of a file or folder that cannot be read: it may be whole."""
    return OutputError(f"{path}: cannot be read: {told(error)}; nothing was moved for it")


def _parsed(name: str, content: bytes) -> Marker:
    """The marker that a file says; ValueError if it is none."""
    said = json.loads(content)
    if not isinstance(said, dict):
        raise ValueError("no marker")
    marker = shapes.made(Marker, {**said, "name": name}, passing=True)
    if not marker.keep.is_known or not set(marker.files) <= set(marker.keep.names):
        raise ValueError("files of tables that are not kept")
    return marker


def _damage(part: Path, file: File, written_ns: int, *, whole: bool) -> str | None:
    """What is wrong with a part; OutputError if that cannot be found out.

    Without `whole` its content is read only if its time is later than its marker's, or another than
    the marker says: the clock of what edits it may be late.
    """
    try:
        stat = part.stat()
        if stat.st_size != file.bytes:
            return f"has {stat.st_size} bytes and not {file.bytes}"
        changed_s = stat.st_mtime_ns // NS
        is_suspect = stat.st_mtime_ns > written_ns or file.changed_s not in (None, changed_s)
        if (whole or is_suspect) and _digest(part) != file.digest:
            return "was changed after it was written"
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        raise _unread(part, error) from None
    return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(path: Path, content: bytes) -> None:
    """Write a file and see it on the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path) -> str:
    """See a file on the disk; gives its digest."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def _place(hidden: Path, to: Path) -> None:
    """Give a part its name; what a killed process left there has no marker and gives way."""
    try:
        give_name(hidden, to)
    except FileExistsError:
        if _digest(hidden) != _digest(to):
            hidden.replace(to)


def _sync_folder(path: Path) -> None:
    """See the names in a folder on the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
