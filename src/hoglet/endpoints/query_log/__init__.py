"""The query log, and usage computed from it."""
