"""An output is written whole or not at all, and never over something fairq did not write or the result of other work.

A folder carries what it is the result of: a result is replaced by one of the same scenario, and by another only if that
was asked for.

Everything is written under a hidden name, which then takes the target's place in one step. A folder that has to stay
where it is (a mount point, the working folder, a folder whose parent cannot be written) keeps its place: the new files
are written inside it and moved up at the end. Signals wait for that. What a killed process leaves has hidden names; the
next work on the same target removes it. Commands that write nothing do not load shutil and tempfile, which are slow to
import.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fairq.core.errors import OutputError
from fairq.core.remedies import system_error, told
from fairq.core.signals import deferred

MARKER = ".fairq"
"""The file in a folder that says what wrote it; a folder with it may be replaced."""

NAME_KEPT = 40
"""Letters of the target's name in a hidden name, which could else be too long for the file system."""

SYSTEM = frozenset({"lost+found"})
"""What a file system keeps at its top; it stays there, and a folder with nothing else is empty."""

STAYS = frozenset({errno.EBUSY, errno.EXDEV, errno.EPERM, errno.EACCES})
"""Why a folder cannot be renamed though its parent can be written: in a container it may be of a lower layer."""


ELSEWHERE = "choose another folder with --out"
"""What to do where nothing else helps."""


@contextmanager
def folder(path: str | os.PathLike[str], *, wrote: str, of: object = None, replace: bool = False) -> Iterator[Path]:
    """Give a temporary folder to write into; it takes the place of `path` when the block ends well.

    An existing folder is replaced only if it is empty or carries the marker, and the marker says the same work; with
    `replace`, that of other work too. `wrote` is the line the marker holds; `of` is what makes the work the same, as
    JSON has it: a scenario and its settings. Without it that is the line.

    Raises OutputError before the block is entered if the place cannot be had; if the block raises, nothing of it
    remains and what stood at `path` is untouched.
    """
    target = _named(path)
    work = wrote if of is None else of
    _check_folder(target, work, replace)
    within = (target, "") if _stays(target) else (_above(target), target.name)
    place = target
    try:
        with _hidden_folder(*within) as hidden:
            place = hidden / "new"
            place.mkdir()
            place.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o777 & ~_umask())
            yield place
            with deferred():
                (place / MARKER).write_text(f"{wrote}\n{_digest(work)}\n", encoding="utf-8")
                # what stands at the target may be another since the work began
                _check_folder(target, work, replace)
                _deliver(hidden, target, wrote, lambda held: _check_aside(held, target, work, replace))
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {told(error, ELSEWHERE)}") from None
    except OutputError as error:
        if (failure := system_error(error)) is not None:
            raise OutputError(f"{path}: cannot be written: {told(failure)}") from None
        # the folder that was asked for, not the one it is built in
        raise OutputError(str(error).replace(str(place), os.fspath(path))) from None


@contextmanager
def file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary sibling of `path` to write; it takes the place of `path` when the block ends well.

    The sibling ends as `path` does. If the block raises, what stood at `path` is untouched; OutputError if the file
    cannot be written.
    """
    import tempfile

    check_file(path)
    # a link stays one, and what it leads to is replaced
    target = Path(path).resolve()
    place, lock = None, None
    try:
        _remove_left(target.parent, target.stem, target.suffix)
        with deferred():
            descriptor, name = tempfile.mkstemp(NEW + target.suffix, _prefix(target.stem), target.parent)
            os.close(descriptor)
            place = Path(name)
            place, lock = _locked(place, Path(name.removesuffix(NEW + target.suffix) + target.suffix))
        place.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
        yield place
        with deferred():
            place.replace(target)
            place = None
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {told(error)}") from None
    finally:
        with deferred():
            if place is not None:
                # what ended the block is said, and not that this fails too
                with contextlib.suppress(OSError):
                    place.unlink(missing_ok=True)
            if lock is not None:
                os.close(lock)


def check(path: str | os.PathLike[str], *, of: object = None, replace: bool = False) -> None:
    """Refuse now what `folder` would refuse later, before long work is begun; OutputError says why.

    Without `of` the folder may hold the result of any work.
    """
    _check_folder(_named(path), of, replace or of is None)


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse now what `file` would refuse later; OutputError says why."""
    try:
        target = Path(path).resolve()
        if not target.parent.is_dir():
            leads = f"leads to {Path(path).readlink()}, and " if Path(path).is_symlink() else ""
            above = target.parent if leads else Path(path).parent
            raise OutputError(f"{path}: {leads}there is no folder {above}")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise OutputError(f"{path}: {Path(path).parent} is not a writable folder; choose another name")
        if not target.exists():
            return
        if target.is_dir():
            raise OutputError(f"{path}: is a folder; give the name of a file")
        if not target.is_file():
            raise OutputError(f"{path}: is no regular file; choose another name")
        if not os.access(target, os.W_OK) or _is_kept_by_its_owner(target):
            raise OutputError(f"{path}: is protected against writing; choose another name")
        if _is_mounted(target):
            raise OutputError(f"{path}: is a mount point; mount its folder instead, or choose another name")
    except (OSError, RuntimeError) as error:
        # RuntimeError: links that lead in a circle
        said = told(error) if isinstance(error, OSError) else "its links lead in a circle; give the file itself"
        raise OutputError(f"{path}: cannot be written: {said}") from None


