"""Prints SQL trees: ``sql(...)``, with operators as function calls.

Programs can modify trees, so nothing here relies on their shape: missing parts print as nothing,
other values as themselves.

Source: docs/spec/hog-language.md#5-semantics-of-operators and docs/spec/hog-language.md#8-printing.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from hoglet.hog.runtime import budget as meter

type Tree = dict[Any, Any]
type Show = Callable[[Any], str]

_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_DEEPEST: Final = 200
_ARITHMETIC: Final = {
    "+": "plus", "-": "minus", "*": "multiply", "/": "divide", "%": "modulo",
}  # fmt: skip
_COMPARISON: Final = {
    "==": "equals({0}, {1})", "!=": "notEquals({0}, {1})",
    "<": "less({0}, {1})", "<=": "lessOrEquals({0}, {1})",
    ">": "greater({0}, {1})", ">=": "greaterOrEquals({0}, {1})",
    "like": "like({0}, {1})", "ilike": "ilike({0}, {1})",
    "not like": "notLike({0}, {1})", "not ilike": "notILike({0}, {1})",
    "in": "in({0}, {1})", "not in": "notIn({0}, {1})",
    "=~": "match({0}, {1})", "!~": "not(match({0}, {1}))",
    "=~*": "match({0}, concat('(?i)', {1}))", "!~*": "not(match({0}, concat('(?i)', {1})))",
}  # fmt: skip


def sql_text(tree: Tree, show: Show) -> str:
    """An object with ``__hx_ast`` as text; ``show`` prints plain values spliced into it."""
    return f"sql({_Sql(show).print(tree, 0)})"


class _Sql:
    def __init__(self, show: Show) -> None:
        self._show = show

    def print(self, node: Any, depth: int) -> str:
        """Print a tree, or a value that replaces one."""
        if type(node) is not dict or "__hx_ast" not in node:
            return self._show(node)
        meter.poll()
        if depth > _DEEPEST:
            return "..."
        kind = node["__hx_ast"]
        printer = self._PRINTERS.get(_text(kind))
        if printer is not None:
            return meter.charged(printer(self, node, depth + 1))
        parts = [item for key, item in node.items() if key != "__hx_ast"]
        name = kind if type(kind) is str else self._show(kind)
        return f"{name}({', '.join([self.print(item, depth + 1) for item in parts])})"

    def _listed(self, nodes: Any, depth: int) -> str:
        if not isinstance(nodes, list):
            return "" if nodes is None else self.print(nodes, depth)
        return ", ".join([self.print(node, depth) for node in nodes])

    def _constant(self, node: Tree, _depth: int) -> str:
        return self._show(node.get("value"))

    def _field(self, node: Tree, _depth: int) -> str:
        chain = node.get("chain")
        if chain == ["*"]:
            return "*"
        return ".".join([_name(part, self._show) for part in _list(chain)])

    def _call(self, node: Tree, depth: int) -> str:
        params = node.get("params")
        head = f"({self._listed(params, depth)})" if params is not None else ""
        return (
            f"{_name(node.get('name'), self._show)}{head}({self._listed(node.get('args'), depth)})"
        )

    def _arithmetic(self, node: Tree, depth: int) -> str:
        name = _ARITHMETIC.get(_text(node.get("op")), "unknown")
        return f"{name}({self._pair(node, depth)})"

    def _pair(self, node: Tree, depth: int) -> str:
        return f"{self.print(node.get('left'), depth)}, {self.print(node.get('right'), depth)}"

    def _comparison(self, node: Tree, depth: int) -> str:
        shape = _COMPARISON.get(_text(node.get("op")), "unknown({0}, {1})")
        left, right = self.print(node.get("left"), depth), self.print(node.get("right"), depth)
        return shape.replace("{0}", "\0").replace("{1}", right).replace("\0", left)

    def _and(self, node: Tree, depth: int) -> str:
        return f"and({self._listed(node.get('exprs'), depth)})"

    def _or(self, node: Tree, depth: int) -> str:
        return f"or({self._listed(node.get('exprs'), depth)})"

    def _not(self, node: Tree, depth: int) -> str:
        return f"not({self.print(node.get('expr'), depth)})"

    def _array(self, node: Tree, depth: int) -> str:
        return f"[{self._listed(node.get('exprs'), depth)}]"

    def _tuple(self, node: Tree, depth: int) -> str:
        return f"tuple({self._listed(node.get('exprs'), depth)})"

    def _alias(self, node: Tree, depth: int) -> str:
        return f"{self.print(node.get('expr'), depth)} AS {_name(node.get('alias'), self._show)}"

    def _order(self, node: Tree, depth: int) -> str:
        return f"{self.print(node.get('expr'), depth)} {_text(node.get('order')) or 'ASC'}"

    def _lambda(self, node: Tree, depth: int) -> str:
        names = ", ".join([_name(name, self._show) for name in _list(node.get("args"))])
        return f"({names}) -> {self.print(node.get('expr'), depth)}"

    def _access(self, node: Tree, depth: int) -> str:
        target, key = node.get("array"), node.get("property")
        return f"{self.print(target, depth)}[{self.print(key, depth)}]"

    def _item(self, node: Tree, depth: int) -> str:
        return f"{self.print(node.get('tuple'), depth)}.{self._show(node.get('index'))}"

    def _between(self, node: Tree, depth: int) -> str:
        word = "NOT BETWEEN" if node.get("negated") is True else "BETWEEN"
        low, high = self.print(node.get("low"), depth), self.print(node.get("high"), depth)
        return f"{self.print(node.get('expr'), depth)} {word} {low} AND {high}"

    def _cast(self, node: Tree, depth: int) -> str:
        return f"cast({self.print(node.get('expr'), depth)} AS {_text(node.get('type_name'))})"

    def _window_function(self, node: Tree, depth: int) -> str:
        over = node.get("over_expr")
        name = _name(node.get("name"), self._show)
        window = self.print(over, depth) if over is not None else ""
        if over is None:
            window = _name(node.get("over_identifier"), self._show)
        arguments = (
            f"({self._listed(node.get('exprs'), depth)})({self._listed(node.get('args'), depth)})"
        )
        return f"{name}{arguments} OVER ({window})"

    def _window(self, node: Tree, depth: int) -> str:
        parts: list[str] = []
        if node.get("partition_by"):
            parts.append(f"PARTITION BY {self._listed(node.get('partition_by'), depth)}")
        if node.get("order_by"):
            parts.append(f"ORDER BY {self._listed(node.get('order_by'), depth)}")
        return " ".join(parts)

    # --- queries

    def _select(self, node: Tree, depth: int) -> str:
        distinct = "DISTINCT " if node.get("distinct") is True else ""
        parts = [f"SELECT {distinct}{self._listed(node.get('select'), depth)}"]
        if node.get("select_from") is not None:
            parts.append(f"FROM {self.print(node.get('select_from'), depth)}")
        for field, words in _CLAUSES:
            if node.get(field) is not None:
                parts.append(f"{words} {self._listed(node.get(field), depth)}")
        text = " ".join(parts)
        return f"({text})" if depth > 1 else text

    def _set(self, node: Tree, depth: int) -> str:
        parts = [self.print(node.get("initial_select_query"), depth)]
        for item in _list(node.get("subsequent_select_queries")):
            if type(item) is dict:
                query = self.print(item.get("select_query"), depth)
                parts.append(f"{_text(item.get('set_operator'))} {query}")
        return " ".join(parts)

    def _join(self, node: Tree, depth: int) -> str:
        parts = [self.print(node.get("table"), depth)]
        if node.get("alias") is not None:
            parts.append(f"AS {_name(node.get('alias'), self._show)}")
        if node.get("join_type") is not None:
            parts.insert(0, _text(node.get("join_type")))
        if node.get("constraint") is not None:
            parts.append(self.print(node.get("constraint"), depth))
        if node.get("next_join") is not None:
            parts.append(self.print(node.get("next_join"), depth))
        return " ".join(parts)

    def _constraint(self, node: Tree, depth: int) -> str:
        return f"{_text(node.get('constraint_type'))} {self.print(node.get('expr'), depth)}"

    _PRINTERS: Final[dict[Any, Callable[[Any, Tree, int], str]]] = {
        "Constant": _constant, "Field": _field, "Call": _call, "And": _and, "Or": _or,
        "Not": _not, "ArithmeticOperation": _arithmetic, "CompareOperation": _comparison,
        "Array": _array, "Tuple": _tuple, "Alias": _alias, "OrderExpr": _order,
        "Lambda": _lambda, "ArrayAccess": _access, "TupleAccess": _item, "BetweenExpr": _between,
        "TypeCast": _cast, "TryCast": _cast, "SelectQuery": _select, "SelectSetQuery": _set,
        "JoinExpr": _join, "JoinConstraint": _constraint, "WindowFunction": _window_function,
        "WindowExpr": _window,
    }  # fmt: skip


_CLAUSES: Final = (
    ("prewhere", "PREWHERE"),
    ("where", "WHERE"),
    ("group_by", "GROUP BY"),
    ("having", "HAVING"),
    ("order_by", "ORDER BY"),
    ("limit", "LIMIT"),
    ("offset", "OFFSET"),
)


def _name(name: Any, show: Show) -> str:
    text = name if type(name) is str else show(name)
    return text if _IDENTIFIER.match(text) or text.isdigit() else f"`{text.replace('`', '``')}`"


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
