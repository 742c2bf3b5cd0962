"""Timestamps as text: ISO 8601 in UTC with microseconds and ``Z``.

Source: docs/spec/hog-functions.md#1-routes-and-common-rules.
"""

import re
from datetime import UTC, datetime, tzinfo

_LOST_PLUS = re.compile(r"(\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) (\d\d:?\d\d)$")


def iso_z(at: datetime) -> str:
    """Format an aware datetime.

    Example:
        >>> iso_z(datetime(2026, 1, 5, 12, tzinfo=UTC))
        '2026-01-05T12:00:00.000000Z'
    """
    naive = at.astimezone(UTC).replace(tzinfo=None)  # strftime does not pad years before 1000
    return naive.isoformat(timespec="microseconds") + "Z"


def iso_z_or_none(at: datetime | None) -> str | None:
    """Like ``iso_z``, but None for None."""
    return None if at is None else iso_z(at)


def parse_instant(text: str, zone: tzinfo = UTC) -> datetime | None:
    """Parse an ISO 8601 date or time; None if it is invalid.

    A space is accepted in place of ``+``, because query strings decode ``+`` as a space.

    Args:
        text: ``2026-01-05``, ``2026-01-05T12:00:00Z``.
        zone: time zone of times without an offset.

    Example:
        >>> parse_instant("2026-01-05T12:00:00Z")
        datetime.datetime(2026, 1, 5, 12, 0, tzinfo=datetime.timezone.utc)
        >>> parse_instant("soon") is None
        True
    """
    try:
        at = datetime.fromisoformat(_LOST_PLUS.sub(r"\1+\2", text.strip()))
        return (at.replace(tzinfo=zone) if at.tzinfo is None else at).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
