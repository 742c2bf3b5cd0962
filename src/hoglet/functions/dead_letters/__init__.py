"""Runs that failed for good: list, inspect, redrive."""
