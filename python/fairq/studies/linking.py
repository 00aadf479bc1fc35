"""Names for files that are whole: hard links, or a rename where the file system has none.

link(2) makes a name only if there is none. SMB, exFAT and some FUSE file systems have no hard
links; there a rename gives the name, and a second process that does the same replaces equal content
by equal content.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP})
"""What link(2) says where there are no hard links; EPERM is that of Linux's vfat and exfat."""


def give_name(hidden: Path, to: Path) -> None:
    """Give a file its name; FileExistsError if another has it."""
    try:
        os.link(hidden, to)
    except FileExistsError:
        raise
    except OSError as error:
        if is_same(hidden, to):
            # the answer was lost and the link was made: open(2) on O_EXCL and NFS
            return
        if error.errno not in NO_LINKS:
            raise
        if to.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(to)) from None
        hidden.rename(to)


def is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file."""
    try:
        return one.samefile(other)
    except OSError:
        return False
