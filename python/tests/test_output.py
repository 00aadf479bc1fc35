"""An output folder is written whole or not at all."""

import re
from pathlib import Path

import pytest

from fairq import OutputError
from fairq.output import MARKER, check, file, folder

ROOT = Path(__file__).resolve().parents[2]


def write(path, name="a", **work):
    with folder(path, wrote="a test", **work) as inside:
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


def test_the_result_of_other_work_is_replaced_only_if_that_was_asked_for(tmp_path):
    write(tmp_path / "x", "a", of={"scenario": 1, "set": [("a", "1")]})
    for refuse in (check, write):
        with pytest.raises(OutputError, match=r"the result of other work .a test,.* --replace"):
            refuse(tmp_path / "x", of={"scenario": 2, "set": []})
    assert (tmp_path / "x" / "a").exists()
    write(tmp_path / "x", "b", of={"set": [("a", "1")], "scenario": 1})
    write(tmp_path / "x", "c", of={"scenario": 2}, replace=True)
    assert {p.name for p in (tmp_path / "x").iterdir()} == {"c", MARKER}
    check(tmp_path / "x")


def test_a_folder_of_before_has_no_work_in_its_marker_and_is_replaced(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / MARKER).write_text("fairq run x.toml\n")
    write(tmp_path / "x", "a", of={"scenario": 1})
    assert (tmp_path / "x" / "a").exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "map.svg"
    path.write_text("good")
    path.chmod(0o640)
    (tmp_path / "link.svg").symlink_to(path)

    def full(place):
        place.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"map.svg: cannot be written: no space"), file(path) as place:
        full(place)
    with pytest.raises(KeyboardInterrupt), file(path) as place:
        raise KeyboardInterrupt
    assert path.read_text() == "good"
    with file(tmp_path / "link.svg") as place:
        assert place.suffix == ".svg"
        place.write_text("better")
    assert path.read_text() == "better" and path.stat().st_mode & 0o777 == 0o640
    assert {p.name for p in tmp_path.iterdir()} == {"map.svg", "link.svg"}
    with pytest.raises(OutputError), file(tmp_path / "no" / "map.svg"):
        pytest.fail("the folder is not there")


def test_nothing_of_the_package_writes_a_file_by_itself():
    """Every file is written into a folder that is exchanged whole, or by `file`; this lists what opens one to write."""
    writers = re.compile(r"\.write_text\(|\.write_bytes\(|open\(\"w|savefig\(|\.open\(\"w")
    found = {
        path.name: len(writers.findall(path.read_text(encoding="utf-8")))
        for path in (ROOT / "python" / "fairq").rglob("*.py")
    }
    assert {name: count for name, count in found.items() if count} == {
        # into the folder that is exchanged, or the place that `save` gives
        "api.py": 1, "commands.py": 1, "figures.py": 3, "output.py": 3, "reproduction.py": 3, "tables.py": 1,
        "capture.py": 1,
    }  # fmt: skip
