"""Prints values whose parts are tested where they are put in.

A value is *plain* if its parts are short strings, numbers, booleans, null or plain values. Each
counted value has a counter, a local variable with the number of its parts; ``MANY`` if one of them
did not pass its test. A result with few parts is returned in a tuple of one, which tells
:func:`hoglet.hog.runtime.host_data.exported` that it is plain data. Host data that passes its test
is not imported, because such values are their own imports; other host data is tested while it is
imported, see :mod:`hoglet.hog.runtime.plain_import`.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, override

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.results import count_literals, is_small_literal, parts_of
from hoglet.hog.python.codegen.evaluation import Evaluation, item_text
from hoglet.hog.python.codegen.operands import IMPORT, Operand, whole_value
from hoglet.hog.runtime.plain_data import LEAST, SHORT, is_plain_leaf
from hoglet.hog.runtime.plain_import import PER_CONTAINER
from hoglet.hog.runtime.values import LARGEST_INTEGER

_MAX_COUNTED: Final = 500  # so at most 125 levels
_MAX_HOST_PARTS: Final = 50  # each of at most 100 short texts


class PlainValue(NamedTuple):
    """A value of which the parts were evaluated.

    Attributes:
        shape: the literal around the parts; None around a single part.
        parts: the values of the parts.
        tests: conditions on the parts; all of them hold for a plain value.
        own_tests: those on parts that are not host data.
        plain: its text if they hold.
        general: its text otherwise.
        size: what it adds to a counter, as text.
        own_size: what it adds besides host data.
    """

    shape: Any
    parts: list[Operand]
    tests: list[str]
    own_tests: list[str]
    plain: str
    general: str
    size: str
    own_size: str


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

    def plain_value(
        self,
        node: Any,
        *,
        is_result: bool = False,
        is_formatted: bool = False,
        lasts: bool = False,
    ) -> PlainValue:
        """Evaluate the parts of an expression; parts of a result may themselves be containers.

        So may host data in what is only formatted. If it ``lasts``, its texts are also valid after
        variables among its parts were assigned.
        """
        shape = node if is_small_literal(node) else None
        parts = [
            self._part(part, lasts=lasts) for part in ([node] if shape is None else parts_of(node))
        ]
        counters = [self.counters[part.text] for part in parts if part.text in self.counters]
        unknown = [part for part in parts if part.text not in self.counters]
        tests, own = list[str](), list[str]()
        leaf = "plain_host" if is_formatted and len(unknown) <= _MAX_HOST_PARTS else "plain_leaf"
        for part in unknown:
            if test := _test(part, leaf, is_result=is_result):
                (tests if _is_imported(part) else own).append(test)
        if is_result:
            named = [part.text for part in parts if part.text in self.counters]
            own += [self._result_test(name, is_alone=shape is None) for name in named]
        known = [Operand(part.text, part.kind, atom=True) for part in parts]
        imported = sum(map(_is_imported, unknown))
        count = len(unknown) + PER_CONTAINER * count_literals(shape)
        return PlainValue(
            shape,
            parts,
            tests + own,
            own,
            plain=_text(shape, iter(known)),
            general=_text(shape, iter(parts)),
            size=" + ".join([*counters, str(count)]),
            own_size=" + ".join([*counters, str(count - imported)]),
        )

    def _only_formatted(self, node: Any) -> Operand:
        """A literal that is only formatted; host data in it was not imported."""
        value = self.plain_value(node, is_formatted=True)
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
        value, name = (
            self.plain_value(node.value, is_formatted=True, lasts=True),
            self.variable(node.variable),
        )
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
        self, value: PlainValue, counter: str, statement: str, *, is_new: bool = False
    ) -> None:
        """Print a statement with ``{}`` for the value, and count its parts."""
        before = "" if is_new else f"{counter} + "
        if not value.tests or value.plain == value.general:
            test = f" if {' and '.join(value.tests)} else MANY" if value.tests else ""
            self.line(statement.format(value.plain))
            self.line(f"{counter} = {before}{value.size}{test}")
            return
        self.line(f"if {' and '.join(value.tests)}:")
        self.indent += 1
        self.line(statement.format(value.plain))
        self.line(f"{counter} = {before}{value.size}")
        self.indent -= 1
        self.line("else:")
        self.indent += 1
        text, size = self._imported_parts(value)
        test = f" if {' and '.join(value.own_tests)} else MANY" if value.own_tests else ""
        self.line(statement.format(text))
        self.line(f"{counter} = {before}{size}{test}")
        self.indent -= 1

    def _imported_parts(self, value: PlainValue) -> tuple[str, str]:
        """Import the host data of a value; the text of the value, and what it adds to a counter."""
        parts, sizes = list[Operand](), [value.own_size] * (value.own_size != "0")
        for part in value.parts:
            if not _is_imported(part):
                parts.append(part)
                continue
            name, size = self.temporaries.new(), self.temporaries.new()
            self.line(f"{name}, {size} = plain_import({part.text})")
            parts.append(Operand(name, "A", atom=True))
            sizes.append(size)
        return _text(value.shape, iter(parts)), " + ".join(sizes)

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
        self.store(self.plain_value(node.value), counter, f"{value} = {{}}")
        if key.kind in "ZCK" and target.kind != "D":
            self._assign_item(target, key, value, counter)
            return
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

    def _assign_item(self, target: Operand, key: Operand, value: str, counter: str) -> None:
        """Assign an item of a counted array, or the one after its last."""
        array, index = target.text, str(key.value - 1) if key.constant else f"{key.text} - 1"
        guard = f" and type({key.text}) is I" if key.kind == "K" else ""
        test = f"type({array}) is L and 0 < {key.text} <= LEN({array}){guard}"
        self.line(f"if {test}: {array}[{index}] = {value}")
        self.line(f"elif type({array}) is L and {key.text} == LEN({array}) + 1:")
        self.indent += 1
        self.line(f"{array}.append({value})")
        self.line(f"if not LEN({array}) & 1023: grown()")
        self.indent -= 1
        self.line(f"else: set_prop({array}, {key.text}, {value}); {counter} = MANY")

    def plain_result(self, node: Any) -> None:
        """Print a ``return`` of a literal or a counted variable."""
        value = self.plain_value(node, is_result=True)
        tests = value.tests
        if "False" not in tests:
            head = f"if {' and '.join(tests)}: " if tests else ""
            self.line(f"{head}return ({value.plain},)")
        if tests:
            self._general_result(value)

    def _general_result(self, value: PlainValue) -> None:
        """Print a ``return`` of a value that may have host data in it that is no plain leaf."""
        text, size = self._imported_parts(value)
        if len(value.own_tests) < len(value.tests) and "False" not in value.own_tests:
            tests = [*value.own_tests, f"{size} <= {_MAX_COUNTED}"]
            self.line(f"if {' and '.join(tests)}: return ({text},)")
        self.line(f"return {text}")

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


def _is_imported(part: Operand) -> bool:
    """Whether a part is host data whose import is a copy."""
    return part.raw == IMPORT


def _test(part: Operand, leaf: str, *, is_result: bool) -> str:
    """The condition under which a value is plain data; empty if it always is.

    ``leaf`` is the function that tests host data.
    """
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
    test = leaf if part.raw else "plain_part" if is_result else "plain_leaf"
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
