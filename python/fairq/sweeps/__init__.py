"""Sweeps: a study file, its runs, the store that keeps them, and what runs them."""
