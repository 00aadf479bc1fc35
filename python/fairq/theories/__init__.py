"""What theory says without a run: delays of fair queueing, delay bounds, TCP formulas, processor sharing, games."""
