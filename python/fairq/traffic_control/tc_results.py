"""What `fairq tc` gives."""

from __future__ import annotations

from typing import Annotated

from fairq.core.records import Record
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


class TcRead(Record, places=("text", "rate", "differs", "warns"), told=("text", "differs", "warns")):
    """The queue that tc commands make."""

    text: Annotated[str, "The queue's text form, its limit included."]
    rate: Annotated[str | None, "The rate of the line, with its unit; null if no class of htb is the line."]
    differs: Annotated[Table[Difference], "What is not the same in Linux."]
    warns: Annotated[Table[TcWarning], "What the kernel would warn of."]

    def as_lines(self) -> list[str]:
        """What a person reads."""
        return [
            self.text,
            *([f"line: {self.rate}"] if self.rate else []),
            *(f"differs: {row.setting}: here {row.here}; Linux: {row.linux}" for row in self.differs),
            *(f"Linux warns: {row.setting}: {row.warning} {row.why}; {row.remedy}" for row in self.warns),
        ]
