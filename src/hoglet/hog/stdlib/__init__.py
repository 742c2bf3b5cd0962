"""The standard library: one table, one module per theme.

Source: docs/spec/hog-language.md#9-standard-library.
"""
