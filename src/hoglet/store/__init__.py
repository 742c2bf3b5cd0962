"""The metadata database: SQLite or PostgreSQL, with one declarative base."""
