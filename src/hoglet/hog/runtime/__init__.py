"""Hog values: how they print, compare, convert and fail.

Source: docs/spec/hog-language.md#4-values to docs/spec/hog-language.md#8-printing.
"""
