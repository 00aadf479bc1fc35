"""The plugin of pytest that fairq brings along: the fixture `fairq_link`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from fairq.links.link import Link


@pytest.fixture
def fairq_link() -> Iterator[Callable[..., Link]]:
    """Make links for a test; they are closed at its end.

    `link = fairq_link(rate="10Mbit/s", delay="20ms", queue="fq_codel")` is a line;
    `link.relay(("127.0.0.1", port))` says where to connect to go through it.
    """
    # Loaded here: a test run that makes no link loads next to nothing of fairq.
    link = import_module("fairq.links.link")
    with ExitStack() as stack:

        def make(**words: Any) -> Link:
            made: Link = link.Link(**words)
            return stack.enter_context(made)

        yield make
