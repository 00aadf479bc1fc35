"""The lab as a widget of a notebook: the page of `fairq lab` in the output of a cell (anywidget)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fairq.core.errors import UsageError
from fairq.laboratory.built import widget
from fairq.laboratory.given import given

if TYPE_CHECKING:
    from fairq.core.inputs import Scenario

GLUE = """
async function render({ model, el }) {
  const address = URL.createObjectURL(new Blob([model.get("_page")], { type: "text/javascript" }));
  const page = await import(address);
  URL.revokeObjectURL(address);
  const scenario = model.get("scenario");
  const state = model.get("state");
  const lab = await page.mount(el, {
    hash: false,
    ...(scenario && { scenario }),
    ...(state && { state }),
  });
  const same = () => JSON.stringify(lab.state()) === JSON.stringify(model.get("state"));
  const tell = () => {
    if (!lab.playing && !same()) {
      model.set("state", lab.state());
      model.save_changes();
    }
  };
  const ends = ["change", "begin", "ended"].map((what) => lab.on(what, tell));
  const take = () => {
    if (model.get("state") && !same()) lab.load(model.get("state"));
  };
  model.on("change:state", take);
  return () => {
    lab.pause();
    model.off("change:state", take);
    for (const end of ends) end();
  };
}
export default { render };
"""
"""Shows the page in a cell. Its state goes to Python when it stands still, and comes from there."""


def lab(scenario: Scenario | None) -> Any:
    """The widget, on a scenario or on the page's own first screen."""
    made = None if scenario is None else given(scenario)
    return _kind()(_page=widget(), scenario=made)


@cache
def _kind() -> Any:
    """The class of the widget, which is made when it is first asked for: few users have the package."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise UsageError("lab: this needs the package anywidget; write: pip install 'fairq[notebook]'") from None

    class Lab(anywidget.AnyWidget):  # type: ignore[misc]  # the package has no types where it is not installed
        """The lab in a notebook. `state` is what a link of the page holds, as a dict; it can be set."""

        _esm = GLUE
        _page = traitlets.Unicode().tag(sync=True)
        scenario = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
        state = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)

    return Lab
