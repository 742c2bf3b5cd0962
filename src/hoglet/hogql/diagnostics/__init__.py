"""Translates errors of the engine to HogQL terms, with a position in the text."""
