"""Shifts the positions of a tree by a prefix of its text."""

from typing import Any

import msgspec

from hoglet.syntax.tree import Node, Position


def shift_back[Tree: Node](node: Tree, count: int) -> Tree:
    """A copy of ``node`` whose offsets, and columns on line 1, are ``count`` less.

    Positions before the text become its first character.
    """
    return _shift(node, count)


def _shift(value: Any, count: int) -> Any:
    if isinstance(value, Position):
        return _shift_position(value, count)
    if isinstance(value, tuple):
        return tuple([_shift(item, count) for item in value])
    if isinstance(value, dict):
        return {key: _shift(item, count) for key, item in value.items()}
    if not isinstance(value, Node):
        return value
    changes = {name: _shift(getattr(value, name), count) for name in value.__struct_fields__}
    return msgspec.structs.replace(value, **changes)


def _shift_position(position: Position, count: int) -> Position:
    column = position.column - count if position.line == 1 else position.column
    return Position(
        line=position.line, column=max(0, column), offset=max(0, position.offset - count)
    )
