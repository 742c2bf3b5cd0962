"""Drafts: the next version of a function, tested before it is published."""
