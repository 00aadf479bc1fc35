"""`fairq doctor`: what this machine can, said without changing it."""

import json
import sys
from pathlib import Path

import pytest

import fairq as package

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="emulation needs Linux")


def test_what_is_missing_has_a_remedy_and_what_is_there_none():
    found = package.doctor()
    assert len(found.rows) >= 5
    for row in found.rows:
        assert row["what"] and row["found"]
        assert row["state"] in ("ok", "lacking")
        assert row["remedy"] == "" or row["state"] == "lacking"


def test_it_leaves_the_machine_as_it_was():
    devices = Path("/proc/net/dev").read_text(encoding="ascii").count("\n")
    package.doctor()
    assert Path("/proc/net/dev").read_text(encoding="ascii").count("\n") == devices


def test_the_table_and_the_document_say_the_same(fairq):
    status, out, _ = fairq("doctor")
    document = json.loads(fairq("doctor", "--json")[1])
    assert status == 0
    assert all(row["what"] in out for row in document["rows"])
