"""Filters of functions: stored JSON → normalised JSON → Hog tree → bytecode. Pure."""
