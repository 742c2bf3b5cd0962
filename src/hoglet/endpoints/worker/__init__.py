"""Compiling queries in sandbox workers."""
