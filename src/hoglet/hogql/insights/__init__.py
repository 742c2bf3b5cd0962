"""Translates insight queries to HogQL trees, and their rows to results.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results.
"""
