"""Queries as JSON, as clients send and endpoints store them: types, validation, upgrades."""
