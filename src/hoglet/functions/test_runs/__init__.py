"""Test runs of a function against an example event."""
