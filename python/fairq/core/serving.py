"""A server of pages for this machine alone: those of `fairq lab` and of `fairq docs`.

A request names a file of a table that was made before the first one; no path is made of what it
says. A page of another site that has its name lead here (DNS rebinding) is refused by its `Host`.
"""

from __future__ import annotations

import errno
import socketserver
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any

from fairq.core.errors import UsageError
from fairq.core.remedies import told

ADDRESS = "127.0.0.1"
"""Where it listens: no other machine reaches it."""

FIRST = "index.html"
"""The page of a folder."""

PORT_MAX = 65535
"""The greatest number of a port."""

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
}
"""The media types of files by how their names end."""

POLICY = {
    "default-src": "'self'",
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self'",
}
"""What a page may load, and what may show it in a frame: itself. A folder that another server
hosts has the rules of that server."""

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    # the next command may serve other pages at the same port
    "Cache-Control": "no-store",
}
"""What every answer says, beside its policy."""

NOTHING_ELSE: Mapping[str, str] = {}

SLOW_S = 30
"""How long a request may take to come, in seconds."""


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their names in it, as `assets/page.js`."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    timeout = SLOW_S

    def do_GET(self) -> None:
        """Send a file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Say what would be sent."""
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        if self.headers.get_all("Host") not in [[host] for host in self.server.hosts]:
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        name = self.path.partition("?")[0].removeprefix("/")
        name += FIRST if not name or name.endswith("/") else ""
        body = self.server.files.get(name)
        if body is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", TYPES.get(PurePosixPath(name).suffix, "application/octet-stream"))
        self._end(len(body))
        if with_body:
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer with the status and nothing else."""
        self.send_response(code)
        self._end(0)

    def _end(self, length: int) -> None:
        self.send_header("Content-Security-Policy", self.server.policy)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def version_string(self) -> str:
        """Name fairq and not the version of Python."""
        return "fairq"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing of requests."""


class Server(ThreadingHTTPServer):
    """Listens from its construction on, at a free port if `port` is 0.

    `policy` has what its pages may load beside what POLICY says.
    """

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes], port: int = 0, policy: Mapping[str, str] = NOTHING_ELSE) -> None:
        self.files = files
        self.policy = "; ".join(f"{what} {where}" for what, where in {**POLICY, **policy}.items())
        if port > PORT_MAX:
            said = f"there is no such port; write one up to {PORT_MAX}, or leave it out"
            raise UsageError(said, where=f"--port {port}")
        try:
            super().__init__((ADDRESS, port), Handler)
        except OSError as error:
            another = "write another one, or leave it out for a free one"
            said = f"the port is in use; {another}" if error.errno == errno.EADDRINUSE else told(error, another)
            raise UsageError(said, where=f"--port {port}") from None

    @property
    def address(self) -> str:
        """What a browser opens."""
        return f"http://{ADDRESS}:{self.server_port}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What a request may call this server."""
        return tuple(f"{name}:{self.server_port}" for name in (ADDRESS, "localhost"))

    def server_bind(self) -> None:
        """Bind without asking a name server for the machine's name, which can take long."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away in the middle of an answer is no fault."""
