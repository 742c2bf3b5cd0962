"""Prints operators and conditionals of the bound tree as Python.

The statements of a conditional branch are put under an ``if``.

Source: docs/spec/hog-language.md#3-operators-loosest-first and
docs/spec/hog-language.md#5-semantics-of-operators.
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.purity import EFFECTS
from hoglet.hog.python.codegen.comparisons import ORDER, comparison, one_of
from hoglet.hog.python.codegen.evaluation import Evaluation, Handlers
from hoglet.hog.python.codegen.operands import (
    IMPORT,
    Operand,
    arithmetic,
    coerced,
    literal,
)

_EQUAL: Final = frozenset({"==", "!="})
_PLAIN: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_RAW_MEMBERSHIP: Final = {"in": "R_in", "not in": "R_not_in"}
_SLOW_IN: Final = {"in": "contains", "not in": "not_contains"}
_EXACT_TYPES: Final = {
    "array": "type({0}) {1} L",
    "boolean": "type({0}) {1} B",
    "null": "{0} {1} None",
}
"""Names of types that one Python type stands for."""
_MAX_CHAIN: Final = 8


class OperatorPrinter(Evaluation):
    """The printer of operators and conditionals."""

    def _arithmetic(self, node: bound.Arithmetic) -> Operand:
        left, right = self.both(node.left, node.right, raw=True)
        kind = self.facts.kind(node) or "K"
        if not (left.atom and right.atom) and kind == "K" and node.operator in "*/%":
            left, right = self._both_atoms(left, right)
        return arithmetic(node.operator, left, right, kind, self.temporaries)

    def _both_atoms(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        right = self.bind(right)
        return self.bind(left), right

    def _type_test(self, node: bound.Compare) -> Operand | None:
        """``typeof(x) = 'string'``: the usual types are recognized without a call."""
        call, name = node.left, node.right
        if isinstance(call, bound.Constant):
            call, name = name, call
        subject = self.argument_of("typeof", call)
        if subject is None or node.operator not in _EQUAL:
            return None
        if not isinstance(name, bound.Constant) or not isinstance(name.value, str):
            return None
        operand = self.raw(subject)
        exact = _EXACT_TYPES.get(name.value)
        if name.value == "string" and not operand.raw:
            exact = "type({0}) {1} S"
        word = "is" if node.operator == "==" else "is not"
        if exact is not None:
            return Operand(f"({exact.format(operand.text, word)})", "B")
        first, again = self.temporaries.twice(operand)
        function = "R_typeof" if operand.raw else "L_typeof"
        slow = f"{function}({again}) {node.operator} {literal(name.value).text}"
        if name.value == "object":
            other, inside = ("and", "not in") if word == "is" else ("or", "in")
            if not operand.raw:
                slow = f"'__hx_ast' {inside} {again}"
            return Operand(f"(type({first}) {word} D {other} {slow})", "B")
        is_text = (name.value == "string") == (node.operator == "==")
        text = f"type({first}) is S or" if is_text else f"type({first}) is not S and"
        return Operand(f"({text} {slow})", "B")

    def _compare(self, node: bound.Compare) -> Operand:
        tested = self._type_test(node)
        if tested is not None:
            return tested
        if node.operator in _PLAIN:
            raw = self._raw_comparison(node)
            if raw is not None:
                return raw
        texts = self.facts.texts(node.right) if node.operator in _SLOW_IN else None
        if texts is not None:
            return one_of(node.operator, self.raw(node.left), texts, self.temporaries)
        membership = self._key_membership(node)
        if membership is not None:
            return membership
        is_plain = self.is_raw(node.right) and self.importer(node.right) == IMPORT
        if node.operator in _RAW_MEMBERSHIP and is_plain:
            left, right = self.value(node.left), self.raw(node.right)
            return Operand(f"{_RAW_MEMBERSHIP[node.operator]}({left.text}, {right.text})", "B")
        if "like" in node.operator and isinstance(node.right, bound.Constant):
            left, right = self.raw(node.left), self.value(node.right)
        else:
            left, right = self.both(node.left, node.right, raw=self._orders_raw(node))
        return comparison(node.operator, left, right, self.temporaries)

    def _orders_raw(self, node: bound.Compare) -> bool:
        """Whether a comparison looks for numbers in host data before it imports that."""
        operands = node.left, node.right
        if node.operator not in ORDER or EFFECTS in map(self.effects.level, operands):
            return False
        return any(map(self.may_be_raw, operands))

    def _key_membership(self, node: bound.Compare) -> Operand | None:
        """``key in keys(x)``, without the array."""
        if node.operator not in _SLOW_IN:
            return None
        inside = self.has_key(node.left, node.right)
        if inside is None or node.operator == "in":
            return inside
        return Operand(f"(not {inside.text})", "B")

    def _raw_comparison(self, node: bound.Compare) -> Operand | None:
        """A comparison of a raw value with a literal; the value need not be imported."""
        pair = node.left, node.right
        if not any(isinstance(item, bound.Constant) and _is_small(item.value) for item in pair):
            return None
        if not any(self.may_be_raw(item) for item in pair):
            return None
        left, right = self.raw(node.left), self.raw(node.right)
        return comparison(node.operator, left, right, self.temporaries)

    def _between(self, node: bound.Between) -> Operand:
        first, second = ("<", ">") if node.negated else (">=", "<=")
        if EFFECTS in (self.effects.level(node.value), self.effects.level(node.high)):
            lower = self.bind(self._compared(first, node.value, node.low))
            upper = self.bind(self._compared(second, node.value, node.high))
        else:
            nodes = (node.low, node.value, node.high)
            low, value, high = (self.bind(item) for item in self.sequence(nodes))
            lower = comparison(first, value, low, self.temporaries)
            upper = comparison(second, value, high, self.temporaries)
        return Operand(f"({lower.text} {'or' if node.negated else 'and'} {upper.text})", "B")

    def _compared(self, operator: str, left: Any, right: Any) -> Operand:
        return comparison(operator, *self.both(left, right), self.temporaries)

    def _logic(self, node: Any) -> Operand:
        return Operand(self.strict(node), "B")

    def _conditional(self, node: bound.Conditional) -> Operand:
        kind = self.facts.kind(node) or "A"
        if _chained(node) > _MAX_CHAIN:
            return self._long_conditional(node, kind)
        test = self.test(node.condition)
        then, otherwise = self.branch(node.then, kind), self.branch(node.otherwise, kind)
        if not then[0] and not otherwise[0]:
            return Operand(f"({then[1]} if {test} else {otherwise[1]})", kind)
        name = self.temporaries.new()
        self.guard(f"if {test}:", then, name)
        self.guard("else:", otherwise, name)
        return Operand(name, kind, atom=True)

    def _long_conditional(self, node: Any, kind: str) -> Operand:
        """A chain of ``c ? a : d ? b : ...`` as consecutive branches instead of nested ones."""
        name = self.temporaries.new()
        self.line("while True:")
        self.indent += 1
        while isinstance(node, bound.Conditional):
            self.line(f"if {self.test(node.condition)}:")
            self.indent += 1
            self.line(f"{name} = {coerced(self.value(node.then), kind)}")
            self.line("break")
            self.indent -= 1
            node = node.otherwise
        self.line(f"{name} = {coerced(self.value(node), kind)}")
        self.line("break")
        self.indent -= 1
        return Operand(name, kind, atom=True)

    def _if_null(self, node: bound.IfNull) -> Operand:
        if self.may_be_raw(node) and not self.program.batch:
            return self.imported(self.raw(node))
        kind = self.facts.kind(node) or "A"
        value = self.value(node.value)
        if value.kind not in "AN":
            return Operand(coerced(value, kind), kind) if kind == "F" else value
        if value.kind == "N" and value.constant:
            return self.value(node.fallback)
        fallback = self.branch(node.fallback, kind)
        if not fallback[0]:
            first, again = self.temporaries.twice(value)
            return Operand(f"({again} if {first} is not None else {fallback[1]})", kind)
        name = self.temporaries.new()
        self.line(f"{name} = {value.text}")
        self.guard(f"if {name} is None:", fallback, name)
        return Operand(name, kind, atom=True)

    OPERATORS: Final[Handlers] = {
        bound.And: _logic,
        bound.Or: _logic,
        bound.Not: _logic,
        bound.Compare: _compare,
        bound.Between: _between,
        bound.Arithmetic: _arithmetic,
        bound.Conditional: _conditional,
        bound.IfNull: _if_null,
    }


def _chained(node: Any) -> int:
    """The number of conditionals that are chained by their ``otherwise`` branches."""
    count = 0
    while isinstance(node, bound.Conditional):
        node, count = node.otherwise, count + 1
    return count


def _is_small(value: Any) -> bool:
    is_scalar = value is None or isinstance(value, str | bool)
    return is_scalar or (type(value) is int and abs(value) < 2**31)
