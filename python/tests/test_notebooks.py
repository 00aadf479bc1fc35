"""The notebooks: each runs alone, says what its cells compute, and is kept without outputs."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
CELLS_MAX = 20
CELL_TIMEOUT_S = 60


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def test_there_are_notebooks_and_the_list_names_each() -> None:
    page = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert NOTEBOOKS
    assert [path.name for path in NOTEBOOKS if f"({path.name})" not in page] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_short_and_kept_without_outputs(path: Path) -> None:
    notebook = read(path)
    assert notebook.metadata.kernelspec.name == "python3"
    assert len(notebook.cells) <= CELLS_MAX
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_claims_hold(path: Path, tmp_path: Path) -> None:
    from nbclient import NotebookClient

    notebook = read(path)
    strict = "import warnings\nwarnings.filterwarnings('error', module='fairq')"
    notebook.cells.insert(0, nbformat.v4.new_code_cell(strict))  # type: ignore[no-untyped-call]
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=CELL_TIMEOUT_S, kernel_name="python3", resources=resources).execute()
