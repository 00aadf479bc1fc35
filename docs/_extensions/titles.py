"""The index that `fairq docs WORDS` searches: titles and headings of each page, in titles.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes


def write(app: Any, error: Exception | None) -> None:
    """Write the index beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    rows = []
    for name in sorted(app.env.found_docs):
        sections = [*app.env.get_doctree(name).findall(nodes.section)]
        heads = [(part[0].astext(), part["ids"][0]) for part in sections if isinstance(part[0], nodes.title)]
        if heads:
            rows.append({"page": f"{name}.html", "title": heads[0][0], "heads": heads[1:]})
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (Path(app.outdir) / "titles.json").write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Add to Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
