"""The advice of `fairq advise` in sentences: which queue wins, by how much, at what price."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fairq.questions.measures import OF_CANDIDATE, quantity
from fairq.questions.ranking import CRITERIA
from fairq.questions.sentences import amount

NEAR = {
    CRITERIA["guarantee"].column: ("for the guarantees", "5 points"),
    CRITERIA["alone"].column: ("in what a kind gets alone", "5 points"),
    CRITERIA["call_p99"].column: ("for the call", "5 ms"),
    CRITERIA["call_in_time"].column: ("for the call", "0.5 points"),
    CRITERIA["completion"].column: ("for transfers", "5 %"),
    CRITERIA["bulk"].column: ("for the bulk flows", "5 ms"),
    CRITERIA["utilisation"].column: ("in utilisation", "1 %"),
}
"""The criteria of all levels by column: what each is for, and what makes no difference."""

FOR = {
    CRITERIA["guarantee"].column: "of the guarantee",
    CRITERIA["alone"].column: "utilisation while one kind is alone",
    CRITERIA["call_p99"].column: "for the call",
    CRITERIA["call_in_time"].column: "of the time within the target",
    CRITERIA["completion"].column: "for a transfer",
    CRITERIA["bulk"].column: "of queueing for the bulk flows",
    CRITERIA["queueing"].column: "of queueing for all flows",
    CRITERIA["utilisation"].column: "utilisation",
}
"""What a difference is for, by its column."""

OF_COLUMN = {each.column: each for each in CRITERIA.values()}
"""The criteria by their columns."""

Found = Mapping[str, Any]


def text(found: Found) -> str:
    """The advice of a document."""
    best = found["best"]
    if best is None:
        return _without_best(found)
    ranked = [row for row in found["candidates"] if row["rank"] is not None]
    if len(ranked) == 1:
        column = found["criterion"]["column"]
        return f"{best} wins: it is the only one{_used(found)}; {_said(found, column)} {_amount(ranked[0], column)}."
    if found["steady"]["stands"] is False:
        return _moving(found, ranked)
    open_row = next((row for row in ranked[1:] if row["is_decided"] is False), None)
    if open_row is not None:
        return f"{_undecided(found, ranked, open_row)}{_price(found)}"
    if found["winner"] is None:
        return f"{_equal(found, ranked)}{_price(found)}"
    return f"{_won(found, ranked)}{_price(found)}"


def of_kinds(found: Found) -> str:
    """What each kind of users has of its guarantee behind the best, and how long its call waits."""
    parts = []
    for row in found["kinds"]:
        if row["candidate"] != found["best"]:
            continue
        column = CRITERIA["call_p99"].column
        phrases = []
        if row["guarantee_kept"] is not None:
            phrases.append(
                f"{_amount(row, 'guarantee_kept')} of the {100 * row['part']:.3g} % of the rate that it is guaranteed"
            )
        if row[column] is not None:
            phrases.append(f"a call that waits {_amount(row, column)} (99th percentile)")
        if phrases:
            parts.append(f"{row['kind']} has {_many(phrases)}")
    return f"Behind {found['best']} {'; '.join(parts)}." if parts else ""


def _without_best(found: Found) -> str:
    least = f"{100 * found['criterion']['utilisation_min']:.3g} %"
    most = max(found["candidates"], key=lambda row: row["utilisation"] or 0.0)
    if most["is_full"]:
        return f"None wins: no packet gives a value to the {_said(found, found['criterion']['column'])}."
    return (
        f"None uses {least} of the rate set up in both directions: {most['candidate']} uses most, "
        f"{_amount(most, 'utilisation')}. Write for example --utilisation-min {math.floor(100 * most['utilisation'])}%."
    )


def _moving(found: Found, ranked: Sequence[Found]) -> str:
    """What is said if what was measured does not stand still."""
    best, column = ranked[0], found["criterion"]["column"]
    equal = [row for row in ranked if row["worse_in"] is None]
    if len(equal) > 1:
        names = _many([row["candidate"] for row in equal])
        return (
            f"{names} come first together{_used(found)}: {_why_equal(found, equal)}. The commands are those of "
            f"{best['candidate']}."
        )
    second = ranked[1]
    then = f"{second['candidate']} {_amount(second, column)}"
    return (
        f"{best['candidate']} comes first{_used(found)}: {_said(found, column)} {_amount(best, column)}, then {then}."
    )


def _undecided(found: Found, ranked: Sequence[Found], row: Found) -> str:
    """What is said if chance could have put the best before the candidate of `row`."""
    best, column = ranked[0], row["worse_in"]
    one, other = (f"{each['candidate']} has {_amount(each, column)}" for each in (best, row))
    if row["worse_by_low"] is None:
        why = "as one seed decides nothing" if row["seeds"] == 1 else "as too few seeds have a value of both"
        return f"None wins, {why}: {one}, {other} ({_said(found, column)})."
    alike = [each["candidate"] for each in ranked[1:] if each["is_decided"] is False]
    low, high = (amount(quantity(column), row[f"worse_by_{end}"]) for end in ("low", "high"))
    more = f" About {_more(found['more_seeds'])} would tell these two apart." if found["more_seeds"] else ""
    return (
        f"None wins{_used(found)}: {row['seeds']} seeds do not tell {_many([best['candidate'], *alike])} apart. "
        f"{_first(found, column)} {_said(found, column)} is {_amount(best, column)} with {best['candidate']} and "
        f"{_amount(row, column)} with {row['candidate']}, a difference of {amount(quantity(column), row['worse_by'])} "
        f"(95 % interval {low} to {high}).{more}"
    )


def _more(seeds: int) -> str:
    return f"{seeds} more seed{'s' if seeds > 1 else ''}"


def _equal(found: Found, ranked: Sequence[Found]) -> str:
    """What is said if some are as good as the best."""
    equal = [row for row in ranked if row["worse_in"] is None]
    names = _many([row["candidate"] for row in equal])
    if all(row[column] == equal[0][column] for row in equal for column in OF_CANDIDATE):
        return f"{names} gave the same in every run; the commands are those of {found['best']}."
    why = _why_equal(found, equal)
    return f"{names} serve equally well{_used(found)}: {why}. The commands are those of {found['best']}."


def _why_equal(found: Found, equal: Sequence[Found]) -> str:
    """The criteria in which the best are equal."""
    columns = [found["criterion"]["column"], *found["criterion"]["then"]]
    if len(columns) > 1:
        return f"all are {_alike(found, columns)}"
    return f"{_said(found, columns[0])} {_amount(equal[0], columns[0])}"


def _won(found: Found, ranked: Sequence[Found]) -> str:
    best, second, column = ranked[0], ranked[1], found["margin_in"]
    margin, low, high = (amount(quantity(column), found[name]) for name in ("margin", "low", "high"))
    other = second["candidate"]
    start = f"{best['candidate']} wins{_used(found)}"
    start += f": {_said(found, column)}" if column == found["criterion"]["column"] else (
        f". {_first(found, column)} {_said(found, column)} is"
    )  # fmt: skip
    return (
        f"{start} {_amount(best, column)}, better than {other} with {_amount(second, column)} by {margin} "
        f"(95 % interval {low} to {high})."
    )


def _first(found: Found, column: str) -> str:
    """The beginning of a sentence on a column: the criteria before it, in which the candidates are equal."""
    columns = [found["criterion"]["column"], *found["criterion"]["then"]]
    before = columns[: columns.index(column)]
    return f"{_alike(found, before).capitalize()}, its" if before else "The"


def _alike(found: Found, columns: Sequence[str]) -> str:
    """The phrase that candidates are as good as the best in `columns`."""
    what, least = zip(*(NEAR[column] for column in columns), strict=True)
    return f"as good as the best {_capture(found, _many(what))} (to {_many(least)}, or by chance)"


def _price(found: Found) -> str:
    """What others are better at, and what they are worse at."""
    rows = {row["candidate"]: row for row in found["candidates"]}
    better: dict[str, list[str]] = {}
    for each in found["price"]:
        column = CRITERIA[each["criterion"]].column
        better.setdefault(each["candidate"], []).append(_difference(found, column, each["better_by"], is_better=True))
    parts = []
    for name, phrases in better.items():
        row = rows[name]
        # What is equal to the best has no price.
        if row["worse_in"] is not None:
            worse = _difference(found, row["worse_in"], row["worse_by"], is_better=False)
            parts.append(f"{name} has {_many(phrases)}, but {worse}")
    return f" The price: {'; '.join(parts)}." if parts else ""


def _difference(found: Found, column: str, value: float, *, is_better: bool) -> str:
    """A difference in a column: 2 ms less for the call."""
    is_more = is_better == OF_COLUMN[column].is_more_better
    what = _capture(found, FOR[column]) if column in FOR else f"in {_said(found, column)}"
    return f"{amount(quantity(column), value)} {'more' if is_more else 'less'} {what}"


def _said(found: Found, column: str) -> str:
    return _capture(found, OF_COLUMN[column].said)


def _capture(found: Found, said: str) -> str:
    """The phrase with "the capture" for "the call" if the question has a capture."""
    return said if found["line"]["capture"] is None else said.replace("the call", "the capture")


def _used(found: Found) -> str:
    least = found["criterion"]["utilisation_min"]
    return f" among those that use {100 * least:.3g} % of the rate set up" if least else ""


def _amount(row: Found, column: str) -> str:
    return "no value" if row[column] is None else amount(quantity(column), row[column])


def _many(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
