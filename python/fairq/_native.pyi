"""The compiled part: text in, tables and JSON text out. Every exception is one clear line."""

from collections.abc import Callable
from typing import Any

from fairq.core.errors import ScenarioError

_Progress = Callable[[float, float, int], None]

def version() -> str: ...
def quantity(kind: str, text: str) -> float: ...
def listing(what: str) -> str: ...
def explain(name: str, width: int) -> str: ...
def explained(name: str) -> str: ...
def scenes(name: str) -> str: ...
def schema(name: str) -> str: ...
def schema_names() -> list[str]: ...
def queue(text: str) -> str: ...
def has_unknown_words(text: str) -> bool: ...
def lines(text: str, name: str, sets: list[tuple[str, str]]) -> str: ...
def columns() -> str:
    """The tables of results with their columns, a JSON array."""

def results_version() -> int:
    """The version of what runs give; it is part of their digests."""

class Table:
    """Named columns of whole numbers, real numbers and text, in Arrow's memory layout."""

    @property
    def names(self) -> list[str]: ...
    @property
    def kinds(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def cells(self, at: int, start: int, count: int) -> list[Any]: ...
    def address(self, at: int) -> int | None: ...
    def write_parquet(self, path: str, source: str, seed: int | None = None) -> None: ...

class Tables:
    """The tables of one run."""

    def __len__(self) -> int:
        """The rows of all tables together."""

    def table(self, name: str) -> Table: ...

class Outcome:
    """What an experiment gave."""

    def table(self, name: str) -> Table: ...
    def by_seed(self, name: str) -> Table: ...
    def write_json(self, write: Callable[[str], object]) -> None: ...
    def write_trace(self, write: Callable[[str], object]) -> None: ...
    def write_qlog(self, flow: str, write: Callable[[str], object]) -> None: ...

class Run:
    """One point of a scenario's axes and one seed; it can be pickled."""

    @property
    def seed(self) -> int: ...
    @property
    def axes(self) -> str: ...
    @property
    def digest(self) -> str: ...
    def finish(self) -> Tables: ...

class Experiment:
    """A scenario read and checked, ready to run."""

    def __init__(
        self,
        text: str,
        name: str,
        sets: list[tuple[str, str]],
        series: str | None = None,
        packets: str | None = None,
        states: bool = False,
        trace: bool = False,
    ) -> None: ...
    def runs(self) -> list[Run]: ...
    def run_at(self, point: int, seed: int) -> Run:
        """The run with this seed, any, at the point of this number."""

    def longest_round_trip_s(self, packet: int) -> float: ...
    def memory_bytes(self, workers: int) -> int:
        """About how many bytes all networks, `workers` runs at a time and all tables need."""

    def outcome(self, workers: int, progress: _Progress | None = None, stretches: int | None = None) -> Outcome: ...
    def collect(self, tables: list[Tables]) -> Outcome: ...

def remade_run(
    text: str,
    name: str,
    sets: list[tuple[str, str]],
    series: str | None,
    packets: str | None,
    states: bool,
    point: int,
    seed: int,
) -> Run: ...
def toml_tree(text: str, name: str) -> tuple[str, list[tuple[str, int]]]:
    """A text in TOML as JSON, and the line of each of its paths."""

class Study:
    """A study that was read and checked, with the combinations of its axes."""

    def __init__(self, text: str, name: str) -> None: ...
    def said(self) -> str:
        """What is run, kept and plotted, as JSON."""

    def fault(self, path: str, message: str) -> ScenarioError:
        """The exception that names a place of the file."""

    def count(self) -> int:
        """How many combinations of the axes there are."""

    def sets(self, step: int) -> list[list[tuple[str, str]]]:
        """What each `step`-th combination sets."""

    def named(
        self, text: str, name: str, first: int, most: int, words: list[str]
    ) -> list[tuple[str, list[tuple[str, str]], list[tuple[str, int, list[str]]]]]:
        """The combinations from `first`, at most `most`: labels as JSON, fields to set, runs.

        The runs are as `named_runs` gives them. `words` are those of a question.
        """

    def check_draw(self, axes: list[str]) -> None:
        """Refuse figures of axes and columns that there are not."""

def named_runs(
    text: str, name: str, points: list[list[tuple[str, str]]], replications: int | None = None
) -> list[list[tuple[str, int, list[str]]]]:
    """For each of `points`, fields of a scenario to set, the points of the scenario's own axes.

    Each is the values of these axes as JSON, the first seed, and the digests of the runs with it
    and those behind it.
    """

def joined(name: str, runs: list[tuple[str, Tables]]) -> Table:
    """The tables called `name` of several runs as one, with a column `digest` before the others."""

def read_parts(parts: list[tuple[str, set[str] | None, set[str], int]], columns: list[tuple[str, str]]) -> Table:
    """Columns, each with its kind, of Parquet files; with digests, only the rows of these runs."""

def max_min(text: str, name: str, sets: list[tuple[str, str]]) -> str: ...
def topology(path: str, options_json: str, progress: _Progress | None = None) -> str: ...
def routes(text: str, name: str, sets: list[tuple[str, str]]) -> str: ...
def replay(path: str, options_json: str, progress: _Progress | None = None) -> str: ...
def check_capture(path: str) -> None: ...
def pair_captures(first: str, second: str) -> tuple[str, list[bytes]]: ...
def audit(text: str, options_json: str, progress: _Progress | None = None) -> str: ...
def bench_disciplines(options_json: str, progress: _Progress | None = None) -> str: ...

_Told = tuple[float | None, float | None, float | None, int, int]

def interval(values: list[float], scale: str, ratio: list[float] = ...) -> _Told: ...
def paired(
    a: list[float], b: list[float], scale: str
) -> tuple[float | None, float | None, float | None, bool, int | None, int, int]: ...
def batch_means(values: list[float], batches: int, scale: str) -> tuple[_Told, int, float, bool]: ...
def warm_up(values: list[float]) -> tuple[int | None, int, int]: ...
def precision(
    values: list[float], target: float, least: int, scale: str
) -> tuple[float | None, bool, int | None, int, int]: ...
def prediction_interval(values: list[float]) -> tuple[float, float, float]: ...
def confidence_interval(values: list[float]) -> tuple[float, float, float]: ...
def table_of(name: str, rows_json: str) -> Table:
    """The table of results called so with these rows, a JSON array of objects."""
