"""Learning the types of properties from their values. Pure."""

import re
from typing import Any

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")
_KINDS: dict[type, str] = {bool: "Boolean", int: "Numeric", float: "Numeric", str: "String"}
_NAME_LIMIT = 400


class Definitions:
    """The names and types that a group's events show; the first value of a name decides.

    Lists, objects and null tell no type and are left to a later event.
    """

    def __init__(self) -> None:
        self._types: dict[str, dict[str, str]] = {"event": {}, "person": {}, "group": {}}

    def learn(self, scope: str, properties: dict[str, Any]) -> None:
        """Look at the properties of one event, person or group."""
        known = self._types[scope]
        for name in properties.keys() - known.keys():
            kind = type_of(properties[name])
            if kind is not None and len(name) <= _NAME_LIMIT:
                known[name] = kind

    def found(self) -> list[tuple[str, str, str]]:
        """``[("event", "price", "Numeric")]``."""
        return [
            (scope, name, kind)
            for scope, names in self._types.items()
            for name, kind in names.items()
        ]


def type_of(value: Any) -> str | None:
    """``Numeric``, ``Boolean``, ``DateTime`` or ``String``; None for what has no such type.

    Example:
        >>> type_of("2026-01-01T10:00:00Z"), type_of(5), type_of([])
        ('DateTime', 'Numeric', None)
    """
    kind = _KINDS.get(type(value))
    return "DateTime" if kind == "String" and _DATE.match(value) else kind
