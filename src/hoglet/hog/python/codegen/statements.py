"""Prints statements of the bound tree as Python lines.

Source: docs/spec/hog-language.md#2-statements, docs/spec/hog-language.md#5-semantics-of-operators,
docs/spec/hog-language.md#6-scopes-closures-calls and docs/spec/hog-language.md#7-errors.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.paths import path_of_write
from hoglet.hog.python.analysis.results import is_small_literal
from hoglet.hog.python.codegen.branches import BranchPrinter
from hoglet.hog.python.codegen.operands import IMPORT, Operand, coerced, literal

_NESTING: Final = (bound.While, bound.For, bound.ForIn, bound.Try)
_MAX_BLOCKS: Final = 14
_NAME: Final = re.compile(r"\b[vp]\d+\b")
_ASSIGNED: Final = re.compile(r"\b([vp]\d+) = |(?:\bfor |, )(v\d+)(?=(?:, v\d+)? in )")


def _by_length(path: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    return len(path), path


class StatementPrinter(BranchPrinter):
    """The printer of statements."""

    def statement(self, node: Any) -> None:
        """Print a statement."""
        if node.start is not None:
            self.source_line = node.start.line
            if self.program.trace and not isinstance(node, bound.Block):
                self.line(f"mark({self.source_line})")
        if not isinstance(node, _NESTING):
            self._STATEMENTS[type(node)](self, node)
        elif self.blocks < _MAX_BLOCKS:
            self.blocks += 1
            self._STATEMENTS[type(node)](self, node)
            self.blocks -= 1
        else:
            self._outlined(node)

    def _outlined(self, node: Any) -> None:
        """Print a loop or ``try`` as a function: Python allows only 20 nested blocks."""
        name, result = self.program.block_name(), self.temporaries.new()
        suspends = self.bound_function.number in self.program.suspending
        known = set(_NAME.findall("\n".join([text for _, text, _ in self.lines])))
        mark, blocks = self.mark(), self.blocks
        self.blocks, self.indent = 0, self.indent + 1
        self.statement(node)
        self.line("return NOTHING")
        if suspends:
            self.line("yield")
        self.blocks, self.indent = blocks, self.indent - 1
        body = self.take(mark)
        assigned = {
            name for _, text, _ in body for pair in _ASSIGNED.findall(text) for name in pair
        }
        self.line(f"def {name}():")
        outer = sorted(assigned & known)
        if outer:
            self.lines.append((self.indent + 1, f"nonlocal {', '.join(outer)}", self.source_line))
        self.put(body)
        call = f"(yield from {name}())" if suspends else f"{name}()"
        self.line(f"{result} = {call}")
        self.line(f"if {result} is not NOTHING: return {result}")

    def _block(self, node: bound.Block) -> None:
        for statement in node.statements:
            self.statement(statement)

    def _expression(self, node: bound.ExpressionStatement) -> None:
        operand = self.operand(node.expression, raw=self.is_raw(node.expression))
        if not operand.atom:
            self.line(operand.text)

    # --- variables

    def _declare(self, node: bound.Declare) -> None:
        if self.is_counted(node.variable):
            self.bind_counted(node)
            return
        if node.variable in self.program.formatted.variables:
            self.bind_formatted(node)
            return
        boxed = self.program.storage.is_boxed(node.variable)
        null_first = node.recursive and (node.early or boxed)
        if null_first:
            self.declare(node.variable, "None")
        if node.variable in self.program.borrowing.variables:
            operand = self._borrowed(node)
        elif node.variable in self.facts.literals:
            operand = self.table(node.value)
        else:
            operand = literal(None) if node.value is None else self.value(node.value)
        text = coerced(operand, self.kind_of(node.variable))
        if null_first:
            self.line(f"{self.variable(node.variable)} = {text}")
        else:
            self.declare(node.variable, text)
        self.new_imports(node.variable)
        self.view(node.variable)
        self.note(node.variable.name, self.variable(node.variable))

    def _borrowed(self, node: bound.Declare) -> Operand:
        """Borrowed host data, with copies of the objects that are written to."""
        operand = self.raw(node.value)
        if self.program.borrowing.is_gathered(node.value):
            self.line("unsettle()")
            return operand
        return self.edited(node.variable, operand)

    def edited(self, variable: bound.Variable, operand: Operand) -> Operand:
        """Host data bound to a variable, with copies of the objects that are written to."""
        paths = self.program.borrowing.edited.get(variable)
        if paths is None:
            return operand
        given = "".join([f", {path!a}" for path in sorted(paths, key=_by_length) if path])
        name = "edited_repeatedly" if self.program.borrowing.writes_repeatedly else "edited"
        return Operand(f"R_{name}({operand.text}{given})", "A", raw=IMPORT)

    def declare(self, variable: bound.Variable, text: str) -> None:
        """Create a new cell for a variable."""
        if self.program.storage.is_boxed(variable):
            text = f"[{text}]"
        self.line(f"{self.program.storage.name(variable)} = {text}")

    def _declare_function(self, node: bound.DeclareFunction) -> None:
        if node.function.number in self.program.inlined.functions:
            return
        if node.function.number in self.program.is_hoisted:
            self.hoist(node.function)
            return
        name = self.program.storage.name(node.variable)
        boxed = self.program.storage.is_boxed(node.variable)
        if boxed:
            self.line(f"{name} = [None]")
        value = self.function(node.function)
        self.line(f"{name}[0] = {value}" if boxed else f"{name} = {value}")

    def _assign(self, node: bound.AssignVariable) -> None:
        if self.append(node) or self.append_item(node):
            pass
        elif self.is_counted(node.variable):
            self.bind_counted(node)
        else:
            is_raw = node.variable in self.program.borrowing.variables
            operand = self.operand(node.value, raw=is_raw)
            text = coerced(operand, self.kind_of(node.variable))
            self.line(f"{self.variable(node.variable)} = {text}")
        self.note(node.variable.name, self.variable(node.variable))

    def _assign_property(self, node: bound.AssignProperty) -> None:
        root, _ = path_of_write(node)
        if root is not None and self.is_counted(root):
            self.assign_counted(node, self.counter(root))
            return
        if self.push(node):
            return
        raw = (0,) if self.program.borrowing.is_edited(node.target) else ()
        raw += (2,) if self.program.borrowing.is_put_as_it_is(node) else ()
        nodes = (node.target, node.key, node.value)
        target, key, value = self.sequence(nodes, raw=raw, keys=(1,))
        target, key = self.hold(target, node.target), self.hold(key, node.key)
        if self.program.borrowing.is_gathered(node.target):
            target.kind = "D"
        value = self.bind(self.as_item(value))
        self.test_written(node, key, value)
        self.line(self._assignment_text(target, key, value))
        self.note(f"{key.value}" if key.constant else "item", value.text)

    def _assignment_text(  # noqa: PLR0911 (one kind of key after the other)
        self, target: Operand, key: Operand, value: Operand
    ) -> str:
        plain = f"set_prop({target.text}, {key.text}, {value.text})"
        if target.constant:
            return plain
        if key.kind == "S":
            if target.kind == "D":
                return f"{target.text}[{key.text}] = {value.text}"
            self.line(f"if type({target.text}) is D: {target.text}[{key.text}] = {value.text}")
            return f"else: {plain}"
        if key.kind in "ZCK":
            guard = f" and type({key.text}) is I" if key.kind == "K" else ""
            index = str(key.value - 1) if key.constant else f"{key.text} - 1"
            if target.constant:
                return plain
            test = f"type({target.text}) is L and 0 < {key.text} <= LEN({target.text}){guard}"
            self.line(f"if {test}: {target.text}[{index}] = {value.text}")
            size = f"LEN({target.text})"
            # every 1024th takes the slow path, which charges the memory
            grows = f"type({target.text}) is L and {key.text} == {size} + 1 and {size} & 1023"
            self.line(f"elif {grows}: {target.text}.append({value.text})")
            return f"else: {plain}"
        if key.kind == "A":
            test = f"type({key.text}) is S"
            if target.kind != "D":
                test = f"type({target.text}) is D and {test}"
            self.line(f"if {test}: {target.text}[{key.text}] = {value.text}")
            return f"else: {plain}"
        return plain

    # --- leaving

    def _return(self, node: bound.Return) -> None:
        is_result = self.bound_function.number == 0 and not self.program.trace
        value = node.value
        if is_result and self.is_raw(value):
            text = self.bind(self.raw(value)).text
            self.line(f"return {text} if type({text}) is S else host_value({text})")
        elif is_result and (is_small_literal(value) or self._is_counted_read(value)):
            self.plain_result(value)
        else:
            self._return_any(node, is_result=is_result)

    def _is_counted_read(self, node: Any) -> bool:
        return isinstance(node, bound.ReadVariable) and self.is_counted(node.variable)

    def _return_any(self, node: bound.Return, *, is_result: bool) -> None:
        is_raw = self.program.borrowing.returns_raw(node)
        operand = literal(None) if node.value is None else self.operand(node.value, raw=is_raw)
        kind = self.facts.results.get(self.bound_function.number) or "A"
        text = coerced(operand, kind)
        if self.program.trace:
            text = f"note({self.source_line}, 'return', {text})"
        is_plain = is_result and operand.kind in "SN"
        self.line(f"return ({text},)" if is_plain else f"return {text}")

    def _throw(self, node: bound.Throw) -> None:
        self.line(f"raise thrown({self.value(node.value).text})")

    # --- errors

    def _try(self, node: bound.Try) -> None:
        caught, flag = self.temporaries.new(), self.temporaries.new()
        self.line(f"{flag} = None")
        self.line("try:")
        self.body(node.body)
        self.line(f"except THROW as {caught}:")
        self.indent += 1
        types = [clause.type_name for clause in node.catches]
        if None not in types:
            type_names = ", ".join([ascii(name) for name in types])
            self.line(f"if {caught}.value.type not in ({type_names},): raise")
        self.line(f"{flag} = {caught}.value")
        self.indent -= 1
        self.line(f"if {flag} is not None:")
        self.indent += 1
        self.declare(node.error, flag)
        self.declare(node.error_type, f"{flag}.type")
        self._catches(node, flag)
        self.indent -= 1

    def _catches(self, node: bound.Try, flag: str) -> None:
        word = "if"
        for clause in node.catches:
            type_name = clause.type_name
            test = "True" if type_name is None else f"{flag}.type == {type_name!a}"
            self.line(f"{word} {test}:")
            self.indent += 1
            if clause.variable is not node.error:
                self.declare(clause.variable, flag)
            self.indent -= 1
            self.body(clause.body)
            word = "elif"

    # --- traces

    def note(self, name: str, text: str) -> None:
        """Record an assigned value, in traced runs."""
        if self.program.trace:
            self.line(f"note({self.source_line}, {name!a}, {text})")

    def noted(self, node: Any, name: str, text: str) -> str:
        """Record a call and its result, in traced runs."""
        if not self.program.trace:
            return text
        line = node.start.line if node.start is not None else self.source_line
        return f"note({line}, {name + '()'!a}, {text})"

    @property
    def bound_function(self) -> bound.BoundFunction:
        """The function being printed."""
        raise NotImplementedError

    _STATEMENTS: Final[dict[type, Callable[[Any, Any], None]]] = {
        bound.Block: _block,
        bound.ExpressionStatement: _expression,
        bound.Declare: _declare,
        bound.DeclareFunction: _declare_function,
        bound.AssignVariable: _assign,
        bound.AssignProperty: _assign_property,
        bound.Return: _return,
        bound.Throw: _throw,
        bound.If: BranchPrinter.print_if,
        bound.While: BranchPrinter.print_while,
        bound.For: BranchPrinter.print_for,
        bound.ForIn: BranchPrinter.print_for_in,
        bound.Try: _try,
    }
