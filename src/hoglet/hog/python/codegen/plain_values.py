"""Prints values whose parts are tested where they are put in.

A value is *plain* if its parts are short strings, numbers, booleans, null or plain values. Each
counted value has a counter, a local variable with the number of its parts; ``MANY`` if one of them
did not pass its test. A result with few parts is returned in a tuple of one, which tells
:func:`hoglet.hog.runtime.host_data.exported` that it is plain data. Host data that passes its test
is not imported, because such values are their own imports.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, override

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.results import count_literals, is_small_literal, parts_of
from hoglet.hog.python.codegen.evaluation import Evaluation, item_text
from hoglet.hog.python.codegen.operands import Operand, whole_value
from hoglet.hog.runtime.plain_data import LEAST, SHORT, is_plain_leaf
from hoglet.hog.runtime.values import LARGEST_INTEGER

PER_CONTAINER: Final = 4
"""What an array or object adds to a counter."""

_PER_IMPORT: Final = 64
_MAX_COUNTED: Final = 500  # so at most 125 levels


class PlainValue(NamedTuple):
    """A value of which the parts were evaluated.

    Attributes:
        tests: conditions on the parts; all of them hold for a plain value.
        plain: its text if they hold.
        general: its text otherwise.
        size: what it adds to a counter, as text.
    """

    tests: list[str]
    plain: str
    general: str
    size: str


class PlainPrinter(Evaluation):
    """The printer of plain values.

    Attributes:
        counters: the counters of variables and temporaries, by name.
        literals: variables bound to literals that are only formatted.
    """

    counters: dict[str, str]
    literals: dict[bound.Variable, Operand]

    @override
    def operand(self, node: Any, *, raw: bool) -> Operand:
        if raw and id(node) in self.program.formatted.literals:
            return self._only_formatted(node)
        if raw and isinstance(node, bound.ReadVariable) and node.variable in self.literals:
            return self.literals[node.variable]
        return super().operand(node, raw=raw)

    def is_counted(self, variable: bound.Variable | None) -> bool:
        """Whether the parts of a variable's value are counted."""
        return variable in self.program.results.variables

    def counter(self, variable: bound.Variable) -> str:
        """The name of a variable's counter."""
        name = self.variable(variable)
        return self.counters.setdefault(name, f"p{name[1:]}")

    def plain_value(self, node: Any, *, is_result: bool = False, lasts: bool = False) -> PlainValue:
        """Evaluate the parts of an expression; parts of a result may themselves be containers.

        If it ``lasts``, its texts are also valid after variables among its parts were assigned.
        """
        shape = node if is_small_literal(node) else None
        parts = [
            self._part(part, lasts=lasts) for part in ([node] if shape is None else parts_of(node))
        ]
        counters = [self.counters[part.text] for part in parts if part.text in self.counters]
        unknown = [part for part in parts if part.text not in self.counters]
        tests = [test for part in unknown if (test := _test(part, is_result=is_result))]
        if is_result:
            named = [part.text for part in parts if part.text in self.counters]
            tests += [self._result_test(name, is_alone=shape is None) for name in named]
        known = [Operand(part.text, part.kind, atom=True) for part in parts]
        plain, general = _text(shape, iter(known)), _text(shape, iter(parts))
        count = str(len(unknown) + PER_CONTAINER * count_literals(shape))
        return PlainValue(tests, plain, general, " + ".join([*counters, count]))

    def _only_formatted(self, node: Any) -> Operand:
        """A literal that is only formatted; host data in it was not imported."""
        value = self.plain_value(node)
        kind = "D" if isinstance(node, bound.MakeObject) else "L"
        general = value.general if value.general != value.plain else ""
        condition = self._condition(value)
        operand = Operand(value.plain, kind, general=general, plain=condition)
        return self.bind(operand) if condition else operand

    def _condition(self, value: PlainValue) -> str:
        """The condition under which a literal is plain data, empty if it never is."""
        tests = [*value.tests, f"{value.size} <= {_MAX_COUNTED}"]
        if value.size.isdecimal():
            tests.pop()
        return "" if "False" in tests else " and ".join(tests) or "True"

    def bind_formatted(self, node: bound.Declare) -> None:
        """Bind a variable to a literal that is only formatted."""
        value, name = self.plain_value(node.value, lasts=True), self.variable(node.variable)
        kind = "D" if isinstance(node.value, bound.MakeObject) else "L"
        self.line(f"{name} = {value.plain}")
        condition = self._condition(value)
        if condition not in {"", "True"}:
            test = self.temporaries.new()
            self.line(f"{test} = {condition}")
            condition = test
        self.literals[node.variable] = Operand(
            name, kind, atom=True, general=value.general, plain=condition
        )

    def plain_condition(self, operand: Operand) -> str:
        """The condition under which a value is plain data; empty if nothing is known about it."""
        counter = self.counters.get(operand.text)
        return operand.plain if counter is None else f"{counter} <= {_MAX_COUNTED}"

    def store(
        self,
        value: PlainValue,
        counter: str,
        statement: str,
        *,
        is_new: bool = False,
        name: str | None = None,
    ) -> None:
        """Print a statement with ``{}`` for the value, and count its parts.

        If it binds the value to a ``name``, imported host data is counted as one part.
        """
        count = value.size if is_new else f"{counter} + {value.size}"
        if not value.tests or value.plain == value.general:
            test = f" if {' and '.join(value.tests)} else MANY" if value.tests else ""
            self.line(statement.format(value.plain))
            self.line(f"{counter} = {count}{test}")
            return
        self.line(f"if {' and '.join(value.tests)}:")
        self._stored(statement.format(value.plain), f"{counter} = {count}")
        self.line("else:")
        imported = "MANY"
        if name is not None:
            imported = f"{counter} + {_PER_IMPORT} if plain_import({name}) else MANY"
        self._stored(statement.format(value.general), f"{counter} = {imported}")

    def _stored(self, *lines: str) -> None:
        self.indent += 1
        for line in lines:
            self.line(line)
        self.indent -= 1

    def bind_counted(self, node: bound.Declare | bound.AssignVariable) -> None:
        """Bind a variable to a new array or object, and count its parts."""
        name, counter = self.variable(node.variable), self.counter(node.variable)
        if is_small_literal(node.value):
            self.store(self.plain_value(node.value), counter, f"{name} = {{}}", is_new=True)
            return
        operand = self.value(node.value)
        self.line(f"{name} = {operand.text}")
        self.line(f"{counter} = {self.counters.get(operand.text, 'MANY')}")

    def assign_counted(self, node: bound.AssignProperty, counter: str) -> None:
        """Assign a field of a counted value."""
        target = self.hold(self.value(node.target), node.target)
        key = self.hold(self.key(node.key), node.key)
        value = self.temporaries.new()
        self.store(self.plain_value(node.value), counter, f"{value} = {{}}", name=value)
        tests = [] if target.kind == "D" else [f"type({target.text}) is D"]
        if not key.constant:
            tests += [f"type({key.text}) is S", f"LEN({key.text}) <= {SHORT}"]
        if key.constant and not (key.kind == "S" and len(key.value) <= SHORT):
            tests = ["False"]
        if not tests:
            self.line(f"{target.text}[{key.text}] = {value}")
            return
        self.line(f"if {' and '.join(tests)}: {target.text}[{key.text}] = {value}")
        self.line(f"else: set_prop({target.text}, {key.text}, {value}); {counter} = MANY")

    def plain_result(self, node: Any) -> None:
        """Print a ``return`` of a literal or a counted variable."""
        value = self.plain_value(node, is_result=True)
        tests = value.tests
        if "False" not in tests:
            head = f"if {' and '.join(tests)}: " if tests else ""
            self.line(f"{head}return ({value.plain},)")
        if tests:
            self.line(f"return {value.general}")

    def _result_test(self, name: str, *, is_alone: bool) -> str:
        few = f"{self.counters[name]} <= {_MAX_COUNTED}"
        return few if is_alone else f"({few} or plain_part({name}))"

    def _part(self, node: Any, *, lasts: bool) -> Operand:
        operand = self.raw(node) if self.may_be_raw(node) else self.value(node)
        if lasts and isinstance(node, bound.ReadVariable) and node.variable.assigned:
            name = self.temporaries.new()
            self.line(f"{name} = {operand.text}")
            if operand.text in self.counters:
                self.counters[name] = self.counters[operand.text]
            operand = operand.named(name)
        if operand.text in self.counters:
            return operand
        if operand.kind == "K":
            first, again = self.temporaries.twice(operand)
            whole = f"({again} if type({first}) is I else whole({again}))"
            return self.bind(Operand(whole, "K"))
        if operand.kind == "F" and not operand.constant:
            operand = Operand(item_text(operand), "F")
        return self.hold(operand, node)


