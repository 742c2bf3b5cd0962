"""Errors of the warehouse: a subset of ClickHouse's codes, each attributed to author or operator.

The engine's message is passed on to the author of the query, without the server's version and stack
trace.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation (rows 13, 15, 16).
"""

import re
from enum import IntEnum

import structlog

from hoglet.kit.errors import Bug, CostExceeded, HogletError, Invalid, Unavailable

log = structlog.get_logger()


class QueryRefused(Invalid):
    """The engine rejected the query or one of its values."""

    blame = "author"


class QueryTooCostly(CostExceeded):
    """The query exceeded its budget."""


class QueryCancelled(HogletError):
    """The query was cancelled."""

    code = "query_cancelled"
    blame = "caller"


class WarehouseBusy(Unavailable):
    """The warehouse is running too many queries."""

    code = "query_capacity"


class WarehouseDown(Unavailable):
    """The warehouse is unreachable, or its disk is full."""

    code = "warehouse_down"


class WarehouseInUse(HogletError):
    """Another process uses the folder of the embedded warehouse."""

    code = "warehouse_in_use"
    blame = "operator"


class WarehouseBroken(HogletError):
    """Data of the warehouse is missing or unreadable; detected at startup."""

    code = "warehouse_broken"
    blame = "operator"


class SchemaTooNew(HogletError):
    """A newer version wrote the warehouse."""

    code = "schema_too_new"
    blame = "operator"


class Code(IntEnum):
    """The codes with special handling; all others are ``invalid_input``."""

    TOO_FEW_ARGUMENTS = 35
    WRONG_NUMBER_OF_ARGUMENTS = 42
    ILLEGAL_TYPE_OF_ARGUMENT = 43
    UNKNOWN_FUNCTION = 46
    LOGICAL_ERROR = 49
    TYPE_MISMATCH = 53
    UNKNOWN_TABLE = 60
    SYNTAX_ERROR = 62
    UNKNOWN_DATABASE = 81
    TOO_MANY_ROWS = 158
    TIMEOUT_EXCEEDED = 159
    TOO_SLOW = 160
    TOO_DEEP_SUBQUERIES = 162
    READONLY = 164
    TOO_DEEP_SYNTAX_TREE = 167
    TOO_BIG_SYNTAX_TREE = 168
    ILLEGAL_AGGREGATION = 184
    TOO_MANY_QUERIES = 202
    SOCKET_TIMEOUT = 209
    NETWORK_ERROR = 210
    NOT_AN_AGGREGATE = 215
    MEMORY_LIMIT_EXCEEDED = 241
    TABLE_IS_READ_ONLY = 242
    NOT_ENOUGH_SPACE = 243
    TOO_MANY_PARTS = 252
    TOO_MANY_BYTES = 307
    CANNOT_PARSE_UUID = 376
    NO_COMMON_TYPE = 386
    QUERY_WAS_CANCELLED = 394
    TOO_MANY_ROWS_OR_BYTES = 396
    ACCESS_DENIED = 497
    AUTHENTICATION_FAILED = 516


_REFUSED: dict[int, str] = {
    Code.TOO_FEW_ARGUMENTS: "number_of_arguments_doesnt_match",
    Code.WRONG_NUMBER_OF_ARGUMENTS: "number_of_arguments_doesnt_match",
    Code.ILLEGAL_TYPE_OF_ARGUMENT: "illegal_type_of_argument",
    Code.UNKNOWN_FUNCTION: "unknown_function",
    Code.TYPE_MISMATCH: "type_mismatch",
    Code.UNKNOWN_TABLE: "unknown_table",
    Code.READONLY: "table_access_denied",
    Code.ILLEGAL_AGGREGATION: "illegal_aggregation",
    Code.NOT_AN_AGGREGATE: "not_an_aggregate",
    Code.TOO_MANY_BYTES: "too_many_bytes",
    Code.CANNOT_PARSE_UUID: "cannot_parse_uuid",
    Code.NO_COMMON_TYPE: "no_common_type",
    Code.ACCESS_DENIED: "table_access_denied",
}
_ADVICE = " Select fewer rows or a shorter time range, or materialize the endpoint."
_COSTLY: dict[int, tuple[str, str]] = {
    Code.TIMEOUT_EXCEEDED: ("query_timeout", "The query exceeded its time limit."),
    Code.MEMORY_LIMIT_EXCEEDED: ("query_memory_limit", "The query exceeded its memory limit."),
    Code.TOO_SLOW: ("query_estimated_too_slow", "The query would exceed its time limit."),
    Code.TOO_DEEP_SUBQUERIES: ("query_too_large", "The query is nested too deeply."),
    Code.TOO_DEEP_SYNTAX_TREE: ("query_too_large", "The query is nested too deeply."),
    Code.TOO_BIG_SYNTAX_TREE: ("query_too_large", "The query text is too large."),
    Code.TOO_MANY_ROWS: ("query_performance_limit", "The query reads more rows than allowed."),
    Code.TOO_MANY_ROWS_OR_BYTES: ("query_too_large", "The result is larger than allowed."),
}
_DOWN = frozenset(
    {
        Code.UNKNOWN_DATABASE,
        Code.AUTHENTICATION_FAILED,
        Code.SOCKET_TIMEOUT,
        Code.NETWORK_ERROR,
        Code.TABLE_IS_READ_ONLY,
        Code.NOT_ENOUGH_SPACE,
        Code.TOO_MANY_PARTS,
    }
)

