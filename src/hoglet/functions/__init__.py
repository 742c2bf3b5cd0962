"""Hog functions: saving, filters, inputs, running, dead letters, templates, actions."""
