"""Plans incremental builds: only the time buckets whose events changed are computed again.

A build is incremental if each row of the table depends on the events of one time bucket and on
nothing else. The table then also stores, per row, how many events it was computed from and a sum of
their hashes. Comparing these with the events tells which buckets changed: new and late events,
deleted and expired ones. Whatever might depend on more (persons, cohorts, the time of the build,
limits, other rows) is built in full.

Source: docs/spec/query-endpoints.md#77-incremental-builds and docs/adr/0032-incremental-tables.md.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from hoglet.hogql.ast_builders import (
    Expression,
    alias,
    array,
    call,
    changed,
    compare,
    constant,
    every,
    field,
)
from hoglet.hogql.frontend.print_hogql import print_expression
from hoglet.hogql.functions import find_function
from hoglet.hogql.materialize.model import BUCKET, DIGEST, EVENTS, BuildDecision, ChangedBuckets
from hoglet.syntax import tree

_OWN_PREFIX = "__build_"
_MARGIN = timedelta(days=1)  # more than any difference between a time zone and UTC

_BUCKETS = frozenset(
    {
        "tostartofminute", "tostartoffiveminute", "tostartoffiveminutes", "tostartoftenminutes",
        "tostartoffifteenminutes", "tostartofhour", "tostartofday", "tostartofweek",
        "tostartofmonth", "tostartofquarter", "tostartofyear", "tostartofisoyear",
        "tostartofinterval", "datetrunc", "date_trunc", "todate", "tomonday", "toyyyymm",
        "toyyyymmdd",
    }
)  # fmt: skip
_INTERVALS = frozenset(
    f"tointerval{unit}" for unit in ("second", "minute", "hour", "day", "week", "month", "year")
) | {"tointervalquarter"}
_AGGREGATES = frozenset({"count", "sum", "min", "max", "avg", "uniq", "uniqexact"})
"""Aggregates whose result does not depend on the order of rows."""
_SCALARS = _BUCKETS | _INTERVALS | frozenset(
    {
        "abs", "and", "array", "arrayelement", "ceil", "coalesce", "concat", "cutquerystring",
        "cuttofirstsignificantsubdomain", "divide", "domain", "domainwithoutwww", "empty",
        "endswith", "equals", "extract", "floor", "greater", "greaterorequals", "greatest", "has",
        "if", "ifnull", "ilike", "in", "intdiv", "isnotnull", "isnull", "jsonextractbool",
        "jsonextractfloat", "jsonextractint", "jsonextractraw", "jsonextractstring", "jsonhas",
        "least", "length", "less", "lessorequals", "like", "lower", "match", "minus", "modulo",
        "multiif", "multiply", "not", "notempty", "notequals", "notilike", "notin", "notlike",
        "nullif", "or", "path", "plus", "position", "replaceall", "replaceone",
        "replaceregexpall", "replaceregexpone", "round", "splitbychar", "splitbystring",
        "startswith", "substring", "tobool", "todatetime", "todayofmonth", "todayofweek",
        "tofloat", "tohour", "toint", "tominute", "tomonth", "toquarter", "tostring", "totimezone",
        "toyear", "trim", "tuple", "upper", "xor",
    }
)  # fmt: skip
"""Functions whose result depends on their arguments only."""
_COLUMNS = frozenset(
    {
        "uuid", "event", "timestamp", "distinct_id", "properties", "created_at", "elements_chain",
        "$session_id", "$window_id", *(f"$group_{index}" for index in range(5)),
    }
)  # fmt: skip
"""Columns stored with the event; persons, groups and sessions change without it."""
_PLAIN = (
    tree.Alias
    | tree.Constant
    | tree.Field
    | tree.Call
    | tree.And
    | tree.Or
    | tree.Not
    | tree.CompareOperation
    | tree.BetweenExpr
    | tree.ArithmeticOperation
    | tree.Array
    | tree.Tuple
    | tree.ArrayAccess
    | tree.OrderExpr
)


class IncrementalBuild(msgspec.Struct, frozen=True):
    """The queries of an incremental build.

    Args:
        bucket: the bucket as written, e.g. ``toStartOfDay(timestamp)``.
        text: its text, which identifies it.
        build: fills a whole table, with the columns ``BUCKET``, ``EVENTS`` and ``DIGEST``.
        state: the current ``BUCKET``, ``EVENTS``, ``DIGEST`` and first and last time of each
            bucket.
    """

    bucket: str
    text: tree.Call
    build: tree.SelectQuery
    state: tree.SelectQuery

    def only(self, changes: ChangedBuckets) -> tree.SelectQuery:
        """The query that computes the rows of some buckets."""
        conditions: list[Expression] = [
            call("in", self.text, array(changes.buckets)),
            compare(">=", field("timestamp"), _time(changes.first - _MARGIN)),
            compare("<=", field("timestamp"), _time(changes.last + _MARGIN)),
        ]
        if self.build.where is not None:
            conditions.insert(0, self.build.where)
        return changed(self.build, where=every(conditions))


def _time(at: datetime) -> Expression:
    return call("toDateTime", constant(f"{at:%Y-%m-%d %H:%M:%S}"))


class _Doubt(Exception):
    """A reason for a full build."""


def plan_incremental(
    build: tree.SelectQuery | tree.SelectSetQuery,
) -> IncrementalBuild | BuildDecision:
    """The queries of an incremental build, or why the table is always built in full."""
    try:
        return _planned(build)
    except _Doubt as doubt:
        return BuildDecision("full", str(doubt))


def mode_of(planned: IncrementalBuild | BuildDecision) -> BuildDecision:
    """The mode with its reason, as in the preview."""
    if isinstance(planned, BuildDecision):
        return planned
    reason = f"Only buckets of {planned.bucket} whose events changed are computed again."
    return BuildDecision("incremental", reason)


def groups_by_time(query: Any) -> bool:
    """Whether the GROUP BY of a query has a time bucket; those of subqueries do not count."""
    if isinstance(query, tree.SelectSetQuery):
        following = (item.select_query for item in query.subsequent_select_queries)
        return any(map(groups_by_time, (query.initial_select_query, *following)))
    if not isinstance(query, tree.SelectQuery):
        return False
    aliases = {item.alias: item.expr for item in query.select if isinstance(item, tree.Alias)}
    groups = [
        aliases.get(str(item.chain[0]), item) if isinstance(item, tree.Field) else item
        for item in query.group_by or ()
    ]
    return any(isinstance(item, tree.Call) and item.name.lower() in _BUCKETS for item in groups)


def _planned(build: tree.SelectQuery | tree.SelectSetQuery) -> IncrementalBuild:
    if not isinstance(build, tree.SelectQuery):
        raise _Doubt("The query is a set operation.")
    _check_clauses(build)
    names = _check_source(build)
    aliases = {item.alias: item.expr for item in build.select if isinstance(item, tree.Alias)}
    _check_names(aliases)
    for node in _nodes(build):
        _check_node(node, names, aliases)
    groups = [_expanded(item, aliases) for item in build.group_by or ()]
    bucket = next((item for item in groups if _is_bucket(item, names)), None)
    if bucket is None:
        raise _Doubt(
            "GROUP BY has no time bucket of the event's timestamp, such as toStartOfDay(timestamp)."
        )
    text = call("toString", bucket)
    label = alias(BUCKET, text)
    state = (alias(EVENTS, call("count")), alias(DIGEST, call("sum", _hash())))
    where = None if build.where is None else _expanded(build.where, aliases)
    complete = changed(
        build,
        select=(*build.select, label, *state),
        group_by=(*(build.group_by or ()), text),
        order_by=None,
    )
    times = (call("min", field("timestamp")), call("max", field("timestamp")))
    present = tree.SelectQuery(
        select=(label, *state, *times),
        select_from=build.select_from,
        where=where,
        group_by=(text,),
    )
    return IncrementalBuild(print_expression(bucket), text, complete, present)


def _hash() -> Expression:
    # An event deleted and captured again has the same uuid, but another time of capture.
    return call("cityHash64", field("uuid"), field("created_at"))


def _check_clauses(build: tree.SelectQuery) -> None:
    order_by = build.order_by or ()
    reasons: Mapping[str, Any] = {
        "The query has a LIMIT or OFFSET.": build.limit or build.offset or build.limit_by,
        "The query has a common table expression (WITH).": build.ctes,
        "The query has no GROUP BY.": not build.group_by,
        "GROUP BY has ALL, TOTALS, ROLLUP, CUBE or GROUPING SETS.": build.group_by_mode,
        "The query has HAVING.": build.having,
        "The query has DISTINCT.": build.distinct,
        "The query has window functions.": build.qualify or build.window_exprs,
        "The query has ARRAY JOIN.": build.array_join_op or build.array_join_list,
        "The query has PREWHERE.": build.prewhere,
        "ORDER BY has WITH FILL.": build.interpolate or any(item.with_fill for item in order_by),
    }
    for reason, is_present in reasons.items():
        if is_present:
            raise _Doubt(reason)


def _check_source(build: tree.SelectQuery) -> set[str]:
    """The names by which the query refers to the events table."""
    source = build.select_from
    if source is None or not isinstance(source.table, tree.Field):
        raise _Doubt("The query does not read the events table directly.")
    if source.next_join is not None:
        raise _Doubt("The query joins tables.")
    if source.table.chain != ("events",):
        name = ".".join(map(str, source.table.chain))
        raise _Doubt(f"The query reads {name}, not events.")
    if source.sample or source.table_final or source.table_args or source.column_aliases:
        raise _Doubt("The query reads a sample of events, or under other column names.")
    return {"events", source.alias} if source.alias else {"events"}


def _check_names(aliases: Mapping[str, Expression]) -> None:
    for name, expr in aliases.items():
        if name.startswith(_OWN_PREFIX):
            raise _Doubt(f"The name '{name}' is reserved for builds.")
        itself = isinstance(expr, tree.Field) and expr.chain[-1] == name
        if name in _COLUMNS and not itself:
            raise _Doubt(f"The alias '{name}' is also a column of events.")


def _nodes(build: tree.SelectQuery) -> list[tree.Node]:
    parts = (build.select, build.where, build.group_by, build.order_by)
    return [node for part in parts for node in _walk(part)]


def _walk(node: Any) -> list[tree.Node]:
    """A node and its descendants, without those of subqueries."""
    if isinstance(node, tuple):
        return [part for item in node for part in _walk(item)]
    if not isinstance(node, tree.Node):
        return []
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        return [node]
    names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
    return [node, *(part for name in names for part in _walk(getattr(node, name)))]


def _check_node(node: tree.Node, names: set[str], aliases: Mapping[str, Expression]) -> None:
    if isinstance(node, tree.SelectQuery | tree.SelectSetQuery):
        raise _Doubt("The query has a subquery.")
    if isinstance(node, tree.WindowFunction):
        raise _Doubt("The query has window functions.")
    if isinstance(node, tree.Placeholder):
        placeholder = print_expression(node)
        raise _Doubt(f"The query uses {placeholder}, whose value can change between builds.")
    if not isinstance(node, _PLAIN):
        raise _Doubt(f"The query has an expression of the kind {type(node).__name__}.")
    if isinstance(node, tree.CompareOperation) and "cohort" in node.op.lower():
        raise _Doubt("The query reads a cohort, whose members change without new events.")
    if isinstance(node, tree.Call):
        _check_call(node)
    if isinstance(node, tree.Field):
        _check_field(node, names, aliases)


def _check_call(node: tree.Call) -> None:
    name = node.name.lower()
    function = find_function(node.name)
    if function is not None and function.aggregate:
        is_plain = not (node.order_by or node.within_group or node.params)
        if name.removesuffix("if") not in _AGGREGATES or not is_plain:
            raise _Doubt(f"The result of {node.name}() can depend on the order of rows.")
        if node.distinct and name != "count":
            raise _Doubt(f"The query uses {node.name}(DISTINCT …).")
    elif name not in _SCALARS:
        raise _Doubt(f"{node.name}() is not known to depend on its arguments only.")


def _check_field(node: tree.Field, names: set[str], aliases: Mapping[str, Expression]) -> None:
    chain = [str(part) for part in node.chain]
    column = chain[1] if chain[0] in names and len(chain) > 1 else chain[0]
    if chain[-1] == "*":
        raise _Doubt("The query selects '*'.")
    if column in _COLUMNS or (len(chain) == 1 and column in aliases):
        return
    raise _Doubt(f"The query reads {'.'.join(chain)}, which can change without new events.")


def _is_bucket(node: Any, names: set[str]) -> bool:
    if not isinstance(node, tree.Call) or node.name.lower() not in _BUCKETS or node.params:
        return False
    times = [arg for arg in node.args if _is_timestamp(arg, names)]
    return len(times) == 1 and all(_is_fixed(arg) for arg in node.args if arg not in times)


def _is_timestamp(node: Any, names: set[str]) -> bool:
    if not isinstance(node, tree.Field):
        return False
    chain = tuple(map(str, node.chain))
    return chain == ("timestamp",) or chain in {(name, "timestamp") for name in names}


def _is_fixed(node: Any) -> bool:
    if isinstance(node, tree.Call):
        return node.name.lower() in _INTERVALS and all(map(_is_fixed, node.args))
    return isinstance(node, tree.Constant)


def _expanded(node: Any, aliases: Mapping[str, Expression], depth: int = 0) -> Any:
    """The expression with aliases of SELECT replaced by their expressions."""
    if depth > len(aliases):
        raise _Doubt("Aliases of SELECT refer to each other.")
    if isinstance(node, tree.Field) and len(node.chain) == 1 and node.chain[0] in aliases:
        expr = aliases[str(node.chain[0])]
        itself = isinstance(expr, tree.Field) and expr.chain[-1] == node.chain[0]
        return expr if itself else _expanded(expr, aliases, depth + 1)
    if isinstance(node, tree.Alias):
        return _expanded(node.expr, aliases, depth)
    if isinstance(node, tree.Node):
        names = (name for name in node.__struct_fields__ if name not in {"start", "end"})
        parts = {name: _expanded(getattr(node, name), aliases, depth) for name in names}
        return changed(node, **parts)
    if isinstance(node, tuple):
        return tuple(_expanded(item, aliases, depth) for item in node)
    return node
