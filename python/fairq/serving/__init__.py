"""`fairq serve`: tenants before a server with seats."""
