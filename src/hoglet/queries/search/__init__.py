"""Searches of stored events and persons."""
