"""What an emulation gives: the tables of a run, and how well the machine kept its times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fairq.core.results import Result, written
from fairq.core.rows import Row, Table

if TYPE_CHECKING:
    from fairq.emulation.beside import Difference


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
        """A row for each direction of each conversation, answers too, with its addresses and ports."""
        return Table.of(Row, list(self.emulation["conversations"]))

    @property
    def beside(self) -> Table[Difference]:
        """Emulated and simulated, and how far they are apart."""
        from fairq.emulation.beside import Difference

        return Table.of(Difference, list(self.emulation.get("beside", ())))

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1].replace('Result', 'Emulated')}, {self.stamp}>"
