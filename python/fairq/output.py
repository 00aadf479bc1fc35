"""An output folder is written whole or not at all, and never over something fairq did not write.

Who writes no folder does not wait for shutil and tempfile, which bring every kind of archive and of random number.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairq._native import OutputError

MARKER = ".fairq"
"""The file in a folder that says what wrote it; a folder with it may be replaced."""


@contextmanager
def folder(path: str | os.PathLike[str], *, wrote: str) -> Iterator[Path]:
    """Give a temporary sibling of `path` to write into; it takes the place of `path` when the block ends well.

    An existing folder is replaced only if it is empty or carries the marker. `wrote` is the line the marker holds.

    Raises OutputError before the block is entered if the place cannot be had; if the block raises, nothing of it
    remains and what stood at `path` is untouched.
    """
    import shutil
    import tempfile

    target = Path(path)
    _check_replaceable(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason(error)}; choose another folder with --out") from None
    try:
        place.chmod(0o777 & ~_umask())
        yield place
        (place / MARKER).write_text(wrote + "\n", encoding="utf-8")
        _exchange(place, target)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {reason(error)}; choose another folder with --out") from None
    finally:
        shutil.rmtree(place, ignore_errors=True)


def check(path: str | os.PathLike[str]) -> None:
    """Refuse now what `folder` would refuse later, before long work is begun; OutputError says why."""
    target = Path(path)
    _check_replaceable(target)
    above = target.parent
    while not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{target}: {above} is not a writable folder; choose another folder with --out")


def _check_replaceable(target: Path) -> None:
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
