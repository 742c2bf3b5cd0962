"""Pages of a project's events, persons and queries."""
