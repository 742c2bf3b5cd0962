"""Pages: ``{count, next, previous, results}`` with absolute URLs.

Source: docs/spec/hog-functions.md#8-list-row-1; docs/spec/query-endpoints.md#1-routes.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.requests import Request

from hoglet.web.request_body import BODY_KEY

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000
MAX_INTEGER = 2**63 - 1  # the largest that a database accepts
ORIGINAL_PATH = "hoglet.path"
_REPLACED = frozenset({"limit", "offset", BODY_KEY})


class PageRequest(msgspec.Struct, frozen=True):
    """The requested slice of a list; ``limit`` None means all of it."""

    limit: int | None
    offset: int


def parse_page(
    query: Mapping[str, str],
    *,
    default: int | None = DEFAULT_LIMIT,
    maximum: int | None = MAX_LIMIT,
) -> PageRequest:
    """Parse ``limit`` and ``offset``; 0 and invalid values mean the default, large ones are cut."""
    limit = _positive(query.get("limit")) or default
    if limit is not None:
        limit = min(limit, maximum or MAX_INTEGER)
    return PageRequest(limit, min(_positive(query.get("offset")) or 0, MAX_INTEGER))


def envelope(
    request: Request, page: PageRequest, count: int, results: Sequence[Any]
) -> dict[str, Any]:
    """The response of a list route: ``count`` is the total, ``results`` has this page."""
    return {
        "count": count,
        "next": _next(request, page, count),
        "previous": _previous(request, page),
        "results": results,
    }


def page_links(request: Request, page: PageRequest, *, has_more: bool) -> dict[str, str | None]:
    """``next`` and ``previous`` of a list without a total count."""
    following = None
    if page.limit is not None and has_more:
        following = _page_url(request, page.limit, page.offset + page.limit)
    return {"next": following, "previous": _previous(request, page)}


def absolute_url(request: Request) -> str:
    """The URL of the request, without its query string."""
    path: str = request.scope.get(ORIGINAL_PATH, request.url.path)
    return str(request.url.replace(path=path, query="", fragment=""))


def _next(request: Request, page: PageRequest, count: int) -> str | None:
    if page.limit is None or page.offset + page.limit >= count:
        return None
    return _page_url(request, page.limit, page.offset + page.limit)


def _previous(request: Request, page: PageRequest) -> str | None:
    if page.limit is None or page.offset <= 0:
        return None
    return _page_url(request, page.limit, max(0, page.offset - page.limit))


def _page_url(request: Request, limit: int, offset: int) -> str:
    """The request's URL with ``limit`` and ``offset`` replaced; the first page has no offset.

    It has no key: responses are logged and stored where keys must not be.
    """
    pairs = parse_qsl(request.url.query, keep_blank_values=True)
    parameters = [(name, value) for name, value in pairs if name not in _REPLACED]
    parameters.append(("limit", str(limit)))
    if offset:
        parameters.append(("offset", str(offset)))
    return f"{absolute_url(request)}?{urlencode(parameters)}"


def _positive(text: str | None) -> int | None:
    """Parse a positive integer; None if it is not one."""
    digits = (text or "").strip()
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 19:
        return None
    return int(digits) or None
