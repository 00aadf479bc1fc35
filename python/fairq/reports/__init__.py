"""Pages of HTML that open without a network: what all have in common, and the report of a study."""
