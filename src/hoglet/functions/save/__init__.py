"""Saving a function: plan what changes, compile it, place it in order."""
