"""Parses Hog and HogQL into frozen trees with positions. Pure."""

from hoglet.syntax.parse import (
    parse_expression,
    parse_program,
    parse_query,
    parse_template,
)

__all__ = ["parse_expression", "parse_program", "parse_query", "parse_template"]
