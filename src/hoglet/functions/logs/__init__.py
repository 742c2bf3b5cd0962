"""Logs and metrics of functions, and their live tail."""
