"""Pages of query endpoints."""
