"""Warnings about code that compiles but looks wrong, reported when a function is saved.

Source: docs/spec/hog-language.md#6-scopes-closures-calls.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from hoglet.functions import types
from hoglet.functions.filters.roots import nodes_of
from hoglet.functions.runtime.host import HELPERS
from hoglet.hog.bind.diagnostics import suggestion
from hoglet.hog.bind.tree import Warning_
from hoglet.hog.compile import bind_program
from hoglet.kit.errors import SourceError
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program

_RUN_GLOBALS = frozenset({"project", "source", "event", "person", "groups", "inputs", "variables"})
_CALLS = frozenset({"fetch", "sendEmail", "postHogCapture"})
_GLOBALS = {
    types.TRANSFORMATION: frozenset({"project", "event", "inputs"}),
    types.TRANSFORMATION_LOG: frozenset({"project", "record", "inputs"}),
    types.SOURCE_WEBHOOK: _RUN_GLOBALS | _CALLS | {"request"},
}


class CodeWarning(msgspec.Struct, frozen=True, kw_only=True):
    """One warning; ``line`` and ``column`` count from 1.

    ``{"message": "Unknown function `fecth`", "hint": "Did you mean `fetch`?", "line": 1,
    "column": 1, "attr": "hog"}``
    """

    message: str
    hint: str | None = None
    line: int = 1
    column: int = 1
    attr: str = "hog"


def code_warnings(source: str, function_type: str, input_keys: set[str]) -> list[CodeWarning]:
    """The warnings of a program, in source order.

    Args:
        source: Hog; if it does not parse, there are no warnings.
        function_type: determines the available globals and functions.
        input_keys: keys of the function's inputs; if empty, reads of inputs are not checked.
    """
    known = _GLOBALS.get(function_type, _RUN_GLOBALS | _CALLS) | HELPERS
    try:
        program = parse_program(source)
        found = list(bind_program(program, known_globals=known).warnings)
    except SourceError:
        return []
    if input_keys:
        found += _unknown_inputs(program, input_keys)
    found.sort(key=lambda warning: warning.start)
    return [
        CodeWarning(message=item.message, hint=item.hint, line=item.line, column=item.column)
        for item in found
    ]


def _unknown_inputs(program: tree.Program, keys: set[str]) -> Iterator[Warning_]:
    nodes = list(nodes_of(program))
    if any(isinstance(node, tree.VariableDeclaration) and node.name == "inputs" for node in nodes):
        return
    for node in nodes:
        key = _input_key(node)
        if key is None or key in keys or node.start is None or node.end is None:
            continue
        yield Warning_(
            f"Unknown input `{key}`",
            node.start.line,
            node.start.column + 1,
            node.start.offset,
            node.end.offset,
            suggestion(key, keys),
        )


def _input_key(node: Any) -> str | None:
    """``url`` of ``inputs.url``, ``inputs['url']`` and ``inputs?.url``."""
    match node:
        case tree.Field(chain=("inputs", str() as key, *_)):
            return key
        case tree.ArrayAccess(
            array=tree.Field(chain=("inputs",)), property=tree.Constant(value=str() as key)
        ):
            return key
        case _:
            return None
