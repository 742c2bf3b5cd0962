"""Query errors: a ``SourceError`` with a position, a code and a hint; unsupported functions.

Source: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation (the codes).
"""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any, NamedTuple

from hoglet.kit.errors import HogletError, SourceError, SourceSpan
from hoglet.kit.suggestions import near

_FUNNEL = "FunnelsQuery computes funnels; in SQL use windowFunnel(seconds)(time, step, ...)"
UNSUPPORTED: dict[str, str] = {
    "embedText": "it calls a language model, which queries cannot do",
    "explainCSPReport": "it calls a language model, which queries cannot do",
    "explain_csp_report": "it calls a language model, which queries cannot do",
    "convertCurrency": "exchange rates are not available: multiply by your own rate",
    "multiFuzzyMatchAny": "its cost is not bounded: use multiMatchAny or ngramDistance",
    "multiFuzzyMatchAnyIndex": "its cost is not bounded: use multiMatchAnyIndex",
    "multiFuzzyMatchAllIndices": "its cost is not bounded: use multiMatchAllIndices",
    "aggregate_funnel": _FUNNEL,
    "aggregate_funnel_array": _FUNNEL,
    "aggregate_funnel_cohort": _FUNNEL,
    "aggregate_funnel_trends": _FUNNEL,
    "aggregate_funnel_array_trends": _FUNNEL,
    "aggregate_funnel_cohort_trends": _FUNNEL,
}
"""Functions that stay unsupported: name to the alternative, or the reason."""


SYNTAX = "hogql_syntax_error"
QUERY = "hogql_query_error"
UNKNOWN_TABLE = "unknown_table"
UNKNOWN_FUNCTION = "unknown_function"
TABLE_DENIED = "table_access_denied"
ARITY = "number_of_arguments_doesnt_match"
TYPE_MISMATCH = "type_mismatch"
ILLEGAL_TYPE = "illegal_type_of_argument"
NOT_AGGREGATE = "not_an_aggregate"
ILLEGAL_AGGREGATION = "illegal_aggregation"

LIST_OF_PROPERTY = "a list in a property is JSON: JSONExtract(properties, 'key', 'Array(String)')"
"""The hint where an array is needed and a string was given."""

ERRORS_OF_RUNS = frozenset({ARITY, ILLEGAL_TYPE, NOT_AGGREGATE, ILLEGAL_AGGREGATION})
"""Codes of queries that parse but fail when run; saved nevertheless (ADR 14)."""


def is_certain(error: HogletError, text: str) -> bool:
    """Whether an engine error occurs in every run, regardless of variable values.

    Args:
        error: the explained error, with its position.
        text: the query.
    """
    if not isinstance(error, SourceError):
        return False
    quoted = text[error.start : error.end].startswith("'")
    return error.error_code in ERRORS_OF_RUNS or quoted


def refused(
    message: str,
    node: Any = None,
    *,
    code: str = QUERY,
    hint: str | None = None,
    attr: str | None = None,
) -> SourceError:
    """An error at the position of a syntax node (None: the start of the text).

    ``attr`` is the path of a key if the query is JSON: ``series__0__math``.
    """
    start = getattr(node, "start", None)
    end = getattr(node, "end", None)
    if start is None:
        return SourceError(message, code=code, hint=hint, attr=attr)
    return SourceError(
        message,
        SourceSpan(start.line, start.column + 1, start.offset, end.offset if end else start.offset),
        hint=hint,
        code=code,
        attr=attr,
    )


@contextmanager
def located(path: str) -> Generator[None]:
    """Add a path prefix to errors raised inside.

    Example:
        Inside ``located("series__0")``, an error with attr ``math`` gets ``series__0__math``.
    """
    try:
        yield
    except SourceError as error:
        error.attr = f"{path}__{error.attr}" if error.attr else path
        raise


class Fragment(NamedTuple):
    """An expression of a JSON query that was copied into a longer text at offset ``start``.

    ``path`` is its key: ``where__1``.
    """

    path: str
    start: int
    text: str


