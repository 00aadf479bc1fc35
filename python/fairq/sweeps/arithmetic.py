"""Arithmetic and comparisons of axes: Python's syntax, of which little is allowed.

A text that is a quantity counts as a number of its base unit: "20 ms" is 0.02, "10 Mbit/s" is 1e7,
"64 kB" is 64000; "40 packets" is 40. Any other text can only be compared.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from fairq import _native
from fairq.errors import UsageError
from fairq.near import near_miss

Value = float | int | str | bool

OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": lambda value, digits=None: _rounded(value, digits),
    "sqrt": math.sqrt,
}
PACKETS = re.compile(r"(\d{1,15}) ?packets?")
"""A limit of a queue."""
LENGTH_MAX = 1000
"""The longest expression in characters: the parser's memory grows with its depth."""
EXPONENT_MAX = 64
EXACT_MAX = 1_000_000
"""The greatest exponent, and the greatest whole number of which a power is exact.

Without them, memory would have no bound.
"""
WHOLE_MAX = 2**63 - 1
"""The greatest whole number: a scenario has none above it."""
DIGITS_MAX = 300
"""The most digits that `round` keeps, or takes away: a number has no more."""


def evaluate(expression: str, names: Mapping[str, Value]) -> Value:
    """The value of an expression over `names`; UsageError says what in it is wrong."""
    if len(expression) > LENGTH_MAX:
        raise UsageError(f"an expression has at most {LENGTH_MAX} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _value(tree.body, {name: number(value) for name, value in names.items()})
    except SyntaxError as error:
        raise UsageError(f"{expression!r} is no expression: {error.msg}") from None
    except (ArithmeticError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise UsageError(f"{expression!r}: {error}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{expression!r} is {value}, not a finite number")
    if not isinstance(value, int | float | str):
        raise UsageError(f"{expression!r} is no number or text")
    return value


@cache
def number(value: Value) -> Value:
    """The number that a quantity says; anything else as it is."""
    if isinstance(value, str):
        for kind in ("time", "rate", "size"):
            try:
                return _native.quantity(kind, value)
            except UsageError:
                continue
        count = PACKETS.fullmatch(value)
        return int(count[1]) if count else value
    return value


def _rounded(value: Any, digits: Any) -> Any:
    if isinstance(digits, int) and abs(digits) > DIGITS_MAX:
        raise UsageError(f"round keeps at most {DIGITS_MAX} digits, not {digits}")
    return round(value, digits)


def _value(node: ast.expr, names: Mapping[str, Value]) -> Any:
    """The value of a part of an expression; each whole number on the way has its bound."""
    value = _computed(node, names)
    if isinstance(value, int) and abs(value) > WHOLE_MAX:
        raise UsageError(f"a whole number is at most {WHOLE_MAX}; write {ast.unparse(node)[:40]} with a float, as 1e20")
    return value


def _computed(node: ast.expr, names: Mapping[str, Value]) -> Any:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float | str):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            raise UsageError(f"{name}: no such axis or derived value{near_miss(name, names)}")
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, exponent = _value(left, names), _value(right, names)
            if abs(exponent) > EXPONENT_MAX:
                raise UsageError(f"an exponent is at most {EXPONENT_MAX}")
            return (float(base) if abs(base) > EXACT_MAX else base) ** exponent
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            one, other = _value(left, names), _value(right, names)
            for side in (one, other):
                if isinstance(side, str):
                    raise UsageError(f"{side!r} is no number; a text can only be compared")
            return OPERATORS[type(op)](one, other)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(operand, names))
        case ast.BoolOp(op=op, values=values):
            each = (_value(value, names) for value in values)
            return all(each) if isinstance(op, ast.And) else any(each)
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_value(side, names) for side in (left, *others)]
            sides = [number(side) if isinstance(side, str) else side for side in sides]
            pairs = zip(ops, sides, sides[1:], strict=False)
            return all(OPERATORS[type(op)](one, other) for op, one, other in pairs)
        case ast.IfExp(test=test, body=body, orelse=other):
            return _value(body if _value(test, names) else other, names)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            return [number(_value(item, names)) for item in items]
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, names) for argument in given))
        case ast.Call(func=ast.Name(id=name)) if name not in FUNCTIONS:
            raise UsageError(f"{name}: no such function{near_miss(name, FUNCTIONS)}")
    raise UsageError(f"{ast.unparse(node)}: only arithmetic, comparisons and {', '.join(FUNCTIONS)} are allowed")
