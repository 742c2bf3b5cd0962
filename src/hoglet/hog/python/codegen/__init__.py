"""Generates the Python text of a bound program."""
