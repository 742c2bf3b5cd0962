"""Prevents functions from triggering themselves through this server's capture routes.

A property counts how many functions in a row captured an event, with ``postHogCapture`` or a
``fetch`` of the capture routes; both stop at the same depth.

Source: docs/spec/hog-functions.md#133-functions.
"""

from typing import Any
from urllib.parse import unquote

from hoglet.functions.json_types import EventGlobal
from hoglet.kit.json import JsonObject, dump_json, is_array, is_object, object_at, parse_json
from hoglet.outbound.targets import InvalidUrl, normalize_host, parse_url

DEPTH_PROPERTY = "$hog_function_execution_count"
MAX_DEPTH = 10
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "0.0.0.0"})  # noqa: S104 (compared, not bound)
_CAPTURE_PATHS = frozenset({"/batch", "/i/v0/e", "/e", "/capture", "/track", "/engage"})


def depth_of(event: EventGlobal) -> int:
    """How many functions in a row led to an event."""
    count = object_at(event, "properties").get(DEPTH_PROPERTY)
    return count if isinstance(count, int) and not isinstance(count, bool) else 0


def is_own_capture(url: str, site_url: str) -> bool:
    """Whether a URL is a capture route of this server."""
    try:
        target, site = parse_url(url), parse_url(site_url)
    except InvalidUrl:
        return False
    if (_host(target.host), target.port) != (_host(site.host), site.port):
        return False
    path = unquote(target.origin_form.partition("?")[0])
    return path.rstrip("/") in _CAPTURE_PATHS


def with_depth(body: str | None, depth: int) -> str | None:
    """A capture body whose events carry ``depth``; invalid JSON is returned unchanged."""
    try:
        parsed: Any = parse_json(body or "")
    except ValueError:
        return body
    for event in _events(parsed):
        properties = event.get("properties")
        event["properties"] = {
            **(properties if is_object(properties) else {}),
            DEPTH_PROPERTY: depth,
        }
    return dump_json(parsed).decode()


def _events(parsed: Any) -> list[JsonObject]:
    if is_object(parsed):
        parsed = parsed["batch"] if is_array(parsed.get("batch")) else [parsed]
    return [item for item in parsed if is_object(item)] if is_array(parsed) else []


def _host(name: str) -> str:
    """A host name, with one canonical name for all names of this machine."""
    name = normalize_host(name)
    return "localhost" if name in _THIS_MACHINE else name
