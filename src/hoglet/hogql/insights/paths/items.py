"""Items of paths: pages, screens, events; cleaned, grouped, excluded.

Source: docs/spec/query-endpoints.md#106-insight-queries-and-results (pathsFilter).
"""

from collections.abc import Mapping
from typing import Any

import re2

from hoglet.hogql.ast_builders import (
    Expression,
    array,
    call,
    compare,
    constant,
    every,
    field,
    some,
)
from hoglet.hogql.errors import refused
from hoglet.hogql.frontend.preprocess import read_expression
from hoglet.syntax import tree

_KINDS = ("$pageview", "$screen", "custom_event", "hogql")
_TRAILING_SLASH = r"(.)/$"


def included(filter_: Mapping[str, Any]) -> Expression:
    """Condition for events that are steps.

    Raises:
        SourceError: an unknown kind of event.
    """
    kinds = filter_.get("includeEventTypes") or []
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        raise refused(
            f"Unsupported includeEventTypes: {', '.join(map(str, unknown))}",
            attr="pathsFilter__includeEventTypes",
        )
    event = field("event")
    own = call("startsWith", event, constant("$"))
    conditions: list[Expression] = [
        tree.Not(expr=own) if kind == "custom_event" else compare("==", event, constant(kind))
        for kind in kinds
        if kind != "hogql"
    ]
    included = some(conditions) if conditions and "hogql" not in kinds else constant(True)
    excluded = [str(name) for name in filter_.get("excludeEvents") or []]
    if not excluded:
        return included
    return every([included, compare("not in", event, array(excluded))])


def item(filter_: Mapping[str, Any]) -> Expression:
    """The item of an event, empty without one.

    Raises:
        SourceError: an invalid expression or pattern.
    """
    named = _named(filter_)
    for rule in filter_.get("localPathCleaningFilters") or []:
        if rule.get("regex"):
            pattern, text = _checked(str(rule["regex"])), str(rule.get("alias") or "")
            named = call("replaceRegexpAll", named, constant(pattern), constant(text))
    groupings = [str(each) for each in filter_.get("pathGroupings") or []]
    if groupings:
        cases: list[Expression] = []
        for grouping in groupings:
            cases += [call("match", named, constant(_wildcard(grouping))), constant(grouping)]
        named = call("multiIf", *cases, named)
    return named


def is_included(name: Expression, filter_: Mapping[str, Any]) -> Expression:
    """Whether an item is shown at all."""
    conditions: list[Expression] = [compare("!=", name, constant(""))]
    for excluded in filter_.get("excludeEvents") or []:
        left_out = call("match", name, constant(_wildcard(str(excluded))))
        conditions.append(tree.Not(expr=left_out))
    return every(conditions)


def point(text: str) -> str:
    """A start or end point in the form of items: without trailing slash."""
    return text[:-1] if len(text) > 1 and text.endswith("/") else text


def _named(filter_: Mapping[str, Any]) -> Expression:
    kinds = filter_.get("includeEventTypes") or []
    expression = filter_.get("pathsHogQLExpression")
    if "hogql" in kinds or (expression and not kinds):
        if not expression:
            raise refused(
                "includeEventTypes 'hogql' needs pathsHogQLExpression",
                attr="pathsFilter__pathsHogQLExpression",
            )
        text = call("toString", read_expression(str(expression)))
        return call("ifNull", text, constant(""))
    page = call(
        "replaceRegexpOne", _property("$current_url"), constant(_TRAILING_SLASH), constant(r"\1")
    )
    event = field("event")
    return call(
        "multiIf",
        compare("==", event, constant("$pageview")),
        page,
        compare("==", event, constant("$screen")),
        _property("$screen_name"),
        event,
    )


def _property(name: str) -> Expression:
    return call("ifNull", call("toString", field("properties", name)), constant(""))


def _wildcard(text: str) -> str:
    """``/user/*`` as a pattern for whole names."""
    return "^" + ".*".join(re2.escape(part) for part in point(text).split("*")) + "$"


def _checked(pattern: str) -> str:
    try:
        re2.compile(pattern)
    except re2.error:
        raise refused(
            f"Not a regular expression: {pattern}", attr="pathsFilter__localPathCleaningFilters"
        ) from None
    return pattern