_OF_STORED_DATA = "(while reading from part "  # errors of users' values do not have it

_PREFIX = re.compile(r"^(?:.*?Code: \d+\. )?(?:(?:Received from \S+ )?DB::Exception: )+", re.DOTALL)
_SUFFIX = re.compile(
    r"(?:\s*\([A-Z][A-Z0-9_]+\)\.?)?\s*(?:(?:\(version [\d.]+|\(for url |Stack trace:).*|$)",
    re.DOTALL,
)
_SCOPE = re.compile(
    r"[:.]?\s*(?:In scope |In query |while (?:executing '|converting )|failed at position \d+).*",
    re.DOTALL,
)
_CODE = re.compile(r"Code: (\d+)\b")
_DETAIL_CHARACTERS = 1000


def code_of(message: str) -> int | None:
    """ClickHouse's error code in a message, e.g. 46, else None."""
    match = _CODE.search(message)
    return int(match.group(1)) if match else None


def plain_message(message: str) -> str:
    """The engine's message without its code, generated SQL, version and stack trace.

    Example:
        >>> plain_message("Code: 46. DB::Exception: No such. (UNKNOWN_FUNCTION) (version 26.9.2)")
        'No such.'
    """
    text = _PREFIX.sub("", message.strip())
    text = re.sub(r"^Code: \d+\. DB::Exception: ", "", text)
    text = _SCOPE.sub(".", _SUFFIX.sub("", text))
    return text.strip()[:_DETAIL_CHARACTERS]


def engine_message(error: Exception) -> str:
    """The engine's message in an error of its client.

    The embedded engine's client cannot read a message that quotes bytes, of a hash for example. It
    raises the failure to decode them instead.
    """
    cause = error.__cause__
    if isinstance(cause, UnicodeDecodeError):
        return cause.object.decode(errors="replace")
    return str(error)


def from_engine(message: str, code: int | None = None) -> HogletError:
    """The typed error for an engine message."""
    number = code if code is not None else code_of(message)
    text = plain_message(message)
    if number is None:
        return WarehouseDown("The warehouse is unreachable.")
    if number == Code.QUERY_WAS_CANCELLED:
        return QueryCancelled("The query was cancelled.")
    if number in _COSTLY or (number == Code.SYNTAX_ERROR and "Max query size" in text):
        slug, sentence = _COSTLY.get(number, ("query_too_large", "The query text is too large."))
        return QueryTooCostly(sentence + _ADVICE, code=slug)
    if _OF_STORED_DATA in message:
        log.error(
            "stored rows cannot be read", action="rows_unreadable", reason=message.strip()[:2000]
        )
        return WarehouseDown("Stored rows cannot be read; the log of the server says which.")
    return _other(number, text)


def _other(number: int, text: str) -> HogletError:
    if number == Code.TOO_MANY_QUERIES:
        return WarehouseBusy("The warehouse is running too many queries; try again.")
    if number in _DOWN or number >= 999:
        return WarehouseDown("The warehouse is currently not available; try again later.")
    if number == Code.LOGICAL_ERROR:
        return Bug(text)
    return QueryRefused(text, code=_REFUSED.get(number))
