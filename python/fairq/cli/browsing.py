"""What commands share that show a page in a browser, from a server for this machine alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

from fairq.core import streams
from fairq.core.serving import Server


def shown(server: Server, address: str, said: str, *, browser: bool) -> Iterator[str]:
    """What is printed, then the end of the command by a signal; `browser`: one is opened at `address`."""
    with server:
        # what reads the address line by line gets the last one now, not at the end
        yield said if said.endswith("\n") else f"{said}\n"
        sys.stdout.flush()
        if browser:
            # a browser in a terminal takes it until it is left
            threading.Thread(target=_open, args=(address,), daemon=True).start()
        server.serve_forever()


def _open(address: str) -> None:
    import webbrowser

    if not webbrowser.open(address):
        streams.note(f"no browser was found; open {address}")
