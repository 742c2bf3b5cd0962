"""Dates of filters as constants of a query, in the project's zone.

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
    resolve_date,
)
from hoglet.syntax import tree


def clock_of(context: QueryContext) -> DateClock:
    """What the project's relative dates count from."""
    return DateClock(context.now, context.timezone, context.week_start_day)


def read_date(text: object, context: QueryContext, attr: str | None = None) -> ResolvedDate:
    """The moment a text means.

    Args:
        text: ``-7d``, ``mStart``, ``2026-01-05``.
        context: the project.
        attr: path of the text in the query, e.g. ``dateRange__date_from``.

    Raises:
        SourceError: it is no date.
    """
    try:
        return resolve_date(str(text), clock_of(context))
    except NotADate as error:
        raise refused(str(error), attr=attr) from None


def moment_constant(moment: datetime) -> tree.Constant:
    """A moment as a constant of the query."""
    return constant(as_text(moment))


def as_text(moment: datetime) -> str:
    """A moment as local text with microseconds.

    The offset is added where the clocks are set back and the same wall time comes twice.
    """
    text = moment.strftime("%Y-%m-%d %H:%M:%S.%f")
    again = moment.replace(fold=1 - moment.fold)
    if moment.utcoffset() == again.utcoffset():
        return text
    return text + moment.isoformat()[-6:]
