"""Errors of a query as runs answer them: one closed list of codes.

``attr`` is the path of the part at fault where the query is JSON, else null.

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
    """The query of an endpoint is wrong, or a value makes it so."""

    blame = "author"


def as_query_error(error: HogletError) -> HogletError:
    """The error a run answers with; those that are not about the query pass."""
    if isinstance(error, SourceError) and error.error_code == NO_KEY:
        return Invalid(error.detail, attr="cursor")
    if isinstance(error, SourceError | QueryRefused):
        code = error.error_code if error.error_code in CODES else "invalid_input"
        text = error.advice if isinstance(error, SourceError) else str(error)
        path = error.attr if isinstance(error, SourceError) else None
        return QueryError(text, code=code, attr=f"query__{path}" if path else None)
    if isinstance(error, QueryCancelled):
        return WarehouseBusy("The query was cancelled; try again.")
    return error
