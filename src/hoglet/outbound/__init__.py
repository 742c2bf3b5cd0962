"""Requests that functions send: one client, behind a guard against reaching private networks."""
