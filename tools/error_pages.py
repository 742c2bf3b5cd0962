"""Generates the reference page of error codes from the error classes and their HTTP mapping."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import hoglet
from hoglet.endpoints.worker.query_errors import CODES
from hoglet.kit import errors
from hoglet.kit.errors import HogletError
from hoglet.web.error_handlers import status_and_type

_STATUS = re.compile(r" \([45]\d\d [^)]*\)")  # the table has it in columns of its own

FIELD_CODES = {
    "blank": "A string that must not be empty is empty.",
    "invalid": "Not a valid value or id.",
    "invalid_choice": "The value is not one of the choices.",
    "max_length": "The string or list is too long.",
    "max_value": "The number is too large.",
    "min_length": "The string or list is too short.",
    "min_value": "The number is too small.",
    "does_not_exist": "The request names an object that does not exist.",
    "not_a_dict": "An object was expected.",
    "not_a_list": "A list was expected.",
    "null": "The field must not be null.",
    "required": "The field is missing.",
}
"""Additional codes for invalid fields."""

QUERY_CODES = {
    "cannot_parse_uuid": "A string is not a valid UUID.",
    "hogql_query_error": "The query is not valid; the detail says where and why.",
    "hogql_syntax_error": "The query does not parse.",
    "illegal_aggregation": "An aggregate is used where none is allowed.",
    "illegal_type_of_argument": "A function does not accept the type of an argument.",
    "no_common_type": "Values that need a common type have none.",
    "not_an_aggregate": "A column is neither aggregated nor in GROUP BY.",
    "number_of_arguments_doesnt_match": "A function has too many or too few arguments.",
    "table_access_denied": "The key lacks the scope for this table.",
    "too_many_bytes": "The query reads more data than allowed.",
    "type_mismatch": "Types are not compatible.",
    "unknown_function": "The function does not exist.",
    "unknown_table": "The table does not exist.",
}
"""Codes for invalid queries, when saved and when run."""

COST_CODES = {
    "query_estimated_too_slow": "The query would exceed its time limit.",
    "query_memory_limit": "The query exceeded its memory limit.",
    "query_timeout": "The query exceeded its time limit.",
    "query_too_large": "The query is too large or nested too deeply, or its result is too large.",
}
"""Codes for queries that exceed their budget."""

OTHER_CODES = {"authentication_failed": (errors.Unauthenticated, "The key is not valid.")}


def errors_page() -> str:
    """Every code with status, type and meaning."""
    lines = [
        "# Error codes\n",
        "Every error response is `{type, code, detail, attr}`. Programs can rely on `type`,",
        "`code` and `attr`; `detail` is for humans and may change. `attr` is the invalid field;",
        "nested names are joined with `__`.\n",
        "| code | status | type | meaning |",
        "|---|---|---|---|",
        *sorted({_row(*entry) for entry in http_codes()}),
        "",
        "These end a startup or a command, or are internal; they are never part of a response:\n",
        "| code | meaning |",
        "|---|---|",
        *(f"| `{code}` | {text} |" for code, text in sorted(_command_codes().items())),
    ]
    return "\n".join(lines) + "\n"


def http_codes() -> Iterator[tuple[str, type[HogletError], str]]:
    """Code, error class and meaning of every code in responses."""
    for kind in _kinds():
        if _is_http(kind):
            yield kind.code, kind, _meaning(kind)
    for code, meaning in FIELD_CODES.items():
        yield code, errors.Invalid, meaning
    for code in CODES:
        yield code, errors.Invalid, QUERY_CODES[code]
    for code, meaning in COST_CODES.items():
        yield code, errors.CostExceeded, meaning
    for code, (kind, meaning) in OTHER_CODES.items():
        yield code, kind, meaning


def _row(code: str, kind: type[HogletError], meaning: str) -> str:
    status, type_ = status_and_type(kind)
    return f"| `{code}` | {status} | `{type_}` | {meaning} |"


def _kinds() -> list[type[HogletError]]:
    """The error classes that define a code; importing the packages registers them."""
    for module in pkgutil.walk_packages(hoglet.__path__, "hoglet."):
        if not module.name.startswith("hoglet.migrations"):  # runs only inside Alembic
            importlib.import_module(module.name)
    return [kind for kind in _below(HogletError) if "code" in vars(kind)]


def _below(kind: type[HogletError]) -> Iterator[type[HogletError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)


def _is_http(kind: type[HogletError]) -> bool:
    return status_and_type(kind)[0] < 500 or issubclass(kind, errors.Unavailable | errors.Bug)


def _command_codes() -> dict[str, str]:
    """Meaning by code; of two modules with the same code, the last in the alphabet defines it."""
    known = {code for code, _, _ in http_codes()}
    return {
        kind.code: _meaning(kind)
        for kind in sorted(_kinds(), key=lambda kind: kind.__module__)
        if not _is_http(kind) and kind.code not in known
    }


def _meaning(kind: type[HogletError]) -> str:
    first = _STATUS.sub("", (kind.__doc__ or "").strip().split("\n")[0])
    return first.replace("``", "`").rstrip(".") + "."
