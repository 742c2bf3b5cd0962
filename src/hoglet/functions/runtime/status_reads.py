"""Where a program reads the status of a response. Pure.

Names are not scoped: a variable or parameter declared anywhere counts everywhere.

Source: docs/adr/0015-handled-statuses.md.
"""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from hoglet.functions.filters.roots import nodes_of
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree

STATUS: Final = "__status"
_STATUS_FIELD = tree.Field(chain=(STATUS,))
_LARGEST_DEFINITION = 40  # nodes; `s` in `let s := toString(r.status)` stands for its definition
_PASSES = 4  # let a := r.status; let b := a; let c := b

_NOT_RESPONSES = frozenset({"event", "person", "groups", "inputs", "project", "source", "request"})


class StatusReads:
    """The reads of one program.

    Args:
        nodes: all nodes of the program.
    """

    def __init__(self, nodes: Sequence[tree.Node]) -> None:
        self._bodies: set[str] = set()
        self._definitions: dict[str, Any] = {}
        for _ in range(_PASSES):
            for node in nodes:
                self._note(node, nodes)

    def rewritten(self, node: Any) -> Any:
        """The tree with ``STATUS`` in place of each read of a status or of a variable with one."""
        if isinstance(node, tree.Field) and len(node.chain) == 1:
            return self._definitions.get(str(node.chain[0]), node)
        if self._is_status(node):
            return _STATUS_FIELD
        if isinstance(node, msgspec.Struct):
            fields = {name: getattr(node, name) for name in node.__struct_fields__}
            changed = {
                name: new
                for name, value in fields.items()
                if isinstance(value, msgspec.Struct | tuple)
                and (new := self.rewritten(value)) is not value
            }
            return msgspec.structs.replace(node, **changed) if changed else node
        if is_tuple(node):
            items = tuple(self.rewritten(item) for item in node)
            same = all(new is old for new, old in zip(items, node, strict=True))
            return node if same else items
        return node

    def reads_status(self, rewritten: Any) -> bool:
        """Whether a rewritten tree has a read of a status."""
        return any(node is _STATUS_FIELD for node in nodes_of(rewritten))

    def _note(self, node: tree.Node, nodes: Sequence[tree.Node]) -> None:
        if isinstance(node, tree.VariableDeclaration):
            self._define(node.name, node.expr)
        elif isinstance(node, tree.VariableAssignment) and isinstance(node.left, tree.Field):
            if len(node.left.chain) == 1:
                self._define(str(node.left.chain[0]), node.right)
        elif isinstance(node, tree.Call):
            for name, argument in zip(_parameters(node.name, nodes), node.args, strict=False):
                self._define(name, argument)

    def _define(self, name: str, value: Any) -> None:
        """Note what a variable or parameter stands for, if it holds a status or a body."""
        if name in self._definitions or value is None:
            return
        if self._is_of_body(value):
            self._bodies.add(name)
        rewritten = self.rewritten(value)
        found = list(nodes_of(rewritten))
        if len(found) <= _LARGEST_DEFINITION and any(each is _STATUS_FIELD for each in found):
            self._definitions[name] = rewritten

    def _is_status(self, node: Any) -> bool:
        """``response.status`` and ``response['status']``, not those of events and bodies."""
        if isinstance(node, tree.Field):
            has_name = len(node.chain) > 1 and node.chain[-1] == "status"
            return has_name and not self._is_of_body(node)
        if isinstance(node, tree.ArrayAccess) and isinstance(node.property, tree.Constant):
            return node.property.value == "status" and not self._is_of_body(node.array)
        return False

    def _is_of_body(self, value: Any) -> bool:
        """Whether a value is part of a response's body, or of the function's globals."""
        if isinstance(value, tree.Field):
            known = value.chain[0] in _NOT_RESPONSES or value.chain[0] in self._bodies
            return known or "body" in value.chain
        if isinstance(value, tree.ArrayAccess):
            is_body = isinstance(value.property, tree.Constant) and value.property.value == "body"
            return is_body or self._is_of_body(value.array)
        if isinstance(value, tree.TupleAccess):
            return self._is_of_body(value.tuple)
        if isinstance(value, tree.Call) and value.name != "fetch":
            return any(self._is_of_body(argument) for argument in value.args)
        return False


def _parameters(name: str, nodes: Sequence[tree.Node]) -> tuple[str, ...]:
    """The parameters of a function or lambda of the program by its name."""
    for node in nodes:
        if isinstance(node, tree.Function) and node.name == name:
            return node.params
        if isinstance(node, tree.VariableDeclaration) and node.name == name:
            return node.expr.args if isinstance(node.expr, tree.Lambda) else ()
    return ()
