"""Deleting and splitting persons, in the database and the warehouse."""
