"""Trends."""
