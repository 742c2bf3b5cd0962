"""Binding: resolves names to slots, scopes and captured variables."""
