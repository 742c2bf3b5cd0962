"""Query endpoints: saved, named, versioned queries that are run over HTTP."""
