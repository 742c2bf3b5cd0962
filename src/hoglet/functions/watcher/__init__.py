"""Disables functions that are slow or keep failing."""
