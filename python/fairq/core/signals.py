"""Signals that end a command: SIGTERM and SIGHUP unwind it as Ctrl-C does, so that it removes what is half-written.

Only the command line installs this; a program that imports fairq has its own handlers.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fairq.core.exit_status import BY_SIGNAL, HUNG_UP, INTERRUPTED, TERMINATED

SAID = {HUNG_UP: "hung up", INTERRUPTED: "interrupted", TERMINATED: "terminated"}
"""What standard error says in the end."""

SAME_REQUEST_S = 1.0
"""Signals this soon after the first are the same request: `timeout` signals the process and then its group, a terminal
that closes sends SIGHUP from the kernel and from the shell. A later one is heard again, should the first be lost."""


class Ended(KeyboardInterrupt):
    """A signal asked the command to end; `status` is its exit status."""

    def __init__(self, number: int) -> None:
        super().__init__(SAID[BY_SIGNAL[number]])
        self.number = number
        self.status = BY_SIGNAL[number]


AGAIN_S = 0.01
"""How soon a signal is raised again that was lost: raised in a callback, as of a weak reference, it goes no further."""

_lost: int | None = None
_deferrals = 0
_waiting: int | None = None
_ended_at: float | None = None
_asked: Ended | None = None


@contextmanager
def heard() -> Iterator[None]:
    """Within the block the signals of BY_SIGNAL raise Ended, except those that the caller's caller has had ignored.

    That is what nohup does with SIGHUP, and a shell with SIGINT for what it starts in the background.
    """
    global _waiting, _ended_at, _lost, _asked
    _asked = None
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in BY_SIGNAL}
    hook = sys.unraisablehook

    def unraisable(found: sys.UnraisableHookArgs) -> None:
        if isinstance(found.exc_value, Ended) and getattr(signal, "SIGALRM", None) in before:
            global _lost
            _lost = found.exc_value.number
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
        else:
            hook(found)

    _waiting = _ended_at = _lost = None
    try:
        for number, handler in before.items():
            # None: a handler that is not Python's, which could not be put back
            if handler not in (signal.SIG_IGN, None):
                signal.signal(number, _arrived)
        if hasattr(signal, "SIGALRM") and signal.getsignal(signal.SIGALRM) == signal.SIG_DFL:
            before[signal.SIGALRM] = signal.SIG_DFL
            signal.signal(signal.SIGALRM, _again)
        sys.unraisablehook = unraisable
        yield
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            if handler not in (signal.SIG_IGN, None):
                signal.signal(number, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Within the block no signal raises; one that came is raised behind it."""
    global _deferrals, _waiting
    _deferrals += 1
    try:
        yield
    finally:
        _deferrals -= 1
        if _deferrals == 0 and _waiting is not None:
            number, _waiting = _waiting, None
            _raise(number)


def asked() -> Ended | None:
    """The signal that the last `heard` raised, even if compiled code made another error of it."""
    return _asked


def _arrived(number: int, frame: FrameType | None) -> None:
    global _waiting
    if _deferrals:
        _waiting = _waiting or number
    else:
        _raise(number)


def _again(_: int, frame: FrameType | None) -> None:
    global _waiting, _ended_at, _asked
    if _lost is None:
        return
    if _deferrals:
        # it is no second request
        _waiting, _ended_at = _waiting or _lost, None
    else:
        _asked = Ended(_lost)
        raise _asked


def _raise(number: int) -> None:
    global _ended_at, _asked
    now = time.monotonic()
    if _ended_at is None or now - _ended_at > SAME_REQUEST_S:
        _ended_at, _asked = now, Ended(number)
        raise _asked
