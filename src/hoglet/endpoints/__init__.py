"""Query endpoints: saved, named, versioned queries with an HTTP API."""
