"""Criteria of dynamic cohorts: their schema and the query of their persons."""
