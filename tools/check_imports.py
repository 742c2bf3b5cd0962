"""Rejects import cycles between modules of hoglet, and imported names that do not exist.

Imports inside functions and behind ``TYPE_CHECKING`` count for cycles. A package's ``__init__`` is
a module of its own. Benchmarks and tools import parts of hoglet inside functions, which neither the
type checker nor a test reads; every name they import must exist.
"""

import ast
import importlib
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

UNREAD = ("benchmarks", "tests", "tools")


def import_circle() -> list[str]:
    """An import cycle, e.g. ``["hoglet.a", "hoglet.b", "hoglet.a"]``; empty if there is none."""
    graph = grimp.build_graph("hoglet", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def missing_names(folder: Path) -> Iterator[str]:
    """Missing names that files of a folder import from hoglet, e.g. ``a.py:3: hoglet.b.c``."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("hoglet"):
                for alias in node.names:
                    if not _exists(str(node.module), alias.name):
                        yield f"{path}:{node.lineno}: {node.module}.{alias.name}"


def _exists(module: str, name: str) -> bool:
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


def main() -> int:
    """Print the first cycle and all missing names; returns 1 if there is any."""
    circle = import_circle()
    if circle:
        print("These modules import each other:", " <- ".join(circle))
    missing = [each for folder in UNREAD for each in missing_names(Path(folder))]
    if missing:
        print("These imported names do not exist:", *missing, sep="\n")
    return int(bool(circle or missing))


if __name__ == "__main__":
    sys.exit(main())
