"""A line with a queue in other people's tests: the fixture `fairq_link` of pytest."""
