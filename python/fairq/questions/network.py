"""The one scenario that a question makes: a line, hosts, the flows, and an axis for each list.

Servers stand at one end, clients at the other; data goes down to the clients unless its item says
up. Each flow has hosts of its own at both ends. With --hosts, a client is a node that its
connections share, and a server serves one connection. The line has the whole delay of its own round
trip; what a flow's is longer, its server's access line adds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from fairq.core import declared, toml_text
from fairq.core.errors import FairqError, ScenarioError, UsageError
from fairq.core.inputs import Text
from fairq.core.results import Result, Table
from fairq.core.runs import Experiment
from fairq.questions import rates, words
from fairq.questions import receive_window as windows
from fairq.questions.asked import DURATION, WARM_UP, Group, Question, Setup, is_pacer
from fairq.questions.words import HostClass, Item

LINE = "line"
SERVERS, CLIENTS = "servers", "clients"

MODEM, HOME, MODEM_QUEUE = "modem", "home", "fifo + 1000packets"
"""A line whose rate changes, where commands set up another one behind it: that has what is set up,
and the packets that do not wait there wait in the modem."""

ACCESS_RATES = (10**9, 10**10, 10**11, 10**12, 10**13)
"""Rates of hosts' lines in bit/s: the least that is ten times the fastest rate of the question."""

PACKET = 1500
"""Bytes of a packet of IP, as in edition 2."""

CALL_GAP_S, CALL_PACKET_MAX, CALL_PACKET_MIN = 0.02, 1200, 60
"""Packets of a call: one each 20 ms, the default of speech (RFC 3551, section 4.2), but of at most
1200 B, to which WebRTC cuts video, and of at least 60 B."""

WEB_CONNECTIONS = 100
"""Connections that a web user may have at a time."""

QUEUE, HOST_QUEUE, BUFFER, RTT = "queue", "host queue", "buffer", "rtt"
ALONE, LOSS = "alone", "line loss"
"""Names of axes, which are columns of the tables of the run."""

Key = tuple[Any, ...]
"""A point: its queue, host queue, buffer and round trip of the line; `None` if it was not said."""

STARTS_S = 1.0
"""Flows start within this time, or within a shorter warm-up."""


@dataclass(frozen=True)
class Entry:
    """An entry of the scenario's flows."""

    name: str
    group: Group
    count: int
    """How many flows or connections it has."""
    host: str | None
    """The client's node, if it is one that connections share."""

    @property
    def flow_names(self) -> list[str]:
        """The names of its flows in tables."""
        return [self.name] if self.count == 1 else [f"{self.name}.{copy}" for copy in range(1, self.count + 1)]


def entries(question: Question) -> list[Entry]:
    """The entries of flows: one for each group, or each host of it; of the web, each user."""
    found = []
    for group in question.groups:
        for host in [None] if group.host_class is None else _nodes(group.host_class):
            name = group.label if host is None else f"{host} {group.item.label}"
            count = group.count if group.host_class is None else group.count // group.host_class.hosts
            if group.item.name != "web":
                found.append(Entry(name, group, count, host))
                continue
            for user in range(1, count + 1):
                found.append(Entry(name if count == 1 else f"{name} {user}", group, WEB_CONNECTIONS, host))
    return found


def keys(question: Question, table: Table[Any]) -> Iterable[Key]:
    """The point of each row of a table of its runs: an axis of one value has no column."""
    single = {
        QUEUE: question.queues[0],
        HOST_QUEUE: next(iter(question.host_queues), None),
        BUFFER: next(iter(question.buffers), None),
        RTT: question.line_rtts[0],
    }
    columns = [table.column(axis) if axis in table.columns else [value] * len(table) for axis, value in single.items()]
    return zip(*columns, strict=True)


def is_unfinished(question: Question, result: Result) -> bool:
    """Whether some transfer of a size that the question names did not come to its end."""
    sized = {entry.name: entry.count for entry in entries(question) if "size" in entry.group.item.options}
    rows = result.by_seed("transfers") if sized else ()
    return any(row["size"] == "all" and row["completed"] < sized.get(row["flow"], 0) for row in rows)


def _nodes(host_class: HostClass) -> list[str]:
    return [f"{host_class.text}.{host}" for host in range(1, host_class.hosts + 1)]


class Made(NamedTuple):
    """What a question makes: its scenario in TOML, and that read and checked."""

    scenario: Text
    experiment: Experiment


def made(question: Question) -> Made:
    """The scenario, ready to run: UsageError names the word of the question that cannot be."""
    tables = _Tables(question)
    scenario = Text(tables.text(), "compare", question.own)
    try:
        return Made(scenario, Experiment(scenario))
    except ScenarioError as error:
        raise tables.by_words(error) from None


