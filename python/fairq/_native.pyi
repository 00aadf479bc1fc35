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
def queue(text: str, own: object = None) -> str: ...
def by_ports(text: str) -> str: ...
def has_unknown_words(text: str) -> bool: ...
def lines(text: str, name: str, sets: list[tuple[str, str]], own: object = None) -> str: ...
def emulation(job_json: str) -> str:
    """What a job would make, as JSON: hosts, lines, flows, and the scenario with its defaults."""

def gateway(job: int, report: int) -> int:
    """Run the job of one descriptor and report to the other; the exit status of its command."""

def doctor() -> str:
    """What this machine can: a JSON array of checks with name, is_fine, found and remedy."""

def columns() -> str:
    """The tables of results with their columns, a JSON array."""

def results_version() -> int:
    """The version of what runs give; it is part of their digests."""

class Views:
    """A table for polars, which takes its text without a copy, too."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Table:
    """Named columns of whole numbers, real numbers and text, in Arrow's memory layout."""

    @property
    def names(self) -> list[str]: ...
    @property
    def kinds(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def views(self) -> Views: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def cells(self, at: int, start: int, count: int) -> list[Any]: ...
    def address(self, at: int) -> int | None: ...
    def write_parquet(self, path: str, source: str, seed: int | None = None) -> None: ...

class Dispatcher:
    """Admits items of tenants, starts them by a policy; costs and times are whole numbers."""

    def __init__(
        self,
        policy: str,
        seats: int,
        items_max: int,
        items_per_tenant_max: int,
        tenants_max: int,
        steps: int,
    ) -> None: ...
    def push(self, tenant: str, now: int, asked: tuple[int, int | None, int], item: object) -> None:
        """An item for workers; a LookupError has the name of why it is refused and a sentence."""

    def ask(self, tenant: str, now: int, asked: tuple[int, int | None, int], seat: object) -> None:
        """The request of a seat, which begins at once if it may."""

    def grant(self, now: int, asking: object = None) -> None:
        """Seats that are free go to the requests that wait; each is told."""

    def take(self, now: int, seat: object) -> bool:
        """The next item for a worker, into its seat."""

    def progress(self, named: tuple[int, int], cost: int) -> None: ...
    def end(self, named: tuple[int, int], cost: int | None, is_typical: bool) -> None: ...
    def forsake(self, named: tuple[int, int]) -> None: ...
    def drain(self) -> list[Any]: ...
    def close(self) -> None: ...
    def set_weight(self, tenant: str, weight: float) -> None: ...
    def set_priority(self, tenant: str, priority: int) -> None: ...
    def state(self) -> tuple[int, int, int, int]:
        """Items that wait, items that run, seats taken, tenants known."""

    def counts(self) -> tuple[list[int], dict[str, int], int]:
        """Items admitted, completed, failed, forsaken; refused by reason; the cost."""

    def waits(self, most: int) -> list[tuple[str, int, int, int]]:
        """Of each tenant: items started, their waits together, the longest."""

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
        own: object = None,
    ) -> None: ...
    def runs(self) -> list[Run]: ...
    def run_at(self, point: int, seed: int) -> Run:
        """The run with this seed, any, at the point of this number."""

    def longest_round_trip_s(self, packet: int) -> float: ...
    def memory_bytes(self, workers: int) -> int:
        """About how many bytes all networks, `workers` runs at a time and all tables need."""

    def outcome(self, workers: int, progress: _Progress | None = None, stretches: int | None = None) -> Outcome: ...
    def collect(self, tables: list[Tables]) -> Outcome: ...

_When = str | float

_Event = tuple[
    float,
    str,
    str | None,
    str | None,
    str | None,
    int | None,
    int | None,
    int | None,
    str | None,
    float | None,
    tuple[str, float | None, float | None, int, int | None, int | None] | None,
]

