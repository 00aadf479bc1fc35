"""`fairq bench`: what this machine does on the reference workloads, and what disciplines cost."""
