"""Dates of filters as query constants, in the project's time zone.

Source: docs/spec/data-and-queries.md#78-dates
"""

from datetime import datetime

from hoglet.hogql.ast_builders import constant
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import refused
from hoglet.kit.relative_dates import (
    DateClock,
    NotADate,
    ResolvedDate,
    as_text,
    resolve_date,
)
from hoglet.syntax import tree


def clock_of(context: QueryContext) -> DateClock:
    """The reference for the project's relative dates."""
    return DateClock(context.now, context.timezone, context.week_start_day)


def read_date(text: object, context: QueryContext, attr: str | None = None) -> ResolvedDate:
    """The timestamp of a date text.

    Args:
        text: ``-7d``, ``mStart``, ``2026-01-05``.
        context: the project.
        attr: path of the text in the query, e.g. ``dateRange__date_from``.

    Raises:
        SourceError: it is not a date.
    """
    try:
        return resolve_date(str(text), clock_of(context))
    except NotADate as error:
        raise refused(str(error), attr=attr) from None


def moment_constant(moment: datetime) -> tree.Constant:
    """A timestamp as a query constant."""
    return constant(as_text(moment))
