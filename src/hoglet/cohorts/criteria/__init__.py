"""Criteria of dynamic cohorts: what they may hold, and the query that finds their persons."""
