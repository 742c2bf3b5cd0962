"""The Hog language: scopes, three printers, the standard library, budgets. Pure.

``compile_program`` and ``run`` are the interface for other programs: docs/library.md.
"""

from hoglet.hog.compile import compile_program
from hoglet.hog.python.budget import Budget
from hoglet.hog.python.run_to_end import ProgramOutcome
from hoglet.hog.python.run_to_end import run_program as run
from hoglet.kit.errors import SourceError

__all__ = ["Budget", "ProgramOutcome", "SourceError", "compile_program", "run"]
