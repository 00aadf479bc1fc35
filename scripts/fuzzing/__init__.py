"""Grammars of what fairq reads, one file a kind, and the processes that read what they make."""
