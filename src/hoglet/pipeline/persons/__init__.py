"""Deleting and splitting persons: the database, and the copies in the warehouse."""
