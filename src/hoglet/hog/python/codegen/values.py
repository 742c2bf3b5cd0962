"""Prints what reads and builds values as Python: constants, variables, properties, containers."""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.purity import EFFECTS
from hoglet.hog.python.codegen.constants import constant_text
from hoglet.hog.python.codegen.evaluation import Evaluation, Handlers, item_text
from hoglet.hog.python.codegen.operands import Operand, literal


class ValuePrinter(Evaluation):
    """The printer of reads and of new containers, functions and SQL trees."""

    def _constant(self, node: bound.Constant) -> Operand:
        return literal(node.value)

    def _read_variable(self, node: bound.ReadVariable) -> Operand:
        if self.is_raw(node):
            return self.imported(self.raw(node))
        kind = self.facts.variables.get(node.variable) or "A"
        return Operand(self.variable(node.variable), "C" if kind == "Z" else kind, atom=True)

    def _read_global(self, node: bound.ReadGlobal) -> Operand:
        if node.library:
            return Operand(f"read(G, {node.path[0]!a})", "A")
        return self.imported(self.raw(node))

    def _property(self, node: bound.GetProperty) -> Operand:
        if self.is_raw(node):
            return self.imported(self.raw(node))
        target, key = self.sequence((node.target, node.key), keys=(1,))
        if not target.atom and not key.atom:
            target = self.bind(target)
        is_computed = key.kind in "CK" and not key.atom and self.effects.level(node.key) < EFFECTS
        if is_computed and target.atom and not target.constant:
            return Operand(self._item_text(target.text, key), "A")
        may_repeat = key.kind == "A" and self.effects.level(node.key) < EFFECTS
        if may_repeat and target.atom and target.kind == "A" and not target.constant:
            return Operand(self._field_text(target.text, key), "A")
        return Operand(self.property_text(target, key), "A")

    def _field_text(self, target: str, key: Operand) -> str:
        """The text that reads a field with a computed name, which is evaluated first."""
        first, again = self.temporaries.twice(key)
        test = f"type({first}) is S and type({target}) is D"
        return f"({target}.get({again}) if {test} else prop({target}, {again}))"

    def _item_text(self, target: str, key: Operand) -> str:
        """The text that reads an item at a computed index, which is evaluated first."""
        index = self.temporaries.new()
        first = f"({index} := {key.text})"
        test = f"{first} > 0" if key.kind == "C" else f"type({first}) is I and {index} > 0"
        test += f" and type({target}) is L and {index} <= LEN({target})"
        return f"({target}[{index} - 1] if {test} else prop({target}, {index}))"

    def _array(self, node: bound.MakeArray) -> Operand:
        return Operand(f"[{self.listed(node.items)}]", "L")

    def _tuple(self, node: bound.MakeTuple) -> Operand:
        return Operand(f"tuple_of([{self.listed(node.items)}])", "A")

    def _object(self, node: bound.MakeObject) -> Operand:
        flat = tuple(part for pair in node.items for part in pair)
        operands = self.sequence(flat, keys=range(0, len(flat), 2))
        pairs = list(zip(operands[::2], operands[1::2], strict=True))
        text = ", ".join([f"{self._key(key)}: {item_text(value)}" for key, value in pairs])
        return Operand(f"{{{text}}}", "D")

    @staticmethod
    def _key(key: Operand) -> str:
        return key.text if key.kind in {"S", "Z", "C"} else f"key({key.text})"

    def table(self, node: Any) -> Operand:
        """An array or object of literals that the program only looks at."""
        if self.program.trace:
            return self.value(node)
        kind = "L" if isinstance(node, bound.MakeArray) else "D"
        return Operand(self.program.constant(constant_text(node)), kind, atom=True)

    def _make_function(self, node: bound.MakeFunction) -> Operand:
        return Operand(self.function(node.function), "A", atom=True)

    def _sql(self, node: Any) -> Operand:
        if isinstance(node, bound.SqlScalar):
            return literal(node.value)
        if isinstance(node, bound.SqlList):
            return Operand(f"[{', '.join(self._sql_part(item) for item in node.items)}]", "L")
        if isinstance(node, bound.SqlMap | bound.SqlNode):
            items = node.items if isinstance(node, bound.SqlMap) else node.fields
            head = [f"'__hx_ast': {node.kind!a}"] if isinstance(node, bound.SqlNode) else []
            fields = [f"{name!a}: {self._sql_part(value)}" for name, value in items]
            return Operand(f"{{{', '.join(head + fields)}}}", "D")
        return self.value(node)

    def _sql_part(self, node: Any) -> str:
        mark = self.mark()
        operand = self._sql(node)
        return operand.text if self.mark() == mark else self.bind(operand).text

    VALUES: Final[Handlers] = {
        bound.Constant: _constant,
        bound.ReadVariable: _read_variable,
        bound.ReadGlobal: _read_global,
        bound.GetProperty: _property,
        bound.MakeArray: _array,
        bound.MakeTuple: _tuple,
        bound.MakeObject: _object,
        bound.MakeFunction: _make_function,
        bound.SqlNode: _sql,
    }
