"""Parses Hog and HogQL into frozen trees with positions. Pure."""
