"""An output is written whole or not at all, and never over something fairq did not write or the result of other work.

A folder carries what it is the result of: a result is replaced by one of the same scenario, and by another only if that
was asked for. Commands that write no folder do not load shutil and tempfile, which are slow to import.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairq._native import OutputError

MARKER = ".fairq"
"""The file in a folder that says what wrote it; a folder with it may be replaced."""


@contextmanager
def folder(path: str | os.PathLike[str], *, wrote: str, of: object = None, replace: bool = False) -> Iterator[Path]:
    """Give a temporary sibling of `path` to write into; it takes the place of `path` when the block ends well.

    An existing folder is replaced only if it is empty or carries the marker, and the marker says the same work; with
    `replace`, that of other work too. `wrote` is the line the marker holds; `of` is what makes the work the same, as
    JSON has it: a scenario and its settings. Without it that is the line.

    Raises OutputError before the block is entered if the place cannot be had; if the block raises, nothing of it
    remains and what stood at `path` is untouched.
    """
    import shutil
    import tempfile

    target = Path(path)
    work = wrote if of is None else of
    _check_replaceable(target, work, replace)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason(error)}; choose another folder with --out") from None
    try:
        place.chmod(0o777 & ~_umask())
        yield place
        (place / MARKER).write_text(f"{wrote}\n{_digest(work)}\n", encoding="utf-8")
        _exchange(place, target)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason(error)}; choose another folder with --out") from None
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary sibling of `path` to write; it takes the place of `path` when the block ends well.

    The sibling ends as `path` does. If the block raises, what stood at `path` is untouched; OutputError if the file
    cannot be written.
    """
    import tempfile

    # a link stays one, and what it leads to is replaced
    target = Path(path).resolve()
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
        os.close(descriptor)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason(error)}") from None
    place = Path(name)
    try:
        place.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        yield place
        place.replace(target)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {reason(error)}") from None
    finally:
        place.unlink(missing_ok=True)


def check(path: str | os.PathLike[str], *, of: object = None, replace: bool = False) -> None:
    """Refuse now what `folder` would refuse later, before long work is begun; OutputError says why.

    Without `of` the folder may hold the result of any work.
    """
    target = Path(path)
    _check_replaceable(target, of, replace or of is None)
    above = target.parent
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{target}: {above} is not a writable folder; choose another folder with --out")


def _digest(work: object) -> str:
    """What tells work from other work."""
    import hashlib

    text = json.dumps(work, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _check_replaceable(target: Path, work: object, replace: bool) -> None:
    if target.is_symlink():
        raise OutputError(f"{target}: is a link; give the folder itself")
    if not target.exists():
        return
    if not target.is_dir():
        raise OutputError(f"{target}: is a file, not a folder; choose another name with --out")
    try:
        held = [entry.name for entry in target.iterdir()]
    except OSError as error:
        raise OutputError(f"{target}: cannot be read: {reason(error)}; choose another folder with --out") from None
    if held and MARKER not in held:
        raise OutputError(
            f"{target}: holds something that fairq did not write ({min(held)}); choose another folder with --out"
        )
    if held and not replace and not _is_of(target / MARKER, work):
        raise OutputError(
            f"{target}: holds the result of other work ({_marked(target / MARKER)[0]}, with another scenario or other"
            " settings); choose another folder with --out, or write --replace"
        )


def _is_of(marker: Path, work: object) -> bool:
    """Whether the folder with this marker is of this work; the markers of before had one line and are of any."""
    lines = _marked(marker)
    return len(lines) < 2 or lines[1] == _digest(work)


def _marked(marker: Path) -> list[str]:
    try:
        return marker.read_text(encoding="utf-8").splitlines() or [""]
    except (OSError, UnicodeDecodeError):
        return [""]


def _exchange(place: Path, target: Path) -> None:
    """Put `place` where `target` is; the old folder is removed only once the new one stands."""
    import shutil
    import tempfile

    if not target.exists():
        place.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent)) / target.name
    target.rename(old)
    try:
        place.rename(target)
    except OSError:
        old.rename(target)
        raise
    finally:
        shutil.rmtree(old.parent, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def reason(error: OSError) -> str:
    """What the system says, in lower case: "no such file or directory"."""
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]
