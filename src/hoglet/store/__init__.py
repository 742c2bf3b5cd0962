"""The metadata database: SQLite or PostgreSQL with one base and one transaction rule."""
