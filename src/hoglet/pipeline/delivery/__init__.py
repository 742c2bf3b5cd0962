"""Runs of functions: lease, step, deliver, retry, complete."""
