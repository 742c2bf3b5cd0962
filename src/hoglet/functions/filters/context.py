"""What a filter can refer to, as plain data that is sent to a worker process."""

from datetime import UTC, datetime

import msgspec

from hoglet.functions.json_types import ActionStep, PropertyFilter


class FilterContext(msgspec.Struct, frozen=True, kw_only=True):
    """The project data that filters are compiled with.

    Attributes:
        now: the reference for relative dates, aware UTC.
        timezone: IANA name of the project's zone; used for ``dStart`` and similar dates.
        week_start_day: 0 if weeks start on Sunday, 1 for Monday.
        test_account_filters: property filters of the project's test-account setting.
        actions: steps of live actions by id text: ``{"7": [{"event": "$pageview"}]}``.
        cohorts: dynamic cohorts made of person properties, by id text: ``{"3": [{...}]}``;
            other cohorts cannot be inlined.
        boolean_properties: properties the project defines as Boolean, ``["event:paid"]``
            or ``["group_0:paid"]``.
    """

    now: datetime = msgspec.field(default_factory=lambda: datetime.fromtimestamp(0, UTC))
    timezone: str = "UTC"
    week_start_day: int = 0
    test_account_filters: list[PropertyFilter] = []
    actions: dict[str, list[ActionStep]] = {}
    cohorts: dict[str, list[PropertyFilter]] = {}
    boolean_properties: list[str] = []