def _named(path: str | os.PathLike[str]) -> Path:
    """The folder as a path with a name: "." and ".." have none."""
    if not os.fspath(path):
        raise OutputError("out: the name is empty; give that of a folder")
    target = Path(path)
    return target.resolve() if target.name in ("", "..") else target


def _above(target: Path) -> Path:
    """The nearest folder above that there is."""
    above = target.parent
    while not above.exists() and above != above.parent:
        above = above.parent
    return above


def _digest(work: object) -> str:
    """What tells work from other work."""
    import hashlib

    text = json.dumps(work, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _check_folder(target: Path, work: object, replace: bool) -> None:
    try:
        _check_held(target, work, replace)
        to_write = target if target.exists() else _above(target)
        if not to_write.is_dir() or not os.access(to_write, os.W_OK | os.X_OK):
            raise OutputError(f"{target}: {to_write} is not a writable folder; choose another folder with --out")
    except OSError as error:
        raise OutputError(f"{target}: cannot be read: {told(error, ELSEWHERE)}") from None


def _check_held(target: Path, work: object, replace: bool) -> None:
    if target.is_symlink():
        raise OutputError("is a link; give the folder itself", where=str(target))
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError("is a file, not a folder; choose another name with --out", where=str(target))
    held = [entry.name for entry in _held(target)]
    if held and MARKER not in held:
        raise OutputError(
            f"holds something that fairq did not write ({min(held)}); choose another folder with --out",
            where=str(target),
        )
    if held and not replace and not _is_of(target / MARKER, work):
        raise OutputError(
            f"holds the result of other work ({_marked(target / MARKER)[0]}, with another scenario or other"
            " settings); choose another folder with --out, or write --replace",
            where=str(target),
        )


def _check_aside(held: Path, target: Path, work: object, replace: bool) -> None:
    """Refuse what stood at `target` and is at `held` for a moment."""
    try:
        _check_held(held, work, replace)
    except OutputError as error:
        raise OutputError(error.fault, where=str(target)) from None


def _held(target: Path) -> list[Path]:
    """What a folder holds, without what the file system keeps there and what is being written."""
    hidden = re.compile(re.escape(_prefix("")) + DRAWN)
    return [entry for entry in target.iterdir() if entry.name not in SYSTEM and not hidden.match(entry.name)]


def _is_of(marker: Path, work: object) -> bool:
    """Whether the folder with this marker is of this work; the markers of before had one line and are of any."""
    lines = _marked(marker)
    return len(lines) < 2 or lines[1] == _digest(work)


def _marked(marker: Path) -> list[str]:
    try:
        return marker.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return [""]


DRAWN = "[a-z0-9_]{8}"
"""What tempfile draws for a name."""
NEW = ".new"
"""Ends the name of what is not locked yet."""


def _prefix(name: str) -> str:
    """How the hidden names for a target of this name begin; without a name those inside the target."""
    return f".{name[:NAME_KEPT]}.fairq-" if name else ".fairq-"


@contextmanager
def _hidden_folder(above: Path, name: str) -> Iterator[Path]:
    """Make a hidden folder in `above` for a target called `name`; it is removed with all it holds behind the block."""
    import shutil
    import tempfile

    _remove_left(above, name)
    hidden, lock = None, None
    try:
        with deferred():
            made = tempfile.mkdtemp(NEW, _prefix(name), above)
            hidden = Path(made)
            hidden, lock = _locked(hidden, Path(made.removesuffix(NEW)))
        yield hidden
    finally:
        with deferred():
            if hidden is not None:
                shutil.rmtree(hidden, ignore_errors=True)
                # where nothing can be opened, rmtree removes nothing, but then the folder is empty
                with contextlib.suppress(OSError):
                    hidden.rmdir()
            if lock is not None:
                os.close(lock)


def _locked(made: Path, hidden: Path) -> tuple[Path, int | None]:
    """Lock what was made and rename it to `hidden`, the name under which others look for what no process has locked.

    The system gives the lock back when the process ends, however it ends. Where there are no locks it keeps its name.
    """
    try:
        import fcntl
    except ImportError:
        return made, None
    lock = os.open(made, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made.rename(hidden)
    except OSError:
        os.close(lock)
        return made, None
    return hidden, lock


def _remove_left(above: Path, name: str, suffix: str = "") -> None:
    """Remove what processes that were killed have left of a target called `name`."""
    import shutil

    ours = re.compile(re.escape(_prefix(name)) + DRAWN + re.escape(suffix))
    with contextlib.suppress(ImportError, OSError):
        import fcntl

        for left in [entry for entry in above.iterdir() if ours.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                lock = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if left.is_dir():
                        shutil.rmtree(left, ignore_errors=True)
                    else:
                        left.unlink()
                finally:
                    os.close(lock)


def _stays(target: Path) -> bool:
    """Whether an existing folder has to keep its place, so that only what it holds can be replaced."""
    if not target.exists():
        return False
    resolved = target.resolve()
    return (
        not os.access(target.parent, os.W_OK | os.X_OK)
        or _is_kept_by_its_owner(target)
        or _is_mounted(target)
        # a shell that stands in it would stand nowhere
        or resolved in (Path.cwd(), *Path.cwd().parents)
    )


def _is_kept_by_its_owner(target: Path) -> bool:
    """Whether only others may rename it: it stands in a folder like /tmp (the sticky bit, chmod(2))."""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    parent = target.parent.stat()
    return bool(parent.st_mode & stat.S_ISVTX) and user not in (0, parent.st_uid, target.stat().st_uid)


def _is_mounted(target: Path) -> bool:
    if os.path.ismount(target):
        return True
    # a folder or file of the same file system that is mounted there (mount --bind): proc(5), field 5 of mountinfo
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    points = (re.sub(rb"\\([0-7]{3})", lambda octal: bytes([int(octal[1], 8)]), line.split(b" ")[4]) for line in lines)
    return os.fsencode(target.resolve()) in points


def _deliver(hidden: Path, target: Path, wrote: str, check: Callable[[Path], None]) -> None:
    """Let `hidden`/new take the place of `target`, in one step if that can be.

    `check` refuses what stood there, if it is another than was looked at before; it stays then.
    """
    new = hidden / "new"
    if hidden.parent == target:
        _move_up(hidden, target, wrote)
    elif not target.exists():
        _move_to(new, target)
    else:
        try:
            _exchange(new, target, hidden / "old", check)
        except OSError as error:
            if error.errno not in STAYS:
                raise
            _copy_in(new, target, wrote)


def _move_to(new: Path, target: Path) -> None:
    """Rename `new` to `target`, with the folders above it that are missing."""
    missing = []
    above = target.parent
    while not above.exists():
        missing.append(above)
        above = above.parent
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new.rename(target)
    except OSError:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()
        raise


def _exchange(new: Path, target: Path, old: Path, check: Callable[[Path], None]) -> None:
    """Exchange two folders: in one step where the system can, else the old one is aside for a moment.

    What `check` refuses takes its place again.
    """
    if _swap(new, target):
        try:
            check(new)
        except OutputError:
            _swap(new, target)
            raise
        return
    target.rename(old)
    try:
        check(old)
        new.rename(target)
    except (OSError, OutputError):
        old.rename(target)
        raise


def _swap(one: Path, other: Path) -> bool:
    """Exchange two names by renameat2(2) with RENAME_EXCHANGE; False where the system or the file system has none."""
    import ctypes

    at_working_folder, rename_exchange = -100, 2
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(at_working_folder, os.fsencode(one), at_working_folder, os.fsencode(other), rename_exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(code, os.strerror(code), str(other))


def _copy_in(new: Path, target: Path, wrote: str) -> None:
    """Copy `new` into a folder that has to stay where it is, and may be on another file system."""
    import shutil

    with _hidden_folder(target, "") as inside:
        shutil.copytree(new, inside / "new")
        _move_up(inside, target, wrote)


def _move_up(hidden: Path, target: Path, wrote: str) -> None:
    """Move what `hidden`/new holds up into `target`, and what was there into `hidden`/old; all or nothing.

    Only for a process that is killed between two renames is it neither: then the marker says so, and the folder is
    replaced by whatever is written to it next.
    """
    new, old, marker = hidden / "new", hidden / "old", target / MARKER
    old.mkdir()
    before = marker.read_bytes() if marker.exists() else None
    (hidden / MARKER).write_text(f"{wrote}: unfinished\n", encoding="utf-8")
    (hidden / MARKER).replace(marker)
    moved: list[tuple[Path, Path]] = []
    try:
        for sources, destination in ((_held(target), old), (_held(new), target)):
            for source in sources:
                if source.name != MARKER:
                    source.rename(destination / source.name)
                    moved.append((source, destination / source.name))
        (new / MARKER).replace(marker)
    except OSError:
        for source, destination in reversed(moved):
            destination.rename(source)
        if before is None:
            marker.unlink()
        else:
            marker.write_bytes(before)
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
