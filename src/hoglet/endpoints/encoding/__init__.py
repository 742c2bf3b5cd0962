"""Encodings of results: JSON, Arrow, CSV, NDJSON."""
