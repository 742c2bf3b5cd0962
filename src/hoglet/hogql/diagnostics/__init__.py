"""Errors that only the engine finds, in the words of HogQL and with a place in the text."""

from hoglet.hogql.diagnostics.explain import Problem, explain, problem_of

__all__ = ["Problem", "explain", "problem_of"]
