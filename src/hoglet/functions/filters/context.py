"""What a filter may refer to besides itself, as plain data that crosses to a worker process."""

from datetime import UTC, datetime
from typing import Any

import msgspec


class FilterContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project's part of a compilation.

    Attributes:
        now: the instant relative dates count from, aware UTC.
        timezone: IANA name of the project's zone; ``dStart`` and the like are cut in it.
        week_start_day: 0 when weeks start on Sunday, 1 for Monday.
        test_account_filters: property filters of the project's test-account setting.
        actions: live actions by id text: ``{"7": {"steps": [{"event": "$pageview"}]}}``.
        cohorts: dynamic cohorts made of person properties, by id text: ``{"3": [{...}]}``;
            cohorts that are not listed cannot be inlined.
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
