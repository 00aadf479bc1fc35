"""Stores of a study: parts in Parquet that are written anew or damaged, and their markers."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fuzzing.drawing import EDGES, LETTERS, Case, Draw
from fuzzing.scenarios import LINE

STUDY = b"""[study]
scenario = "s.toml"
replications = 2
[keep]
series = "10 ms"
[[axes]]
name = "queue"
path = "defaults.queue"
values = ["fifo", "drr"]
"""
QUERIES = ("select * from flows", "select queue, avg(share), count(*) from flows group by all", "select * from runs",
           "select sum(throughput_bit_per_s) from series", "select max(packets) from links",
           "select * from queues limit 3",
           "select r.queue, f.rtt_s_mean from flows f join runs r using (digest)")  # fmt: skip


@cache
def base() -> Mapping[str, bytes]:
    """The files of a whole store, by their names; times in its markers are always the same."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "s.toml").write_bytes(LINE)
        (folder / "study.toml").write_bytes(STUDY)
        words = [sys.executable, "-m", "fairq", "sweep", "study.toml", "--workers", "1", "--quiet"]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in files:
        if "/done/" in name:
            marker = json.loads(files[name])
            marker["runs"] = dict.fromkeys(marker["runs"], 0.001)
            for part in marker["files"].values():
                part["changed_s"] = 0
            files[name] = json.dumps(marker).encode()
    return dict(sorted(files.items()))


def store(draw: Draw) -> Case:
    """A store and a command that reads it."""
    files = dict(base())
    marker = next(name for name in files if "/done/" in name)
    parts = [name for name in files if name.endswith(".parquet")]
    for _ in range(draw.one((1, 1, 2))):
        match draw.up_to(9):
            case 0 | 1 | 2 | 3:
                name = draw.one(parts)
                files[name] = rewritten(draw, files[name])
                files[marker] = fitting(files[marker], name, files[name])
            case 4 | 5 | 6:
                name = draw.one(parts)
                files[name] = damaged_part(draw, files[name])
                if draw.chance(0.8):
                    files[marker] = fitting(files[marker], name, files[name])
            case 7:
                files[marker] = json.dumps(changed(draw, json.loads(files[marker]))).encode()
            case 8:
                files["study/store.json"] = json.dumps(changed(draw, json.loads(files["study/store.json"]))).encode()
            case _:
                folder = draw.one(("done", "parts/flows", "failed", "claims", "owners", "aside", "x"))
                name = f"study/{folder}/{'a' * 32}.json"
                files[name] = draw.one(
                    (b"", b"{}", b"[]", files[marker], files[marker][: draw.up_to(200)], b"\xff", b"[" * 9999)
                )
    verify = draw.some(("--verify",), 0.3)
    words = draw.weighted({
        ("query", "study.toml", draw.one(QUERIES), *verify, *draw.some(("--csv",), 0.3)): 8,
        ("query", "study", draw.one(QUERIES), *verify): 2,
        ("sweep", "study.toml", "--list-missing", *verify): 2,
        ("sweep", "study.toml", "--workers", "1", *verify): 3,
        ("report", "study.toml", *verify): 0.6,
        ("diff", "study", "study"): 0.5,
    })  # fmt: skip
    return Case((words,), files)


def fitting(marker: bytes, name: str, part: bytes) -> bytes:
    """The marker with the size, digest and, if it can be read, number of rows of a part."""
    said = json.loads(marker)
    try:
        said["files"][name.split("/")[2]] |= {"digest": hashlib.sha256(part).hexdigest(), "bytes": len(part)}
    except (TypeError, KeyError):
        # it was damaged before
        return marker
    return json.dumps(said).encode()


