"""Prints loops: over conditions, ranges and collections.

Source: docs/spec/hog-language.md#2-statements and docs/spec/hog-language.md#10-limits (each round
of a loop checks the budget).
"""

from collections.abc import Iterable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.counting_loops import counting_loop
from hoglet.hog.python.analysis.loop_shapes import LoopShape
from hoglet.hog.python.codegen.reads import ReadPrinter

_FRESH: Final = frozenset({"splitByString", "keys", "values", "range"})
"""Library functions that return a new array and charge its memory themselves."""
CHECK: Final = "if d > LIMIT: check(d)"


class LoopPrinter(ReadPrinter):
    """The printer of loops."""

    def statement(self, node: Any) -> None:
        """Print a statement."""
        raise NotImplementedError

    def _loop_head(self, condition: Any) -> None:
        """``while condition:`` and the budget check; the next lines are printed inside the loop."""
        mark = self.mark()
        self.indent += 1
        test = "True" if condition is None else self.test(condition)
        self.indent -= 1
        before = self.take(mark)
        if not before:
            self.line(f"while {test}:")
            self.indent += 1
        else:
            self.line("while True:")
            self.indent += 1
            self.put(before)
            self.line(f"if not {test}: break")
        self.line(CHECK)

    def print_while(self, node: bound.While) -> None:
        """A loop with a condition."""
        with self.loop_reads(node):
            self._loop_head(node.condition)
            self.statement(node.body)
            self.indent -= 1

    def print_for(self, node: bound.For) -> None:
        """A loop with a counter."""
        counting = None if self.program.trace else counting_loop(node, self.facts, self.effects)
        with self.loop_reads(node):
            if counting is None:
                self._print_counted_by_hand(node)
            else:
                self._print_range(node, counting)

    def _print_range(self, node: bound.For, shape: LoopShape) -> None:
        name = self.program.storage.name(shape.variable)
        start, end = self._first_of(shape), self._end_of(shape)
        step = f", {shape.step}" if shape.step != 1 else ""
        self.line(f"for {name} in RANGE({start}, {end}{step}):")
        self.indent += 1
        self.line(CHECK)
        self.statement(node.body)
        self._renew(node.ends)
        self.indent -= 1

    def _first_of(self, shape: LoopShape) -> str:
        """The first number; a loop down from null, which is no length, has no rounds."""
        start = self.value(shape.start)
        if start.is_number:
            return start.text
        first, again = self.temporaries.twice(start)
        return f"({again} if {first} is not None else {shape.limit.value - 1})"

    def _end_of(self, shape: LoopShape) -> str:
        """The end of the range, which does not belong to it."""
        is_up, limit = shape.step > 0, self._limit_of(shape)
        is_inclusive = shape.operator in {"<=", ">="}
        return f"{limit} {'+' if is_up else '-'} 1" if is_inclusive else limit

    def _limit_of(self, shape: LoopShape) -> str:
        """The limit, of a half the next integer; -1 for null, to which no loop counts up."""
        match shape.limit:
            case bound.Arithmetic(operator="/", left=whole, right=bound.Constant(value=divisor)):
                number = self.bind(self.value(whole)).text
                is_floor = shape.operator in {"<=", ">"}
                return f"{number} // {divisor}" if is_floor else f"-(-{number} // {divisor})"
            case limit:
                operand = self.value(limit)
        if operand.is_number:
            return operand.text
        first, again = self.temporaries.twice(operand)
        return f"({again} if {first} is not None else -1)"

    def _renew(self, variables: Iterable[bound.Variable]) -> None:
        """Make new boxes for variables, with the same values."""
        for variable in variables:
            if self.program.storage.is_boxed(variable):
                name = self.program.storage.name(variable)
                self.line(f"{name} = [{name}[0]]")

    def _print_counted_by_hand(self, node: bound.For) -> None:
        if node.initializer is not None:
            self.statement(node.initializer)
        self._loop_head(node.condition)
        self.statement(node.body)
        self._renew(node.ends)
        if node.step is not None:
            self.statement(node.step)
        self.indent -= 1

    def print_for_in(self, node: bound.ForIn) -> None:
        """A loop over the items of a collection."""
        with self.loop_reads(node):
            self._print_for_in(node)

    def _print_for_in(self, node: bound.ForIn) -> None:
        is_raw = self.is_raw(node.collection) and not self.program.trace
        operand = self.raw(node.collection) if is_raw else self.value(node.collection)
        item = self.program.storage.name(node.value)
        names, snapshot = [item], "each"
        if node.key is not None:
            names.insert(0, self.program.storage.name(node.key))
            snapshot = "each_pair"
        if is_raw:
            snapshot = f"R_{snapshot}({operand.text})"
        elif self.facts.is_literal(node.collection, pairs=node.key is not None):
            snapshot = operand.text if node.key is None else f"ITEMS({operand.text})"
        elif node.key is None and self._is_fresh(node.collection):
            snapshot = operand.text if operand.kind == "L" else f"({operand.text} or ())"
        else:
            snapshot = f"{snapshot}({operand.text})"
        if is_raw and self.program.borrowing.reads_edited(node.collection):
            snapshot = f"[*{snapshot}]"
        self.new_imports(node.value)
        self.line(f"for {', '.join(names)} in {snapshot}:")
        self.indent += 1
        self.line(CHECK)
        if is_raw and node.value not in self.program.borrowing.variables:
            whole = self.importer(node.collection).format(item)
            self.line(f"if type({item}) is not S: {item} = {whole}")
        self.view(node.value)
        for variable in (node.key, node.value):
            if variable is not None and self.program.storage.is_boxed(variable):
                name = self.program.storage.name(variable)
                self.line(f"{name} = [{name}]")
            if variable is not None:
                self.note(variable.name, self.variable(variable))
        self.statement(node.body)
        self.indent -= 1

    def _is_fresh(self, node: Any) -> bool:
        """Whether the value of an expression is an unshared array or null."""
        if isinstance(node, bound.CallGlobal):
            return node.name in _FRESH and node.name not in self.program.host_names
        return isinstance(node, bound.MakeArray)
