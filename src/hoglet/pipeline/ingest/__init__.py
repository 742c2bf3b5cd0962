"""Moves events from the spool to the warehouse: parse, transform, match, commit."""
