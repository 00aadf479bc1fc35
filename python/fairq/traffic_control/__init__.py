"""`fairq tc`: Linux's traffic control commands and the queues of fairq."""

from fairq.traffic_control.command_reader import Read, as_document, as_lines, read, read_words
from fairq.traffic_control.command_writer import Written, of_scenario, write

__all__ = ["Read", "Written", "as_document", "as_lines", "of_scenario", "read", "read_words", "write"]
