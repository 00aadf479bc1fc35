"""What a page or a message tells to install is a package that an index has."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_no_text_tells_to_install_what_no_index_has():
    places = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "python" / "fairq").rglob("*.py")]
    told = [name for path in places for name in re.findall(r"pip install ([\w'\[\]-]+)", path.read_text())]
    assert "duckdb" in told and "distributed" in told
    assert not [name for name in told if name.strip("'").startswith("fairq")]
