"""The names of time zones."""

from functools import cache
from zoneinfo import available_timezones


@cache
def timezone_names() -> frozenset[str]:
    """All names, such as ``Europe/Berlin``; read once, since that takes some hundred files."""
    return frozenset(available_timezones())
