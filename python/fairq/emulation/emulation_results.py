"""What an emulation gives: the tables of a run, and how well the machine kept its times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fairq.core.records import Document
from fairq.core.results import Result, table_of, written
from fairq.core.rows import Row, Table


class Difference(Row):
    """A quantity, emulated and simulated."""

    of: Annotated[str, "A flow, or a queue with its direction."]
    quantity: Annotated[str, "The column; loss is the part of the packets that were dropped."]
    emulated: float | None
    simulated: float | None
    difference: Annotated[float | None, "Emulated less simulated, as a part of simulated."]


class Emulated(Result):
    """What an emulation gave: a `Result` whose tables are measured at real packets.

    `stamp` says in words whether the run may be believed, `is_valid` in one. `emulation` has what
    else is known of it: the machine, lateness, the gateway's effort, all conversations. `status` is
    the exit status of the terminal's command, `beside` each quantity beside that of the simulated
    network, if that was asked for.
    """

    def __init__(self, document: Mapping[str, Any], status: int = 0) -> None:
        super().__init__(written(document))
        self.status = status

    def _table(self, name: str) -> Table[Any]:
        """A table of the compiled part, which writes Parquet without another package."""
        if name not in self._tables:
            self._tables[name] = table_of(name, self.document[name])
        return self._tables[name]

    @property
    def emulation(self) -> Mapping[str, Any]:
        """How the run was made, and how well its times were kept."""
        found: Mapping[str, Any] = self.document["emulation"]
        return found

    @property
    def stamp(self) -> str:
        """The word valid, or doubtful and every reason."""
        verdict: str = self.emulation["stamp"]["verdict"]
        return verdict

    @property
    def is_valid(self) -> bool:
        """Whether nothing speaks against the run."""
        return bool(self.emulation["stamp"]["is_valid"])

    @property
    def conversations(self) -> Table[Row]:
        """A row for each direction of each conversation, with its addresses and ports."""
        return Table.of(Row, list(self.emulation["conversations"]))

    @property
    def beside(self) -> Table[Difference]:
        """Emulated and simulated, and how far they are apart."""
        return Table.of(Difference, list(self.emulation.get("beside", ())))

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1].replace('Result', 'Emulated')}, {self.stamp}>"


class PlannedHost(Row):
    """A host that would be made."""

    host: Annotated[str, "Its name, by which the others know it."]
    addresses: Annotated[list[str], "Its addresses; the first is that of its name."]
    control: Annotated[str | None, "Linux's congestion control of its connections; null: the usual one."]


class PlannedLine(Row):
    """A direction of a link, or of a flow's own line."""

    link: Annotated[str, "The link's name."]
    direction: Annotated[Literal["forward", "reverse"], "Forward is from the link's `from` to its `to`."]
    is_access: Annotated[bool, "Whether it is a flow's own."]
    from_: Annotated[str, "The node that sends."]
    to: Annotated[str, "The node that receives."]
    rate_bit_per_s: Annotated[int | None, "Its rate, the mean of its trace; null: unlimited."]
    is_trace: Annotated[bool, "Whether it follows a delivery trace."]
    delay_s: Annotated[float, "Its propagation delay."]
    loss: Annotated[float, "The part of the packets that it loses."]
    jitter_s: Annotated[float, "The greatest random delay of a packet."]
    reorder: Annotated[float, "The part of the packets that it sends late."]
    discipline: Annotated[str, "The discipline before it: its parts by name."]
    discipline_settings: Annotated[str, "The same with the settings that are not their defaults."]
    limit: Annotated[str, "How much may wait."]


class PlannedFlow(Row):
    """A flow of the scenario, on real hosts."""

    flow: Annotated[str, "Its name."]
    from_: Annotated[str, "The host that sends."]
    to: Annotated[str, "The host that receives."]
    traffic: Annotated[str, "Its traffic in the scenario."]
    transport: Annotated[str, "Its transport in the scenario."]
    weight: Annotated[float, "Its weight."]
    addresses: Annotated[list[str], "Of its sender and of its receiver."]
    lines: Annotated[list[list[int]], "The numbers of the lines of its data, and of its answers."]
    start_s: Annotated[float, "When it starts."]
    stop_s: Annotated[float, "When it ends."]
    protocol: Annotated[Literal["tcp", "udp"], "What carries it."]
    bytes: Annotated[int | None, "What it sends in all; null: as much as it may."]
    packet_bytes: Annotated[int | None, "Bytes of a datagram; null: it is TCP."]
    gap_s: Annotated[float | None, "The distance of datagrams; null: it is TCP."]
    control: Annotated[str | None, "Linux's congestion control."]


class PlannedCommand(Row):
    """A command in a host."""

    host: Annotated[str, "Where it runs."]
    command: Annotated[str, "What runs."]
    ends_run: Annotated[bool, "Whether its end is that of the run."]


class Planned(Document):
    """What `fairq emulate --dry-run` says would be made."""

    hosts: Annotated[list[PlannedHost], "Network namespaces of this machine."]
    lines: Annotated[list[PlannedLine], "Lines between them."]
    flows: Annotated[list[PlannedFlow], "What they send."]
    commands: Annotated[list[PlannedCommand], "What runs in them."]
    ends_s: Annotated[float | None, "When it ends; null: with its command."]
