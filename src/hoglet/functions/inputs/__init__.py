"""Inputs of functions: their schema, the checks, the templates in them. Pure."""
