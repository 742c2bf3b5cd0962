"""Persons: the model and how events update it."""
