"""Capture and persons: makes events durable and maintains persons and groups."""
