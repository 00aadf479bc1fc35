"""Links of the pages, which are written for the files as they lie in the repository.

A page whose only line is `<!-- shows: PATH -->` shows that file of the repository. A link to such a
file leads to the page that shows it, one to a folder to its index, and one to a file that is no
page, as code, becomes plain code text.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import gallery

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
FIRST = DOCS / "index.md"
QUESTIONS = DOCS / "guide" / "README.md"
SHOWS = re.compile(r"<!-- shows: (\S+) -->\s*")
FENCE = re.compile(r"^ *(`{3,}|~{3,})", re.MULTILINE)
# code in backquotes is matched first, so that a link in it stays as it is
LINK = re.compile(
    r"(?P<code>`+)(?:.|\n)*?(?P=code)(?!`)|"
    r"(?P<picture>!?)\[(?P<text>(?:`[^`]*`|[^\[\]])*)\]\((?P<to>[^()\s]+)\)"
)
INDEXES = ("index.md", "README.md")
PAGES = (".md", ".ipynb")


@cache
def shown() -> dict[Path, Path]:
    """The pages that show files of the repository, by the files."""
    found = {}
    for page in DOCS.rglob("*.md"):
        if match := SHOWS.fullmatch(page.read_text(encoding="utf-8")):
            found[(ROOT / match[1]).resolve()] = page
    return found


def target(to: str, origin: Path, page: Path) -> str | None:
    """What the site writes for a link of `origin`, which `page` shows; None: there is no page."""
    path, mark, anchor = to.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return to
    file = (origin.parent / unquote(path)).resolve()
    if file.is_dir():
        file = next((file / name for name in INDEXES if (file / name).is_file()), file)
    if (script := file.with_suffix(".py")).parent == DOCS / "gallery" and file.suffix == ".svg" and script.is_file():
        return gallery.beside(gallery.plotted(script), page)
    file = shown().get(file, file)
    inside = file.is_relative_to(DOCS) and file.is_file()
    if not inside:
        return None
    relative = Path(*[".."] * len(page.parent.relative_to(DOCS).parts), file.relative_to(DOCS))
    return relative.as_posix() + (mark + anchor if file.suffix in PAGES else "")


def rewritten(text: str, origin: Path, page: Path) -> str:
    """A page with its links as the site has them, code left alone."""

    def link(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        to = target(match["to"], origin, page)
        if to is not None:
            return f"{match['picture']}[{match['text']}]({to})"
        said = match["text"]
        return said if "`" in said else f"`{' '.join(said.split())}`"

    parts, inside, kept = [], "", 0
    for fence in FENCE.finditer(text):
        if inside and not fence[1].startswith(inside):
            continue
        piece = text[kept : fence.start()]
        parts.append(piece if inside else LINK.sub(link, piece))
        inside, kept = ("" if inside else fence[1]), fence.start()
    parts.append(text[kept:] if inside else LINK.sub(link, text[kept:]))
    return "".join(parts)


def groups(text: str) -> str:
    """The toctrees of the page of questions, a caption for each of its headings, from its links."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)[1:]
    made = ""
    for caption, body in zip(parts[::2], parts[1::2], strict=True):
        pages = re.findall(r"\]\(([a-z0-9-]+\.md)\)", body)
        if pages:
            made += "\n".join(("\n```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```\n"))
    return made


def present(text: str) -> str:
    """The first page without the sections that are not there: a part of the tree is built too."""

    def kept(match: re.Match[str]) -> str:
        return match[0] if any((DOCS / f"{match['page']}{end}").is_file() for end in PAGES) else ""

    text = re.sub(r"^:::\{grid-item-card\}[^:]*\n:link: (?P<page>\S+)\n(?:.*\n)*?:::\n", kept, text, flags=re.MULTILINE)
    return re.sub(r"^[^\n<]+ <(?P<page>[\w/]+)>\n", kept, text, flags=re.MULTILINE)


def read(app: Any, name: str, source: list[str]) -> None:
    """Give Sphinx a page as the site has it."""
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md":
        return
    origin = page
    if match := SHOWS.fullmatch(source[0]):
        origin = (ROOT / match[1]).resolve()
        app.env.note_dependency(str(origin))
        source[0] = origin.read_text(encoding="utf-8")
    source[0] = present(source[0]) if page == FIRST else source[0]
    listed = groups(source[0]) if page == QUESTIONS else ""
    source[0] = rewritten(source[0], origin, page) + listed


def setup(app: Any) -> dict[str, Any]:
    """Add to Sphinx."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
