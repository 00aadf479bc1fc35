"""`fairq reproduce`: the scenarios of papers, verdicts on their published numbers, and their page."""
