"""Parses a run from its body, query string and ``Accept`` header.

Source: docs/spec/query-endpoints.md#51-request; RFC 9110 section 12.5.1.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request

from hoglet.endpoints import errors
from hoglet.endpoints.errors import bad_parameter
from hoglet.endpoints.schemas import RunBody, RunRequest, read
from hoglet.endpoints.versions.aliases import is_alias
from hoglet.kit.errors import Invalid, NotAcceptable
from hoglet.web.request_body import read_object
from hoglet.web.validation import NOT_BOOLEAN

_DIGITS = 18
MOST_ROWS = 50_000

JSON = "application/json"
CSV = "text/csv"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
FORMS = (JSON, CSV, NDJSON, ARROW, PARQUET)  # the first of equal quality wins
_ALIASES = {"application/ndjson": NDJSON, "application/jsonl": NDJSON}


async def read_run(request: Request, aliases: Mapping[str, int]) -> RunRequest:
    """Parse a run; the body takes precedence over the (GET) query string.

    Args:
        request: the request of a run.
        aliases: the endpoint's aliases, which are accepted as versions.

    Raises:
        Invalid: docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation rows 5 to 7.
    """
    body = read(RunBody, await read_object(request))
    if request.method == "GET":
        body = read(RunBody, {**_query_fields(request), **body.model_dump(exclude_unset=True)})
    version = body.version if body.version is not None else read_version(request)
    if isinstance(version, str):
        if version not in aliases:
            raise errors.unknown_alias(version)
        version = aliases[version]
    limit = body.limit if body.limit is not None else _page_number(request, "limit", least=1)
    offset = body.offset if body.offset is not None else _page_number(request, "offset", least=0)
    cursor = body.cursor or request.query_params.get("cursor") or None
    if offset is not None and cursor is not None:
        raise errors.not_allowed("offset", "cannot be used together with cursor.")
    if offset is not None and limit is None:
        raise errors.offset_without_limit()
    return RunRequest(
        variables=body.variables or {},
        version=version,
        refresh=body.refresh,
        debug=body.debug,
        client_query_id=body.client_query_id,
        filters_override=body.filters_override,
        query_override=body.query_override,
        limit=limit,
        offset=offset,
        cursor=cursor,
    )


def polled_id(request: Request) -> str | None:
    """The id of a background run to poll: GET with the id and no refresh mode."""
    if request.method != "GET" or request.query_params.get("refresh"):
        return None
    return request.query_params.get("client_query_id") or None


def _query_fields(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in ("refresh", "client_query_id"):
        if request.query_params.get(name):
            fields[name] = request.query_params[name]
    debug = request.query_params.get("debug")
    if debug:
        if debug.lower() not in ("true", "false", "1", "0"):
            raise Invalid(NOT_BOOLEAN, attr="debug")
        fields["debug"] = debug.lower() in ("true", "1")
    return fields


def _page_number(request: Request, name: str, *, least: int) -> int | None:
    number = read_number(request, name, least=least)
    if name == "limit" and number is not None and number > MOST_ROWS:
        raise errors.bad_parameter(name, number)
    return number


def read_version(request: Request) -> int | str | None:
    """``?version=n`` or an alias; None if missing or empty.

    Raises:
        Invalid: it is neither; with ``error``.
    """
    text = request.query_params.get("version")
    if text is None or not text.strip():
        return None
    version = version_of(text.strip())
    return read_number(request, "version") if version is None else version


def version_of(text: str) -> int | str | None:
    """A version number or a possible alias; None for anything else.

    Example:
        >>> version_of("2"), version_of("prod"), version_of("1.5")
        (2, 'prod', None)
    """
    if text.isascii() and text.isdecimal() and len(text) <= _DIGITS:
        return int(text)
    return text if is_alias(text) else None


def read_number(request: Request, name: str, *, least: int | None = None) -> int | None:
    """An integer in the query string, None if missing or empty.

    Raises:
        Invalid: not an integer, or below ``least``; with ``error``.
    """
    text = request.query_params.get(name)
    if text is None or not text.strip():
        return None
    digits = text.strip()
    unsigned = digits.removeprefix("-")
    if not (unsigned.isascii() and unsigned.isdecimal() and len(unsigned) <= _DIGITS):
        raise bad_parameter(name, text)
    number = int(digits)
    if least is not None and number < least:
        raise bad_parameter(name, text)
    return number


def wanted_form(accept: str, offered: Iterable[str] = FORMS) -> str:
    """The best of the offered media types; JSON if the header is empty.

    Example:
        >>> wanted_form("text/csv, application/json;q=0.5"), wanted_form("*/*")
        ('text/csv', 'application/json')

    Raises:
        NotAcceptable: none of them is acceptable.
    """
    if not accept.strip():
        return JSON
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best, chosen = 0.0, None
    for form in offered:
        quality = _quality(form, ranges)
        if quality > best:
            best, chosen = quality, form
    if chosen is None:
        listed = ", ".join(offered)
        raise NotAcceptable(f"Results are available as {listed}; none of these is in Accept.")
    return chosen


def _range(part: str) -> tuple[str, float]:
    kind, *parameters = (text.strip().lower() for text in part.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            quality = _number(value)
    return _ALIASES.get(kind, kind), quality


def _number(text: str) -> float:
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0


def _quality(form: str, ranges: list[tuple[str, float]]) -> float:
    """The quality of a media type by its most specific range; 0 if no range matches."""
    group = form.partition("/")[0]
    for media_range in (form, f"{group}/*", "*/*"):
        qualities = [quality for kind, quality in ranges if kind == media_range]
        if qualities:
            return max(qualities)
    return 0.0
