"""From a template and what it says to a page of at most BYTES_MAX.

The templates here are the base of all pages and their parts; a package that has a page of its own
keeps its template in its own `templates`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from fairq.core import lazy
from fairq.reports import pictures

BYTES_MAX = 5_000_000
"""The most bytes of a page."""

T = TypeVar("T")


def rendered(template: str, said: Mapping[str, Any], package: str = __package__) -> str:
    """The page of a template in `package`, with everything escaped that is not marked as safe."""
    places = [lazy.jinja2.PackageLoader(each) for each in dict.fromkeys((package, __package__))]
    environment = lazy.jinja2.Environment(
        loader=lazy.jinja2.ChoiceLoader(places),
        autoescape=True, undefined=lazy.jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    return environment.get_template(template).render(colours=pictures.variables(), **said)


def fitting(page: Callable[[T], str], thinner: Iterable[T]) -> str:
    """The page of the first of `thinner` with which it has at most BYTES_MAX; else of the last.

    They go from all there is to little.
    """
    text = ""
    for thin in thinner:
        text = page(thin)
        if len(text.encode()) <= BYTES_MAX:
            break
    return text
