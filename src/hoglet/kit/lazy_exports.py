"""Names that a package exports and imports on first use (PEP 562)."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, exports: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's ``__getattr__`` for names of other modules.

    Args:
        package: the name of the package.
        exports: where each name comes from; without ``:`` it has the same name there. For example
            ``{"run": "hoglet.hog.python.run_to_end:run_program"}``.

    Raises:
        AttributeError: by the returned function, for any other name.
    """

    def export(name: str) -> Any:
        if name not in exports:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, original = exports[name].partition(":")
        return getattr(import_module(module), original or name)

    return export
