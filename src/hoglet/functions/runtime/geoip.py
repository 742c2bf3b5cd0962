"""The place of an IP address, from a database in MaxMind's format.

The file is opened once in each worker process and mapped, not read. A newer file is noticed when
the server starts again.

Source: docs/spec/hog-functions.md#136-transformations; MaxMind DB file format specification 2.0.
"""

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import maxminddb

type GeoLookup = Callable[[str], dict[str, Any] | None]

_CACHED = 1024  # visitors send several events in a row
_SNAKE = re.compile(r"_([a-z0-9])")


def no_geoip(_ip: str) -> None:
    """The place of an address when no database is configured."""


@lru_cache(maxsize=4)
def open_geoip(path: str | None) -> GeoLookup:
    """The look-up in a database; one that finds nothing without a path, or when it is no database.

    Programs read ``place.city.names.en``, ``place.country.isoCode``, ``place.location.timeZone``:
    the names of MaxMind's records in camel case.
    """
    if path is None:
        return no_geoip
    try:
        reader = maxminddb.open_database(path)
    except (OSError, maxminddb.InvalidDatabaseError):
        return no_geoip  # told at the start of the server; events must not fail for it

    @lru_cache(maxsize=_CACHED)
    def found(ip: str) -> dict[str, Any] | None:
        try:
            address = ipaddress.ip_address(ip.strip())
            mapped = address.ipv4_mapped if address.version == 6 else None
            record: Any = reader.get(mapped or address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            return None
        return _camel_case(record) if isinstance(record, dict) else None

    return found


def check_database(path: str) -> str | None:
    """Why a file cannot be used, None when it can."""
    try:
        maxminddb.open_database(path).close()
    except (OSError, maxminddb.InvalidDatabaseError) as error:
        return str(error)
    return None


def _camel_case(value: Any) -> Any:
    if isinstance(value, dict):
        return {_SNAKE.sub(_upper, key): _camel_case(part) for key, part in value.items()}
    return [_camel_case(part) for part in value] if isinstance(value, list) else value


def _upper(match: re.Match[str]) -> str:
    return match[1].upper()
