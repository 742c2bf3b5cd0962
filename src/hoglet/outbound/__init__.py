"""Outbound requests of functions, guarded against access to private networks."""
