"""Runs that failed permanently: list, inspect, redrive."""
