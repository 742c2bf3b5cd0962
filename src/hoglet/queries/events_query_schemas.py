"""Schema of events queries; unknown keys are errors.

Source: docs/spec/data-and-queries.md#17-eventsquery.
"""

from typing import Any
from uuid import UUID

from hoglet.hogql.context import MAX_LIMIT
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import Unreadable
from hoglet.kit.suggestions import near
from hoglet.queries.kinds import EVENTS, check_annotations

MAX_COLUMNS = 200
_DEFAULT_LIMIT = 100
_MAX_OFFSET = 2**53
_TEXTS = ("select", "where", "events", "orderBy")
_SHAPES: dict[str, tuple[tuple[type, ...], str]] = {
    "kind": ((str,), "text"),
    "select": ((list,), "a list of strings"),
    "where": ((list,), "a list of strings"),
    "properties": ((list, dict), "a list of property filters"),
    "fixedProperties": ((list, dict), "a list of property filters"),
    "filterTestAccounts": ((bool,), "true or false"),
    "event": ((str,), "text"),
    "events": ((list,), "a list of strings"),
    "actionId": ((int,), "a whole number"),
    "actionSteps": ((list,), "a list of steps"),
    "personId": ((str, int), "a UUID or a number"),
    "after": ((str,), "text"),
    "before": ((str,), "text"),
    "orderBy": ((list,), "a list of strings"),
    "limit": ((int,), "a whole number"),
    "offset": ((int,), "a whole number"),
    "source": ((object,), ""),
    "modifiers": ((dict,), "an object"),
    "tags": ((dict,), "an object"),
    "version": ((int, float), "a number"),
    "response": ((dict,), "an object"),
}
_STEP_KEYS = frozenset(
    (
        *("event", "href", "href_matching", "id", "name", "properties", "selector"),
        *("selector_regex", "tag_name", "text", "text_matching", "url", "url_matching"),
    )
)


_GROUPS = " Columns beside an aggregation are its groups."
_RANGE = " Use after and before."
_INSTEAD = {
    **dict.fromkeys(("groupBy", "group_by"), _GROUPS),
    **dict.fromkeys(("dateRange", "date_from", "date_to"), _RANGE),
    "having": " A condition with an aggregation goes into where.",
}
"""Keys of other kinds of queries, and what serves instead."""
_MATCHING = ("href_matching", "text_matching", "url_matching")
_MATCHES = ("contains", "exact", "regex")


def check_events_query(node: QueryNode, path: str) -> QueryNode:
    """Validate an events query and fill in defaults, except for ``after`` and ``before``.

    Args:
        node: e.g. ``{"kind": "EventsQuery", "select": ["event", "count()"]}``.
        path: the path of the node in the body.

    Raises:
        Unreadable: an unknown or mistyped key; attr is its path.
    """
    sent = {key: value for key, value in node.items() if value is not None}
    for key in node:
        if key not in _SHAPES:
            hint = _INSTEAD.get(key) or near(key, _SHAPES)
            raise Unreadable(f'"{key}" is not a key of {EVENTS}.{hint}', attr=f"{path}__{key}")
    if sent.pop("source", None) is not None:
        message = "Events queries with a source are not supported: send its filters instead."
        raise Unreadable(message, attr=f"{path}__source")
    if "select" not in sent:
        raise Unreadable("This field is required.", attr=f"{path}__select")
    for key, value in sent.items():
        _check_type(value, *_SHAPES[key], attr=f"{path}__{key}")
    check_annotations(sent, path)
    for key in _TEXTS:
        _check_texts(sent.get(key, []), f"{path}__{key}")
    _check_steps(sent.get("actionSteps", []), f"{path}__actionSteps")
    _check_person(sent.get("personId"), f"{path}__personId")
    return sent | {
        "select": sent["select"] or ["*"],
        "limit": _limit(sent, path),
        "offset": _whole(sent.get("offset", 0), 0, f"{path}__offset"),
    }


def is_bounded(node: QueryNode) -> bool:
    """Whether both bounds of the time range were sent, so that the result can be cached."""
    return node.get("after", "all") != "all" and "before" in node


def _limit(sent: QueryNode, path: str) -> int:
    return min(_whole(sent.get("limit", _DEFAULT_LIMIT), 1, f"{path}__limit"), MAX_LIMIT)


def _whole(value: int, least: int, attr: str) -> int:
    if not least <= value <= _MAX_OFFSET:
        raise Unreadable(f"This must be an integer of at least {least}.", attr=attr)
    return value


def _check_type(value: Any, kinds: tuple[type, ...], expected: str, *, attr: str) -> None:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        raise Unreadable(f"This must be {expected}.", attr=attr)


def _check_texts(items: list[Any], attr: str) -> None:
    if len(items) > MAX_COLUMNS:
        raise Unreadable(f"At most {MAX_COLUMNS} items are supported.", attr=attr)
    for index, item in enumerate(items):
        _check_type(item, (str,), "a string", attr=f"{attr}__{index}")
        if not item.strip():
            raise Unreadable("This expression is empty: remove it.", attr=f"{attr}__{index}")


def _check_steps(steps: list[Any], attr: str) -> None:
    if len(steps) > MAX_COLUMNS:
        raise Unreadable(f"At most {MAX_COLUMNS} items are supported.", attr=attr)
    for index, step in enumerate(steps):
        _check_type(step, (dict,), "an object", attr=f"{attr}__{index}")
        for key, value in step.items():
            path = f"{attr}__{index}__{key}"
            if key not in _STEP_KEYS:
                raise Unreadable(
                    f'"{key}" is not a key of a step.{near(key, _STEP_KEYS)}', attr=path
                )
            kinds = (list, dict) if key == "properties" else (str, int)
            if value is not None:
                _check_type(value, kinds, "text", attr=path)
            if key in _MATCHING and value not in {None, *_MATCHES}:
                hint = near(str(value), _MATCHES) or f" Use one of {', '.join(_MATCHES)}."
                raise Unreadable(f'"{value}" is not a way of matching.{hint}', attr=path)


def _check_person(person: Any, attr: str) -> None:
    if not isinstance(person, str) or (person.isascii() and person.isdigit()):
        return
    try:
        UUID(person)
    except ValueError:
        raise Unreadable("This must be the UUID or number of a person.", attr=attr) from None
