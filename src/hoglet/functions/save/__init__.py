"""Saving a function: plan, compile, assign an execution order."""
