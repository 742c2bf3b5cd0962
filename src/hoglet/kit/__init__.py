"""Errors, identifiers, clocks, caches and text helpers for all packages. No I/O."""
