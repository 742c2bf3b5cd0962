"""Looks up IP addresses in a database in MaxMind's format.

The file is memory-mapped once per worker process; a newer file is used after a restart.

Source: docs/spec/hog-functions.md#136-transformations; MaxMind DB file format specification 2.0.
"""

# maxminddb ships no complete types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import maxminddb

from hoglet.kit.json import is_array, is_object

type GeoRecord = dict[str, Any]
"""A place: ``{"city": {"names": {"en": "Oslo"}}, "country": {"isoCode": "NO"}}``."""

type GeoLookup = Callable[[str], GeoRecord | None]

_CACHED = 1024  # visitors send several events in a row
_SNAKE = re.compile(r"_([a-z0-9])")


def no_geoip(_ip: str) -> None:
    """The lookup without a database: always null."""


@lru_cache(maxsize=4)
def open_geoip(path: str | None) -> GeoLookup:
    """The lookup in a database; always null without a path or with an invalid file.

    Programs read ``place.city.names.en``, ``place.country.isoCode``, ``place.location.timeZone``:
    MaxMind's field names in camel case.
    """
    if path is None:
        return no_geoip
    try:
        reader = maxminddb.open_database(path)
    except (OSError, maxminddb.InvalidDatabaseError):
        return no_geoip  # reported at server startup; must not fail for events

    @lru_cache(maxsize=_CACHED)
    def lookup(ip: str) -> GeoRecord | None:
        try:
            address = ipaddress.ip_address(ip.strip())
            mapped = address.ipv4_mapped if address.version == 6 else None
            record: Any = reader.get(mapped or address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            return None
        return _camel_case(record) if is_object(record) else None

    return lookup


def check_database(path: str) -> str | None:
    """Why a file cannot be used, None if it can."""
    try:
        maxminddb.open_database(path).close()
    except (OSError, maxminddb.InvalidDatabaseError) as error:
        return str(error)
    return None


def _camel_case(value: Any) -> Any:
    if is_object(value):
        return {_SNAKE.sub(_upper, key): _camel_case(part) for key, part in value.items()}
    return [_camel_case(part) for part in value] if is_array(value) else value


def _upper(match: re.Match[str]) -> str:
    return match[1].upper()
