"""Pages of HTML that open without a network: what those of studies and of papers have in common."""
