"""Parses HogQL text into trees, with preprocessing, and prints trees as HogQL."""
