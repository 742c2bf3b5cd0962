"""Timestamps and names for queries, and the format of inserted rows."""

from datetime import UTC, datetime

BLOCK_FORMAT = "JSONCompactEachRow"  # as encoded by ``hoglet.kit.json.dump_rows``
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)  # range of DateTime64
LATEST = datetime(2299, 12, 31, tzinfo=UTC)


def instant_text(at: datetime) -> str:
    """Format a timestamp to be bound as DateTime64: in UTC, clamped to the engine's range.

    It is text with microseconds, because the client truncates bound datetimes to seconds.

    Example:
        >>> instant_text(datetime(420, 2, 23, tzinfo=UTC))
        '1900-01-01 00:00:00.000000'
    """
    held = min(max(at.astimezone(UTC), EARLIEST), LATEST)
    return held.strftime("%Y-%m-%d %H:%M:%S.%f")


def quoted_name(name: str) -> str:
    """Quote the name of a column.

    Example:
        >>> quoted_name("größe in cm")
        '`größe in cm`'
    """
    return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
