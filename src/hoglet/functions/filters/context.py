"""What a filter can refer to, as plain data that is sent to a worker process."""

from datetime import UTC, datetime
from typing import Any

import msgspec


class FilterContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project's context of a compilation.

    Attributes:
        now: the reference for relative dates, aware UTC.
        timezone: IANA name of the project's zone; used for ``dStart`` and similar dates.
        week_start_day: 0 if weeks start on Sunday, 1 for Monday.
        test_account_filters: property filters of the project's test-account setting.
        actions: live actions by id text: ``{"7": {"steps": [{"event": "$pageview"}]}}``.
        cohorts: dynamic cohorts made of person properties, by id text: ``{"3": [{...}]}``;
            other cohorts cannot be inlined.
        boolean_properties: properties the project defines as Boolean, ``["event:paid"]``
            or ``["group_0:paid"]``.
    """

    now: datetime = msgspec.field(default_factory=lambda: datetime.fromtimestamp(0, UTC))
    timezone: str = "UTC"
    week_start_day: int = 0
    test_account_filters: list[dict[str, Any]] = []
    actions: dict[str, dict[str, Any]] = {}
    cohorts: dict[str, list[dict[str, Any]]] = {}
    boolean_properties: list[str] = []
