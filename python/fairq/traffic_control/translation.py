"""What `fairq tc` is given, and which way it is translated."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import fairq._native as _native
from fairq.core.errors import UsageError
from fairq.core.inputs import Scenario
from fairq.core.inputs import read as read_scenario
from fairq.traffic_control.command_reader import read, read_words
from fairq.traffic_control.command_writer import of_scenario, write
from fairq.traffic_control.tc_results import TcCommands, TcRead


def translated(queue: Scenario, dev: str) -> TcCommands | TcRead:
    """The tc commands of a queue or of a scenario; of what is no queue and words of tc, the queue."""
    if not isinstance(queue, str) or Path(queue).suffix in (".toml", ".json"):
        scenario = read_scenario(queue)
        return of_scenario(scenario.text, scenario.name, dev)
    try:
        _native.queue(queue)
    except UsageError:
        with suppress(UsageError):
            words = queue.removeprefix("tc ")
            return (read if words.startswith("qdisc ") else read_words)(words)
    return write(queue, dev)
