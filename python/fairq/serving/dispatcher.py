"""Fair shares inside a server: `Dispatcher` says whose request runs next.

The policy, the queues and the limits are those of `fairq_sched::work`; here are the ways a request
waits for its seat, in a thread, in a task of asyncio, or in the hands of workers.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fairq import _native
from fairq.core.errors import RefusedError, UsageError
from fairq.serving import prometheus

Ticket = tuple[int, int]
"""An item, as the compiled part names it."""

STEPS = 1_000_000
"""Steps of a unit of cost, and of a second: costs may be fractions."""


class Seat:
    """The seat of a request that runs; it is free again when the `with` block or the object ends.

    Set `cost` to what the request cost, in any unit that is the same for all. If it is not set, the
    cost is the seconds for which the seat was taken. After an exception the cost is charged all the
    same, but says nothing of what the tenant's requests cost.
    """

    __slots__ = ("_began", "_dispatcher", "_ticket", "cost", "item", "tenant", "waited_s")

    def __init__(self, dispatcher: Dispatcher, ticket: Ticket, tenant: str, waited: int, item: Any = None) -> None:
        self.tenant, self.item, self.waited_s = tenant, item, waited / STEPS
        self.cost: float | None = None
        self._dispatcher, self._began = dispatcher, time.monotonic()
        self._ticket: Ticket | None = ticket

    def __enter__(self) -> Seat:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.end(is_typical=kind is None)

    def progress(self, cost: float) -> None:
        """Its cost up to now: a policy need not wait for the end of a long request."""
        if self._ticket is not None:
            self._dispatcher._native.progress(self._ticket, _whole("cost", cost))

    def end(self, *, is_typical: bool = True) -> None:
        """Give the seat back; a second call does nothing."""
        ticket, self._ticket = self._ticket, None
        if ticket is None:
            return
        taken = time.monotonic() - self._began
        try:
            cost = _whole("cost", taken if self.cost is None else self.cost)
        except UsageError:
            self._dispatcher._end(ticket, _whole("cost", taken), is_typical=False)
            raise
        self._dispatcher._end(ticket, cost, is_typical=is_typical)

    def __del__(self) -> None:
        # A worker that died with its seat. That of a block has ended with the block; and what would
        # start the next request here might come in the middle of an admission.
        if getattr(self, "_ticket", None) is not None and self._dispatcher._has_workers:
            self.end(is_typical=False)


class Claim:
    """A request for a seat: `with` waits for it in a thread, `async with` in a task."""

    def __init__(
        self, dispatcher: Dispatcher, tenant: str, ask: tuple[int, float | None, float], timeout: float | None
    ) -> None:
        self._dispatcher, self._tenant, self._ask, self._timeout = dispatcher, tenant, ask, timeout
        self._seat: Seat | None = None

    def __enter__(self) -> Seat:
        begun = threading.Event()
        waiting = self._dispatcher._wait(self._tenant, self._ask, begun.set)
        try:
            if not begun.wait(self._timeout):
                raise TimeoutError(f"no seat for {self._tenant} within {self._timeout:g} s")
        except BaseException:
            self._dispatcher._forsake(waiting)
            raise
        self._seat = waiting.seat(self._dispatcher)
        return self._seat

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._seat is not None:
            self._seat.end(is_typical=kind is None)

    async def __aenter__(self) -> Seat:
        loop = asyncio.get_running_loop()
        begun = loop.create_future()

        def tell() -> None:
            if not begun.done():
                begun.set_result(None)

        waiting = self._dispatcher._wait(self._tenant, self._ask, lambda: loop.call_soon_threadsafe(tell))
        try:
            async with asyncio.timeout(self._timeout):
                await begun
        except BaseException as error:
            self._dispatcher._forsake(waiting)
            if isinstance(error, TimeoutError):
                raise TimeoutError(f"no seat for {self._tenant} within {self._timeout:g} s") from None
            raise
        self._seat = waiting.seat(self._dispatcher)
        return self._seat

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self.__exit__(kind, error, trace)


class _Waiting:
    """A request from its admission to its seat; `tell` is called once when it has one."""

    __slots__ = ("begun", "number", "tell", "ticket")

    def __init__(self, number: int, ticket: Ticket, tell: Callable[[], object]) -> None:
        self.number, self.ticket, self.tell = number, ticket, tell
        self.begun: tuple[str, int] | None = None

    def seat(self, dispatcher: Dispatcher) -> Seat:
        assert self.begun is not None
        return Seat(dispatcher, self.ticket, *self.begun)


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
        weights: Mapping[str, float] | None = None,
        items_max: int = 10_000,
        items_per_tenant_max: int = 1_000,
        tenants_max: int = 100_000,
    ) -> None:
        limits = {"seats": seats, "items_max": items_max, "items_per_tenant_max": items_per_tenant_max,
                  "tenants_max": tenants_max}  # fmt: skip
        for name, value in limits.items():
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 2**32:
                raise UsageError(f"{name}: {value!r}: it is a whole number from 1 to {2**32 - 1}")
        self._native = _native.Dispatcher(policy, seats, items_max, items_per_tenant_max, tenants_max, STEPS, 0)
        self._seats = seats
        self._begun = time.monotonic()
        # Held for what is done here and in the compiled part as one; no request runs under it.
        self._lock = threading.Condition()
        # By the number that the compiled part has for an item.
        self._waiting: dict[int, _Waiting] = {}
        self._items: dict[int, Any] = {}
        self._numbers = itertools.count()
        self._told: deque[_Waiting] = deque()
        self._has_workers: bool | None = None
        self._is_closed = False
        self._counted: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._cost = 0
        for tenant, weight in (weights or {}).items():
            self.set_weight(tenant, weight)

    def seat(
        self, tenant: str, *, seats: int = 1, guess: float | None = None, size: float = 0, timeout: float | None = None
    ) -> Claim:
        """A seat for a request of `tenant`, for a `with` or an `async with` block.

        `seats` is how many it takes; `guess` what it will cost, if that is known; `size` the part
        of its service that is known at the door, as the tokens of a prompt (`vtc`). After `timeout`
        seconds without a seat it is a TimeoutError, and the request is gone. Raises
        `fairq.RefusedError` when the block is entered, if too many wait.
        """
        return Claim(self, tenant, (seats, guess, size), timeout)

    def push(self, tenant: str, item: Any, *, seats: int = 1, guess: float | None = None, size: float = 0) -> None:
        """An item for the workers that iterate over the dispatcher; raises `fairq.RefusedError`."""
        with self._lock:
            self._use(has_workers=True)
            number, _ = self._admit(tenant, (seats, guess, size))
            self._items[number] = item
            self._lock.notify()

    def next(self, timeout: float | None = None) -> Seat | None:
        """The seat of the next item, which is in `seat.item`; waits until one may start.

        None if the dispatcher was closed and nothing waits any more, or after `timeout` seconds.
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            self._use(has_workers=True)
            while (begun := self._native.start(self._now())) is None:
                left = None if until is None else until - time.monotonic()
                if (self._is_closed and not self._items) or (left is not None and left <= 0):
                    return None
                self._lock.wait(left)
            ticket, number, tenant, waited = begun
            item = self._items.pop(number)
            if self._items:
                self._lock.notify()
            elif self._is_closed:
                self._lock.notify_all()
        return Seat(self, ticket, tenant, waited, item)

    def __iter__(self) -> Iterator[Seat]:
        """The seats of items for a worker, until the dispatcher is closed and nothing waits."""
        while (seat := self.next()) is not None:
            with seat:
                yield seat

    def set_weight(self, tenant: str, weight: float) -> None:
        """The weight of a tenant from its next item on: from 0.001 to 1000000, 1 unless set."""
        try:
            self._native.set_weight(tenant, weight)
        except UsageError as error:
            raise UsageError(f"weights: {tenant}: {error}") from None

    def set_priority(self, tenant: str, priority: int) -> None:
        """The priority of a tenant for `strict_priority`, 0 unless set; greater is before."""
        if isinstance(priority, bool) or not isinstance(priority, int) or not 0 <= priority < 2**32:
            raise UsageError(f"priority: {priority!r}: it is a whole number from 0 to {2**32 - 1}")
        self._native.set_priority(tenant, priority)

    def close(self) -> None:
        """Admit nothing any more; what waits is still served, and then workers' loops end."""
        with self._lock:
            self._is_closed = True
            self._native.close()
            self._lock.notify_all()

    def drain(self) -> list[Any]:
        """Take out the items that wait for workers, in the order of their admission."""
        with self._lock:
            self._use(has_workers=True)
            drained = [self._items.pop(number) for number in self._native.drain()]
            self._lock.notify_all()
            return drained

    @property
    def seats(self) -> int:
        """How many requests may run at once."""
        return self._seats

    @property
    def waiting(self) -> int:
        """Requests that wait."""
        return self._native.counts()[0]

    @property
    def running(self) -> int:
        """Requests that run."""
        return self._native.counts()[1]

    @property
    def seats_taken(self) -> int:
        """Seats that are taken."""
        return self._native.counts()[2]

    def metrics(self) -> str:
        """Its counters as text that Prometheus reads."""
        return prometheus.text(self._native, self._seats, self._counted, self._refused, self._cost / STEPS)

    def _now(self) -> int:
        return int((time.monotonic() - self._begun) * STEPS)

    def _use(self, *, has_workers: bool) -> None:
        """Whether workers take items or requests their own seats is settled by the first call."""
        if self._has_workers is None:
            self._has_workers = has_workers
        elif self._has_workers is not has_workers:
            used = "gives items to workers" if self._has_workers else "gives seats to those that ask"
            raise UsageError(f"this dispatcher {used}; make another one for the other use")

    def _admit(self, tenant: str, ask: tuple[int, float | None, float]) -> tuple[int, Ticket]:
        if not isinstance(tenant, str):
            raise UsageError(f"tenant: {tenant!r}: it is the name of a tenant, a text")
        seats, guess, size = ask
        if isinstance(seats, bool) or not isinstance(seats, int) or not 1 <= seats < 2**32:
            raise UsageError(f"seats: {seats!r}: it is a whole number from 1 to {2**32 - 1}")
        try:
            number, cost = next(self._numbers), None if guess is None else _whole("guess", guess)
            ticket = self._native.push(tenant, self._now(), seats, cost, _whole("size", size), number)
        except LookupError as error:
            reason, says = error.args
            self._refused[reason] += 1
            raise RefusedError(says, reason) from None
        self._counted["admitted"] += 1
        return number, ticket

    def _wait(self, tenant: str, ask: tuple[int, float | None, float], tell: Callable[[], object]) -> _Waiting:
        with self._lock:
            self._use(has_workers=False)
            number, ticket = self._admit(tenant, ask)
            waiting = self._waiting[number] = _Waiting(number, ticket, tell)
            self._start()
        self._tell()
        return waiting

    def _start(self) -> None:
        """Give seats to what may start; called under the lock."""
        while (begun := self._native.start(self._now())) is not None:
            _, number, tenant, waited = begun
            waiting = self._waiting.pop(number)
            waiting.begun = (tenant, waited)
            self._told.append(waiting)

    def _tell(self) -> None:
        """Wake those that have a seat, without the lock: what is called may be another's code."""
        while True:
            try:
                waiting = self._told.popleft()
            except IndexError:
                return
            try:
                waiting.tell()
            except RuntimeError:
                # Its event loop was closed: no task takes the seat.
                self._forsake(waiting)

    def _forsake(self, waiting: _Waiting) -> None:
        """The request of `waiting` will not be: it is taken out, or gives its seat back."""
        with self._lock:
            if waiting.begun is None:
                self._native.remove(waiting.ticket)
                self._waiting.pop(waiting.number, None)
            else:
                self._native.cancel(waiting.ticket, 0)
            self._counted["forsaken"] += 1
            self._start()
        self._tell()

    def _end(self, ticket: Ticket, cost: int, *, is_typical: bool) -> None:
        with self._lock:
            end = self._native.complete if is_typical else self._native.cancel
            end(ticket, cost)
            self._counted["completed" if is_typical else "failed"] += 1
            self._cost += cost
            if self._has_workers:
                self._lock.notify()
                return
            self._start()
        self._tell()


def _whole(name: str, value: float) -> int:
    """A cost in whole steps."""
    if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        raise UsageError(f"{name}: {value!r}: it is a number of at least 0")
    return min(math.ceil(value * STEPS), 2**64 - 1)