def damaged_part(draw: Draw, part: bytes) -> bytes:
    """A part with other bytes: in its pages, or in what says where they are."""
    size = int.from_bytes(part[-8:-4], "little")
    low, high = draw.one(((4, len(part) - 8 - size), (4, len(part) - 8 - size), (len(part) - 8 - size, len(part))))
    for _ in range(draw.one((1, 1, 2, 8))):
        at = low + draw.up_to(max(0, high - low - 1))
        match draw.up_to(4):
            case 0 | 1:
                part = part[:at] + bytes([part[at] ^ 1 << draw.up_to(7)]) + part[at + 1 :]
            case 2:
                part = (
                    part[:at] + draw.one((b"\0", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff\x0f")) + part[at + 1 :]
                )
            case 3:
                part = part[:at] + draw.randbytes(4) + part[at + 4 :]
            case _:
                to = draw.up_to(len(part) - 1)
                part = part[:to] + part[at : at + 8] + part[to + 8 :]
    return part[: draw.up_to(len(part))] if draw.chance(0.05) else part


def rewritten(draw: Draw, part: bytes) -> bytes:
    """A part written by another program: other types, orders, pages, values."""
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(io.BytesIO(part)).read(use_threads=False)
    except (arrow.ArrowException, OSError, UnicodeDecodeError):
        return part
    for _ in range(draw.up_to(2)):
        at = draw.up_to(table.num_columns - 1)
        column, name = table.column(at), table.column_names[at]
        match draw.up_to(6):
            case 0:
                table = table.select(draw.sample(range(table.num_columns), table.num_columns))
            case 1 if draw.chance(0.2):
                table = table.remove_column(at)
            case 2:
                table = table.append_column(draw.one(("more", name, "digest", "")), arrow.array([1] * table.num_rows))
            case 3:
                kinds = (
                    arrow.float64(),
                    arrow.float32(),
                    arrow.int32(),
                    arrow.large_string(),
                    arrow.string(),
                    arrow.binary(),
                    arrow.dictionary(arrow.int32(), arrow.string()),
                    arrow.decimal128(30, 3),
                    arrow.uint64(),
                    arrow.bool_(),
                )
                try:
                    table = table.set_column(at, name, column.cast(draw.one(kinds), safe=False))
                except (arrow.ArrowInvalid, arrow.ArrowNotImplementedError):
                    continue
            case 4:
                table = table.set_column(at, name, values(draw, arrow, column))
            case 5:
                table = table.take(rows(draw, arrow, table.num_rows))
            case _:
                nested = arrow.array([{"a": [1]}] * table.num_rows) if draw.chance(0.1) else arrow.nulls(table.num_rows)
                table = table.set_column(at, name, nested) if draw.chance(0.4) else table
    written = io.BytesIO()
    parquet.write_table(
        table, written, compression=draw.one(("none", "snappy", "snappy", "snappy", "zstd")),
        row_group_size=draw.one((None, 1, 3)), use_dictionary=draw.chance(0.5), write_statistics=draw.chance(0.7),
        data_page_version=draw.one(("1.0", "2.0")), data_page_size=draw.one((None, 1, 64)),
        version=draw.one(("1.0", "2.4", "2.6")),
        store_schema=draw.chance(0.5), write_page_index=draw.chance(0.2),
    )  # fmt: skip
    return written.getvalue()


def rows(draw: Draw, arrow: Any, count: int) -> Any:
    """Numbers of rows, some of them several times."""
    return arrow.array(
        [draw.up_to(count - 1) for _ in range(draw.one((0, 1, count, 500)) if count else 0)], arrow.int64()
    )


def values(draw: Draw, arrow: Any, column: Any) -> Any:
    """A column of the same kind with other values."""
    count, kind = len(column), column.type
    if arrow.types.is_floating(kind):
        of: tuple[Any, ...] = (0.0, -1.0, 1e308, float("nan"), float("inf"), None, 5e-324)
    elif arrow.types.is_integer(kind):
        of = (0, 1, 2**31, 2**63 - 1, None) if str(kind) != "int64" else (0, -1, 2**63 - 1, -(2**63), None)
    else:
        of = (*LETTERS[:8], EDGES[-1], "", None)
    try:
        return arrow.array([draw.one(of) for _ in range(count)], kind)
    except (arrow.ArrowInvalid, OverflowError, TypeError):
        return column


def changed(draw: Draw, said: Any) -> Any:
    """A document of JSON with one value changed, gone, or moved."""
    if isinstance(said, dict) and said and draw.chance(0.8):
        name = draw.one(list(said))
        match draw.up_to(5):
            case 0 if draw.chance(0.5):
                return {key: each for key, each in said.items() if key != name}
            case 1:
                return {**said, draw.one(LETTERS): said[name]}
            case _:
                return {**said, name: changed(draw, said[name])}
    if isinstance(said, list) and said and draw.chance(0.8):
        at = draw.up_to(len(said) - 1)
        return [*said[:at], changed(draw, said[at]), *said[at + 1 :]]
    return draw.one(
        (None, True, 0, -1, 2**63, 1e308, "", "a", "../../x", "/etc/passwd", [], {}, [said], {"a": said}, said)
    )
