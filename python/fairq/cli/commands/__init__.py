"""The commands of fairq: a file for each, with its options and what it does.

A command calls the function of api.py with the same name and turns its result into the text to
print. Its file has SPEC, which declares what it takes, and a function of the command's name; or
`add`, if there are commands inside it. The file is loaded when the command is typed.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator

from fairq.core.exit_status import FAILED

Command = Callable[[Namespace], str | Iterator[str]]
"""A command: from its arguments to all that goes to standard output."""

SUMMARIES = {
    "run": "run a scenario and print its tables",
    "baseline": "show what a congestion control does alone on an ideal line",
    "compare": "compare queues and congestion controls over one line",
    "advise": "rank queues and buffers for your line, and print the tc commands",
    "sweep": "run what is missing of a study",
    "query": "run SQL over the results of a study",
    "report": "describe the results of a study in one HTML page",
    "diff": "compare two studies: what changed, and what that did",
    "reproduce": "compare a paper's numbers with ours",
    "replay": "send a packet capture through a gateway",
    "serve": "show what each tenant of a server waits and gets, under each policy",
    "detect": "tell whether the bottleneck was fair, by packet times at both ends",
    "emulate": "run real programs over a line with any queue",
    "mm-link": "run a command over delivery traces, as Mahimahi's mm-link does",
    "doctor": "show what this machine can emulate, and how to get the rest",
    "tc": "translate a queue to tc commands of Linux, or such commands to a queue",
    "topology": "describe and draw a topology",
    "audit": "check a discipline's invariants and measure its bounds",
    "lab": "show a queue from inside, in the browser",
    "docs": "open the documentation, at the page that some words mean",
    "list": "list what the registry holds",
    "explain": "print the card of one entry of the registry",
    "agree": "show how far a discipline or a congestion control is from a real kernel",
    "schema": "print a JSON Schema, for editors and checkers",
    "theory": "compute what the papers derive",
    "bench": "measure the speed of this machine",
}
"""The commands, each with its file here, and what each does, in the order of `fairq --help`."""

NAMES = tuple(SUMMARIES)


class Broken(Exception):  # noqa: N818 - it is no error: the command did what it should
    """A command has found that something does not hold; `text` is all that goes to standard output.

    `status` is the exit status: where it ran another command, the status of that one.
    """

    def __init__(self, text: str, status: int = FAILED) -> None:
        super().__init__(text)
        self.text, self.status = text, status
