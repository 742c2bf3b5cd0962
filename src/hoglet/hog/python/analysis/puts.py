"""Writes to copies of the host's data."""

from typing import Any, NamedTuple

from hoglet.hog.bind import tree as bound


class Put(NamedTuple):
    """A write to a copy of a global: its variable, the path that is assigned, and the value."""

    root: bound.Variable
    path: tuple[Any, ...]
    value: Any
