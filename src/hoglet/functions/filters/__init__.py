"""Filters of functions: stored JSON → normalized JSON → Hog tree → bytecode. Pure."""
