"""The names of time zones."""

from functools import cache
from zoneinfo import available_timezones


@cache
def timezone_names() -> frozenset[str]:
    """All names, such as ``Europe/Berlin``; cached, because this reads several hundred files."""
    return frozenset(available_timezones())
