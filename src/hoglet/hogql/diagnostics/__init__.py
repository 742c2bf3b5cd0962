"""Translates errors of the engine to HogQL terms, with a position in the text."""

from hoglet.hogql.diagnostics.explain import Diagnostic, explain, problem_of

__all__ = ["Diagnostic", "explain", "problem_of"]
