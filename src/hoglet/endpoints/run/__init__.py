"""Running an endpoint: checks, cache, execution, response."""
