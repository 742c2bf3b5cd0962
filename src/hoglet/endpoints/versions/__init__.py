"""Versions of an endpoint: list, diff, aliases."""
