"""`fairq tc`: Linux's traffic control commands and the queues of fairq."""

from fairq.tc.reading import Read, as_document, as_lines, read

__all__ = ["Read", "as_document", "as_lines", "read"]
