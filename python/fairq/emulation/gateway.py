"""The process of the gateway: one thread of Python, which hands over to the compiled part."""

from __future__ import annotations

import os
import signal
import sys

import fairq._native as _native


def main() -> None:
    """Run the job of one descriptor, report to the other, end as the terminal's command does."""
    job, report = map(int, sys.argv[-2:])
    for descriptor in (job, report):
        # They are for no command.
        os.set_inheritable(descriptor, False)
    # Ctrl-C is for the command; a handler, unlike SIG_IGN, is not passed on to it.
    signal.signal(signal.SIGINT, lambda *_: None)
    sys.exit(_native.gateway(job, report))
