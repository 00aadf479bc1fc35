"""`fairq tc`: Linux's traffic control commands and the queues of fairq."""

from fairq.traffic_control.beside import read as read_beside
from fairq.traffic_control.command_reader import read, read_words
from fairq.traffic_control.command_writer import of_scenario, write
from fairq.traffic_control.tc_results import TcCommands, TcRead
from fairq.traffic_control.translation import translated

__all__ = ["TcCommands", "TcRead", "of_scenario", "read", "read_beside", "read_words", "translated", "write"]
