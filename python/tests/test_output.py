"""An output folder is written whole or not at all."""

import pytest

from fairq import OutputError
from fairq.output import MARKER, check, folder


def write(path, name="a"):
    with folder(path, wrote="a test") as inside:
        (inside / name).write_text(name)


def test_a_folder_is_made_with_its_parents_and_marked(tmp_path):
    write(tmp_path / "x" / "y")
    assert {p.name for p in (tmp_path / "x" / "y").iterdir()} == {"a", MARKER}
    assert [p.name for p in (tmp_path / "x").iterdir()] == ["y"]


def test_an_own_folder_is_replaced_whole(tmp_path):
    write(tmp_path / "x", "a")
    write(tmp_path / "x", "b")
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"b", MARKER}


def test_nothing_is_left_when_the_work_fails(tmp_path):
    write(tmp_path / "x", "a")
    with pytest.raises(KeyboardInterrupt), folder(tmp_path / "x", wrote="a test") as inside:
        (inside / "b").write_text("b")
        raise KeyboardInterrupt
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x" / "a").exists()


@pytest.mark.parametrize("refuse", [check, write])
def test_what_fairq_did_not_write_is_kept(tmp_path, refuse):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "thesis.tex").write_text("years of work")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    for name in ("x", "file", "link", "file/below"):
        with pytest.raises(OutputError) as caught:
            refuse(tmp_path / name)
        assert "\n" not in str(caught.value)
    assert (tmp_path / "x" / "thesis.tex").read_text() == "years of work"
    assert {p.name for p in tmp_path.iterdir()} == {"x", "file", "link"}
