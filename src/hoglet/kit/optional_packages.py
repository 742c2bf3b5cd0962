"""Hides optional packages that a dependency would import although hoglet does not need them."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def without(*names: str) -> Generator[None]:
    """Make ``import name`` fail as if it were not installed, unless it is loaded already.

    Concurrency: other threads cannot import these packages meanwhile either, so use it only during
    startup, around one import.

    Example:
        >>> with without("this"):
        ...     import this
        Traceback (most recent call last):
        ...
        ModuleNotFoundError: import of this halted; None in sys.modules
    """
    modules = cast("dict[str, Any]", sys.modules)
    hidden = [name for name in names if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for name in hidden:
            modules.pop(name, None)
