"""Tenant tokens: created for endpoints of a project, and what runs with them may do."""
