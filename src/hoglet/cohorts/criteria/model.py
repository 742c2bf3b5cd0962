"""Types of validated criteria, as they are stored.

``schema.py`` validates what clients send and returns it as JSON, which is stored and shown;
:func:`stored_criteria` reads that JSON.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

type Interval = Literal["minute", "hour", "day", "week", "month", "year"]


class BehaviorKind(StrEnum):
    """The kinds of behavioral criteria."""

    PERFORMED = "performed_event"
    MULTIPLE = "performed_event_multiple"
    FIRST_TIME = "performed_event_first_time"
    SEQUENCE = "performed_event_sequence"
    REGULARLY = "performed_event_regularly"
    STOPPED = "stopped_performing_event"
    RESTARTED = "restarted_performing_event"


class _Criterion(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    negation: bool


class PersonProperty(_Criterion, frozen=True, kw_only=True, tag="person"):
    """A filter on a property of persons; operators such as ``is_set`` have no value."""

    key: str
    operator: str
    value: Any | UnsetType = UNSET


class PersonField(_Criterion, frozen=True, kw_only=True, tag="person_metadata"):
    """A filter on ``created_at``, ``last_seen_at`` or ``is_identified``."""

    key: str
    operator: str
    value: Any | UnsetType = UNSET


class CohortMembership(_Criterion, frozen=True, kw_only=True, tag="cohort"):
    """The members of another cohort; ``value`` is its id."""

    value: int


class Behavior(_Criterion, frozen=True, kw_only=True, tag="behavioral"):
    """A filter on the events of persons.

    Attributes:
        value: the kind, which decides which other fields are used; unused ones keep their default.
        key: the name of an event, or the id of an action if ``event_type`` is ``actions``.
        event_filters: property filters of the event.
        time_value: the length of the window, or of a period (regularly), in ``time_interval``.
        explicit_datetime: the start of the window, absolute or relative, instead of ``time_value``.
        explicit_datetime_to: its end; now if None.
        operator: compares the number of events with ``operator_value``: ``gte``, ``lte``, ``gt``,
            ``lt``, ``eq`` or ``exact``.
        seq_event: the later event of a sequence, like ``key``.
        seq_time_value: in ``seq_time_interval``, the longest time between the events of a sequence,
            or the last part of the window (stopped, restarted).
        min_periods: how many of ``total_periods`` must have enough events.
    """

    value: BehaviorKind
    key: str | int
    event_type: Literal["events", "actions"]
    event_filters: list[dict[str, Any]]
    time_value: int = 0
    time_interval: Interval = "day"
    explicit_datetime: str | None = None
    explicit_datetime_to: str | None = None
    operator: str = "gte"
    operator_value: int = 1
    seq_event: str | int = ""
    seq_event_type: Literal["events", "actions"] = "events"
    seq_time_value: int = 0
    seq_time_interval: Interval = "day"
    min_periods: int = 1
    total_periods: int = 1


type Criterion = PersonProperty | PersonField | CohortMembership | Behavior


class AllOf(msgspec.Struct, frozen=True, tag_field="type", tag="AND"):
    """Persons who meet all criteria."""

    values: "list[AllOf | AnyOf | PersonProperty | PersonField | CohortMembership | Behavior]"


class AnyOf(msgspec.Struct, frozen=True, tag_field="type", tag="OR"):
    """Persons who meet at least one criterion."""

    values: "list[AllOf | AnyOf | PersonProperty | PersonField | CohortMembership | Behavior]"


class Criteria(msgspec.Struct, frozen=True):
    """The criteria of a dynamic cohort: ``filters`` of the API.

    Attributes:
        properties: the outermost group.
        filterTestAccounts: whether the project's test-account filters also apply.
    """

    properties: AllOf | AnyOf
    filterTestAccounts: bool = False  # noqa: N815 (as stored)

    def leaves(self) -> Iterator[Criterion]:
        """The criteria of all groups, in their order."""
        yield from _leaves(self.properties)

    def cohorts(self) -> set[int]:
        """The ids of the cohorts that criteria refer to."""
        return {each.value for each in self.leaves() if isinstance(each, CohortMembership)}


def _leaves(node: AllOf | AnyOf | Criterion) -> Iterator[Criterion]:
    if isinstance(node, AllOf | AnyOf):
        for each in node.values:
            yield from _leaves(each)
    else:
        yield node


def stored_criteria(filters: Mapping[str, Any]) -> Criteria:
    """Criteria as returned by ``read_criteria``, typed."""
    return msgspec.convert(filters, Criteria)


def cohorts_in(filters: Mapping[str, Any] | None) -> set[int]:
    """The ids of the cohorts in stored criteria; none without criteria."""
    return stored_criteria(filters).cohorts() if filters else set()
