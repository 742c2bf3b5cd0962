"""Prints syntax trees as normalized HogQL: operators as functions, strings quoted, plain names.

Used for names of unaliased columns (``count()``) and the ``query`` and ``hogql`` keys of a run.

Source: docs/spec/query-endpoints.md#56-answer.
"""

import re
from collections.abc import Callable
from typing import Any

from hoglet.hogql.comparison_operators import COMPARISONS
from hoglet.syntax import tree

INTERVAL_PARTS = {
    "years": "Year",
    "months": "Month",
    "weeks": "Week",
    "days": "Day",
    "hours": "Hour",
    "mins": "Minute",
    "secs": "Second",
}
"""Names of arguments of ``make_interval``, and their units."""

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_ARITHMETIC = {"+": "plus", "-": "minus", "*": "multiply", "/": "divide", "%": "modulo"}
_COMPARE = COMPARISONS | {
    "=~": "match",
    "in cohort": "inCohort",
    "not in cohort": "notInCohort",
}

type Expand = Callable[[tree.Placeholder], Any]


def print_expression(node: Any, expand: Expand | None = None) -> str:
    """Print an expression, e.g. ``equals(event, '$pageview')``.

    Args:
        node: the expression.
        expand: expands placeholders; without it, they are printed unchanged.
    """
    return _HogQL(expand).expr(node)


def print_query(node: Any, expand: Expand | None = None) -> str:
    """Print a query on one line."""
    return _HogQL(expand).query(node)


def _name(part: str | int) -> str:
    text = str(part)
    if isinstance(part, int) or text == "*" or _PLAIN.match(text):
        return text
    escaped = text.replace("\\", "\\\\").replace("`", "``")
    return f"`{escaped}`"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


