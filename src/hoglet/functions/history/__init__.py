"""History of a function: versions, differences, rollback."""
