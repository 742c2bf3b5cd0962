"""``{filters}`` and related placeholders: conditions from ``query.filters``.

Source: docs/spec/data-and-queries.md#73-filters.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hoglet.hogql.ast_builders import compare, constant, every, field, some
from hoglet.hogql.context import QueryContext
from hoglet.hogql.errors import located, near, refused
from hoglet.hogql.filters.dates import clock_of, moment_constant
from hoglet.hogql.filters.operators import Hint, operator_condition
from hoglet.hogql.filters.properties import FilteredTable, conditions, group_members
from hoglet.kit.property_operators import WITHOUT_VALUE
from hoglet.kit.relative_dates import Bounds, NotADate, range_bounds
from hoglet.syntax import tree

type Filters = Mapping[str, Any]
type TableAliases = tuple[tuple[str, str], ...]
"""``((alias, table), ...)`` of the select around a placeholder; empty names are not tables."""

FORMS = (
    "{filters}",
    "{filters.dateRange.from}",
    "{filters.dateRange.to}",
    "{filters.interval}",
    "{filters.interval('week')}",
    "{filters(created AS timestamp, plan AS 'plan')}",
    "{filters.breakdown(plan AS 'plan')}",
)
_TIMES = {"events": "timestamp", "sessions": "$start_timestamp", "groups": "created_at",
          "persons": "created_at"}  # fmt: skip
_INTERVALS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_UNBOUND = frozenset({"hogql", "cohort", "element", "recording"})


class _Read(NamedTuple):
    """The table that filters apply to, and its alias."""

    table: str
    alias: str


def filters_condition(filters: Filters, context: QueryContext, tables: TableAliases) -> Any:
    """The condition of ``{filters}``; true if nothing is set.

    Raises:
        SourceError: a filter that the tables do not support.
    """
    bounds = date_bounds(filters, context)
    properties = filters.get("properties") or ()
    tests = context.test_account_filters if filters.get("filterTestAccounts") else ()
    if bounds == (None, None, True) and not properties and not tests:
        return constant(True)
    read = _read(tables)
    prefix = (read.alias,) if len(tables) > 1 else ()
    source = FilteredTable(read.table)
    parts = _within(bounds, field(read.alias, _TIMES[read.table]))
    parts += conditions(properties, context, prefix, source, "filters__properties")
    parts += conditions(tests, context, prefix, source, "filters__filterTestAccounts")
    return every(parts)


def _read(tables: TableAliases) -> _Read:
    for alias, name in tables:
        if name == "events":
            return _Read(name, alias)
    if len(tables) == 1 and tables[0][1] in _TIMES:
        return _Read(tables[0][1], tables[0][0])
    raise refused(
        "{filters} works in a query of events, or of only sessions, groups or persons. "
        f"Elsewhere, name the columns to filter: {FORMS[5]}",
        attr="filters",
    )


def bound_condition(
    filters: Filters, context: QueryContext, bindings: Mapping[str, tree.Expression]
) -> Any:
    """The condition of ``{filters(created AS timestamp, plan AS 'plan')}``.

    Args:
        filters: the query's filters.
        context: the project.
        bindings: expressions for ``timestamp`` and the keys of property filters; a literal NULL
            ignores a filter.

    Raises:
        SourceError: a filter has no binding.
    """
    bounds = date_bounds(filters, context)
    parts: list[tree.Expression] = []
    if bounds.start is not None or bounds.end is not None:
        column = _bound("timestamp", bindings, "filters__dateRange")
        parts += [] if column is None else _within(bounds, column)
    tests = context.test_account_filters if filters.get("filterTestAccounts") else ()
    for attr, items in (("properties", filters.get("properties")), ("filterTestAccounts", tests)):
        for path, item in _active(items, f"filters__{attr}"):
            with located(path):
                condition = _bound_filter(item or {}, context, bindings)
            parts += [] if condition is None else [condition]
    return every(parts)


def _bound_filter(
    item: Mapping[str, Any], context: QueryContext, bindings: Mapping[str, tree.Expression]
) -> tree.Expression | None:
    members = group_members(item)
    if members is not None:
        inner: list[tree.Expression | None] = []
        for index, each in enumerate(members):
            with located(f"values__{index}"):
                inner.append(_bound_filter(each or {}, context, bindings))
        bound = [each for each in inner if each is not None]
        if not bound:
            return None
        return some(bound) if item.get("type") == "OR" else every(bound)
    kind, key = str(item.get("type") or "event"), str(item.get("key") or "")
    if kind.removeprefix("static-").removeprefix("precalculated-") in _UNBOUND:
        raise refused(f"A filter of type '{kind}' cannot be bound to an expression")
    operator, value = item.get("operator") or "exact", item.get("value")
    if not key or (value is None and operator not in WITHOUT_VALUE):
        return None
    target = _bound(key, bindings)
    return None if target is None else operator_condition(target, operator, value, Hint(context))


def _bound(
    key: str, bindings: Mapping[str, tree.Expression], attr: str | None = None
) -> tree.Expression | None:
    if key not in bindings:
        text = f"The filter on '{key}' has no binding: add 'expression AS \"{key}\"'"
        raise refused(f"{text} or 'NULL AS \"{key}\"'.{near(key, bindings)}", attr=attr)
    target = bindings[key]
    is_left_out = isinstance(target, tree.Constant) and target.value is None
    return None if is_left_out else target


def breakdown_expression(filters: Filters, bindings: Mapping[str, tree.Expression]) -> Any:
    """The expression of ``{filters.breakdown(plan AS 'plan')}``: NULL without a breakdown.

    Raises:
        SourceError: several breakdowns, one of cohorts or bins, or one without a binding.
    """
    breakdown = filters.get("breakdownFilter") or {}
    attr = "filters__breakdownFilter"
    chosen: list[Any] = [each.get("property") for each in breakdown.get("breakdowns") or []]
    if breakdown.get("breakdown") is not None:
        value = breakdown["breakdown"]
        chosen += value if isinstance(value, list) else [value]
    if not chosen:
        return constant(None)
    if len(chosen) > 1:
        raise refused("{filters.breakdown(…)} supports a single breakdown", attr=attr)
    items = [breakdown, *(breakdown.get("breakdowns") or [])]
    if any("cohort" in (each.get("type"), each.get("breakdown_type")) for each in items):
        raise refused("{filters.breakdown(…)} does not support breakdowns by cohorts", attr=attr)
    bins = ("histogram_bin_count", "breakdown_histogram_bin_count")
    if any(each.get(name) for each in items for name in bins):
        raise refused("{filters.breakdown(…)} does not support breakdowns by bins", attr=attr)
    expression = _bound(str(chosen[0]), bindings, attr)
    return constant(None) if expression is None else expression


def interval_of(filters: Filters, default: str = "day") -> str:
    """The interval of ``{filters.interval}``.

    Raises:
        SourceError: an unknown interval.
    """
    interval = filters.get("interval") or default
    if interval not in _INTERVALS:
        hint = near(str(interval), _INTERVALS) or f" Use one of {', '.join(_INTERVALS)}."
        raise refused(f"Unknown interval '{interval}'.{hint}", attr="filters__interval")
    return interval


def date_bounds(filters: Filters, context: QueryContext) -> Bounds:
    """The range of ``filters.dateRange``.

    Raises:
        SourceError: one of its dates is invalid.
    """
    range_ = filters.get("dateRange") or {}
    explicit = bool(range_.get("explicitDate"))
    clock = clock_of(context)
    try:
        return range_bounds(
            range_.get("date_from"), range_.get("date_to"), clock, explicit=explicit
        )
    except NotADate as error:
        raise refused(str(error), attr=f"filters__dateRange__{error.key}") from None


def _within(bounds: Bounds, column: tree.Expression) -> list[tree.Expression]:
    comparisons: list[tree.Expression] = []
    if bounds.start is not None:
        comparisons.append(compare(">=", column, moment_constant(bounds.start)))
    if bounds.end is not None:
        operator = "<=" if bounds.includes_end else "<"
        comparisons.append(compare(operator, column, moment_constant(bounds.end)))
    return comparisons


def _active(items: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Filters with their paths; a group counts as one filter."""
    if isinstance(items, Mapping):
        yield path, items
    else:
        yield from ((f"{path}__{index}", item) for index, item in enumerate(items or ()))
