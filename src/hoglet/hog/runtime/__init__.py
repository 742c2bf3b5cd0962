"""Hog values: printing, comparison, conversion and errors.

Source: docs/spec/hog-language.md#4-values to docs/spec/hog-language.md#8-printing.
"""
