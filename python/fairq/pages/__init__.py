"""Pages of HTML that open without a network: what the report of a study and that of papers have in common."""
