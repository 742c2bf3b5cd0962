"""Outbound requests of functions, behind a guard against private networks."""
