"""Query parameters of the function list.

Source: docs/spec/hog-functions.md#8-list-row-1.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import orjson

from hoglet.functions.repository import FunctionFilter, FunctionSummary
from hoglet.functions.search import MAX_CHARACTERS, Searchable, clean_query, search
from hoglet.kit.clock import parse_instant
from hoglet.kit.errors import Invalid
from hoglet.kit.json import is_array, is_object

_TRUE = frozenset({"true", "t", "1", "yes", "on"})
_FALSE = frozenset({"false", "f", "0", "no", "off"})


class ListParameters(Protocol):
    """Query parameters that can be repeated, as Starlette provides them."""

    def get(self, key: str, /) -> str | None:
        """The last value of a parameter."""
        ...

    def getlist(self, key: Any, /) -> list[str]:
        """All values of a parameter."""
        ...


class Listing(NamedTuple):
    """A parsed list request."""

    filters: FunctionFilter
    filter_groups: Sequence[Any] = ()
    search: str = ""
    full: bool = False

    @property
    def needs_summaries(self) -> bool:
        """Whether the database alone cannot answer the request."""
        return bool(self.filter_groups or self.search)


def read_listing(query: ListParameters) -> Listing:
    """Parse the parameters.

    Raises:
        Invalid: one of them is invalid; attr is the parameter.
    """
    filters = FunctionFilter(
        types=_types(query),
        enabled=_boolean(query.get("enabled")),
        id=_uuid(query.get("id")),
        created_by=_user_id(query.get("created_by")),
        created_at=_instant(query, "created_at"),
        updated_at=_instant(query, "updated_at"),
    )
    return Listing(
        filters=filters,
        filter_groups=_filter_groups(query),
        search=_search(query.get("search")),
        full=_boolean(query.get("full")) is True,
    )


def choose(listing: Listing, summaries: Sequence[FunctionSummary]) -> list[tuple[UUID, str | None]]:
    """The functions that match ``filter_groups`` and ``search``, in response order.

    Returns:
        Pairs of an id and the kind of match of the search, None without a search.
    """
    groups = listing.filter_groups
    matching = [
        summary
        for summary in summaries
        if not groups or any(contains(summary.filters, group) for group in groups)
    ]
    if not listing.search:
        return [(summary.id, None) for summary in matching]
    rows = [Searchable(item.id, item.name or "", item.description) for item in matching]
    return [(UUID(str(key)), kind) for key, kind in search(listing.search, rows)]


def _types(query: ListParameters) -> list[str]:
    values = [*query.getlist("type"), *query.getlist("type[]")]
    parts = [part.strip() for value in values for part in value.split(",")]
    # PostgreSQL rejects NUL, and no type contains it; nor does one contain its replacement.
    return [part.replace("\x00", "\N{REPLACEMENT CHARACTER}") for part in parts if part]


def _boolean(text: str | None) -> bool | None:
    lowered = (text or "").strip().lower()
    if lowered in _TRUE:
        return True
    return False if lowered in _FALSE else None


def _uuid(text: str | None) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError:
        raise Invalid("Enter a valid UUID.", attr="id") from None


def _user_id(text: str | None) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdecimal() and len(text) <= 9:
        return int(text)
    raise unknown_user()


def unknown_user() -> Invalid:
    """The error for a ``created_by`` without such a user."""
    detail = "Select a valid choice. That choice is not one of the available choices."
    return Invalid(detail, code="invalid_choice", attr="created_by")


def _instant(query: ListParameters, name: str) -> Any:
    text = query.get(name)
    if not text:
        return None
    moment = parse_instant(text)
    if moment is None:
        raise Invalid("Enter a valid date/time.", attr=name)
    return moment


def _filter_groups(query: ListParameters) -> list[Any]:
    groups: list[Any] = []
    single = query.get("filters")
    if single:
        parsed = _json(single, "filters")
        if not is_object(parsed):
            raise Invalid("A JSON object is required.", attr="filters")
        groups.append(parsed)
    several = query.get("filter_groups")
    if several:
        parsed = _json(several, "filter_groups")
        if not is_array(parsed) or not all(is_object(item) for item in parsed):
            raise Invalid("A JSON array of objects is required.", attr="filter_groups")
        groups.extend(parsed)
    return groups


def _json(text: str, attr: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise Invalid("This is not valid JSON.", attr=attr) from None


def _search(text: str | None) -> str:
    if text is None:
        return ""
    if len(text) > MAX_CHARACTERS:
        raise Invalid(f"Search for at most {MAX_CHARACTERS} characters.", attr="search")
    return clean_query(text)


def contains(stored: Any, expected: Any) -> bool:
    """Whether a stored JSON value contains an expected one.

    Objects are compared by key, arrays as subsets, scalars by value; numbers never equal booleans.

    Example:
        >>> contains({"events": [{"id": "a", "order": 1}]}, {"events": [{"id": "a"}]})
        True
        >>> contains({"order": 1}, {"order": True}), contains({"order": 1}, {"order": 1.0})
        (False, True)
    """
    if is_object(expected):
        return is_object(stored) and all(
            key in stored and contains(stored[key], value) for key, value in expected.items()
        )
    if is_array(expected):
        return is_array(stored) and all(
            any(contains(item, value) for item in stored) for value in expected
        )
    if isinstance(stored, bool) or isinstance(expected, bool):
        return stored is expected
    return not isinstance(stored, dict | list) and stored == expected
