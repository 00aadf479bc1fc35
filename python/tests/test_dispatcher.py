"""Fair shares inside a server: seats for threads, for tasks and for workers, and the examples."""

import asyncio
import contextlib
import copy
import gc
import itertools
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import fairq

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "tenants"
BOUND = 6
"""Requests of the greedy tenant that may begin while one of the small tenant waits.

By the card of `sfq_d`, D·((c + e) + (c' + e')) + c of service, D = 2 seats: with a guess that is
too high by c at most, five requests; and one for what those of the small tenant cost.
"""

LONG = 30
"""Seconds in which what is waited for surely happens."""


@pytest.fixture(autouse=True)
def _no_running_loop():
    """Tests of another file may leave a loop in this thread, as drivers of browsers do."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)


def until(holds):
    """Wait until `holds()` does."""
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def order(policy, calls, **more):
    """The order in which the items `(tenant, cost)` start, all pushed before the first starts."""
    dispatcher = fairq.Dispatcher(1, policy, **more)
    for tenant, cost in calls:
        dispatcher.push(tenant, cost, guess=cost)
    dispatcher.close()
    served = []
    for seat in dispatcher:
        seat.cost = seat.item
        served.append(seat.tenant)
    return "".join(served)


def test_a_tenant_with_few_requests_does_not_wait_for_one_with_many():
    assert order("sfq_d", [("g", 1)] * 4 + [("s", 1)] * 2) == "gsgsgg"
    assert order("sfq_d", [("g", 1)] * 6 + [("s", 1)] * 3, weights={"s": 2}).startswith("gssg")


def test_a_seat_is_free_when_its_block_ends_by_an_exception_too():
    dispatcher = fairq.Dispatcher(1)
    with pytest.raises(ZeroDivisionError), dispatcher.seat("a"):
        assert (dispatcher.seats_taken, dispatcher.running, dispatcher.waiting) == (1, 1, 0)
        1 / 0  # noqa: B018
    assert (dispatcher.seats_taken, dispatcher.running) == (0, 0)
    with dispatcher.seat("b") as seat:
        assert seat.tenant == "b" and seat.waited_s >= 0


def test_threads_get_seats_and_no_more_run_than_there_are():
    dispatcher = fairq.Dispatcher(3)
    running, most, lock = set(), [], threading.Lock()

    def ask(number):
        with dispatcher.seat(f"tenant {number % 4}") as seat:
            with lock:
                running.add(number)
                most.append(len(running))
            time.sleep(0.001)
            seat.cost = number % 7
            with lock:
                running.remove(number)
            if number % 5 == 0:
                raise RuntimeError("a request that fails")

    with ThreadPoolExecutor(16) as pool:
        done = [pool.submit(ask, number) for number in range(200)]
    assert sum(isinstance(each.exception(), RuntimeError) for each in done) == 40
    assert max(most) <= 3 and len(most) == 200
    assert (dispatcher.seats_taken, dispatcher.waiting, dispatcher.running) == (0, 0, 0)


def test_a_wait_that_ends_leaves_no_seat_taken():
    dispatcher = fairq.Dispatcher(1)
    message = r"no seat for b within 0\.01 s"
    with dispatcher.seat("a"), pytest.raises(TimeoutError, match=message), dispatcher.seat("b", timeout=0.01):
        pass
    assert (dispatcher.waiting, dispatcher.seats_taken) == (0, 0)
    assert "fairq_dispatcher_forsaken_total 1\n" in dispatcher.metrics()


def test_tasks_wait_for_seats_and_those_that_are_cancelled_leave():
    async def main():
        dispatcher = fairq.Dispatcher(1)
        served = []

        async def ask(tenant):
            async with dispatcher.seat(tenant) as seat:
                served.append(seat.tenant)
                await asyncio.sleep(0)

        async with dispatcher.seat("first"):
            tasks = [asyncio.ensure_future(ask(tenant)) for tenant in "aabc"]
            await asyncio.sleep(0)
            assert dispatcher.waiting == 4
            tasks[2].cancel()
            with pytest.raises(TimeoutError):
                async with dispatcher.seat("d", timeout=0.01):
                    pass
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(done[2], asyncio.CancelledError)
        assert served == ["a", "c", "a"]
        assert (dispatcher.waiting, dispatcher.seats_taken) == (0, 0)

    asyncio.run(main())


def test_a_task_that_is_cancelled_as_it_gets_its_seat_gives_it_back():
    async def main():
        dispatcher = fairq.Dispatcher(1)

        async def ask():
            async with dispatcher.seat("late"):
                pytest.fail("it was cancelled")

        async with dispatcher.seat("first"):
            task = asyncio.ensure_future(ask())
            await asyncio.sleep(0)
        # The seat is its own now, but it has not run since.
        assert dispatcher.running == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with dispatcher.seat("next"):
            assert dispatcher.running == 1

    asyncio.run(main())


def test_a_loop_that_is_closed_takes_no_seat_with_it():
    dispatcher = fairq.Dispatcher(1)
    held = dispatcher.seat("first")
    held.__enter__()
    loop = asyncio.new_event_loop()

    async def ask():
        async with dispatcher.seat("gone"):
            pass

    task = loop.create_task(ask())
    loop.run_until_complete(asyncio.sleep(0))
    assert dispatcher.waiting == 1
    task._log_destroy_pending = False
    loop.close()
    held.__exit__(None, None, None)
    assert (dispatcher.waiting, dispatcher.seats_taken) == (0, 0)


def test_a_worker_that_dies_gives_its_seat_back(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    dispatcher = fairq.Dispatcher(1)
    for item in ("dies", "lives"):
        dispatcher.push("a", item)
    dispatcher.close()

    def die():
        seat = dispatcher.next()
        raise RuntimeError(f"{seat.item} with its seat")

    worker = threading.Thread(target=die)
    worker.start()
    worker.join()
    gc.collect()
    assert [seat.item for seat in dispatcher] == ["lives"]
    assert dispatcher.seats_taken == 0


def test_a_worker_waits_for_an_item_and_goes_home_when_all_is_done():
    dispatcher = fairq.Dispatcher(2)
    found = []
    workers = [threading.Thread(target=lambda: found.extend(seat.item for seat in dispatcher)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for number in range(50):
        dispatcher.push(f"tenant {number % 3}", number)
    dispatcher.close()
    for worker in workers:
        worker.join(LONG)
        assert not worker.is_alive()
    assert sorted(found) == list(range(50))
    assert dispatcher.next() is None


def test_items_that_wait_are_handed_back():
    dispatcher = fairq.Dispatcher(1)
    for item in "xyz":
        dispatcher.push("a", item)
    assert dispatcher.drain() == ["x", "y", "z"] and dispatcher.waiting == 0
    assert dispatcher.next(timeout=0) is None


@pytest.mark.parametrize(
    ("limits", "ask", "reason", "says"),
    [
        ({"items_max": 1}, {}, "full", "too many items wait"),
        ({"items_per_tenant_max": 1}, {}, "tenant_full", "too many items of this tenant wait"),
        ({}, {"seats": 2}, "too_wide", "the item asks for more seats than may be taken"),
    ],
)
def test_a_request_beyond_the_limits_is_refused_with_the_reason(limits, ask, reason, says):
    dispatcher = fairq.Dispatcher(1, **limits)
    dispatcher.push("a", 1)
    with pytest.raises(fairq.RefusedError, match=says) as refused:
        dispatcher.push("a", 2, **ask)
    assert refused.value.reason == reason
    assert f'fairq_dispatcher_refused_total{{reason="{reason}"}} 1\n' in dispatcher.metrics()


def test_a_closed_dispatcher_refuses():
    dispatcher = fairq.Dispatcher(1)
    dispatcher.close()
    with pytest.raises(fairq.RefusedError, match="takes no more items"), dispatcher.seat("a"):
        pass


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fairq.Dispatcher(0), "seats: 0: it is a whole number from 1 to"),
        (lambda: fairq.Dispatcher(2.5), "seats: 2.5: it is a whole number"),
        (lambda: fairq.Dispatcher(1, items_max=-1), "items_max: -1: it is a whole number"),
        (lambda: fairq.Dispatcher(1, weights={"a": 0}), "weights: a: `0`: a weight is a number from"),
        (lambda: fairq.Dispatcher(1).push(3, "x"), "tenant: 3: it is the name of a tenant"),
        (lambda: fairq.Dispatcher(1).seat("\ud800"), "it is the name of a tenant"),
        (lambda: fairq.Dispatcher(1).seat("a", timeout=-1), "timeout: -1: it is a number of seconds, at least 0"),
        (lambda: fairq.Dispatcher(1, weights={3: 1}), "weights: 3: tenant: 3: it is the name of a tenant"),
        (lambda: fairq.Dispatcher(1, weights="a"), "weights: `a` is not TENANT=NUMBER"),
        (lambda: fairq.Dispatcher(1, policy=None), "policy: None: it is a text, as sfq_d"),
        (lambda: fairq.Dispatcher(1).push("a", "x", guess=-1), "guess: -1: it is a number of at least 0"),
        (lambda: fairq.Dispatcher(1).push("a", "x", seats=0), "seats: 0: it is a whole number"),
    ],
)
def test_what_makes_no_sense_is_one_line(make, says):
    with pytest.raises(fairq.UsageError) as refused:
        make()
    assert says in str(refused.value) and "\n" not in str(refused.value)


def test_a_cost_that_makes_no_sense_is_refused_and_the_seat_is_free():
    dispatcher = fairq.Dispatcher(1)
    message = "cost: -1: it is a number of at least 0"
    with pytest.raises(fairq.UsageError, match=message), dispatcher.seat("a") as seat:
        seat.cost = -1
    assert dispatcher.seats_taken == 0


def test_a_dispatcher_has_one_use():
    dispatcher = fairq.Dispatcher(1)
    dispatcher.push("a", 1)
    with pytest.raises(fairq.UsageError, match="gives items to workers; make another one"), dispatcher.seat("a"):
        pass


def test_two_dispatchers_know_nothing_of_each_other():
    one, other = fairq.Dispatcher(1), fairq.Dispatcher(1)
    with one.seat("a"), other.seat("a"):
        assert one.running == other.running == 1


def test_the_counters_are_text_that_prometheus_reads():
    dispatcher = fairq.Dispatcher(2)
    with dispatcher.seat('a "quoted"\nname') as seat:
        seat.cost = 2.5
    text = dispatcher.metrics()
    sample = re.compile(r'fairq_dispatcher_[a-z_]+(\{[a-z]+="(\\.|[^"\\\n])*"\})? [0-9.e+-]+')
    comment = re.compile(r"# (HELP|TYPE) fairq_dispatcher_[a-z_]+ .+")
    assert text.endswith("\n")
    for line in text.splitlines():
        assert sample.fullmatch(line) or comment.fullmatch(line), line
    assert "fairq_dispatcher_cost_total 2.5\n" in text
    assert 'fairq_dispatcher_started_total{tenant="a \\"quoted\\"\\nname"} 1\n' in text


@pytest.fixture
def pages(monkeypatch):
    """The example's server on a port of its own, by policy; gives what asks it for a page."""
    uvicorn = pytest.importorskip("uvicorn")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    servers = []

    def serve(policy):
        monkeypatch.delitem(sys.modules, "fair_server", raising=False)
        monkeypatch.setenv("POLICY", policy)
        import fair_server

        config = uvicorn.Config(fair_server.app, host="127.0.0.1", port=0, log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run)
        thread.start()
        servers.append((server, thread))
        until(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        return fair_server.dispatcher, lambda path, **headers: page(f"http://127.0.0.1:{port}{path}", headers)

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(LONG)


def page(address, headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=LONG) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def passed_by(dispatcher, ask):
    """How many requests of a greedy tenant begin while one of a small tenant waits, of each of ten.

    What waits is counted and not how long, so that a slow machine has the same bound.
    """
    passed, seat = [], dispatcher.seat

    @asynccontextmanager
    async def noting(tenant, **more):
        before = began(dispatcher, "greedy")
        async with seat(tenant, **more) as held:
            if tenant == "small":
                passed.append(began(dispatcher, "greedy") - before)
            yield held

    dispatcher.seat = noting
    with ThreadPoolExecutor(80) as pool:
        for _ in range(80):
            pool.submit(ask, "/work?seconds=0.1", **{"X-Tenant": "greedy"})
        until(lambda: dispatcher.waiting >= 40)
        for _ in range(10):
            assert ask("/work?seconds=0", **{"X-Tenant": "small"})[0] == 200
    return passed


def began(dispatcher, tenant):
    found = re.search(rf'started_total{{tenant="{tenant}"}} (\d+)', dispatcher.metrics())
    return int(found[1]) if found else 0


def test_the_web_server_of_the_example_keeps_a_greedy_tenant_from_a_small_one(pages):
    dispatcher, ask = pages("sfq_d")
    assert ask("/work?seconds=0", **{"X-Tenant": "small"}) == (200, '{"slept_s":0.0}')
    passed = passed_by(dispatcher, ask)
    assert len(passed) == 10 and max(passed) <= BOUND
    assert ask("/metrics")[1].startswith("# HELP fairq_dispatcher_seats ")
    dispatcher.close()
    assert ask("/work", **{"X-Tenant": "small"}) == (429, "the server takes no more items\n")


def test_the_web_server_of_the_example_is_not_fair_with_fcfs(pages):
    dispatcher, ask = pages("fcfs")
    assert max(passed_by(dispatcher, ask)) > BOUND


def test_the_pool_of_the_example_serves_tenants_in_turn_and_outlives_what_fails(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import worker_pool

    pool, gate, served = worker_pool.Pool(1), threading.Event(), []

    def call(tenant):
        def work():
            served.append(tenant)
            return 1

        return work

    pool.submit("first", lambda: gate.wait(LONG) and 1)
    until(lambda: pool.dispatcher.running)
    for tenant in "ggggss":
        pool.submit(tenant, call(tenant))
    pool.submit("s", lambda: 1 / 0)
    gate.set()
    pool.close()
    assert "".join(served) == "gsgsgg"
    assert capsys.readouterr().out == "s: ZeroDivisionError('division by zero')\n"
    assert pool.dispatcher.seats_taken == 0


class Stop(BaseException):
    """Raised at a line of the dispatcher, as a signal would be."""


def is_deleting(frame):
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def stopped_at(line, work):
    """Do `work`, which is stopped before that line of the dispatcher; whether it came that far."""
    count = itertools.count()

    def trace(frame, event, arg):
        # what an object raises as it is deleted, Python swallows
        if Path(frame.f_code.co_filename).name != "dispatcher.py" or frame.f_code.co_name == "__del__":
            return None
        if event == "line" and next(count) == line and not is_deleting(frame):
            raise Stop
        return trace

    sys.settrace(trace)
    try:
        work()
    except Stop:
        return True
    finally:
        sys.settrace(None)
    return False


@pytest.mark.parametrize("has_workers", [False, True])
def test_no_seat_is_lost_wherever_a_signal_raises(has_workers):
    dispatcher, lines = fairq.Dispatcher(1), itertools.count()

    def ask():
        with dispatcher.seat("a", timeout=LONG) as seat:
            seat.cost = 1

    def serve():
        if not dispatcher.waiting:
            dispatcher.push("a", 1)
        with dispatcher.next(timeout=LONG) as seat:
            seat.cost = seat.item

    work = serve if has_workers else ask
    while stopped_at(next(lines), work):
        if dispatcher.seats_taken:
            gc.collect()
        assert (dispatcher.seats_taken, dispatcher.running) == (0, 0)
    assert next(lines) > 20


def test_streams_that_the_garbage_collector_ends_give_their_seats_back():
    dispatcher = fairq.Dispatcher(10_000)

    def stream(own):
        with dispatcher.seat("a", timeout=LONG):
            yield own

    threshold = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for _ in range(3000):
            cycle = []
            cycle += [cycle, stream(cycle)]
            next(cycle[1])
    finally:
        gc.set_threshold(*threshold)
    assert 0 < dispatcher.running < 3000
    del cycle
    gc.collect()
    assert (dispatcher.seats_taken, dispatcher.waiting) == (0, 0)
    assert "fairq_dispatcher_admitted_total 3000\n" in dispatcher.metrics()


@pytest.mark.parametrize("policy", ["sfq_d", "vtc", "drr(quantum=1000)", "wfq"])
def test_a_tenant_whose_requests_fail_gets_no_more_than_its_share(policy):
    dispatcher = fairq.Dispatcher(1, policy)
    for number in range(200):
        dispatcher.push("fails" if number % 2 else "fair", number)
    served = []
    while len(served) < 100:
        seat = dispatcher.next()
        served.append(seat.tenant)
        with pytest.raises(OSError) if seat.tenant == "fails" else contextlib.nullcontext(), seat:
            seat.progress(1000)
            if seat.tenant == "fails":
                raise OSError
    assert abs(served.count("fails") - 50) <= 2


def test_a_failure_without_a_cost_is_charged_what_was_guessed():
    dispatcher = fairq.Dispatcher(1)
    for tenant in "abab":
        dispatcher.push(tenant, None, guess=10)
    order = []
    for seat in itertools.islice(dispatcher, 4):
        order.append(seat.tenant)
    assert "".join(order) == "abab" and "cost_total 0.0\n" in dispatcher.metrics()


def test_costs_are_any_numbers(monkeypatch):
    numpy = pytest.importorskip("numpy")
    dispatcher = fairq.Dispatcher(1)
    for cost in (numpy.int64(7), numpy.float32(0.5), Decimal("1.5"), Fraction(1, 2), 1e300):
        with dispatcher.seat("a") as seat:
            seat.cost = cost
    assert seat.cost == pytest.approx((2**64 - 1) / 1e6)
    for cost in ("7", None, float("nan"), float("inf"), -1, 10**400):
        with pytest.raises(fairq.UsageError, match="it is a number of at least 0"), dispatcher.seat("a") as seat:
            seat.cost = cost
    assert dispatcher.seats_taken == 0


def test_a_worker_can_catch_a_cost_that_makes_no_sense():
    dispatcher = fairq.Dispatcher(1)
    for item in ("x", 2):
        dispatcher.push("a", item)
    dispatcher.close()
    refused = []
    for seat in dispatcher:
        try:
            seat.cost = seat.item
        except fairq.UsageError:
            refused.append(seat.item)
    assert refused == ["x"]


def test_a_claim_is_for_one_block():
    dispatcher = fairq.Dispatcher(2)
    claim = dispatcher.seat("a")
    with claim, pytest.raises(fairq.UsageError, match="a claim is for one block"), claim:
        pass
    assert dispatcher.seats_taken == 0


def test_a_free_seat_needs_no_time():
    async def main():
        dispatcher = fairq.Dispatcher(1)
        async with dispatcher.seat("a", timeout=0):
            with pytest.raises(TimeoutError):
                async with dispatcher.seat("a", timeout=0):
                    pass
            message = "waiting would stop the event loop; write `async with`"
            with pytest.raises(fairq.UsageError, match=message), dispatcher.seat("a"):
                pass
        assert (dispatcher.seats_taken, dispatcher.waiting) == (0, 0)
        with dispatcher.seat("a"):
            pass

    asyncio.run(main())


def test_a_quantum_is_in_the_unit_of_costs_or_a_time():
    calls = [(tenant, 1) for tenant in "a" * 12 + "b" * 12]
    assert order("drr(quantum=2)", calls) == order("drr(quantum=2s)", calls) == "aabb" * 6
    assert order("drr(quantum=4)", calls) == "aaaabbbb" * 3


def test_a_dispatcher_cannot_be_copied():
    with pytest.raises(TypeError, match="a dispatcher cannot be copied"):
        copy.copy(fairq.Dispatcher(1))


def test_the_counters_of_tenants_are_of_the_busiest():
    dispatcher = fairq.Dispatcher(1)
    for tenant in ("busy", "idle", "busy"):
        with dispatcher.seat(tenant):
            pass
    text = dispatcher.metrics(tenants=1)
    assert 'started_total{tenant="busy"} 2' in text and "idle" not in text
