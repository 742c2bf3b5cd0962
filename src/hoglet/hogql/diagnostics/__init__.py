"""Translates errors of the engine to HogQL terms, with a position in the text."""

from hoglet.hogql.diagnostics.engine_errors import Diagnostic, explain, problem_of

__all__ = ["Diagnostic", "explain", "problem_of"]
