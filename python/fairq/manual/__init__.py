"""The documentation as a site: the built pages, and which of them has what."""
