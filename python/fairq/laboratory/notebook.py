"""The lab as a widget of a notebook (anywidget): the page of `fairq lab` in a cell's output."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairq.core import lazy
from fairq.laboratory.built import widget
from fairq.laboratory.given import given

if TYPE_CHECKING:
    from fairq.core.inputs import Scenario

GLUE = Path(__file__).with_name("notebook.js")
"""The module that shows the page in a cell."""


def lab(scenario: Scenario | None) -> Any:
    """The widget, on a scenario or on the page's own first screen."""
    made = None if scenario is None else given(scenario)
    return _kind()(_page=widget(), scenario=made)


@cache
def _kind() -> Any:
    """The class of the widget, made when it is first asked for: few users have the package."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        if (lacking := lazy.lacking(error, "lab: this")) is None:
            raise
        raise lacking from None

    # the package has no types where it is not installed
    class Lab(anywidget.AnyWidget):  # type: ignore[misc]
        """The lab in a notebook. `state` is what a link of the page holds; it can be set."""

        _esm = GLUE.read_text(encoding="utf-8")
        _page = traitlets.Unicode().tag(sync=True)
        scenario = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        state = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)

    return Lab
