"""The engine of many machines: bundles of runs as tasks of the user's Dask cluster.

Every worker opens the store itself, so that the folder must be the same file system for all. A
worker that dies takes its bundle with it; Dask gives that to another, which runs what the store
does not have.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from fairq.core import lazy
from fairq.core.errors import FairqError, UsageError
from fairq.studies import threads
from fairq.studies.store import Store
from fairq.studies.work import Counts, Job, Task

BUNDLE_S = 5.0
"""Work of a bundle: a scheduler's own cost is a millisecond or so a task."""
BUNDLES_EACH = 4
"""Bundles for each core of the cluster at least, so that all end at about the same time."""
ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx|ucxx)://)?[^/\s]+:\d{1,5}")
"""An address of a scheduler."""
ANSWER_S = 10
"""How long the scheduler is waited for."""
GONE = "its scheduler does not answer"
RETRIES = 5
"""How often a bundle is given to another worker after one has died."""


@contextmanager
def connected(address: str | None, client: Any = None) -> Iterator[Any]:
    """The client of a cluster: the user's own, or one for an address.

    UsageError if no scheduler answers there.
    """
    if client is not None:
        yield client
        return
    if not address:
        raise UsageError("--engine dask needs the scheduler's --address, as tcp://10.0.0.1:8786")
    if ADDRESS.fullmatch(address) is None:
        raise UsageError(f"--address: {address} is no address of a scheduler; write it as tcp://10.0.0.1:8786")
    # What Dask says of lost connections is said in one line here. Its import makes the loggers.
    client_class = lazy.distributed.Client
    for name in ("distributed", *logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    lazy.dask.config.set({"distributed.comm.timeouts.connect": ANSWER_S})
    try:
        made = client_class(address, timeout=ANSWER_S, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"--address: no Dask scheduler answers at {address} ({type(error).__name__}); start one by dask scheduler,"
            " or leave --engine out"
        ) from None
    try:
        yield made
    finally:
        made.close()


def run(
    store: Store,
    job: Job,
    tasks: Sequence[Task],
    client: Any,
    cost_s: float | None,
    tell: Callable[[Counts], None],
    *,
    fail_fast: bool = False,
) -> Counts:
    """Run tasks on the workers of a cluster; `cost_s` is what a run takes, if that is known.

    The counts are of what the workers say; what exists, the store says. UsageError if the cluster
    does not answer for a bundle.
    """
    cores = max(1, sum(client.nthreads().values()))
    size = len(tasks) // (cores * BUNDLES_EACH) or 1
    size = max(1, min(size, int(BUNDLE_S / cost_s) if cost_s else size))
    bundles = [list(tasks[at : at + size]) for at in range(0, len(tasks), size)]
    # no names from content: a bundle that was run before, and lost since, is run again
    futures = [client.submit(_bundle, job, bundle, fail_fast, pure=False, retries=RETRIES) for bundle in bundles]
    done = failed = left = 0
    lost = ""
    try:
        for future in lazy.distributed.as_completed(futures, loop=client.loop):
            if future.status in ("cancelled", "lost"):
                lost = GONE
                continue
            try:
                counts = Counts(*future.result())
            except FairqError:
                raise
            except lazy.distributed.comm.CommClosedError:
                lost = GONE
                break
            except Exception as error:
                # a worker that died again and again, or has no fairq; the other bundles are waited for
                lost = f"{type(error).__name__}: {error}".splitlines()[0]
                continue
            done, failed, left = done + counts.done, failed + counts.failed, left + counts.left
            tell(counts)
            if fail_fast and counts.failed:
                break
    finally:
        with contextlib.suppress(OSError):
            client.cancel(futures)
    if lost:
        raise UsageError(f"the Dask cluster has lost runs ({lost}); what is done stays, and the same command goes on")
    store.scan()
    if done and not any(store.has(task.digest) for task in tasks):
        raise UsageError(
            f"{store.root.absolute()}: none of the {done} runs of the cluster is here; its workers must see this folder"
        )
    return Counts(done, failed, left)


def _bundle(job: Job, tasks: Sequence[Task], fail_fast: bool) -> tuple[int, ...]:
    """Run a bundle, on a worker."""
    store = Store(job.root, job.keep)
    store.scan()
    tasks = [Task(*task) for task in tasks]
    return tuple(threads.run(store, job, tasks, 1, lambda _: None, fail_fast=fail_fast))
