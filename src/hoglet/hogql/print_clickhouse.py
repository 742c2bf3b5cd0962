"""A plan as ClickHouse SQL and its parameters.

User constants are parameters (``{v0:String}``), names are quoted, everything else is generated. A
scan without its tenancy predicate is rejected as a bug.

Source: docs/adr/0008-warehouse.md.
"""

import re
from typing import Any

from hoglet.hogql import plan
from hoglet.hogql.schema.properties import quote_name
from hoglet.hogql.schema.system import NO_ROWS, ROW_SOURCES
from hoglet.kit.errors import Bug

PROJECT_PARAMETER = "project_id"
_NOT_VALUES = frozenset({PROJECT_PARAMETER, *ROW_SOURCES})

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_RESERVED = frozenset(
    {
        "all", "and", "any", "anti", "array", "as", "asc", "asof", "between", "by", "case", "cast",
        "cross", "cube", "date", "desc", "distinct", "else", "end", "except", "exists", "explain",
        "extract", "false", "fill", "final", "first", "format", "from", "full", "global", "group",
        "grouping", "having", "if", "ilike", "in", "index", "inner", "insert", "intersect",
        "interval", "into", "is", "join", "key", "last", "left", "like", "limit", "not", "null",
        "nulls", "offset", "on", "or", "order", "over", "paste", "prewhere", "qualify", "right",
        "rollup", "sample", "select", "semi", "set", "settings", "some", "table", "then", "ties",
        "timestamp", "to", "top", "totals", "true", "union", "using", "values", "when", "where",
        "window", "with",
    }
)  # fmt: skip


def name(text: str) -> str:
    """A name in SQL: bare if that is safe, else in backquotes.

    Example:
        >>> name("$browser")
        '`$browser`'
    """
    if _PLAIN.match(text) and text not in _RESERVED:
        return text
    return quote_name(text)


