"""`fairq audit`: the invariants and bounds of disciplines."""
