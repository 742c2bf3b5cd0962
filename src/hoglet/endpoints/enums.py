"""The enumerations of endpoints and the durations they stand for.

Source: docs/spec/query-endpoints.md#3-create-and-update-bodies,
docs/spec/query-endpoints.md#53-refresh and docs/spec/query-endpoints.md#7-materialization.
"""

import re
from typing import Literal, get_args

type QueryKind = Literal[
    "HogQLQuery",
    "TrendsQuery",
    "FunnelsQuery",
    "RetentionQuery",
    "PathsQuery",
    "StickinessQuery",
    "LifecycleQuery",
]
type RefreshWord = Literal[
    "blocking",
    "cache",
    "force",
    "force_blocking",
    "direct",
    "async",
    "lazy_async",
    "force_async",
    "async_except_on_cache_miss",
    "force_cache",
]
type SyncWord = Literal[
    "5min", "15min", "30min", "1hour", "6hour", "12hour", "24hour", "7day", "30day"
]
type Bucket = Literal["minute", "fifteen_minutes", "hour", "day", "week", "month"]
type RecordType = Literal[
    "integer", "float", "string", "datetime", "date", "boolean", "array", "json", "unknown"
]

HOGQL = "HogQLQuery"
QUERY_KINDS: tuple[str, ...] = get_args(QueryKind.__value__)
REFRESH_WORDS: tuple[str, ...] = get_args(RefreshWord.__value__)
BUCKETS: tuple[str, ...] = get_args(Bucket.__value__)
FRESHNESS_SECONDS = (900, 1800, 3600, 21600, 43200, 86400, 604800)
DEFAULT_FRESHNESS_SECONDS = 86400
CACHE_AGE_SECONDS = (300, 86400)
NAME_PATTERN = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,127}")
COLLECTION_ROUTES = frozenset({"last_execution_times", "bulk_update_tags"})
INSIGHT_ID_CHARACTERS = 12

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
SYNC_SECONDS: dict[str, int] = {
    "5min": 5 * _MINUTE,
    "15min": 15 * _MINUTE,
    "30min": 30 * _MINUTE,
    "1hour": _HOUR,
    "6hour": 6 * _HOUR,
    "12hour": 12 * _HOUR,
    "24hour": _DAY,
    "7day": 7 * _DAY,
    "30day": 30 * _DAY,
}
_SYNC_BY_SECONDS = {seconds: word for word, seconds in SYNC_SECONDS.items()}


def is_name(text: str) -> bool:
    """Whether a text is a valid endpoint name.

    Example:
        >>> is_name("daily_views"), is_name("1st"), is_name("last_execution_times")
        (True, False, False)
    """
    return NAME_PATTERN.fullmatch(text) is not None and text not in COLLECTION_ROUTES


def sync_word(seconds: int) -> str:
    """The interval as a keyword, e.g. ``12hour``; every freshness has one."""
    return _SYNC_BY_SECONDS[seconds]
