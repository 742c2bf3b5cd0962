"""Tenant tokens: signed tokens that may run some endpoints with fixed variables."""
