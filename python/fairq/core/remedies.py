"""What to do about each failure of the system: one line of a message, by the number of the error.

The remedy is that of the failure and not of the command: a full disk wants room, a read-only file
system another folder. Every message about a file that cannot be read or written takes it from here.
"""

from __future__ import annotations

import errno
import os

from fairq.core.errors import FairqError

REMEDIES = {
    errno.EACCES: "ask its owner for the right, or choose another place",
    errno.EDQUOT: "make room within your quota",
    errno.EFBIG: "files may not be that large here; raise ulimit -f, or choose another place",
    errno.EIO: "its disk or network fails; see the system's log",
    errno.ELOOP: "its links lead in a circle; give the file or folder itself",
    errno.EMFILE: "raise the number of open files by ulimit -n",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENFILE: "the machine has too many files open; end other programs",
    errno.ENOENT: "something on its path is not there or was removed; make it, or choose another place",
    errno.ENOSPC: "make room on its disk",
    errno.ENOTDIR: "a file stands where a folder is needed; choose another place",
    errno.EPERM: "the system does not allow it there; choose another place",
    errno.EROFS: "its file system is for reading only; choose another place",
    errno.ESTALE: "its server has replaced it; mount the file system anew",
    errno.ETIMEDOUT: "its server does not answer; see the network",
}
"""What a user can do, by errno(3)."""


def reason(error: OSError) -> str:
    """What the system says, in lower case: "no such file or directory"."""
    said = error.strerror or str(error)
    return said[:1].lower() + said[1:]


def remedy_of(error: OSError, other: str = "") -> str:
    """What to do about a failure; `other` about one that has no row."""
    return REMEDIES.get(error.errno or 0, other)


def told(error: OSError, other: str = "") -> str:
    """What the system says, and what to do: "no space left on device; make room on its disk".

    `other` is what to do about a failure that has no row.
    """
    remedy = remedy_of(error, other)
    return f"{reason(error)}; {remedy}" if remedy else reason(error)


def system_error(error: Exception) -> OSError | None:
    """The system's error that an exception is, or that is the cause of what fairq refuses."""
    if isinstance(error, OSError):
        return error
    number = error.errno if isinstance(error, FairqError) else None
    return None if number is None else OSError(number, os.strerror(number))
