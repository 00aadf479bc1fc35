"""Fair shares inside a server: `Dispatcher` says whose request runs next.

The policy, the queues and the limits are those of `fairq_sched::work`; here are the ways a request
waits for its seat, in a thread, in a task of asyncio, or in the hands of workers.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairq import _native
from fairq.core.errors import RefusedError, UsageError
from fairq.serving import prometheus
from fairq.serving.serve_options import numbers

STEPS = 1_000_000
"""Steps of a unit of cost, and of a second: costs may be fractions."""

STEPS_MAX = 2**64 - 1

Asked = tuple[int, int | None, int]
"""What a request asks: seats, its cost if that is told, its size; both in steps."""


class Seat:
    """The seat of a request that runs; it is free again when the `with` block or the object ends.

    Set `cost` to what the request cost, in any unit that is the same for all. Else the cost is what
    `progress` told last; else, of a dispatcher that was never told any cost, the seconds for which
    the seat was taken; else what was guessed. After an exception the cost says nothing of what the
    tenant's requests cost.
    """

    # The compiled part sets _began, _runs, _ticket and _waited, all at the start of the request.
    __slots__ = ("_began", "_cost", "_dispatcher", "_runs", "_so_far", "_tell", "_ticket", "_waited", "item", "tenant")

    def __init__(self, dispatcher: Dispatcher, tenant: str = "", tell: Callable[[], object] | None = None) -> None:
        self.tenant, self.item = tenant, None
        self._dispatcher, self._tell = dispatcher, tell
        self._cost: int | None = None
        self._so_far = 0
        self._ticket: tuple[int, int] | None = None
        self._runs = False
        self._began = self._waited = 0

    @property
    def waited_s(self) -> float:
        """How long the request waited for its seat."""
        return self._waited / STEPS

    @property
    def cost(self) -> float | None:
        """What the request cost, if that was told."""
        return None if self._cost is None else self._cost / STEPS

    @cost.setter
    def cost(self, cost: float) -> None:
        self._cost = _steps("cost", cost)
        self._dispatcher._is_told = True

    def progress(self, cost: float) -> None:
        """Its cost up to now: a policy need not wait for the end of a long request."""
        self._so_far = max(self._so_far, _steps("cost", cost))
        self._dispatcher._is_told = True
        if self._ticket is not None:
            self._dispatcher._native.progress(self._ticket, self._so_far)

    def end(self, *, is_typical: bool = True) -> None:
        """Give the seat back; a second call does nothing."""
        if self._ticket is not None:
            self._dispatcher._end(self, is_typical)

    def __enter__(self) -> Seat:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.end(is_typical=kind is None)

    def __del__(self) -> None:
        # Of a thread that died, or of a call that was interrupted.
        if getattr(self, "_ticket", None) is not None:
            self.end(is_typical=False)

    def _steps(self) -> int | None:
        """Its cost in steps, if any was told."""
        if self._cost is None and not self._so_far:
            return None
        return max(self._cost or 0, self._so_far)


class Claim:
    """A request for a seat, for one block: `with` waits in a thread, `async with` in a task."""

    def __init__(self, dispatcher: Dispatcher, tenant: str, asked: Asked, timeout: float | None) -> None:
        self._dispatcher, self._tenant, self._asked, self._timeout = dispatcher, tenant, asked, timeout
        self._seat: Seat | None = None

    def __enter__(self) -> Seat:
        # A lock and not an event: the seat may be given inside of any step of this thread, by the
        # garbage collector that ends another request, and this one call cannot be cut in two.
        begun = threading.Lock()
        begun.acquire()
        seat = self._of_its_own(begun.release)
        try:
            self._dispatcher._ask(seat, self._asked)
            if not seat._runs:
                self._refuse_in_a_coroutine()
                timeout = -1 if self._timeout is None else min(self._timeout, threading.TIMEOUT_MAX)
                if not begun.acquire(timeout=timeout) and not seat._runs:
                    raise self._too_late()
        except BaseException:
            self._dispatcher._forsake(seat)
            raise
        return seat

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._seat is not None:
            self._seat.end(is_typical=kind is None)

    async def __aenter__(self) -> Seat:
        loop = asyncio.get_running_loop()
        begun: asyncio.Future[None] = loop.create_future()
        seat = self._of_its_own(lambda: loop.call_soon_threadsafe(_set, begun))
        try:
            self._dispatcher._ask(seat, self._asked)
            if not seat._runs:
                try:
                    async with asyncio.timeout(self._timeout):
                        await begun
                except TimeoutError:
                    if not seat._runs:
                        raise self._too_late() from None
        except BaseException:
            self._dispatcher._forsake(seat)
            raise
        return seat

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.__exit__(kind, error, trace)

    def _of_its_own(self, tell: Callable[[], object]) -> Seat:
        if self._seat is not None:
            raise UsageError("a claim is for one block; call dispatcher.seat(…) for each")
        self._seat = Seat(self._dispatcher, self._tenant, tell)
        return self._seat

    def _too_late(self) -> TimeoutError:
        return TimeoutError(f"no seat for {self._tenant} within {self._timeout:g} s")

    def _refuse_in_a_coroutine(self) -> None:
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop()
            raise UsageError("no seat is free, and waiting would stop the event loop; write `async with`")


def _set(begun: asyncio.Future[None]) -> None:
    if not begun.done():
        begun.set_result(None)


class Dispatcher:
    """Whose request runs next in a server with seats, by one of the policies of `fairq serve`.

    A thread pool, an API server, an inference engine: ask for a seat with the name of the tenant,
    and work while you hold it. The seat is free again when the block ends, by an exception too::

        dispatcher = fairq.Dispatcher(seats=8, policy="sfq_d")
        with dispatcher.seat("tenant") as seat:      # or: async with
            seat.cost = answer(request)              # without it: the seconds it took

    Or give items to workers: `push` in one thread, ``for seat in dispatcher:`` in others, with what
    was pushed in `seat.item`. A dispatcher does one or the other. Several dispatchers in one
    process know nothing of each other.

    A tenant is named by any text; one that was never seen before gets its turn at once and owes
    nothing. `weights` are of tenants, 1 if not named. At most `items_max` requests wait, at most
    `items_per_tenant_max` of a tenant, and at most `tenants_max` tenants have requests here; else
    `fairq.RefusedError` says why.

    Source: Goyal, Vin and Cheng, SIGCOMM 1996; Jin, Chase and Kaur, SIGMETRICS 2004, and what
    `fairq explain POLICY` names.
    """

    def __init__(
        self,
        seats: int,
        policy: str = "sfq_d",
        *,
        weights: str | Mapping[str, float] | None = None,
        items_max: int = 10_000,
        items_per_tenant_max: int = 1_000,
        tenants_max: int = 100_000,
    ) -> None:
        limits = {"seats": seats, "items_max": items_max, "items_per_tenant_max": items_per_tenant_max,
                  "tenants_max": tenants_max}  # fmt: skip
        for name, value in limits.items():
            _whole(name, value, 1)
        if not isinstance(policy, str):
            raise UsageError(f"policy: {policy!r}: it is a text, as sfq_d")
        self._native = _native.Dispatcher(policy, seats, items_max, items_per_tenant_max, tenants_max, STEPS)
        self._seats = seats
        self._zero = time.monotonic()
        self._is_told = self._is_closed = False
        # Of workers that wait; no request runs under it.
        self._idle = threading.Condition()
        for tenant, weight in numbers("weights", weights).items():
            self.set_weight(tenant, weight)

    def __reduce__(self) -> str:
        raise TypeError("a dispatcher cannot be copied; make another one")

    def seat(
        self, tenant: str, *, seats: int = 1, guess: float | None = None, size: float = 0, timeout: float | None = None
    ) -> Claim:
        """A seat for a request of `tenant`, for a `with` or an `async with` block.

        `seats` is how many it takes; `guess` what it will cost, if that is known; `size` the part
        of its service that is known at the door, as the tokens of a prompt (`vtc`). After `timeout`
        seconds without a seat it is a TimeoutError, and the request is gone. Raises
        `fairq.RefusedError` when the block is entered, if too many wait.
        """
        return Claim(self, _named(tenant), self._asked(seats, guess, size), _seconds(timeout))

    def push(self, tenant: str, item: Any, *, seats: int = 1, guess: float | None = None, size: float = 0) -> None:
        """An item for the workers that iterate over the dispatcher; raises `fairq.RefusedError`."""
        asked = self._asked(seats, guess, size)
        with _refusals():
            self._native.push(_named(tenant), self._now(), asked, item)
        with self._idle:
            self._idle.notify()

    def next(self, timeout: float | None = None) -> Seat | None:
        """The seat of the next item, which is in `seat.item`; waits until one may start.

        None if the dispatcher was closed and nothing waits any more, or after `timeout` seconds.
        """
        seat, until = Seat(self), None if timeout is None else time.monotonic() + (_seconds(timeout) or 0)
        with self._idle:
            while not self._native.take(self._now(), seat):
                left = None if until is None else until - time.monotonic()
                if (self._is_closed and not self.waiting) or (left is not None and left <= 0):
                    return None
                self._idle.wait(left)
            if self._is_closed and not self.waiting:
                self._idle.notify_all()
            elif self.waiting:
                self._idle.notify()
        return seat

    def __iter__(self) -> Iterator[Seat]:
        """The seats of items for a worker, until the dispatcher is closed and nothing waits."""
        while (seat := self.next()) is not None:
            with seat:
                yield seat

    def set_weight(self, tenant: str, weight: float) -> None:
        """The weight of a tenant from its next item on: from 0.001 to 1000000, 1 unless set."""
        try:
            self._native.set_weight(_named(tenant), weight)
        except (UsageError, TypeError) as error:
            raise UsageError(f"weights: {tenant}: {error}") from None

    def set_priority(self, tenant: str, priority: int) -> None:
        """The priority of a tenant for `strict_priority`, 0 unless set; greater is before."""
        self._native.set_priority(_named(tenant), _whole("priority", priority, 0))

    def close(self) -> None:
        """Admit nothing any more; what waits is still served, and then workers' loops end."""
        self._is_closed = True
        self._native.close()
        with self._idle:
            self._idle.notify_all()

    def drain(self) -> list[Any]:
        """Take out the items that wait for workers, in the order of their admission."""
        drained = self._native.drain()
        with self._idle:
            self._idle.notify_all()
        return drained

    @property
    def seats(self) -> int:
        """How many requests may run at once."""
        return self._seats

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return self._native.state()[0]

    @property
    def running(self) -> int:
        """Requests that run."""
        return self._native.state()[1]

    @property
    def seats_taken(self) -> int:
        """Seats that are taken."""
        return self._native.state()[2]

    def metrics(self, tenants: int = 1000) -> str:
        """Its counters as text that Prometheus reads; those of the busiest `tenants` alone."""
        return prometheus.text(self._native, self._seats, _whole("tenants", tenants, 0), STEPS)

    def _now(self) -> int:
        return int((time.monotonic() - self._zero) * STEPS)

    def _asked(self, seats: int, guess: float | None, size: float) -> Asked:
        if guess is not None:
            self._is_told = True
        told = None if guess is None else _steps("guess", guess)
        return _whole("seats", seats, 1), told, _steps("size", size)

    def _ask(self, seat: Seat, asked: Asked) -> None:
        with _refusals():
            self._native.ask(seat.tenant, self._now(), asked, seat)

    def _forsake(self, seat: Seat) -> None:
        """The request of `seat` will not be: it is taken out, or gives its seat back."""
        if seat._ticket is not None:
            self._native.forsake(seat._ticket)
            seat._ticket = None
            self._native.grant(self._now())

    def _end(self, seat: Seat, is_typical: bool) -> None:
        cost, now = seat._steps(), self._now()
        if cost is None and not self._is_told:
            cost = now - seat._began
        if seat._ticket is not None:
            self._native.end(seat._ticket, cost, is_typical)
            seat._ticket = None
        if seat._tell is not None:
            self._native.grant(now)
            return
        with self._idle:
            self._idle.notify()


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except LookupError as error:
        reason, says = error.args
        refused = RefusedError(says)
        refused.reason = reason
        raise refused from None


def _named(tenant: str) -> str:
    """The name of a tenant, if it is one."""
    try:
        if isinstance(tenant, str) and tenant.encode() is not None:
            return tenant
    except UnicodeEncodeError:
        pass
    raise UsageError(f"tenant: {tenant!r}: it is the name of a tenant, a text")


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**32:
        raise UsageError(f"{name}: {value!r}: it is a whole number from {least} to {2**32 - 1}")
    return value


def _seconds(timeout: float | None) -> float | None:
    if timeout is not None and (isinstance(timeout, str) or not timeout >= 0):
        raise UsageError(f"timeout: {timeout!r}: it is a number of seconds, at least 0")
    return timeout


def _steps(name: str, value: float) -> int:
    """A cost in whole steps; any number will do, those of numpy too."""
    try:
        number = math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise UsageError(f"{name}: {value!r}: it is a number of at least 0")
    return math.ceil(number * STEPS) if number < STEPS_MAX / STEPS else STEPS_MAX