class _HogQL:
    def __init__(self, expand: Expand | None) -> None:
        self._expand = expand

    def expr(self, node: Any) -> str:
        printer = _EXPRESSIONS.get(type(node))
        return printer(self, node) if printer else f"<{type(node).__name__}>"

    def many(self, nodes: Any) -> str:
        return ", ".join([self.expr(node) for node in nodes or ()])

    def constant(self, node: tree.Constant) -> str:
        value = node.value
        if value is None:
            return "NULL"
        if isinstance(value, bool):
            return "true" if value else "false"
        return _quoted(value) if isinstance(value, str) and not node.value_type else str(value)

    def field(self, node: tree.Field) -> str:
        return ".".join([_name(part) for part in node.chain])

    def call(self, node: tree.Call) -> str:
        params = f"({self.many(node.params)})" if node.params is not None else ""
        distinct = "DISTINCT " if node.distinct else ""
        order = f" ORDER BY {self.many(node.order_by)}" if node.order_by else ""
        text = f"{node.name}{params}({distinct}{self.many(node.args)}{order})"
        return f"{text} FILTER (WHERE {self.expr(node.filter_expr)})" if node.filter_expr else text

    def logical(self, node: tree.And | tree.Or) -> str:
        return f"{'and' if isinstance(node, tree.And) else 'or'}({self.many(node.exprs)})"

    def negation(self, node: tree.Not) -> str:
        return f"not({self.expr(node.expr)})"

    def arithmetic(self, node: tree.ArithmeticOperation) -> str:
        if node.op == "-" and node.left.start is None and getattr(node.left, "value", 1) == 0:
            return f"negate({self.expr(node.right)})"
        return (
            f"{_ARITHMETIC.get(node.op, node.op)}({self.expr(node.left)}, {self.expr(node.right)})"
        )

    def compare(self, node: tree.CompareOperation) -> str:
        left, right = self.expr(node.left), self.expr(node.right)
        if node.is_null_comparison_style and right == "NULL":
            return f"{'isNull' if node.op == '==' else 'isNotNull'}({left})"
        if node.op in _COMPARE:
            return f"{_COMPARE[node.op]}({left}, {right})"
        return f"{left} {node.op} {right}"

    def between(self, node: tree.BetweenExpr) -> str:
        word = "NOT BETWEEN" if node.negated else "BETWEEN"
        return f"{self.expr(node.expr)} {word} {self.expr(node.low)} AND {self.expr(node.high)}"

    def distinct_from(self, node: tree.IsDistinctFrom) -> str:
        word = "IS NOT DISTINCT FROM" if node.negated else "IS DISTINCT FROM"
        return f"{self.expr(node.left)} {word} {self.expr(node.right)}"

    def alias(self, node: tree.Alias) -> str:
        return f"{self.expr(node.expr)} AS {_name(node.alias)}"

    def array(self, node: tree.Array) -> str:
        return f"[{self.many(node.exprs)}]"

    def tuple(self, node: tree.Tuple) -> str:
        return f"tuple({self.many(node.exprs)})"

    def dict(self, node: tree.Dict) -> str:
        pairs = ", ".join(f"{self.expr(key)}: {self.expr(value)}" for key, value in node.items)
        return f"{{{pairs}}}"

    def access(self, node: tree.ArrayAccess) -> str:
        return f"{self.expr(node.array)}[{self.expr(node.property)}]"

    def slice(self, node: tree.ArraySlice) -> str:
        start = self.expr(node.start_expr) if node.start_expr else ""
        end = self.expr(node.end_expr) if node.end_expr else ""
        return f"{self.expr(node.array)}[{start}:{end}]"

    def tag(self, node: tree.HogQLXTag) -> str:
        children = ""
        attributes = ""
        for each in node.attributes:
            if isinstance(each.value, tuple):
                children = "".join(self._child(child) for child in each.value)
            else:
                attributes += f" {each.name}={{{self.expr(each.value)}}}"
        return f"<{node.kind}{attributes}>{children}</{node.kind}>"

    def _child(self, node: tree.Expression) -> str:
        text = self.expr(node)
        return text if isinstance(node, tree.HogQLXTag) else f"{{{text}}}"

    def tuple_access(self, node: tree.TupleAccess) -> str:
        return f"{self.expr(node.tuple)}.{node.index}"

    def lambda_(self, node: tree.Lambda) -> str:
        names = ", ".join(node.args)
        return f"{names if len(node.args) == 1 else f'({names})'} -> {self.expr(node.expr)}"

    def placeholder(self, node: tree.Placeholder) -> str:
        if self._expand is None:
            return f"{{{self.expr(node.expr)}}}"
        return self.expr(self._expand(node))

    def cast(self, node: Any) -> str:
        word = "TRY_CAST" if isinstance(node, tree.TryCast) else "CAST"
        return f"{word}({self.expr(node.expr)} AS {node.type_name})"

    def expr_call(self, node: tree.ExprCall) -> str:
        """``x::varchar(10)``, the only such call in queries."""
        cast = node.expr
        if not isinstance(cast, tree.TypeCast | tree.TryCast):
            return f"({self.expr(cast)})({self.many(node.args)})"
        return f"{self.cast(cast)[:-1]}({self.many(node.args)}))"

    def window_function(self, node: tree.WindowFunction) -> str:
        # ``f(x)`` has x in exprs; ``f(p)(x)`` has p there, and x in args.
        last = f"({self.many(node.args)})" if node.args else ""
        over = node.over_identifier or f"({self.window(node.over_expr or tree.WindowExpr())})"
        return f"{node.name}({self.many(node.exprs)}){last} OVER {over}"

    def window(self, node: tree.WindowExpr) -> str:
        parts: list[str] = []
        if node.partition_by:
            parts.append(f"PARTITION BY {self.many(node.partition_by)}")
        if node.order_by:
            parts.append(f"ORDER BY {self.many(node.order_by)}")
        if node.frame_method and node.frame_start:
            start = self.frame(node.frame_start)
            end = f" AND {self.frame(node.frame_end)}" if node.frame_end else ""
            parts.append(f"{node.frame_method} {'BETWEEN ' if end else ''}{start}{end}")
        return " ".join(parts)

    def frame(self, node: tree.WindowFrameExpr) -> str:
        if node.frame_type == "CURRENT ROW":
            return node.frame_type
        value = node.frame_value
        if value is not None and not isinstance(value, int):
            return f"{self.expr(value)} {node.frame_type}"
        return f"{'UNBOUNDED' if value is None else value} {node.frame_type}"

    def ordering(self, node: tree.OrderExpr) -> str:
        return f"{self.expr(node.expr)} {node.order}{' NULLS FIRST' if node.nulls_first else ''}"

    def grouping_set(self, node: tree.GroupingSet) -> str:
        return f"({self.many(node.exprs)})"

    def named(self, node: tree.NamedArgument) -> str:
        """``extract(day FROM x)`` and ``make_interval(days := 1)``."""
        word = ":=" if node.name in INTERVAL_PARTS else "FROM"
        return f"{node.name} {word} {self.expr(node.value)}"

    def subquery(self, node: Any) -> str:
        return f"({self.query(node)})"

    def columns_expr(self, node: tree.ColumnsExpr) -> str:
        exclude = f" EXCLUDE ({', '.join(_name(each) for each in node.exclude or ())})"
        if node.replace:
            pairs = [f"{self.expr(expr)} AS {_name(name)}" for name, expr in node.replace.items()]
            return f"(*{exclude if node.exclude else ''} REPLACE ({', '.join(pairs)}))"
        if node.exclude:
            return f"*{exclude}"
        inner = _quoted(node.regex or "") if node.columns is None else self.many(node.columns)
        return f"columns({inner})"

    # --- queries

    def query(self, node: Any) -> str:
        if isinstance(node, tree.SelectSetQuery):
            parts = [self.query(node.initial_select_query)]
            parts += [
                f"{item.set_operator} {self.query(item.select_query)}"
                for item in node.subsequent_select_queries
            ]
            whole = " ".join(parts)
            if node.limit is None and node.offset is None:
                return whole
            limit = f" LIMIT {self.expr(node.limit)}" if node.limit is not None else ""
            offset = f" OFFSET {self.expr(node.offset)}" if node.offset is not None else ""
            return f"({whole}){limit}{offset}"
        if isinstance(node, tree.Placeholder):
            return self.placeholder(node)
        return " ".join(self.select(node))

    def select(self, node: tree.SelectQuery) -> list[str]:
        word = "WITH RECURSIVE" if any(cte.recursive for cte in node.ctes or ()) else "WITH"
        parts = [f"{word} {', '.join(self.cte(cte) for cte in node.ctes)}"] if node.ctes else []
        parts.append(f"SELECT {'DISTINCT ' if node.distinct else ''}{self.many(node.select)}")
        if node.select_from is not None:
            parts.append(f"FROM {self.join(node.select_from)}")
        if node.array_join_list:
            parts.append(f"{node.array_join_op} {self.many(node.array_join_list)}")
        if node.prewhere is not None:
            parts.append(f"PREWHERE {self.expr(node.prewhere)}")
        if node.where is not None:
            parts.append(f"WHERE {self.expr(node.where)}")
        parts += self.grouping(node)
        return parts + self.tail(node)

    def grouping(self, node: tree.SelectQuery) -> list[str]:
        parts: list[str] = []
        if node.group_by_mode:
            items = f"({self.many(node.group_by)})" if node.group_by else ""
            parts.append(f"GROUP BY {node.group_by_mode.upper().replace('_', ' ')}{items}")
        elif node.group_by:
            parts.append(f"GROUP BY {self.many(node.group_by)}")
        if node.having is not None:
            parts.append(f"HAVING {self.expr(node.having)}")
        if node.window_exprs:
            named = (f"{key} AS ({self.window(item)})" for key, item in node.window_exprs.items())
            parts.append(f"WINDOW {', '.join(named)}")
        if node.qualify is not None:
            parts.append(f"QUALIFY {self.expr(node.qualify)}")
        return parts

    def tail(self, node: tree.SelectQuery) -> list[str]:
        parts: list[str] = []
        if node.order_by:
            parts.append(f"ORDER BY {self.many(node.order_by)}")
        if node.limit_by is not None:
            skipped = node.limit_by.offset_value
            offset = f" OFFSET {self.expr(skipped)}" if skipped is not None else ""
            count = f"{self.expr(node.limit_by.n)}{offset}"
            parts.append(f"LIMIT {count} BY {self.many(node.limit_by.exprs)}")
        if node.limit is not None:
            parts.append(f"LIMIT {self.expr(node.limit)}")
        if node.offset is not None:
            parts.append(f"OFFSET {self.expr(node.offset)}")
        return [*parts, "WITH TIES"] if node.limit_with_ties else parts

    def cte(self, node: tree.CTE) -> str:
        if node.cte_type == "column":
            return f"{self.expr(node.expr)} AS {_name(node.name)}"
        return f"{_name(node.name)} AS ({self.query(node.expr)})"

    def join(self, node: tree.JoinExpr) -> str:
        parts: list[str] = []
        current: tree.JoinExpr | None = node
        while current is not None:
            if parts:
                parts.append(current.join_type or "JOIN")
            parts += self.joined(current)
            current = current.next_join
        return " ".join(parts)

    def joined(self, node: tree.JoinExpr) -> list[str]:
        table = self.expr(node.table)
        args = f"({self.many(node.table_args)})" if node.table_args is not None else ""
        parts = [f"{table}{args}"]
        parts += [f"AS {_name(node.alias)}"] if node.alias else []
        if node.sample is not None:
            ratio = node.sample.sample_value
            bottom = f"/{self.expr(ratio.right)}" if ratio.right else ""
            parts.append(f"SAMPLE {self.expr(ratio.left)}{bottom}")
        if node.constraint is not None:
            parts.append(f"{node.constraint.constraint_type} {self.expr(node.constraint.expr)}")
        return parts


