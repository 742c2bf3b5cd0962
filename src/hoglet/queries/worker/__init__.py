"""Sandbox operations of ad hoc queries: everything that parses user text."""