class LiveRun:
    """A run in progress that its owner holds."""

    def __init__(
        self,
        text: str,
        name: str,
        sets: list[tuple[str, str]],
        seed: int,
        links: list[str] | None = None,
        own: object = None,
    ) -> None: ...
    @property
    def now(self) -> float: ...
    @property
    def end(self) -> float: ...
    @property
    def next_time(self) -> float | None: ...
    @property
    def steps(self) -> int: ...
    @property
    def digest(self) -> str: ...
    def step(self) -> tuple[str, str | None, str | None] | None: ...
    def run_some(self, until: _When) -> bool:
        """Run to a time, or a part of the way: whether it is reached."""

    def run_steps(self, to: int) -> None: ...
    def change(self, entry: str) -> None: ...
    def set(self, path: str, value: str) -> None: ...
    def offer(self, link: str, reverse: bool, flow: str, bytes: int, count: int) -> None: ...
    def drop_packet(self, packet: int) -> None: ...
    def mark_packet(self, packet: int) -> None: ...
    def hold_packet(self, packet: int, until: _When) -> None: ...
    def watch(
        self, links: list[str] | None = None, flows: list[str] | None = None, of: list[str] | None = None
    ) -> int: ...
    def run_until_event(self, tape: int, until: _When) -> bool:
        """Run to a time, a step that records, or a part of the way: whether the time is reached."""

    def take(self, tape: int) -> list[_Event]: ...
    def unwatch(self, tape: int) -> None: ...
    def record(self, link: str | None, reverse: bool, keep: int) -> None: ...
    def recorded(self, begin: _When, end: _When, most: int) -> tuple[Table, Table, bool]:
        """Give packets, the fluid's service, and whether there are more packets."""

    def look(self, name: str) -> Table: ...
    def outcome(self) -> Outcome: ...

def remade_run(
    text: str,
    name: str,
    sets: list[tuple[str, str]],
    series: str | None,
    packets: str | None,
    states: bool,
    point: int,
    seed: int,
    own: object = None,
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
        self, text: str, name: str, first: int, most: int, words: list[str], own: object = None
    ) -> list[tuple[str, list[tuple[str, str]], list[tuple[str, int, list[str]]]]]:
        """The combinations from `first`, at most `most`: labels as JSON, fields to set, runs.

        The runs are as `named_runs` gives them. `words` are those of a question.
        """

    def check_draw(self, axes: list[str]) -> None:
        """Refuse figures of axes and columns that there are not."""

def named_runs(
    text: str,
    name: str,
    points: list[list[tuple[str, str]]],
    replications: int | None = None,
    own: object = None,
) -> list[list[tuple[str, int, list[str]]]]:
    """For each of `points`, fields of a scenario to set, the points of the scenario's own axes.

    Each is the values of these axes as JSON, the first seed, and the digests of the runs with it
    and those behind it.
    """

def joined(name: str, runs: list[tuple[str, Tables]]) -> Table:
    """The tables called `name` of several runs as one, with a column `digest` before the others."""

def read_parts(parts: list[tuple[str, set[str] | None, set[str], int]], columns: list[tuple[str, str]]) -> Table:
    """Columns, each with its kind, of Parquet files; with digests, only the rows of these runs."""

def named_files(text: str, name: str, sets: list[tuple[str, str]], own: object = None) -> list[str]:
    """The names of the files that a scenario reads, in order; the scenario is checked."""

def max_min(text: str, name: str, sets: list[tuple[str, str]], own: object = None) -> str: ...
def topology(path: str, options_json: str, progress: _Progress | None = None) -> str: ...
def routes(text: str, name: str, sets: list[tuple[str, str]], own: object = None) -> str: ...
def replay(path: str, options_json: str, progress: _Progress | None = None) -> str: ...
def serve(options_json: str, progress: _Progress | None = None) -> str: ...
def check_capture(path: str) -> None: ...
def pair_captures(first: str, second: str) -> tuple[str, list[bytes]]: ...
def audit(text: str, options_json: str, progress: _Progress | None = None, own: object = None) -> str: ...
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

class Flow:
    """A flow at one queue: its number there, from 0 up and never another flow's, and its weight."""

    @property
    def number(self) -> int: ...
    @property
    def weight(self) -> float: ...

class Packet:
    """A packet at a queue. Times are seconds since the start of the run."""

    @property
    def number(self) -> int:
        """Its number: no other packet that waits in this queue has it."""

    @property
    def bytes(self) -> int:
        """Bytes on the line."""

    @property
    def arrival(self) -> float:
        """When it arrived at this queue."""

    @property
    def deadline(self) -> float | None:
        """When it should have left the network; None if it does not matter."""

    @property
    def remaining(self) -> int:
        """Bytes of its transfer not sent before it, itself included; 0 if not known."""

    @property
    def is_marked(self) -> bool:
        """Whether it carries the mark CE, *congestion experienced*."""

    @property
    def takes_marks(self) -> bool:
        """Whether it may be marked with CE in place of being dropped."""

    @property
    def is_acknowledgement(self) -> bool:
        """Whether it is an acknowledgement without data."""

    @property
    def tos(self) -> int:
        """The type-of-service byte."""

