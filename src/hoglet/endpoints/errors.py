"""Errors of endpoints, as reported to callers.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies,
docs/spec/query-endpoints.md#4-versions and
docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hoglet.kit.errors import HogletError, Invalid, NotFound, Throttled
from hoglet.web.error_handlers import add_error_key


class NameTaken(Invalid):
    """Another endpoint of the project has the name."""


class NotMaterializable(Invalid):
    """The query cannot be materialized; ``reason`` says why."""


class RunCancelled(Invalid):
    """The run was cancelled by its ``client_query_id``."""

    code = "query_cancelled"


class TooManyQueries(Throttled):
    """No query slot became free in time."""


def name_taken(name: str) -> NameTaken:
    """400 attr ``name``."""
    return NameTaken(f'An endpoint named "{name}" already exists in this project.', attr="name")


def bad_parameter(name: str, value: object) -> Invalid:
    """400 for ``?version=abc`` and similar."""
    detail = f'The parameter {name} must be an integer, not "{value}".'
    return add_error_key(Invalid(detail, attr=name))


def unknown_alias(name: str) -> Invalid:
    """400 for ``?version=unknown``: neither a number nor an alias of the endpoint."""
    detail = f'The parameter version must be an integer or an alias, not "{name}".'
    return add_error_key(Invalid(detail, attr="version"))


def unknown_version(number: int, name: str, current: int) -> NotFound:
    """404 with ``error`` and ``current_version``."""
    detail = f'Version {number} of endpoint "{name}" does not exist; the current one is {current}.'
    return add_error_key(NotFound(detail, extra={"current_version": current}))


def unknown_target(number: int, name: str) -> Invalid:
    """400 attr ``version``, for changes to a version that does not exist."""
    detail = f'Version {number} of endpoint "{name}" does not exist.'
    return add_error_key(Invalid(detail, attr="version"))


def inactive_version(number: int) -> Invalid:
    """400 without an attr."""
    return Invalid(f"Version {number} of this endpoint is inactive.")


def offset_without_limit() -> Invalid:
    """400 attr ``offset`` with ``error``."""
    return add_error_key(Invalid("offset can only be used together with limit.", attr="offset"))


def not_allowed(field: str, why: str) -> Invalid:
    """400 for an override, limit or refresh mode that this endpoint does not support."""
    return Invalid(f"{field} {why}", attr=field)


def unknown_variables(unknown: Iterable[str], known: Iterable[str]) -> Invalid:
    """400 attr ``variables`` with the unknown names and the valid ones."""
    names = ", ".join(sorted(unknown))
    allowed = ", ".join(sorted(known)) or "none"
    return Invalid(f"Unknown variables: {names}. Known variables: {allowed}.", attr="variables")


def missing_variables(names: Iterable[str], why: str) -> Invalid:
    """400 attr ``variables`` with the missing names."""
    listed = ", ".join(sorted(names))
    return Invalid(
        f"Required variables are missing: {listed}. {why}", attr="variables", code="required"
    )


def in_words_of_run[E: HogletError](
    error: E, filters: Mapping[str, Any] | None, query: Mapping[str, Any] | None
) -> E:
    """A query error whose ``attr`` names the override that caused it, as the caller sent it.

    Args:
        error: e.g. attr ``query__filters__properties__0__value``, a path in the query that ran.
        filters: the ``filters_override``.
        query: the ``query_override``.
    """
    root, _, path = (error.attr or "").partition("__")
    if root != "query":
        return error
    key = path.removeprefix("filters__").partition("__")[0]
    if filters and key == "properties" and filters.get(key):
        error.attr = f"filters_override__{key}"  # the index counts the stored filters too
    elif query and key in query:
        error.attr = f"query_override__{path}"
    return error


def too_many_queries(wait_seconds: int) -> TooManyQueries:
    """429 if no slot became free."""
    return TooManyQueries(
        "Too many concurrent queries are running; try again in a moment.",
        wait_seconds=wait_seconds,
    )
