"""Translates errors of the engine to HogQL terms, with a position in the text."""

from hoglet.hogql.diagnostics.explain import Problem, explain, problem_of

__all__ = ["Problem", "explain", "problem_of"]
