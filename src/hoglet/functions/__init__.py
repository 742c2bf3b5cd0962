"""Hog functions: saving, filters, inputs, execution, dead letters, templates, actions."""
