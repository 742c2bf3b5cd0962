"""Validation of a run, in the order of rows 9 to 12.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hoglet.access.principals import Principal
from hoglet.access.variables import InsightVariable
from hoglet.endpoints import errors
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.query_schema import expand
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunRequest
from hoglet.endpoints.variables import (
    names_without_value,
    refuse_unknown_names,
    stored_values,
)
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_array, is_object
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date
from hoglet.web.validation import REQUIRED

type Json = dict[str, Any]

_FUNNELS = "FunnelsQuery"
_DATE_NAMES = ("date_from", "date_to")
_ANY_DAY = DateClock(datetime(2026, 1, 1, tzinfo=UTC))
"""Only to validate dates; the result does not depend on the day."""
_PROTECTED_KEYS = ("breakdownFilter", "properties")
_WAREHOUSE_NODES = frozenset({"DataWarehouseNode", "HogQLQuery", "HogQuery"})


def check_run(
    target: RunTarget,
    request: RunRequest,
    principal: Principal,
    known: Sequence[InsightVariable] = (),
) -> None:
    """Validate a run.

    Args:
        target: the version to run.
        request: the request.
        principal: the caller.
        known: the project's variables, for their defaults.

    Raises:
        Invalid: the first violation.
    """
    if not target.version_is_active:
        raise errors.inactive_version(target.version)
    _check_paging(target, request)
    _check_direct(target, request)
    required = required_variables(target, known)
    _check_query_override(target, request, principal, required)
    _check_filters_override(target, request)
    refuse_unknown_names(request.variables, known_variables(target))
    missing = [name for name in required if not _is_sent(target, request, name)]
    if missing:
        raise errors.missing_variables(missing, _why_required(target))
    if target.query["kind"] != HOGQL:
        _check_dates(request.variables, "variables")


def _why_required(target: RunTarget) -> str:
    if target.materialization is not None:
        return "This version is materialized, so every variable is required."
    if target.query["kind"] == HOGQL:
        return "They have no default: send a value for each."
    return "Send a value for each, or list it in optional_breakdown_properties."


def _is_sent(target: RunTarget, request: RunRequest, name: str) -> bool:
    """Whether a run has a value; in inline runs, a HogQL variable can be NULL."""
    if target.materialization is None and target.query["kind"] == HOGQL:
        return name in request.variables
    return request.variables.get(name) is not None


def _check_dates(sent: Mapping[str, Any], attr: str) -> None:
    for name in _DATE_NAMES:
        value = sent.get(name)
        if value is None or value == "" or (name, value) == ("date_from", "all"):
            continue
        if not isinstance(value, str):
            raise Invalid(f"{name} must be a string such as -7d or 2026-01-05.", attr=attr)
        try:
            resolve_date(value, _ANY_DAY)
        except NotADate as error:
            raise Invalid(f"{name}: {error}.", attr=attr) from None


def known_variables(target: RunTarget) -> list[str]:
    """The variables that a run accepts."""
    if target.query["kind"] == HOGQL:
        return list(stored_values(target.query))
    dates = [] if target.materialization else list(_DATE_NAMES)
    return [*target.analysis.breakdowns, *dates]


def required_variables(target: RunTarget, known: Sequence[InsightVariable]) -> list[str]:
    """The variables that a run requires, as listed in openapi.json.

    For a materialized version every variable (so that no unfiltered data leaks), else those without
    a value; also non-optional breakdowns of trends and retention.
    """
    if target.query["kind"] == HOGQL:
        if target.materialization is not None:
            return list(stored_values(target.query))
        return names_without_value(target.query, known)
    if target.query["kind"] == _FUNNELS and target.materialization is None:
        return []
    return [name for name in target.analysis.breakdowns if name not in target.optional_breakdowns]


def _check_paging(target: RunTarget, request: RunRequest) -> None:
    if target.query["kind"] == HOGQL:
        return
    for field in ("limit", "offset", "cursor"):
        if getattr(request, field) is not None:
            raise errors.not_allowed(field, "is only supported for HogQL queries.")


def _check_direct(target: RunTarget, request: RunRequest) -> None:
    if request.refresh == "direct" and target.materialization is None:
        raise errors.not_allowed(
            "refresh", '"direct" is only supported for materialized endpoint versions.'
        )


def _check_query_override(
    target: RunTarget, request: RunRequest, principal: Principal, required: Sequence[str]
) -> None:
    override = request.query_override
    if override is None:
        return
    attr = "query_override"
    if target.query["kind"] == HOGQL:
        raise errors.not_allowed(attr, "is not supported for HogQL queries; use variables.")
    if principal.kind != "personal":
        raise errors.not_allowed(attr, "cannot be used with a project secret key.")
    if override.get("kind", target.query["kind"]) != target.query["kind"]:
        raise errors.not_allowed(attr, "cannot change the kind of the query.")
    if required and any(key in override for key in _PROTECTED_KEYS):
        raise errors.not_allowed(
            attr,
            "cannot contain breakdownFilter or properties on a version with required variables.",
        )
    _refuse_code(override, attr)
    expand({**target.query, **override}, attr=attr)  # as when saving


def _check_filters_override(target: RunTarget, request: RunRequest) -> None:
    override = request.filters_override
    if override is None:
        return
    attr = "filters_override"
    if target.query["kind"] == HOGQL and not target.analysis.uses_filters:
        raise errors.not_allowed(
            attr, "is only supported for HogQL queries that contain the {filters} placeholder."
        )
    unknown = sorted(set(override) - {*_DATE_NAMES, "properties"})
    if unknown:
        detail = f'"{unknown[0]}" is not a known field.'
        raise Invalid(detail, attr=f"{attr}__{unknown[0]}")
    for name in _DATE_NAMES:
        if not isinstance(override.get(name), str | None):
            raise Invalid("Not a valid string.", attr=f"{attr}__{name}")
    _check_dates(override, attr)
    if not isinstance(override.get("properties"), list | dict | None):
        raise Invalid("This must be a list of property filters.", attr=f"{attr}__properties")
    _check_filters(override.get("properties") or [], f"{attr}__properties")
    _refuse_code(override, attr)


def _check_filters(sent: Any, attr: str) -> None:
    """Validate property filters and groups: a filter without a key would match everything."""
    if is_array(sent):
        for index, item in enumerate(sent):
            _check_filters(item, f"{attr}__{index}")
    elif not is_object(sent):
        raise Invalid("This must be an object.", attr=attr)
    elif is_array(sent.get("values")):
        _check_filters(sent["values"], f"{attr}__values")
    elif not sent.get("key"):
        raise Invalid(REQUIRED, code="required", attr=f"{attr}__key")


def _refuse_code(override: Any, attr: str) -> None:
    """Reject SQL in overrides, which read keys must not run."""
    level: list[Any] = [override]
    while level:
        for part in level:
            if is_object(part) and _is_code(part):
                raise errors.not_allowed(attr, "cannot contain HogQL or warehouse nodes.")
        level = [child for part in level for child in _children(part)]


_CODE_KEYS = ("math_hogql", "pathsHogQLExpression", "funnelAggregateByHogQL")


def _is_code(part: Json) -> bool:
    typed = (part.get("type"), part.get("breakdown_type"), part.get("math"))
    return (
        "hogql" in typed
        or str(part.get("kind")) in _WAREHOUSE_NODES
        or any(part.get(key) is not None for key in _CODE_KEYS)
    )


def _children(part: Any) -> list[Any]:
    if is_object(part):
        return list(part.values())
    return list(part) if is_array(part) else []
