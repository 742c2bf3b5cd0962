"""Inputs of functions: schema, validation, templates. Pure."""
