"""Instants in parameters: ISO 8601, or relative to now such as ``-24h``."""

from datetime import datetime
from zoneinfo import ZoneInfo

from hoglet.functions.filters.relative_dates import resolve_date
from hoglet.web.timestamps import parse_instant


def resolve_instant(text: str, *, now: datetime, timezone: str) -> datetime | None:
    """An aware instant, or None when the text is neither form.

    A date, or a time without an offset, is one of the project's timezone.
    """
    return parse_instant(resolve_date(text, now=now, timezone=timezone), ZoneInfo(timezone))
