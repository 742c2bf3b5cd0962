"""The request of a run: parsed from its body and query string, checked, and its ``Accept`` header.

Source: docs/spec/query-endpoints.md#51-request,
docs/spec/query-endpoints.md#58-run-errors-in-order-of-evaluation; RFC 9110 section 12.5.1.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request

from hoglet.access.principals import Principal
from hoglet.access.variables import InsightVariable
from hoglet.endpoints import errors
from hoglet.endpoints.enums import HOGQL
from hoglet.endpoints.errors import bad_parameter
from hoglet.endpoints.query_schema import expand
from hoglet.endpoints.run.targets import RunTarget
from hoglet.endpoints.schemas import RunBody, RunRequest, read
from hoglet.endpoints.variables import (
    names_without_value,
    refuse_unknown_names,
    stored_values,
)
from hoglet.endpoints.versions.aliases import is_alias
from hoglet.kit.errors import Invalid, NotAcceptable
from hoglet.kit.json import is_array, is_object
from hoglet.kit.relative_dates import DateClock, NotADate, resolve_date
from hoglet.web.request_body import read_object
from hoglet.web.validation import NOT_BOOLEAN, REQUIRED

type Json = dict[str, Any]

_DIGITS = 18
_VERSION_DIGITS = 100  # such a version does not exist; more digits are no number of anything
MAX_ROWS = 50_000

JSON = "application/json"
CSV = "text/csv"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
MEDIA_TYPES = (JSON, CSV, NDJSON, ARROW, PARQUET)  # the first of equal quality wins
_ALIASES = {"application/ndjson": NDJSON, "application/jsonl": NDJSON}
_FUNNELS = "FunnelsQuery"
_DATE_NAMES = ("date_from", "date_to")
_ANY_DAY = DateClock(datetime(2026, 1, 1, tzinfo=UTC))
"""Only to validate dates; the result does not depend on the day."""
_PROTECTED_KEYS = ("breakdownFilter", "properties")
_CODE_KEYS = ("math_hogql", "pathsHogQLExpression", "funnelAggregateByHogQL")
_WAREHOUSE_NODES = frozenset({"DataWarehouseNode", "HogQLQuery", "HogQuery"})


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
    if name == "limit" and number is not None and number > MAX_ROWS:
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
    if text.isascii() and text.isdecimal() and len(text) <= _VERSION_DIGITS:
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


def check_run(
    target: RunTarget,
    request: RunRequest,
    principal: Principal,
    known: Sequence[InsightVariable] = (),
) -> None:
    """Validate a run, in the order of rows 9 to 12 of the specification.

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


def negotiated(accept: str, offered: Iterable[str] = MEDIA_TYPES) -> str:
    """The best of the offered media types; JSON if the header is empty.

    Example:
        >>> negotiated("text/csv, application/json;q=0.5"), negotiated("*/*")
        ('text/csv', 'application/json')

    Raises:
        NotAcceptable: none of them is acceptable.
    """
    if not accept.strip():
        return JSON
    ranges = [_range(part) for part in accept.split(",") if part.strip()]
    best, chosen = 0.0, None
    for media_type in offered:
        quality = _quality(media_type, ranges)
        if quality > best:
            best, chosen = quality, media_type
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


def _quality(media_type: str, ranges: list[tuple[str, float]]) -> float:
    """The quality of a media type by its most specific range; 0 if no range matches."""
    group = media_type.partition("/")[0]
    for media_range in (media_type, f"{group}/*", "*/*"):
        qualities = [quality for kind, quality in ranges if kind == media_range]
        if qualities:
            return max(qualities)
    return 0.0
