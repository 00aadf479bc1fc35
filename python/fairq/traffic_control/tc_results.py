"""What `fairq tc` gives."""

from __future__ import annotations

from typing import Annotated

from fairq.core.records import Given, Record
from fairq.core.rows import Row, Table


class Difference(Row):
    """A setting that is not the same in Linux."""

    setting: Annotated[str, "The setting."]
    here: Annotated[str, "Its value or meaning in fairq."]
    linux: Annotated[str, "Its value or meaning in Linux."]


class TcCommands(Record, places=("commands", "differs", "text"), told=("commands", "differs")):
    """The tc commands of a queue."""

    commands: Annotated[list[str], "The commands in the order in which they are given."]
    differs: Annotated[Table[Difference], "What is not the same in Linux."]
    text: Annotated[str, "The queue's text form, or the line of the scenario that has it."]

    def as_lines(self) -> list[str]:
        """What a person reads, and a shell: all but the commands are comments."""
        said = [f"# {row.setting}: here {row.here}; Linux: {row.linux}" for row in self.differs]
        return [*self.commands, *said]


class TcWarning(Row):
    """A warning that tc would print, and what the kernel then does."""

    setting: Annotated[str, "The class."]
    warning: Annotated[str, "The kernel's words."]
    why: Annotated[str, "The number that it warns of, and the one that is taken."]
    remedy: Annotated[str, "What to write to be warned no more."]


class TcCounter(Row):
    """What `tc -s` counted of a qdisc or a class."""

    what: Annotated[str, "The qdisc or class, as tc names it."]
    leaf: Annotated[str | None, "The path of the class whose packets these are; all of a queue without classes."]
    bytes: Annotated[int, "Bytes that left."]
    packets: Annotated[int, "Packets that left."]
    dropped: Annotated[int, "Packets that were dropped."]
    overlimits: Annotated[int, "How often it had to wait for its rate."]
    marked: Annotated[int | None, "Packets that were marked; null of what counts none."]
    backlog_bytes: Annotated[int, "Bytes that wait."]
    backlog_packets: Annotated[int, "Packets that wait."]


class TcBeside(Row):
    """A leaf of a Linux device beside that of a run."""

    leaf: Annotated[str, "The path of the class."]
    packets_linux: Annotated[int, "Packets that left, in Linux."]
    packets_here: Annotated[int, "Packets that its flows sent in the run or the replay, less those dropped."]
    dropped_linux: Annotated[int, "Packets that were dropped, in Linux."]
    dropped_here: Annotated[int, "Packets of its flows that were dropped."]
    share_linux: Annotated[float | None, "Its part of the packets of all leaves, in Linux."]
    share_here: Annotated[float | None, "Its part of the packets of all leaves, in the run."]


class TcRead(Record, places=("text", "rate", "differs", "warns"), told=("text", "differs", "warns", "counters")):
    """The queue that tc commands make, or that tc shows."""

    text: Annotated[str, "The queue's text form, its limit included."]
    rate: Annotated[str | None, "The rate of the line, with its unit; null if no class of htb is the line."]
    differs: Annotated[Table[Difference], "What is not the same in Linux."]
    warns: Annotated[Table[TcWarning], "What the kernel would warn of."]
    counters: Annotated[Table[TcCounter], Given("What tc -s counted of the device.")]
    beside: Annotated[Table[TcBeside], Given("The counters beside those of a run, by leaf.")]

    def as_lines(self) -> list[str]:
        """What a person reads."""
        return [
            self.text,
            *([f"line: {self.rate}"] if self.rate else []),
            *(f"differs: {row.setting}: here {row.here}; Linux: {row.linux}" for row in self.differs),
            *(f"Linux warns: {row.setting}: {row.warning} {row.why}; {row.remedy}" for row in self.warns),
        ]
