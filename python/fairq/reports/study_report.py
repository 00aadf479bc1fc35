"""The report of a study: one page that opens without a network, with everything inside.

It holds no script and asks for no other file; docs/design/reports.md says why. The same store gives
the same bytes. What stands on the page is gathered in sections.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from fairq.core.errors import UsageError
from fairq.core.output import check_file, file
from fairq.reports.rendering import fitting, rendered
from fairq.reports.sections import Gathered, Thin
from fairq.studies.stored_runs import Results
from fairq.studies.study_results import Page

THINNER = (Thin(200, 5_000, True), Thin(60, 1_000, True), Thin(30, 200, False), Thin(10, 50, False))
"""From all there is to what fits in a page."""


def write(study: str | os.PathLike[str], results: Results, out: str | os.PathLike[str] | None) -> Page:
    """Write the report of a study's results to `out`, or beside the study, whole or not at all."""
    runs = sum(run.part is not None for run in results.runs())
    name = Path(study).name if Path(study).suffix == ".toml" else ""
    return as_page(study, out, runs, lambda: report(results, name))


def as_page(of: str | os.PathLike[str], out: str | os.PathLike[str] | None, runs: int, text: Callable[[], str]) -> Page:
    """The page of `runs` runs at `out`, or beside what it is `of`; its text is made at last."""
    path = Path(out) if out is not None else _beside(Path(of))
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{path}: the name must end in .html")
    check_file(path)
    made = text()
    with file(path) as place:
        place.write_text(made, encoding="utf-8")
    return Page(path, runs, len(made.encode()))


def _beside(study: Path) -> Path:
    """The page of a study, or of a store's folder: the same name with .html."""
    study = study if study.name else study.resolve()
    return study.with_name(f"{study.name.removesuffix('.toml')}.html")


def report(results: Results, name: str = "") -> str:
    """The page of a study, of the file `name`; UsageError if no run exists."""
    runs = results.runs()
    if not any(run.part for run in runs):
        raise UsageError(f"{results.store.root}: no run of the study exists yet; run it by fairq sweep")
    gathered = Gathered(results, runs)

    def page(thin: Thin) -> str:
        sections = list(gathered.sections(thin))
        contents = [("run", "What was run"), *((each.name, each.title) for each in sections)]
        return rendered(
            "report.html",
            {
                "heading": results.study.name, "title": f"{results.study.name}: report", "contents": contents,
                "lead": gathered.title, "counts": gathered.counts, "notes": gathered.notes, "axes": gathered.axes,
                "sections": sections, "texts": gathered.texts, "made": gathered.made(name),
            },
            __package__,
        )  # fmt: skip

    return fitting(page, THINNER)
