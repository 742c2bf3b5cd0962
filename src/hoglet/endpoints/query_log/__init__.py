"""The log of runs, and usage counted from it."""
