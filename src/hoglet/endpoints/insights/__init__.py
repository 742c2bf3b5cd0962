"""Insight queries as endpoints: variables, date ranges, results."""
