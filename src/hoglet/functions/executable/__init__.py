"""Compiled functions as the pipeline uses them: loading and matching."""
