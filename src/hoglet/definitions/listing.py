"""Query parameters of definition lists.

Source: docs/spec/data-and-queries.md#22-property_definitions and
docs/spec/data-and-queries.md#25-event_definitions.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
import orjson

from hoglet.kit.errors import Invalid
from hoglet.kit.suggestions import near

EVENT: Final = "event"
GROUP: Final = "group"
SESSION: Final = "session"
PROPERTY_KINDS: Final = (EVENT, "person", GROUP, SESSION)
EVENT_TYPES: Final = ("event", "event_custom", "event_posthog")
ORDERINGS: Final = ("name", "last_seen_at", "created_at")

TITLES: Final = {
    "$active_feature_flags": "active feature flags",
    "$current_url": "current url",
    "$device_type": "device type",
    "$geoip_city_name": "city name",
    "$geoip_country_code": "country code",
    "$host": "host domain",
    "$ip": "ip address",
    "$lib": "library",
    "$lib_version": "library version",
    "$os": "operating system",
    "$pathname": "path name",
    "$raw_user_agent": "raw user agent",
    "$referrer": "referrer url",
    "$screen_height": "screen height",
    "$screen_width": "screen width",
    "$autocapture": "clicks and other actions",
    "$identify": "identify person",
    "$pageleave": "page leave",
    "$pageview": "page view",
}
"""Names with a well-known title, which searches match as well."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class PropertyListFilter(msgspec.Struct, frozen=True):
    """Filters of a list of property definitions; None and empty mean no condition.

    ``kind`` is ``event``, ``person``, ``session`` or ``group_0`` to ``group_4``.
    """

    kind: str = EVENT
    words: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    event_names: tuple[str, ...] | None = None
    only_of_events: bool = False
    is_numerical: bool | None = None
    is_feature_flag: bool | None = None
    verified: bool | None = None
    exclude_core: bool = False
    exclude_hidden: bool = False


class EventListFilter(msgspec.Struct, frozen=True):
    """Filters and order of a list of event definitions."""

    event_type: str = "event"
    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    verified: bool | None = None
    exclude_hidden: bool = False
    ordering: str | None = None
    descending: bool = False


def read_property_filter(query: Mapping[str, str]) -> PropertyListFilter:
    """Parse the parameters of a list of property definitions.

    Raises:
        Invalid: attr is the invalid parameter.
    """
    kind = _kind(query)
    event_names = read_names(query, "event_names") if query.get("event_names") else None
    if event_names is not None and kind != EVENT:
        raise Invalid("event_names requires type=event.", attr="event_names")
    return PropertyListFilter(
        kind=kind,
        words=_words(query),
        names=_exact_names(query),
        excluded=read_names(query, "excluded_properties"),
        event_names=event_names,
        only_of_events=bool(_flag(query, "filter_by_event_names")),
        is_numerical=_flag(query, "is_numerical"),
        is_feature_flag=_flag(query, "is_feature_flag"),
        verified=_flag(query, "verified"),
        exclude_core=bool(_flag(query, "exclude_core_properties")),
        exclude_hidden=bool(_flag(query, "exclude_hidden")),
    )


def read_event_filter(query: Mapping[str, str]) -> EventListFilter:
    """Parse the parameters of a list of event definitions.

    Raises:
        Invalid: attr is the invalid parameter.
    """
    ordering = query.get("ordering") or None
    if ordering is not None and ordering.removeprefix("-") not in ORDERINGS:
        raise _no_choice("ordering", ordering, ORDERINGS)
    event_type = query.get("event_type") or "event"
    if event_type not in EVENT_TYPES:
        raise _no_choice("event_type", event_type, EVENT_TYPES)
    return EventListFilter(
        event_type=event_type,
        words=_words(query),
        excluded=read_names(query, "excluded_properties"),
        tags=read_names(query, "tags"),
        verified=_flag(query, "verified"),
        exclude_hidden=bool(_flag(query, "exclude_hidden")),
        ordering=None if ordering is None else ordering.removeprefix("-"),
        descending=bool(ordering and ordering.startswith("-")),
    )


def read_names(query: Mapping[str, str], name: str) -> tuple[str, ...]:
    """A JSON list of strings, ``["a", "b"]``; empty if not given.

    Raises:
        Invalid: anything else.
    """
    text = query.get(name)
    if not text:
        return ()
    try:
        names = orjson.loads(text)
    except orjson.JSONDecodeError:
        names = None
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise Invalid(f'{name} must be a JSON list of strings, such as ["a", "b"].', attr=name)
    return tuple(_storable(each) for each in names)


def titled(words: tuple[str, ...]) -> tuple[str, ...]:
    """The names whose title contains every word."""
    return tuple(
        name for name, title in TITLES.items() if words and all(word in title for word in words)
    )


def _kind(query: Mapping[str, str]) -> str:
    kind, index = query.get("type") or EVENT, query.get("group_type_index") or None
    if kind not in PROPERTY_KINDS:
        raise _no_choice("type", kind, PROPERTY_KINDS)
    if kind != GROUP:
        if index is not None:
            raise Invalid("group_type_index requires type=group.", attr="group_type_index")
        return kind
    if index is None or index not in {"0", "1", "2", "3", "4"}:
        raise Invalid("type=group requires group_type_index, 0 to 4.", attr="group_type_index")
    return f"group_{index}"


def _words(query: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(_storable(query.get("search") or "").lower().split())


def _exact_names(query: Mapping[str, str]) -> tuple[str, ...] | None:
    text = query.get("properties")
    if not text:
        return None
    return tuple(name for each in text.split(",") if (name := _storable(each.strip())))


def _flag(query: Mapping[str, str], name: str) -> bool | None:
    text = query.get(name)
    if not text:
        return None
    flag = _BOOLEANS.get(text.lower())
    if flag is None:
        raise Invalid("Must be a valid boolean.", attr=name)
    return flag


def _no_choice(name: str, given: str, choices: tuple[str, ...]) -> Invalid:
    hint = near(given, choices) or f" Use one of: {', '.join(choices)}."
    return Invalid(f'"{given}" is not a valid choice.{hint}', attr=name, code="invalid_choice")


def _storable(text: str) -> str:
    return text.replace("\0", "\ufffd")
