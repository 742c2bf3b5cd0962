"""The Hog language: scopes, three printers, the standard library, budgets. Pure.

``compile_program`` and ``run`` are the interface for other programs: docs/library.md.
"""

from typing import TYPE_CHECKING

from hoglet.kit.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from hoglet.hog.compile import compile_program
    from hoglet.hog.python.budget import Budget
    from hoglet.hog.python.run_to_end import ProgramOutcome
    from hoglet.hog.python.run_to_end import run_program as run
    from hoglet.kit.errors import SourceError

__all__ = ["Budget", "ProgramOutcome", "SourceError", "compile_program", "run"]

# A server imports parts of this package, but never compiles or runs a program itself.
__getattr__ = lazy_exports(
    __name__,
    {
        "Budget": "hoglet.hog.python.budget",
        "ProgramOutcome": "hoglet.hog.python.run_to_end",
        "SourceError": "hoglet.kit.errors",
        "compile_program": "hoglet.hog.compile",
        "run": "hoglet.hog.python.run_to_end:run_program",
    },
)
