"""Prints calls of small functions in place, and lambdas of ``arrayMap`` and similar as loops.

A call of a lambda takes longer than what most lambdas do. One that is a single expression and is
written where it is passed becomes the body of a loop; it still counts as a call frame.
"""

from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER
from hoglet.hog.python.analysis.purity import EFFECTS
from hoglet.hog.python.analysis.visitor import parts
from hoglet.hog.python.codegen.evaluation import item_text
from hoglet.hog.python.codegen.operands import Operand, coerced
from hoglet.hog.python.codegen.plain_values import PER_CONTAINER, PlainPrinter

_MAX_BLOCKS: Final = 12  # further loops would be moved into functions


class InlinePrinter(PlainPrinter):
    """The printer of inlined functions."""

    def inlined_call(self, function: bound.BoundFunction, operands: list[Operand]) -> Operand:
        """A call of a function that is one expression; its parameters become local variables."""
        kinds = self.facts.variables
        for index, parameter in enumerate(function.parameters):
            is_given = index < len(operands)
            kind = kinds.get(parameter) or "A"
            text = coerced(operands[index], kind) if is_given else "None"
            self.line(f"{self.variable(parameter)} = {text}")
        statement: Any = function.body.statements[0]
        call_line, number = self.source_line, function.number
        if isinstance(call_line, int):
            self.source_line = (call_line, number, _line_of(function))
        self.frames += 1
        self.line(f"if {self.depth()} > LIMIT: check({self.depth()})")
        if isinstance(call_line, int):
            self.source_line = (call_line, number, _line_of(statement))
        for parameter in function.parameters:
            self.view(parameter)
        value = self.value(statement.value)
        kind = self.facts.results.get(function.number) or "A"
        result = self.temporaries.new()
        self.line(f"{result} = {coerced(value, kind)}")
        self.frames -= 1
        self.source_line = call_line
        return Operand(result, kind, atom=True)

    def inlined(self, node: bound.CallGlobal) -> Operand | None:
        """The call as a loop; None if its function cannot be inlined."""
        function = self.program.borrowing.lambda_of(node)
        if function is None or self.program.trace or self.program.batch:
            return None
        body = self._body(node, function)
        if self.blocks >= _MAX_BLOCKS or body is None:
            return None
        item = function.parameters[LAMBDA_PARAMETER[node.name]]
        is_raw = item in self.program.borrowing.variables
        source, *start = self.sequence(node.arguments[1:], raw=(0,) if is_raw else ())
        name = self.temporaries.new() if not start else self.variable(function.parameters[0])
        self.line(f"{name} = {start[0].text if start else _EMPTY[node.name]}")
        if id(node) in self.program.results.calls:
            self.counters[name] = self.temporaries.new()
            self.line(f"{self.counters[name]} = {PER_CONTAINER}")
        self._item_loop(item, source, copy=self.effects.level(body) == EFFECTS)
        self._print_round(node.name, name, item, body)
        self._loop_end()
        if is_raw and node.name == "arrayFilter":
            return Operand(name, "A", atom=True, raw=self.importer(node))
        return Operand(name, self.facts.kind(node) or "A", atom=True)

    def _body(self, node: bound.CallGlobal, function: bound.BoundFunction) -> Any:
        """The expression of a lambda that can be inlined, else None."""
        statements = function.body.statements
        if len(statements) != 1 or not isinstance(statements[0], bound.Return):
            return None
        size = 2 if node.name == "arrayReduce" else 1
        if len(function.parameters) != size or len(node.arguments) != size + 1:
            return None
        if function.number in self.program.suspending:
            return None
        body = statements[0].value
        return body if self._has_no_functions(body) else None

    def _has_no_functions(self, node: Any) -> bool:
        if isinstance(node, bound.MakeFunction):
            return False
        below = parts(node)
        function = self.program.borrowing.lambda_of(node)
        if isinstance(node, bound.CallGlobal) and function is not None:
            if self._body(node, function) is None:
                return False
            below = below[1:]
        return all(map(self._has_no_functions, below))

    def _item_loop(self, item: bound.Variable, source: Operand, *, copy: bool) -> None:
        first, again = self.temporaries.twice(source)
        items = f"items(R_items({again}))" if source.raw else f"items({again})"
        text = f"({again} if type({first}) is L and LEN({again}) <= 256 else {items})"
        self.line(f"for {self.variable(item)} in {f'[*{text}]' if copy else text}:")
        self.blocks += 1
        self.indent += 1
        self.frames += 1
        self.line(f"if {self.depth()} > LIMIT: check({self.depth()})")
        self.view(item)

    def _loop_end(self) -> None:
        self.blocks -= 1
        self.indent -= 1
        self.frames -= 1

    def _print_round(self, function: str, name: str, item: bound.Variable, body: Any) -> None:
        """Print what is done with an item."""
        if function == "arrayReduce":
            self.line(f"{name} = {self.value(body).text}")
        elif function == "arrayMap" and name in self.counters:
            value = self.plain_value(body)
            self.store(value, self.counters[name], f"{name}.append({{}})")
        elif function == "arrayMap":
            self.line(f"{name}.append({item_text(self.value(body))})")
        else:
            self.line(f"if {self.test(body)}:")
            self.indent += 1
            if function == "arrayFilter":
                self.line(f"{name}.append({self.variable(item)})")
            elif function == "arrayCount":
                self.line(f"{name} += 1")
            else:
                self.line(f"{name} = True")
                self.line("break")
            self.indent -= 1


_EMPTY: Final = {"arrayMap": "[]", "arrayFilter": "[]", "arrayCount": "0", "arrayExists": "False"}


def _line_of(node: bound.Node) -> int:
    return node.start.line if node.start is not None else 0