class Printer:
    """Prints a plan; ``params`` is filled along the way."""

    def __init__(self) -> None:
        self.params: dict[str, Any] = {}
        self._bound: dict[tuple[str, str], str] = {}

    # --- relations

    def relation(self, node: plan.Relation) -> str:
        """A query or a table of FROM, without parentheses."""
        if isinstance(node, plan.Select):
            return self._select(node)
        if isinstance(node, plan.Scan):
            return self._scan(node)
        if isinstance(node, plan.SetQuery):
            parts = [f"({self.relation(node.first)})"]
            parts += [f"{operator} ({self.relation(query)})" for operator, query in node.rest]
            return " ".join(parts)
        if isinstance(node, plan.Recursion):
            return self._recursion(node)
        if isinstance(node, plan.RecursiveRead):
            return self._rows_of(node)
        args = ", ".join(self.expr(arg) for arg in node.args)
        return f"SELECT number FROM numbers({args})"  # noqa: S608 (printed arguments)

    def _recursion(self, node: plan.Recursion) -> str:
        parts = " UNION ALL ".join(f"({self.relation(each)})" for each in (node.first, *node.steps))
        return f"WITH RECURSIVE {name(node.name)} AS ({parts}) {self._rows_of(node)}"

    def _rows_of(self, node: plan.Recursion | plan.RecursiveRead) -> str:
        columns = ", ".join(name(label) for label, _ in node.columns)
        return f"SELECT {columns} FROM {name(node.name)}"  # noqa: S608 (own names)

    def _scan(self, node: plan.Scan) -> str:
        if node.project is None:
            raise Bug(f"scan of {node.table} without its project")
        columns = ", ".join(self._column(*column) for column in node.columns)
        columns = columns or ("1" if node.group_by else PROJECT_PARAMETER)
        parts = [f"SELECT {columns} FROM {self._table(node.table)}"]  # noqa: S608 (the printer's job)
        parts += ["FINAL"] if node.final else []
        parts.append(f"WHERE {PROJECT_PARAMETER} = {self.expr(node.project)}")
        parts += [f"AND ({self.expr(node.where)})"] if node.where is not None else []
        parts += [f"GROUP BY {self._list(node.group_by)}"] if node.group_by else []
        return " ".join(parts)

    def _table(self, table: str) -> str:
        """A stored table, or the rows bound for this query."""
        source = ROW_SOURCES.get(table)
        if source is None:
            return name(table)
        self.params.setdefault(source.parameter, NO_ROWS)
        kinds = ", ".join(f"{name(column)} {kind}" for column, kind in source.columns)
        columns = ", ".join(
            f"tupleElement(bound_row, {number}) AS {name(column)}"
            for number, (column, _) in enumerate(source.columns, 1)
        )
        kinds = f"Array(Tuple({kinds}))".replace("\\", "\\\\").replace("'", "\\'")
        rows = f"arrayJoin(JSONExtract({{{source.parameter}:String}}, '{kinds}'))"
        return f"(SELECT {columns} FROM (SELECT {rows} AS bound_row))"  # noqa: S608 (own names)

    def _column(self, label: str, expr: plan.Expr) -> str:
        if isinstance(expr, plan.Name) and expr.source is None and expr.name == label:
            return name(label)
        return f"{self.expr(expr)} AS {name(label)}"

    def _select(self, node: plan.Select) -> str:
        columns = ", ".join(self._column(*column) for column in node.columns)
        parts = [f"SELECT {'DISTINCT ' if node.distinct else ''}{columns}"]
        parts += self._from(node)
        parts += self._where(node)
        parts += self._group(node)
        if node.having is not None:
            parts.append(f"HAVING {self.expr(node.having)}")
        if node.windows:
            named = (f"{name(label)} AS ({self._window(item)})" for label, item in node.windows)
            parts.append(f"WINDOW {', '.join(named)}")
        if node.qualify is not None:
            parts.append(f"QUALIFY {self.expr(node.qualify)}")
        parts += self._tail(node)
        return " ".join(parts)

    def _from(self, node: plan.Select) -> list[str]:
        parts: list[str] = []
        if node.flat_read is not None:
            parts.append(f"FROM {name(node.flat_read.table)} AS {name(node.flat_read.alias)}")
        for join in node.joins:
            keyword = "FROM" if not join.kind else join.kind
            parts.append(f"{keyword} ({self.relation(join.relation)}) AS {name(join.alias)}")
            if join.using:
                parts.append(f"USING ({', '.join(name(column) for column in join.using)})")
            elif join.on is not None:
                parts.append(f"ON {self.expr(join.on)}")
        if node.array_join:
            items = ", ".join(self._column(*item) for item in node.array_join)
            parts.append(f"{node.array_join_kind} {items}")
        return parts

    def _where(self, node: plan.Select) -> list[str]:
        condition = self.expr(node.where) if node.where is not None else ""
        read = node.flat_read
        if read is None:
            return [f"WHERE {condition}"] if condition else []
        own = f"{name(read.alias)}.{PROJECT_PARAMETER} = {self.expr(read.project)}"
        return [f"WHERE {own}", *([f"AND ({condition})"] if condition else [])]

    def _group(self, node: plan.Select) -> list[str]:
        if node.group_by_mode == "ALL":
            return ["GROUP BY ALL"]
        if not node.group_by:
            return []
        if node.group_by_mode == "GROUPING SETS":
            sets = [f"({self._list(getattr(item, 'args', ()))})" for item in node.group_by]
            return [f"GROUP BY GROUPING SETS ({', '.join(sets)})"]
        items = self._list(node.group_by)
        return [
            f"GROUP BY {node.group_by_mode}({items})" if node.group_by_mode else f"GROUP BY {items}"
        ]

    def _tail(self, node: plan.Select) -> list[str]:
        parts: list[str] = []
        if node.order_by:
            parts.append(f"ORDER BY {', '.join(self._ordering(item) for item in node.order_by)}")
        if node.limit_by:
            count, offset, exprs = node.limit_by
            skip = f" OFFSET {self.expr(offset)}" if offset is not None else ""
            parts.append(f"LIMIT {self.expr(count)}{skip} BY {self._list(exprs)}")
        if node.limit is not None:
            parts.append(f"LIMIT {self.expr(node.limit)}")
            parts += [f"OFFSET {self.expr(node.offset)}"] if node.offset is not None else []
            parts += ["WITH TIES"] if node.with_ties else []
        elif node.offset is not None:
            parts.append(f"OFFSET {self.expr(node.offset)}")
        return parts

    def _ordering(self, item: plan.Ordering) -> str:
        text = self.expr(item.expr) + (" DESC" if item.descending else "")
        text += " NULLS FIRST" if item.nulls_first else ""
        if item.fill is None:
            return text
        words = ("FROM", "TO", "STEP")
        parts = [
            f" {word} {self.expr(expr)}"
            for word, expr in zip(words, item.fill, strict=True)
            if expr is not None
        ]
        return f"{text} WITH FILL{''.join(parts)}"

    def _window(self, window: plan.Window) -> str:
        parts: list[str] = []
        if window.partition_by:
            parts.append(f"PARTITION BY {self._list(window.partition_by)}")
        if window.order_by:
            parts.append(f"ORDER BY {', '.join(self._ordering(item) for item in window.order_by)}")
        parts += [window.frame] if window.frame else []
        return " ".join(parts)

    # --- expressions

    def _list(self, exprs: tuple[plan.Expr, ...]) -> str:
        return ", ".join([self.expr(expr) for expr in exprs])

    def expr(self, node: plan.Expr) -> str:
        """One expression."""
        return _PRINTERS[type(node)](self, node)

    def print_name(self, node: plan.Name) -> str:
        """A column, an alias or a lambda argument."""
        if node.source is None:
            return name(node.name)
        return f"{name(node.source)}.{name(node.name)}"

    def print_number(self, node: plan.Number) -> str:
        """A literal."""
        return node.text

    def print_value(self, node: plan.Value) -> str:
        """A bound constant; equal values share a parameter."""
        key = (node.bind, repr(node.value))
        label = self._bound.get(key)
        if label is None:
            project = node.bind == "Project"
            label = PROJECT_PARAMETER if project else f"v{len(self.params.keys() - _NOT_VALUES)}"
            self._bound[key] = label
            self.params[label] = node.value
        bind = "Int64" if node.bind == "Project" else node.bind
        return f"{{{label}:{bind}}}"

    def print_apply(self, node: plan.FunctionCall) -> str:
        """A function call."""
        params = f"({self._list(node.params)})" if node.params is not None else ""
        distinct = "DISTINCT " if node.distinct else ""
        return f"{node.function}{params}({distinct}{self._list(node.args)})"

    def print_trusted(self, node: plan.TrustedSQL) -> str:
        """Trusted SQL with its holes filled."""
        return "".join([part if isinstance(part, str) else self.expr(part) for part in node.parts])

    def print_lambda(self, node: plan.LambdaExpr) -> str:
        """``(a, b) -> body``."""
        names = ", ".join(name(item) for item in node.names)
        return f"({names}) -> {self.expr(node.body)}"

    def print_over(self, node: plan.Over) -> str:
        """A window function."""
        if node.window is not None:
            return f"{self.print_apply(node.call)} OVER ({self._window(node.window)})"
        return f"{self.print_apply(node.call)} OVER {name(node.name or '')}"

    def print_scalar(self, node: plan.ScalarQuery) -> str:
        """A query as a value."""
        return f"({self.relation(node.query)})"


_PRINTERS: dict[type, Any] = {
    plan.Name: Printer.print_name,
    plan.Number: Printer.print_number,
    plan.Value: Printer.print_value,
    plan.FunctionCall: Printer.print_apply,
    plan.TrustedSQL: Printer.print_trusted,
    plan.LambdaExpr: Printer.print_lambda,
    plan.Over: Printer.print_over,
    plan.ScalarQuery: Printer.print_scalar,
}
