"""Learning the types of properties from their values. Pure."""

import re
from typing import Any

import msgspec

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$")
_TYPES: dict[type, str] = {bool: "Boolean", int: "Numeric", float: "Numeric", str: "String"}
_FORMS = {"Boolean": "boolean", "Numeric": "number", "String": "text", "DateTime": "text"}
_OTHER = "other"
_NAME_LIMIT = 400
_LARGEST = 2**63 - 1  # the warehouse has another type for whole numbers above it


class PropertySample(msgspec.Struct, array_like=True, frozen=True):
    """One property as a group has it: ``PropertySample("event", "price", "Numeric", "number")``.

    ``property_type`` is that of the first value that tells one, or empty; ``form`` is ``text``,
    ``number`` or ``boolean`` when every value was of it, else ``other``.
    """

    scope: str
    name: str
    property_type: str
    form: str


class Definitions:
    """The names, types and forms that a group's events show; the first value decides the type.

    Lists, objects and null tell no type and are left to a later event.
    """

    def __init__(self) -> None:
        self._scopes: dict[str, _Scope] = {"event": _Scope(), "person": _Scope(), "group": _Scope()}

    def learn(self, scope: str, properties: dict[str, Any]) -> None:
        """Look at the properties of one event, person or group."""
        known = self._scopes[scope]
        last = known.last
        for name, value in properties.items():
            kind = type(value)
            if kind is last.get(name) and (kind is not int or value <= _LARGEST):
                continue  # as the one before: nearly always
            if value is not None:
                known.look(name, value)

    def found(self) -> list[PropertySample]:
        """Every property seen, e.g. ``[Seen("event", "price", "Numeric", "number")]``."""
        return [
            PropertySample(scope, name, known.types.get(name, ""), form)
            for scope, known in self._scopes.items()
            for name, form in known.forms.items()
        ]


class _Scope:
    """``last`` is the Python type of the last value looked at: most values are like the last."""

    def __init__(self) -> None:
        self.last: dict[str, type] = {}
        self.types: dict[str, str] = {}
        self.forms: dict[str, str] = {}

    def look(self, name: str, value: Any) -> None:
        if len(name) > _NAME_LIMIT or "\0" in name:  # PostgreSQL's text holds no NUL
            return
        self.last[name] = type(value)
        kind = type_of(value)
        form = _OTHER if kind == "Numeric" and value > _LARGEST else form_of(kind)
        if self.forms.setdefault(name, form) != form:
            self.forms[name] = _OTHER
        if kind is not None:
            self.types.setdefault(name, kind)


def type_of(value: Any) -> str | None:
    """``Numeric``, ``Boolean``, ``DateTime`` or ``String``; None for what has no such type.

    Example:
        >>> type_of("2026-01-01T10:00:00Z"), type_of(5), type_of([])
        ('DateTime', 'Numeric', None)
    """
    kind = _TYPES.get(type(value))
    return "DateTime" if kind == "String" and _DATE.match(value) else kind


def form_of(property_type: str | None) -> str:
    """How values of a type are written in JSON: ``text``, ``number``, ``boolean`` or ``other``."""
    return _FORMS.get(property_type or "", _OTHER)