def in_expression(error: SourceError, path: str, text: str, shift: int = 0) -> SourceError:
    """The error with the path of its expression, and its position inside that expression.

    ``shift`` is where ``text`` starts in the longer text that the error's offsets refer to.
    """
    start = max(0, min(error.start - shift, len(text)))
    line_start = text.rfind("\n", 0, start) + 1
    position = f"{text.count(chr(10), 0, start) + 1}:{start - line_start + 1}"
    message = f"{position}: {error.message}"
    return SourceError(message, hint=error.hint, code=error.error_code, attr=path)


def in_fragment(error: SourceError, fragments: Iterable[Fragment]) -> SourceError | None:
    """The error relative to the fragment that contains it; None if no fragment does."""
    for path, start, text in fragments:
        is_inside = start <= error.start and error.end <= start + len(text)
        if error.start < error.end and is_inside:
            return in_expression(error, path, text, start)
    return None


def unknown_field(
    name: str,
    node: Any,
    known: Iterable[str],
    where: str,
    *,
    missing: str | None = None,
    meant: str | None = None,
) -> SourceError:
    """The error for a name that is neither a column nor an alias.

    ``missing`` is the unknown part of a path whose other parts are known; ``meant`` the suggested
    name.
    """
    hint = f" Did you mean '{meant}'?" if meant else near(missing or name, known)
    return refused(f"Unable to resolve field: {name} ({where}).{hint}", node)


LISTS_TABLES = "a DatabaseSchemaQuery lists tables and fields"


def unknown_table(name: str, node: Any, known: Iterable[str]) -> SourceError:
    """The error for an unknown table."""
    hint = LISTS_TABLES if name.lower().startswith(("information_schema.", "pg_")) else None
    suggestion = "" if hint else near(name, known)
    return refused(f'Unknown table "{name}".{suggestion}', node, code=UNKNOWN_TABLE, hint=hint)


def unknown_function(name: str, node: Any, known: Iterable[str]) -> SourceError:
    """The error for a function that is not allow-listed."""
    hint = _INSTEAD.get(name.lower()) or UNSUPPORTED.get(name)
    suggestion = "" if hint else near(name, known)
    message = f"Unsupported function call '{name}(...)'.{suggestion}"
    return refused(message, node, code=UNKNOWN_FUNCTION, hint=hint)


_INSTEAD = {
    "group_concat": "use string_agg(x, ',')",
    "listagg": "use string_agg(x, ',')",
    "getdate": "use now()",
    "sysdate": "use now()",
    "isnumeric": "use isNotNull(toFloat(x))",
    "charindex": "use position(text, part)",
    "to_number": "use toFloat(x)",
    "approx_count_distinct": "use uniq(x)",
    "arbitrary": "use any(x)",
    "grouping": "use WITH ROLLUP or CUBE, whose total rows have empty values",
    "unix_timestamp": "use toUnixTimestamp(x)",
    "strftime": "use formatDateTime(x, '%Y-%m-%d')",
    "tomorrow": "use today() + 1",
    "neighbor": "use lagInFrame(x) OVER (ORDER BY timestamp)",
    "runningdifference": "use x - lagInFrame(x) OVER (ORDER BY timestamp)",
    "runningaccumulate": "use sum(x) OVER (ORDER BY timestamp)",
    "try_cast": "use toInt(x) or toFloat(x), which are NULL for other values",
    "safe_divide": "use a / nullIf(b, 0)",
    "jsonb_extract_path": "use JSONExtractString(x, 'key')",
    "jsonb_extract_path_text": "use JSONExtractString(x, 'key')",
    "approx_percentile": "use quantile(0.9)(x)",
    "percentile": "use quantile(0.9)(x)",
    "percentile_approx": "use quantile(0.9)(x)",
    **{f"p{level}": f"use quantile(0.{level})(x)" for level in (50, 75, 90, 95, 99)},
    "nvl2": "use if(isNotNull(a), b, c)",
    "decode": "use transform(x, ['a'], ['b'], 'other')",
}
"""Functions of other dialects, and their equivalents."""
