"""Cohorts: named sets of persons, static lists or computed from criteria.

Source: docs/spec/data-and-queries.md#3-cohorts.
"""
