"""Tables as TOML, for scenarios that commands write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def table(head: str, fields: Mapping[str, Any]) -> str:
    """A table of TOML: its head, if it has one, and a line for each field."""
    lines = [f"{key} = {_value(value)}" for key, value in fields.items()]
    return "\n".join([*([head] if head else []), *lines])


def _value(value: Any) -> str:
    """A value of TOML on one line; long lists take a line for each of their values."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(each)}' for key, each in value.items())} }}"
    if isinstance(value, list):
        parts = [_value(each) for each in value]
        return f"[{', '.join(parts)}]" if sum(map(len, parts)) < 90 else _lines(parts)
    return json.dumps(value, ensure_ascii=False)


def _lines(parts: Iterable[str]) -> str:
    return "[\n" + "".join(f"    {part},\n" for part in parts) + "]"


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)
