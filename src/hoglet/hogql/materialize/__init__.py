"""Materialization of queries with variables: eligibility, and building and reading tables."""
