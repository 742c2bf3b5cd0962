"""What a plan says about a materialized table: columns, aggregates, how it is built."""

from datetime import datetime

import msgspec

BUCKET, EVENTS, DIGEST = "__build_bucket", "__build_events", "__build_digest"


class BuildDecision(msgspec.Struct, frozen=True):
    """How tables of a query are built: ``BuildDecision("full", "The query has a LIMIT.")``."""

    mode: str
    reason: str


class ChangedBuckets(msgspec.Struct, frozen=True):
    """Buckets to compute again, as text, and the times of their earliest and latest events."""

    buckets: list[str]
    first: datetime
    last: datetime


class MergeableAggregate(msgspec.Struct, frozen=True):
    """An aggregate of the result: ``MergeableAggregate("count()", "sum")``."""

    expression: str
    reaggregate_fn: str


class ColumnRange(msgspec.Struct, frozen=True):
    """Range variables on one column: ``ColumnRange("timestamp", ("from", "to"), "toStartOfDay")``.

    ``bucket_fn`` is None for exact values.
    """

    column: str
    variables: tuple[str, ...]
    bucket_fn: str | None
