"""The exit statuses of the command line: the one place that gives them numbers.

docs/reference/exit-status.md has the same table; a test compares the two.
"""

from __future__ import annotations

import signal

DONE = 0
FAILED = 1
REFUSED = 2
FAULT = 70
HUNG_UP = 129
INTERRUPTED = 130
NO_READER = 141
TERMINATED = 143

MEANINGS = {
    DONE: "Done. All that was asked for was written.",
    FAILED: "Done, and what was checked does not hold (`fairq audit`), or some of many runs failed. The output is"
    " there.",
    REFUSED: "Not done: an option, a file that is missing or broken, a disk that is full. One line on standard error"
    " says where the fault is and how to mend it.",
    FAULT: "A fault of fairq itself; standard error says where.",
    HUNG_UP: "Ended by SIGHUP: the terminal was closed.",
    INTERRUPTED: "Ended by SIGINT: Ctrl-C.",
    NO_READER: "The reader of standard output has gone, as `head` does when it has read enough.",
    TERMINATED: "Ended by SIGTERM: `timeout`, `kill`, a batch system.",
}
"""Each status and what it means."""

_NAMES = {"SIGHUP": HUNG_UP, "SIGINT": INTERRUPTED, "SIGTERM": TERMINATED}
# Windows has no SIGHUP.
BY_SIGNAL = {getattr(signal, name): status for name, status in _NAMES.items() if hasattr(signal, name)}
"""The status after each signal that ends a command."""
