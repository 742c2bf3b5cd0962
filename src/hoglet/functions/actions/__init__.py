"""Actions: named groups of event filters."""
