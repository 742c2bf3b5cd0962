"""Materialized tables: schedule, build, look up."""
