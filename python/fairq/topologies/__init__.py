"""Maps of topologies."""
