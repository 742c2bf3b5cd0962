"""Refuses modules of hoglet that import each other in a circle.

Imports inside functions and behind ``TYPE_CHECKING`` count. A package's ``__init__`` counts as a
module of its own.
"""

import sys
from graphlib import CycleError, TopologicalSorter

import grimp


def import_circle() -> list[str]:
    """A circle of imports, e.g. ``["hoglet.a", "hoglet.b", "hoglet.a"]``; empty without one."""
    graph = grimp.build_graph("hoglet", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def main() -> int:
    """Print the first circle; the exit code is 1 then."""
    circle = import_circle()
    if circle:
        print("These modules import each other:", " <- ".join(circle))
    return int(bool(circle))


if __name__ == "__main__":
    sys.exit(main())
