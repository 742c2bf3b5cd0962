"""The reference page of error codes, from the families of errors and the mapper to HTTP."""

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
    "blank": "A text that may not be empty is empty.",
    "invalid": "Not an id of this kind.",
    "invalid_choice": "The value is none of the choices.",
    "max_length": "The text or list is longer than it may be.",
    "max_value": "The number is higher than it may be.",
    "min_length": "The text or list is shorter than it has to be.",
    "min_value": "The number is lower than it may be.",
    "not_a_dict": "An object was expected.",
    "not_a_list": "A list was expected.",
    "null": "The field may not be null.",
    "required": "The field is missing.",
}
"""Further codes of one field's fault."""

QUERY_CODES = {
    "cannot_parse_uuid": "A text is read as a UUID and is none.",
    "hogql_query_error": "The query is not valid; the detail tells where and why.",
    "hogql_syntax_error": "The query does not parse.",
    "illegal_aggregation": "An aggregate stands where none may be.",
    "illegal_type_of_argument": "A function is given a type it does not take.",
    "no_common_type": "Values that have to be of one type are not.",
    "not_an_aggregate": "A column is neither aggregated nor grouped by.",
    "number_of_arguments_doesnt_match": "A function is given too many or too few arguments.",
    "table_access_denied": "The table may not be read.",
    "too_many_bytes": "The query reads more than it may.",
    "type_mismatch": "Types do not fit.",
    "unknown_function": "There is no such function.",
    "unknown_table": "There is no such table.",
}
"""Codes of a query's fault, at save and at run."""

COST_CODES = {
    "query_estimated_too_slow": "The query would run longer than it may.",
    "query_memory_limit": "The query needs more memory than it may.",
    "query_timeout": "The query ran longer than it may.",
    "query_too_large": "The query text is too large or too deep, or its answer is too large.",
}
"""Codes of a query over its budget."""

OTHER_CODES = {"authentication_failed": (errors.Unauthenticated, "The key is not valid.")}


def errors_page() -> str:
    """Every code with status, type and meaning."""
    lines = [
        "# Error codes\n",
        "Every error is answered as `{type, code, detail, attr}`. Programs may rely on `type`,",
        "`code` and `attr`; `detail` is for people and may change. `attr` is the field at fault,",
        "nested names joined with `__`.\n",
        "| code | status | type | meaning |",
        "|---|---|---|---|",
        *sorted({_row(*entry) for entry in http_codes()}),
        "",
        "These end a start or a command, or stay inside the server; they are never answered:\n",
        "| code | meaning |",
        "|---|---|",
        *(f"| `{code}` | {text} |" for code, text in sorted(_command_codes().items())),
    ]
    return "\n".join(lines) + "\n"


def http_codes() -> Iterator[tuple[str, type[HogletError], str]]:
    """Code, family and meaning of everything that may be answered."""
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
    """Those that bring a code of their own; importing the rooms makes them known."""
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
    """Meaning by code; a code that two rooms use has one line."""
    known = {code for code, _, _ in http_codes()}
    return {
        kind.code: _meaning(kind)
        for kind in _kinds()
        if not _is_http(kind) and kind.code not in known
    }


def _meaning(kind: type[HogletError]) -> str:
    first = _STATUS.sub("", (kind.__doc__ or "").strip().split("\n")[0])
    return first.replace("``", "`").rstrip(".") + "."
