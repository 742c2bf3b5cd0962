"""Cohorts: named sets of persons, listed one by one or computed from criteria.

Source: docs/spec/data-and-queries.md#3-cohorts.
"""
