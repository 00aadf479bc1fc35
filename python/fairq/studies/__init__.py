"""Studies of many runs: the study file, the store that keeps its runs, and what runs them."""
