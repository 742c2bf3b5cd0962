"""Tenant tokens: created for endpoints of a project and enforced on every run."""
