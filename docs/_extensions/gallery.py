"""The directive `gallery`: runs each script of a folder and shows its figure and its code.

A script starts with a docstring, its first line the title and then two sentences, and leaves its
figure in `figure`. What was plotted is kept in target/docs by the digest of script and package. A page
shows the figure of a script as the picture `../gallery/NAME.svg`.
"""

from __future__ import annotations

import ast
import hashlib
import runpy
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

DOCS = Path(__file__).resolve().parents[1]
KEPT = DOCS.parent / "target" / "docs" / "gallery"


@cache
def package() -> bytes:
    """A digest of all that a figure may depend on beside its script: the package, and scenarios."""
    import fairq

    folder = Path(fairq.__file__).parent
    files = [*folder.rglob("*.py"), *folder.glob("_native*.so"), *DOCS.glob("*/*.toml"), *DOCS.glob("guide/*.gml")]
    found = hashlib.sha256()
    for file in sorted([*files, *(DOCS.parent / "scenarios").glob("*.toml")]):
        found.update(file.read_bytes())
    return found.digest()


def plotted(script: Path) -> Path:
    """The figure of a script, as it was plotted before or now."""
    from fairq.core.pictured import Figure
    from fairq.figures import save_as

    digest = hashlib.sha256(script.read_bytes() + package()).hexdigest()[:16]
    made = KEPT / f"{script.stem}-{digest}.svg"
    if not made.is_file():
        KEPT.mkdir(parents=True, exist_ok=True)
        figure = runpy.run_path(str(script))["figure"]
        figure.save(made) if isinstance(figure, Figure) else save_as(figure, made)
    return made


def beside(made: Path, page: Path) -> str:
    """The path of a figure, from the page that shows it."""
    return Path(*[".."] * len(page.relative_to(DOCS).parts), made.relative_to(DOCS.parent)).as_posix()


class Gallery(SphinxDirective):
    """`{gallery}` shows every script beside the page."""

    def run(self) -> list[nodes.Node]:
        """The sections, one for each script."""
        page = Path(self.env.doc2path(self.env.docname))
        found: list[nodes.Node] = []
        for script in sorted(page.parent.glob("*.py")):
            self.env.note_dependency(str(script))
            code = script.read_text(encoding="utf-8")
            title, _, about = (ast.get_docstring(ast.parse(code)) or script.stem).partition("\n")
            about = " ".join(about.split())
            section = nodes.section(ids=[nodes.make_id(script.stem)])
            section += nodes.title("", title.rstrip("."))
            section += nodes.paragraph("", about)
            image = nodes.image(uri=beside(plotted(script), page), alt=about.partition(". ")[0] or title)
            # a paragraph, as pages have it: on a phone it scrolls by itself
            section += nodes.paragraph("", "", image)
            section += nodes.literal_block(code, code, language="python")
            self.state.document.note_implicit_target(section, section)
            found.append(section)
        return found


def setup(app: Any) -> dict[str, Any]:
    """Add to Sphinx."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