def scenario(question: Question) -> Text:
    """The scenario in TOML, checked."""
    return made(question).scenario


def text(question: Question) -> str:
    """The scenario in TOML of a question that was run."""
    return _Tables(question).text()


def access_bit_per_s(question: Question) -> int:
    """The rate of the hosts' lines."""
    sources = [item.setting("rate") for item in question.flows if item.name in ("call", "flood")]
    own = [words.quantity("--flows", "rate", rate) for rate in sources if rate is not None]
    fastest = max([*map(rates.greatest, question.rates), *own])
    return next((rate for rate in ACCESS_RATES if rate >= 10 * fastest), ACCESS_RATES[-1])


class _Tables:
    """The tables of a scenario, and which word of the question each part comes from."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.warm_up, self.duration = question.warm_up or WARM_UP, question.duration or DURATION
        self.access_rate = f"{access_bit_per_s(question) // 10**9} Gbit/s"
        self.entries = entries(question.parts()[0] if question.alone else question)
        self.nodes = [node for each in question.hosts for node in _nodes(each)]
        every = (self._alone(), self._losses(), self._queues(), self._host_queues(), self._buffers(), self._rtts())
        self.axes = [axis for axis in every if axis]

    def text(self) -> str:
        """All of it in TOML."""
        question = self.question
        measure = {"warm_up": self.warm_up, "duration": self.duration, "replications": question.seeds}
        if question.seed != 1:
            measure["seed"] = question.seed
        parts = [
            # A comment of TOML has no letters that control a terminal.
            f"# {''.join(letter if letter.isprintable() else ' ' for letter in question.command)}",
            toml_text.table("", {"edition": 2, "title": question.command.split()[1]}),
            toml_text.table("[measure]", measure),
            toml_text.table("[defaults]", self._defaults()),
            *(toml_text.table("[[links]]", link) for link in self._links()),
            *(toml_text.table("[[flows]]", self._flow(entry)) for entry in self.entries),
            *(toml_text.table("[[axes]]", axis) for axis in self.axes),
        ]
        return "\n\n".join(parts) + "\n"

    def by_words(self, error: FairqError) -> FairqError:
        """An error of the scenario as one of the question: its place becomes a word."""
        path, question = error.path, self.question
        # What was not said is what was found, or what follows from the flows.
        otherwise = {"warm_up": self.warm_up, "duration": self.duration, "rtt": question.line_rtts[0], "loss": "0"}
        for option, texts in declared.said(question):
            if path.startswith(option.at):
                first = texts[0] if isinstance(texts, list) and texts else otherwise.get(option.name, "")
                return UsageError(error.fault, f"{option.flag} {first}".rstrip())
        if path.startswith("flows["):
            number = int(path[len("flows[") : path.index("]")])
            of_host = f"--host-queue {','.join(question.host_queues)}"
            return UsageError(error.fault, of_host if "host_queue" in path else self.entries[number].group.item.place)
        if path.startswith("axes["):
            axis = self.axes[int(path[len("axes[") : path.index("]")])]
            value = axis["values"][int(path[path.rindex("[") + 1 : path.rindex("]")])]
            said = value["name"] if isinstance(value, Mapping) else value
            return UsageError(error.fault, f"--{axis['name'].replace(' ', '-')} {said}")
        return error

    def _defaults(self) -> dict[str, Any]:
        question = self.question
        found: dict[str, Any] = {"connection": self._hosts({})}
        if 0 < words.quantity("--warm-up", "time", self.warm_up) < STARTS_S:
            found["start"] = f"drawn(within={self.warm_up})"
        if not question.hosts:
            found |= {"access": self._access(), "sink_access": {"rate": self.access_rate}}
        return found

    def _access(self, delay: str | None = None, is_sender: bool = True) -> dict[str, Any]:
        found: dict[str, Any] = {"rate": self.access_rate}
        if delay is not None:
            found["delay"] = delay
        if is_sender and self.question.host_queues:
            found["host_queue"] = self._with_marks(self.question.host_queues[0])
        return found

    def _links(self) -> Iterator[dict[str, Any]]:
        question = self.question
        ends = {"from": HOME if question.is_behind else SERVERS, "to": CLIENTS}
        link: dict[str, Any] = {"name": LINE} | ends
        link |= {} if question.is_behind else _rates(question)
        link["delay"] = _half(question.line_rtts[0])
        link |= _set_up(question.setups[0]) if question.setups else {"queue": self._with_marks(question.queues[0])}
        if question.buffers:
            link["buffer"] = question.buffers[0]
        if question.loss is not None and question.loss.part:
            link["loss"] = question.loss.value
        link |= {} if question.jitter is None else {"jitter": question.jitter}
        if question.reorder is not None:
            part, delay = words.part_at("--reorder", question.reorder)
            link["reorder"] = {"probability": part, "delay": delay}
        yield link
        if question.is_behind:
            yield {"name": MODEM, "from": SERVERS, "to": HOME} | _rates(question) | {"queue": MODEM_QUEUE}
        for node in self.nodes:
            host: dict[str, Any] = {"name": node, "from": CLIENTS, "to": node, "rate": self.access_rate}
            if question.host_queues and question.has_up:
                host["reverse_queue"] = self._with_marks(question.host_queues[0])
            yield host

    def _flow(self, entry: Entry) -> dict[str, Any]:
        question, item = self.question, entry.group.item
        client = entry.host or CLIENTS
        found: dict[str, Any] = {"name": entry.name}
        found |= {"from": client, "to": SERVERS} if item.is_up else {"from": SERVERS, "to": client}
        found |= _traffic(item)
        if item.name not in ("call", "flood", words.RECORDED):
            found["transport"] = self._transport(item)
        if "dscp" in item.options:
            # The code point is the upper six bits of the type of service.
            found["tos"] = int(item.options["dscp"]) << 2
        if entry.count > 1:
            found["count"] = entry.count
        if item.name == "web" and entry.host is None:
            found["hosts"] = 1
        if question.latency_target is not None and item.name in ("call", words.RECORDED):
            found["deadline"] = question.latency_target
        if "start" in item.options:
            found["start"] = item.options["start"]
        elif "size" in item.options:
            # A transfer that ends before the measured time is not counted.
            found["start"] = self.warm_up
        delay = _more(item.rtt, question.line_rtts[0]) if item.rtt is not None else None
        if delay is not None or entry.host is not None:
            where = "sink_access" if item.is_up else "access"
            found[where] = self._access(delay, is_sender=not item.is_up)
        is_paced = entry.host is not None and item.is_up and bool(question.host_queues)
        connection = self._connection(item, is_paced and is_pacer(question.host_queues[0]))
        if connection != self._hosts({}):
            found["connection"] = connection
        return found

    def _connection(self, item: Item, is_paced: bool) -> str | dict[str, Any]:
        """The connection of an item's flows: the profile, and what the item needs beside it."""
        return self._hosts(words.beside(item.name) | ({"pacing": True} if is_paced else {}))

    def _hosts(self, more: Mapping[str, Any]) -> str | dict[str, Any]:
        """The hosts' connection: the profile, the question's receive window and `more`."""
        question = self.question
        if question.receive_window is not None:
            more = {"receive_window": windows.packets(question.receive_window), **more}
        return {"profile": question.profile, **more} if more else question.profile

    def _transport(self, item: Item) -> str:
        name = "cubic" if item.name == "web" else item.name
        settings = "" if item.name == "web" else item.settings
        if self.question.ecn and "ecn" not in settings and words.takes(name, ("transport",), "ecn"):
            settings = ", ".join(filter(None, (settings, "ecn=true")))
        return f"{name}({settings})" if settings else name

    def _with_marks(self, queue: str) -> str:
        """A queue that marks where it could, if the question asks for it."""
        return marking(queue) if self.question.ecn else queue

    def _queues(self) -> dict[str, Any]:
        if setups := self.question.setups:
            return self._axis(QUEUE, [
                (setup.name, {f"links.{LINE}.{field}": value for field, value in _set_up(setup).items()})
                for setup in setups
            ])  # fmt: skip
        queues = self.question.queues
        return self._axis(QUEUE, [(queue, {f"links.{LINE}.queue": self._with_marks(queue)}) for queue in queues])

    def _host_queues(self) -> dict[str, Any]:
        question = self.question
        values = []
        for queue in question.host_queues:
            said: dict[str, Any] = {}
            text = self._with_marks(queue)
            if not question.hosts:
                said["defaults.access.host_queue"] = text
            elif question.has_up:
                said |= {f"links[{number}].reverse_queue": text for number in range(1, len(self.nodes) + 1)}
            for number, entry in enumerate(self.entries):
                item = entry.group.item
                if item.is_up and entry.host is not None and item.name not in ("call", "flood", words.RECORDED):
                    said[f"flows[{number}].connection"] = self._connection(item, is_pacer(queue, question.own))
                elif not item.is_up and (entry.host is not None or item.rtt is not None):
                    said[f"flows[{number}].access.host_queue"] = text
            values.append((queue, said))
        return self._axis(HOST_QUEUE, values)

    def _alone(self) -> dict[str, Any]:
        """The axis of items that are alone: each point has the flows of one."""
        if not self.question.alone:
            return {}
        alone = [replace(self.question, flows=(item,)) for item in self.question.flows]
        return self._axis(ALONE, [
            (question.flows[0].label, {"flows": [self._flow(entry) for entry in entries(question)]})
            for question in alone
        ])  # fmt: skip

    def _losses(self) -> dict[str, Any]:
        return self._axis(LOSS, [(loss.text, {f"links.{LINE}.loss": loss.value}) for loss in self.question.losses])

    def _buffers(self) -> dict[str, Any]:
        return self._axis(BUFFER, [(buffer, {f"links.{LINE}.buffer": buffer}) for buffer in self.question.buffers])

    def _rtts(self) -> dict[str, Any]:
        values = []
        for rtt in self.question.rtts:
            said: dict[str, Any] = {f"links.{LINE}.delay": _half(rtt)}
            for number, entry in enumerate(self.entries):
                item = entry.group.item
                if item.rtt is not None:
                    end = "sink_access" if item.is_up else "access"
                    said[f"flows[{number}].{end}.delay"] = _more(item.rtt, rtt)
            values.append((rtt, said))
        return self._axis(RTT, values)

    def _axis(self, name: str, values: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
        """An axis, if there is something to vary: fields by their path, or a table of several."""
        if len(values) < 2:
            return {}
        if all(list(said.values()) == [value] for value, said in values):
            return {"name": name, "path": next(iter(values[0][1])), "values": [value for value, _ in values]}
        return {"name": name, "values": [{"name": value, "set": dict(said)} for value, said in values]}


def _rates(question: Question) -> dict[str, str]:
    """The fields of a link that has the question's rates."""
    down, up = question.rates
    return rates.fields(down) | (rates.fields(up, "reverse_") if up != down else {})


def _set_up(setup: Setup) -> dict[str, str]:
    """The fields of the line that commands set up."""
    fields = ("queue", "reverse_queue", "rate", "reverse_rate")
    return dict(zip(fields, (*setup.queues, *setup.rates), strict=True))


def _traffic(item: Item) -> dict[str, Any]:
    if item.name == "web":
        return {"traffic": f"web({item.settings})" if item.settings else "web"}
    if item.name in ("call", "flood"):
        rate = item.setting("rate")
        assert rate is not None, "a call and a flood were refused without a rate"
        packet = PACKET
        if item.name == "call":
            bits = words.quantity("rate", "rate", rate) * CALL_GAP_S
            packet = min(max(round(bits / 8), CALL_PACKET_MIN), CALL_PACKET_MAX)
        return {"traffic": f"constant_rate(rate={rate}, packet={packet}B)", "transport": "uncontrolled"}
    if item.name == words.RECORDED:
        traffic = {"kind": "csv", "file": item.options["file"], "flow": item.options["flow"]}
        return {"traffic": traffic, "transport": "uncontrolled"}
    if "size" in item.options:
        return {"traffic": f"incast(size={item.options['size']}, rounds=1)"}
    return {"traffic": "ftp"}


def marking(queue: str) -> str:
    """The queue with the settings by which its parts mark, where they have them."""
    return " + ".join(map(_marking, words.split(queue, "+")))


def _marking(part: str) -> str:
    """A part of a queue with ECN on, if it has that setting and does not say it."""
    name, _, inside = part.partition("(")
    name, settings = name.strip(), inside.strip().removesuffix(")")
    if "ecn" in settings:
        return part
    try:
        found = next((setting for setting in MARKING if words.takes(name, ("buffer", "design"), setting)), None)
    except UsageError:
        # It is a limit.
        return part
    if found is None:
        return part
    group, _, leaf = found.rpartition(".")
    if group and (opened := re.search(rf"\b{group}\s*=\s*\(", settings)):
        return f"{name}({settings[: opened.end()]}{leaf}=true, {settings[opened.end() :]})"
    more = f"{group}=({leaf}=true)" if group else f"{leaf}=true"
    return f"{name}({', '.join(filter(None, (settings, more)))})"


MARKING = ("ecn", "pie.ecn")
"""Settings by which queues mark."""


def _half(rtt: str) -> str:
    """The delay of one way of a round trip."""
    return _time(_picoseconds(rtt) // 2)


def _more(rtt: str, line: str) -> str:
    """The delay of one way that a round trip has beyond the line's."""
    return _time((_picoseconds(rtt) - _picoseconds(line)) // 2)


def _picoseconds(text: str) -> int:
    return round(words.quantity("--rtt", "time", text) * 1e12)


def _time(picoseconds: int) -> str:
    return f"{Decimal(picoseconds).scaleb(-9).normalize():f} ms"
