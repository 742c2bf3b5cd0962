"""Prints arrays and objects of literals that are made once for all runs."""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.codegen.operands import literal


def constant_text(node: Any) -> str:
    """The Python text of an array or object of literals, or of a literal."""
    if isinstance(node, bound.MakeArray):
        return f"[{', '.join(map(constant_text, node.items))}]"
    if isinstance(node, bound.MakeObject):
        pairs = [f"{constant_text(key)}: {constant_text(item)}" for key, item in node.items]
        return f"{{{', '.join(pairs)}}}"
    return literal(node.value).text
