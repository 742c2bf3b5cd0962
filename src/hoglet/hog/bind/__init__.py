"""Binding: names resolved to slots, scopes, captured variables."""