class Queue:
    """The queue of a packet, as a buffer policy sees it, and all queues of the line together."""

    @property
    def number(self) -> int: ...
    @property
    def packets(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def all_packets(self) -> int: ...
    @property
    def all_bytes(self) -> int: ...

class Header:
    """The fields by which packets are told apart; addresses are texts."""

    @property
    def source(self) -> str: ...
    @property
    def destination(self) -> str: ...
    @property
    def protocol(self) -> int: ...
    @property
    def source_port(self) -> int: ...
    @property
    def destination_port(self) -> int: ...
    @property
    def tos(self) -> int: ...

class Line:
    """The line of a queue: its nominal rate in bit/s, and the seed of all that is random there."""

    @property
    def rate(self) -> int: ...
    @property
    def seed(self) -> int: ...

class NotBefore:
    """The answer that no packet may leave before a time, in seconds since the start of the run."""

    def __init__(self, time: float) -> None: ...
    @property
    def time(self) -> float: ...

class Beginning:
    """How a connection begins; the windows, initial and the receiver's, are packets."""

    @property
    def now(self) -> float: ...
    @property
    def window(self) -> float: ...
    @property
    def window_max(self) -> float: ...
    @property
    def seed(self) -> int: ...

class SourceBeginning:
    """How a source begins: when, and the seed of all that is random."""

    @property
    def now(self) -> float: ...
    @property
    def seed(self) -> int: ...

class Acked:
    """An acknowledgement. Times are seconds; windows, flights and counts are packets."""

    @property
    def now(self) -> float:
        """When it arrived."""

    @property
    def newly(self) -> int:
        """Packets that it acknowledges in order for the first time; 0 if it is a duplicate."""

    @property
    def delivered(self) -> int:
        """Packets newly known to have arrived, in order or not."""

    @property
    def marked(self) -> int:
        """Packets that it reports as marked."""

    @property
    def bytes(self) -> int:
        """Bytes of a packet."""

    @property
    def round_trip(self) -> float | None:
        """The round-trip sample that it gives; None without one."""

    @property
    def one_way(self) -> float | None:
        """The one-way delay of the packet that caused it; None if that is not known."""

    @property
    def smoothed(self) -> float:
        """The smoothed round trip; 0 before the first sample."""

    @property
    def least(self) -> float | None:
        """The least round trip so far; None before the first sample."""

    @property
    def flight(self) -> int:
        """Packets that were in flight before it arrived."""

    @property
    def in_flight(self) -> int:
        """Packets in flight now, without those that arrived or were found lost."""

    @property
    def is_limited(self) -> bool:
        """Whether the window limited the sender: a window that is not used should not grow."""

    @property
    def is_recovering(self) -> bool:
        """Whether losses are being repaired."""

    @property
    def may_grow(self) -> bool:
        """Whether a window may grow by it: new data, no recovery, and a used window."""

    @property
    def begins_round(self) -> bool:
        """Whether a round trip has passed since this was last so."""

    @property
    def rate(self) -> float | None:
        """Packets delivered in a second, if the control `measures_rate`; None without a sample."""

class Congested:
    """A loss, a mark or a timeout. Times are seconds; flights and counts are packets."""

    @property
    def now(self) -> float:
        """When it was noticed."""

    @property
    def packets(self) -> int:
        """Packets found lost, or reported as marked, just now."""

    @property
    def flight(self) -> int:
        """The packets to reduce from, as the connection's `reduces` says."""

    @property
    def in_flight(self) -> int:
        """Packets in flight now, without those that arrived or were found lost."""

    @property
    def smoothed(self) -> float:
        """The smoothed round trip; 0 before the first sample."""

    @property
    def least(self) -> float | None:
        """The least round trip so far; None before the first sample."""

    @property
    def is_repeated(self) -> bool:
        """Whether it is a second timeout of one packet, which should not reduce again."""

    @property
    def restart(self) -> float:
        """The window after a timeout."""

class Relay:
    """A line between sockets of this machine."""

    def __init__(self, settings: str) -> None: ...
    def open(self, protocol: str, host: str, port: int) -> tuple[str, int]: ...
    def change(self, changes: str) -> None: ...
    def stats(self) -> str: ...
    def close(self) -> None: ...