def _text(shape: Any, parts: Iterator[Operand]) -> str:
    """The text of a literal with these parts; without a shape, of the only part."""
    if isinstance(shape, bound.MakeObject):
        keys = [ascii(key.value) for key, _ in shape.items if isinstance(key, bound.Constant)]
        items = [_text(item, parts) for _, item in shape.items]
        pairs = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(shape, bound.MakeArray):
        return f"[{', '.join([_text(item, parts) for item in shape.items])}]"
    return whole_value(next(parts))


def _test(part: Operand, *, is_result: bool) -> str:
    """The condition under which a value is plain data; empty if it always is."""
    name = part.text
    if part.constant:
        return "" if _is_plain_constant(part.value) else "False"
    if part.kind in _PLAIN_KINDS:
        return _PLAIN_KINDS[part.kind].format(name)
    if part.kind == "F":  # a result may contain any number; JSON writes whole floats as 1.0
        most = LARGEST_INTEGER
        usual = f"{LEAST} <= {name} <= {most} or not {name} or -{most} <= {name} <= -{LEAST}"
        return "" if is_result else f"({usual})"
    if part.kind in "LD":
        return f"plain_part({name})" if is_result else "False"
    test = "plain_part" if is_result and not part.raw else "plain_leaf"
    return f"(LEN({name}) <= {SHORT} if type({name}) is S else {test}({name}))"


_PLAIN_KINDS: Final = {
    **dict.fromkeys("BNCZ", ""),
    "K": "(type({0}) is I or plain_leaf({0}))",
    "S": f"LEN({{0}}) <= {SHORT}",
}
"""The conditions on values of a known kind."""


def _is_plain_constant(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, float) or is_plain_leaf(value)
