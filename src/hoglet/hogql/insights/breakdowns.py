"""Breakdowns: by which values an insight is split, and what stands for none and for the rest.

Source: spec/query-endpoints.md sections 5.6 and 10.6.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.hogql.property_filters import property_condition
from hoglet.hogql.trees import Expression, call, compare, constant, field
from hoglet.syntax import parse_expression

OTHER = "Other"
DEFAULT_LIMIT = 25
_MOST = 10_000


class Breakdown(msgspec.Struct, frozen=True):
    """``parts`` are text expressions; ``many`` says whether values are answered as arrays."""

    parts: tuple[Expression, ...]
    many: bool
    limit: int
    names: tuple[str, ...]

    def key(self) -> Expression:
        """The values of an event, as one array; NULL reads as an empty text's stand-in."""
        return call("array", *(call("ifNull", part, constant(NONE)) for part in self.parts))


NONE = "$$_hoglet_none_$$"
"""Stands for NULL inside a query, where arrays of values are compared and grouped."""


def breakdown_of(query: Mapping[str, Any], context: QueryContext) -> Breakdown | None:
    """The breakdown of an insight, or None.

    Raises:
        SourceError: a breakdown type that hoglet does not know.
    """
    filter_ = query.get("breakdownFilter") or {}
    limit = min(int(filter_.get("breakdown_limit") or DEFAULT_LIMIT), _MOST)
    several = filter_.get("breakdowns")
    if several:
        parts = tuple(_part(each.get("property"), each, context) for each in several)
        names = tuple(str(each.get("property")) for each in several)
        return Breakdown(parts, many=True, limit=limit, names=names)
    value = filter_.get("breakdown")
    if value is None or value == "":
        return None
    kind = filter_.get("breakdown_type") or "event"
    item = {"type": kind, "group_type_index": filter_.get("breakdown_group_type_index")}
    values = value if isinstance(value, list) else [value]
    parts = tuple(_part(each, item, context) for each in values)
    many = isinstance(value, list) and kind != "cohort"
    return Breakdown(parts, many=many, limit=limit, names=tuple(map(str, values)))


def _part(name: Any, item: Mapping[str, Any], context: QueryContext) -> Expression:
    kind = item.get("type") or "event"
    if kind == "hogql":
        return call("toString", parse_expression(str(name)))
    if kind == "cohort":
        return _cohort(name, context)
    chains: dict[str, tuple[str, ...]] = {
        "event": ("properties", str(name)),
        "person": ("person", "properties", str(name)),
        "session": ("session", str(name)),
        "event_metadata": (str(name),),
        "group": (f"group_{int(item.get('group_type_index') or 0)}", "properties", str(name)),
    }
    if kind not in chains:
        raise refused(f"Unsupported breakdown type '{kind}'")
    text = call("toString", field(*chains[kind]))
    if item.get("normalize_url"):
        return call("replaceRegexpOne", text, constant(r"/(\?|#|$)"), constant(r"\1"))
    return text


def _cohort(name: Any, context: QueryContext) -> Expression:
    if str(name) == "all":
        return constant("all")
    rule = {"type": "cohort", "key": "id", "value": name}
    inside = property_condition(rule, context)
    return call("if", inside, constant(str(name)), constant(NONE))


def clean(values: list[str]) -> list[str | None]:
    """Stand-ins replaced by what clients see."""
    return [None if value == NONE else value for value in values]


def label(values: list[str | None]) -> str:
    """How a value reads in labels: parts joined by ``::``, missing ones ``null``."""
    return "::".join("null" if value is None else value for value in values)


def equals_value(part: Expression, value: str | None) -> Expression:
    """One breakdown value as a condition; None and the empty text mean "not set"."""
    return compare("==", part, constant(value or None))
