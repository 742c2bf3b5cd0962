"""Query errors of runs: a closed list of codes.

``attr`` is the path of the invalid part if the query is JSON, else null.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation row 13.
"""

from hoglet.hogql.paging.keyset import NO_KEY
from hoglet.kit.errors import HogletError, Invalid, SourceError
from hoglet.warehouse.errors import QueryCancelled, QueryRefused, WarehouseBusy

CODES = frozenset(
    {
        "hogql_query_error",
        "hogql_syntax_error",
        "table_access_denied",
        "illegal_type_of_argument",
        "no_common_type",
        "not_an_aggregate",
        "unknown_function",
        "type_mismatch",
        "illegal_aggregation",
        "number_of_arguments_doesnt_match",
        "too_many_bytes",
        "cannot_parse_uuid",
        "unknown_table",
    }
)


class QueryError(Invalid):
    """The query of an endpoint is invalid, or invalid with the given values."""

    blame = "author"


def as_query_error(error: HogletError) -> HogletError:
    """The error of a run; errors that are not about the query are returned unchanged."""
    if isinstance(error, SourceError) and error.error_code == NO_KEY:
        return Invalid(error.detail, attr="cursor")
    if isinstance(error, QueryRefused):
        from hoglet.hogql.diagnostics.engine_errors import explain  # rules that hardly ever apply

        error = explain(error.detail, error.error_code, None)
    if isinstance(error, SourceError):
        code = error.error_code if error.error_code in CODES else "invalid_input"
        attr = f"query__{error.attr}" if error.attr else None
        return QueryError(_advice(error), code=code, attr=attr)
    if isinstance(error, QueryCancelled):
        return WarehouseBusy("The query was cancelled; try again.")
    return error


def _advice(error: SourceError) -> str:
    """The error with its hint, and its position if it has one."""
    if error.end > 0 or error.attr is not None:
        return error.advice
    return error.advice.removeprefix(f"{error.line}:{error.column}: ")