_EXPRESSIONS: dict[type, Callable[[_HogQL, Any], str]] = {
    tree.Constant: _HogQL.constant,
    tree.Field: _HogQL.field,
    tree.Call: _HogQL.call,
    tree.And: _HogQL.logical,
    tree.Or: _HogQL.logical,
    tree.Not: _HogQL.negation,
    tree.ArithmeticOperation: _HogQL.arithmetic,
    tree.CompareOperation: _HogQL.compare,
    tree.BetweenExpr: _HogQL.between,
    tree.IsDistinctFrom: _HogQL.distinct_from,
    tree.Alias: _HogQL.alias,
    tree.Array: _HogQL.array,
    tree.Tuple: _HogQL.tuple,
    tree.Dict: _HogQL.dict,
    tree.ArrayAccess: _HogQL.access,
    tree.ArraySlice: _HogQL.slice,
    tree.HogQLXTag: _HogQL.tag,
    tree.TupleAccess: _HogQL.tuple_access,
    tree.Lambda: _HogQL.lambda_,
    tree.Placeholder: _HogQL.placeholder,
    tree.TypeCast: _HogQL.cast,
    tree.TryCast: _HogQL.cast,
    tree.ExprCall: _HogQL.expr_call,
    tree.WindowFunction: _HogQL.window_function,
    tree.OrderExpr: _HogQL.ordering,
    tree.GroupingSet: _HogQL.grouping_set,
    tree.NamedArgument: _HogQL.named,
    tree.ColumnsExpr: _HogQL.columns_expr,
    tree.SelectQuery: _HogQL.subquery,
    tree.SelectSetQuery: _HogQL.subquery,
}
