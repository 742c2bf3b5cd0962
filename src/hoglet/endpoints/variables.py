"""Variables of saved queries: validated when saved, typed and bound when run.

A stored HogQL query has ``variables``, a map by the id of a project's variable::

    {"0199…": {"variableId": "0199…", "code_name": "plan", "value": "pro", "isNull": false}}

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies (variable checks at save) and
docs/spec/query-endpoints.md#52-variables.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from hoglet.access.variable_values import convert
from hoglet.access.variables import InsightVariable
from hoglet.endpoints.errors import unknown_variables
from hoglet.hogql.query_json.nodes import QueryNode
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_array, object_at
from hoglet.kit.relative_dates import (
    DateClock,
    NotADate,
    as_text,
    resolve_date,
    start_of_day,
)

type VariableDefinition = dict[str, Any]
"""A variable of a stored query: ``{"variableId": "…", "code_name": "plan", "value": "pro"}``."""

type VariableDefinitions = dict[str, VariableDefinition]
"""The variables of a stored query, by id."""


def synchronize(
    definitions: VariableDefinitions | None, used: Iterable[str], known: Sequence[InsightVariable]
) -> VariableDefinitions | None:
    """The variable definitions to store with a query.

    Args:
        definitions: ``query.variables`` as sent.
        used: code names in ``{variables.X}``.
        known: the project's variables.

    Returns:
        One definition per used code name, or None if none is used.

    Raises:
        Invalid: attr ``query``; a key that is not a variable of the project, an undefined name, or
            a value that does not fit the variable's type.
    """
    by_id = {variable.id: variable for variable in known}
    by_name = {variable.code_name: variable for variable in known}
    names = list(dict.fromkeys(used))
    synced: VariableDefinitions = {}
    for key, definition in (definitions or {}).items():
        variable = _known_variable(key, by_id)
        name = definition.get("code_name") or variable.code_name
        if name in names:
            synced[str(variable.id)] = _completed(definition, variable, name)
    defined = {definition["code_name"] for definition in synced.values()}
    missing = [name for name in names if name not in defined]
    _refuse_unknown([name for name in missing if name not in by_name])
    for name in missing:
        synced[str(by_name[name].id)] = _completed({}, by_name[name], name)
    return synced or None


def stored_values(query: QueryNode) -> dict[str, VariableDefinition]:
    """The variables of a stored query by code name, e.g. ``{"plan": {"value": "pro", …}}``."""
    definitions: VariableDefinitions = query.get("variables") or {}
    return {definition["code_name"]: definition for definition in definitions.values()}


def names_without_value(query: QueryNode, known: Sequence[InsightVariable]) -> list[str]:
    """Variables of a stored query that have no value and no default, and are not NULL."""
    defaults = {str(variable.id): variable.default_value for variable in known}
    return [
        name
        for name, definition in stored_values(query).items()
        if definition.get("value") is None
        and not definition.get("isNull")
        and defaults.get(definition["variableId"]) is None
    ]


def refuse_unknown_names(sent: Mapping[str, Any], known: Iterable[str]) -> None:
    """Reject unknown names.

    Raises:
        Invalid: attr ``variables``, with all unknown and all known ones.
    """
    allowed = set(known)
    unknown = [name for name in sent if name not in allowed]
    if unknown:
        raise unknown_variables(unknown, allowed)


def values_for_run(
    query: QueryNode, sent: Mapping[str, Any], known: Sequence[InsightVariable]
) -> dict[str, Any]:
    """The values of a HogQL query's variables for a run; None is SQL NULL.

    Raises:
        Invalid: attr ``variables``; a value of the wrong type, even if it is stored or a default:
            a comparison with it would silently match nothing.
    """
    by_id = {str(variable.id): variable for variable in known}
    values: dict[str, Any] = {}
    for definition in object_at(query, "variables").values():
        variable = by_id.get(definition["variableId"])
        name = definition["code_name"]
        kind = variable.type if variable else "String"
        if name in sent:
            value = convert(name, sent[name], kind)
        elif definition.get("isNull"):
            value = None
        else:
            stored = definition.get("value")
            default = variable.default_value if variable else None
            value = default if stored is None else stored
            single = bool(definition.get("isSingle"))
            value = _first(value) if single else convert(name, value, kind)
        if variable is not None and variable.type == "List" and variable.is_multi:
            value = _as_list(value)
        values[name] = value
    return values


def _first(value: Any) -> Any:
    """The value for a single-value list variable: the first of several."""
    if is_array(value):
        return value[0] if value else None
    return value


def _as_list(value: Any) -> list[Any]:
    """The values for a multi-value list variable: a scalar is a list of one, None an empty list."""
    if value is None:
        return []
    return value if is_array(value) else [value]


def with_moments(
    query: QueryNode, values: Mapping[str, Any], known: Sequence[InsightVariable], clock: DateClock
) -> dict[str, Any]:
    """The values of a run with relative dates of ``Date`` variables resolved.

    The cache key has the relative date instead of the resolved one; the cache time limits the age
    of a result.

    Example:
        ``{"since": "-7d"}`` becomes ``{"since": "2026-01-07 15:30:00"}``, local to the project.
    """
    dates = {str(variable.id) for variable in known if variable.type == "Date"}
    names = {
        definition["code_name"]
        for definition in object_at(query, "variables").values()
        if definition["variableId"] in dates
    }
    return {
        name: _moment(value, clock) if name in names else value for name, value in values.items()
    }


def _moment(value: Any, clock: DateClock) -> Any:
    if is_array(value):
        return [_moment(item, clock) for item in value]
    try:
        date = resolve_date(value, clock) if isinstance(value, str) else None
    except NotADate:  # an item of a list
        return value
    if date is None or date.form == "time":
        return value
    at = date.at if date.is_edge else date.at.replace(microsecond=0)
    return at.strftime("%Y-%m-%d") if at == start_of_day(at) else as_text(at).replace(".000000", "")


def breakdown_values(sent: Mapping[str, Any]) -> dict[str, Any]:
    """The values of an insight's breakdowns and dates for a run.

    An empty list is refused, because it would not filter at all.

    Raises:
        Invalid: attr ``variables``.
    """
    values = {name: convert(name, value, "String") for name, value in sent.items()}
    for name, value in values.items():
        if is_array(value) and (not value or None in value):
            raise Invalid(
                f"The list of values of {name} is empty or contains a null.", attr="variables"
            )
    return values


def _known_variable(key: str, by_id: Mapping[UUID, InsightVariable]) -> InsightVariable:
    try:
        identifier = UUID(key)
    except ValueError:
        raise Invalid(f'The variable key "{key}" is not a UUID.', attr="query") from None
    if identifier not in by_id:
        raise Invalid(f'Variable "{key}" does not exist in this project.', attr="query")
    return by_id[identifier]


def _completed(
    definition: VariableDefinition, variable: InsightVariable, name: str
) -> VariableDefinition:
    completed = {**definition, "variableId": str(variable.id), "code_name": name}
    if completed.get("value") is None and not completed.get("isNull"):
        completed["value"] = variable.default_value
    if not completed.get("isNull") and not completed.get("isSingle"):
        try:
            convert(name, completed.get("value"), variable.type)
        except Invalid as error:
            error.attr = "query"
            raise
    return completed


def _refuse_unknown(names: Sequence[str]) -> None:
    if names:
        listed = ", ".join(sorted(names))
        raise Invalid(
            f"The query uses variables that are not defined in this project: {listed}.",
            attr="query",
        )
