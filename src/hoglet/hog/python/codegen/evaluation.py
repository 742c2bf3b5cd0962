"""Evaluates expressions of the bound tree: as operands, and as raw host data.

Most expressions become one Python expression. If evaluation order or a guard needs a value twice,
it is bound to a temporary by a preceding statement.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.purity import EFFECTS, READS, STABLE
from hoglet.hog.python.analysis.type_facts import constant_kind
from hoglet.hog.python.codegen.conditions import Conditions
from hoglet.hog.python.codegen.constants import constant_text
from hoglet.hog.python.codegen.emitter import COMMON_IMPORTS
from hoglet.hog.python.codegen.operands import IMPORT, Operand, coerced

_ERROR_FIELDS: Final = frozenset({"type", "message", "payload"})
_MAX_FROM_END: Final = 16
_MAX_TEXT_LENGTH: Final = 400  # longer texts are bound, so that parentheses do not nest too deeply

type Handlers = Mapping[type, Callable[[Any, Any], Operand]]
"""The methods that print each kind of expression: ``{bound.Compare: _compare}``."""


class Evaluation(Conditions):
    """Prints expressions in the order of evaluation; subclasses provide their handlers."""

    EXPRESSIONS: ClassVar[Handlers]
    reads: dict[str, str]
    """The names to which reads of the host's data were bound, by their texts."""

    def value(self, node: Any) -> Operand:
        """An expression as an operand."""
        operand = self.EXPRESSIONS[type(node)](self, node)
        if len(operand.text) > _MAX_TEXT_LENGTH and not operand.constant:
            return self.bind(operand)
        return operand

    def operand(self, node: Any, *, raw: bool) -> Operand:
        """An expression as an operand that may be ``raw``: have host data that was not imported."""
        return self.raw(node) if raw else self.value(node)

    def bind(self, operand: Operand) -> Operand:
        """Bind the operand to a name, which evaluates it here."""
        if operand.atom:
            return operand
        name = self.temporaries.new()
        self.line(f"{name} = {operand.text}")
        return operand.named(name)

    def hold(self, operand: Operand, node: Any) -> Operand:
        """Bind the operand, too, if it is a variable that a later call may assign."""
        is_variable = operand.atom and not operand.constant
        if not is_variable or self.effects.level(node) == STABLE:
            return self.bind(operand)
        name = self.temporaries.new()
        self.line(f"{name} = {operand.text}")
        return operand.named(name)

    def listed(self, nodes: tuple[Any, ...]) -> str:
        """Items of a container or arguments of a call, separated by commas."""
        return ", ".join([item_text(operand) for operand in self.sequence(nodes)])

    # --- order of evaluation

    def sequence(
        self,
        nodes: tuple[Any, ...],
        raw: Collection[int] = frozenset(),
        keys: Collection[int] = frozenset(),
    ) -> list[Operand]:
        """Operands evaluated in this order, even if some of them need statements.

        Those at the positions ``raw`` may be host data that was not imported, those at the
        positions ``keys`` are keys of objects.
        """
        operands: list[Operand] = []
        for index, node in enumerate(nodes):
            mark = self.mark()
            operand = self.key(node) if index in keys else self.operand(node, raw=index in raw)
            if self.mark() > mark:
                self.spill(operands, nodes[:index], mark)
            operands.append(operand)
        return operands

    def spill(self, operands: list[Operand], nodes: tuple[Any, ...], mark: int) -> None:
        """Bind earlier operands before the statements from ``mark`` on."""
        for index, node in enumerate(nodes):
            if self.effects.level(node) > STABLE and not operands[index].constant:
                name = self.temporaries.new()
                self.insert(mark, f"{name} = {operands[index].text}")
                mark += 1
                operands[index] = operands[index].named(name)

    def both(self, left: Any, right: Any, *, raw: bool = False) -> tuple[Operand, Operand]:
        """Operands of a binary operator, the right one evaluated first; at least one is an atom.

        If ``raw``, they may be host data that was not imported.
        """
        value = self.raw if raw else self.value
        levels = self.effects.level(left), self.effects.level(right)
        if EFFECTS in levels and min(levels) >= READS:
            second = self.hold(value(right), right)
            return value(left), second
        second = value(right)
        between = self.mark()
        first = value(left)
        if self.mark() > between and not second.atom:
            name = self.temporaries.new()
            self.insert(between, f"{name} = {second.text}")
            second = second.named(name)
        if not first.atom and not second.atom and not self._may_stay(first, second):
            second = self.bind(second)
        return first, second

    @staticmethod
    def _may_stay(first: Operand, second: Operand) -> bool:
        """Whether both operands may be non-atoms, because no guard will repeat their text."""
        return first.kind in "CZF" and second.kind in "CZF"

    def argument_of(self, name: str, node: Any) -> Any:
        """The only argument of a call of this library function, None for other expressions."""
        if not isinstance(node, bound.CallGlobal) or node.name != name or self.program.trace:
            return None
        is_library = len(node.arguments) == 1 and name not in self.program.host_names
        return node.arguments[0] if is_library else None

    def has_key(self, key: Any, keys: Any) -> Operand | None:
        """Whether a key is among ``keys(x)``; None if ``keys`` is another expression."""
        holder = self.argument_of("keys", keys)
        if holder is None or self.effects.level(key) == EFFECTS:
            return None
        sought = self.bind(self.value(key))
        target = self.operand(holder, raw=self.is_raw(holder))
        fields = self.view_of(holder) if target.raw else None
        first, again = self.temporaries.twice(target) if fields is None else [target.text] * 2
        tests = [f"type({first}) is D"] if fields is None else []
        tests += [] if sought.kind == "S" else [f"type({sought.text}) is S"]
        inside = f"{sought.text} in {fields or again}"
        slow = f"contains({sought.text}, L_keys({again}))"
        if target.raw:  # a tagged date is no object and has no keys
            slow = f"R_has_key({again}, {sought.text})"
            inside += f" and {slow}"
        return Operand(
            f"({inside} if {' and '.join(tests)} else {slow})" if tests else f"({inside})", "B"
        )

    # --- host data

    def is_raw(self, node: Any) -> bool:
        """Whether an expression reads the host's data and nothing else."""
        return self.program.borrowing.is_raw(node)

    def may_be_raw(self, node: Any) -> bool:
        """Whether :meth:`raw` may return host data: it is read, unless null, or else a literal."""
        if isinstance(node, bound.IfNull) and not self.is_raw(node):
            rest = node.fallback
            return self.may_be_raw(node.value) and (_is_scalar(rest) or self.may_be_raw(rest))
        return self.is_raw(node)

    def raw(self, node: Any) -> Operand:  # noqa: PLR0911 (one kind of node after the other)
        """An expression whose value may be plain host data that was not imported yet."""
        if isinstance(node, bound.ReadGlobal) and not node.library:
            text = self._raw_in_batch(node) if self.program.batch else self._path_text(node.path)
            return self._bound_read(Operand(text, "A", raw=IMPORT))
        if isinstance(node, bound.ReadVariable) and self.is_raw(node):
            name = self.variable(node.variable)
            return Operand(name, "A", atom=True, raw=self.importer(node))
        if isinstance(node, bound.GetProperty) and self.is_raw(node):
            return self._bound_read(Operand(self._raw_field(node), "A", raw=self.importer(node)))
        if isinstance(node, bound.IfNull) and self.may_be_raw(node) and not self.program.batch:
            return self._raw_or_else(node)
        if isinstance(node, bound.CallGlobal | bound.CallValue) and self.is_raw(node):
            return self.bind(self.called(node))
        if self.program.borrowing.is_table(node):
            name = self.program.constant(constant_text(node))
            return Operand(name, "A", atom=True, raw=IMPORT)
        return self.value(node)

    def _bound_read(self, operand: Operand) -> Operand:
        name = self.reads.get(operand.text)
        return operand if name is None else operand.named(name)

    def called(self, node: bound.CallGlobal | bound.CallValue) -> Operand:
        """A call that may return host data."""
        raise NotImplementedError

    def _raw_or_else(self, node: bound.IfNull) -> Operand:
        value = self.raw(node.value)
        fallback = self.branch(node.fallback, "A", raw=True)
        first, again = self.temporaries.twice(value)
        if not fallback[0]:
            text = f"({again} if {first} is not None else {fallback[1]})"
            return Operand(text, "A", raw=self.importer(node))
        name = self.temporaries.new()
        self.line(f"{name} = {value.text}")
        self.guard(f"if {name} is None:", fallback, name)
        return Operand(name, "A", atom=True, raw=self.importer(node))

    def importer(self, node: Any) -> str:
        """How the value of a raw expression is imported; see :attr:`Operand.raw`."""
        origin = self.program.borrowing.compared_origin(node)
        return IMPORT if origin is None else f"R_same({{}}, {self.program.imports_of(origin)})"

    # --- branches

    def branch(self, node: Any, kind: str, *, raw: bool = False) -> tuple[list[Any], str]:
        """The statements a branch needs, removed from the output, and its value."""
        mark = self.mark()
        self.indent += 1
        operand = self.operand(node, raw=raw)
        text = coerced(operand, kind)
        self.indent -= 1
        return self.take(mark), text

    def guard(self, head: str, branch: tuple[list[Any], str], name: str) -> None:
        """Print a branch under its condition; its value is bound to the name."""
        self.line(head)
        self.put(branch[0])
        self.indent += 1
        self.line(f"{name} = {branch[1]}")
        self.indent -= 1

    def _raw_field(self, node: bound.GetProperty) -> str:
        path = self.program.views.path_of(node)
        if path is not None and self.program.views.longest(path[:-1])[0] is not None:
            return self._path_text(path)
        target, key = node.target, self.bind(self.key(node.key))
        view = self.view_of(target)
        if view is not None and key.kind == "S":
            return f"{view}.get({key.text})"
        if view is not None and key.kind == "A":
            slow = f"prop({self.raw(target).text}, {key.text})"
            return f"({view}.get({key.text}) if type({key.text}) is S else {slow})"
        return self.property_text(self.raw(target), key)

    def view_of(self, node: Any) -> str | None:
        """The name of the view of an object, None if it has none."""
        views = self.program.views
        path = views.path_of(node)
        if path in views.paths:
            return views.paths[path]
        if isinstance(node, bound.ReadVariable) and node.variable in views.variables:
            return f"w{self.variable(node.variable)[1:]}"
        return None

    def new_imports(self, variable: bound.Variable) -> None:
        """Begin with no imports of a variable's value that are keys, when the value is copied."""
        if variable in self.program.borrowing.same_origins:
            name = self.program.imports_of(variable)
            if name != COMMON_IMPORTS:
                self.line(f"{name} = {{}}")

    def view(self, variable: bound.Variable) -> None:
        """Bind the view of a variable, and whether it is a short text, if these are needed."""
        if variable in self.program.views.variables:
            name = self.variable(variable)
            self.line(f"w{name[1:]} = {name} if type({name}) is D else NO_FIELDS")
        name = self.variable(variable)
        if name in self.program.short_texts:
            test = f"type({name}) is S and LEN({name}) <= 256 and {name}.isascii()"
            self.line(f"s{name[1:]} = {test}")

    def _raw_in_batch(self, node: bound.ReadGlobal) -> str:
        """A read of a global in a batch; on KeyError (no such root) it takes its slow path."""
        text = f"G[{node.path[0]!a}]"
        for part in node.path[1:]:
            name = self.temporaries.new()
            if not isinstance(part, str):
                text = f"prop({text}, {part})"
            else:
                text = f"({name}.get({part!a}) if type({name} := {text}) is D else None)"
        return text

    def _path_text(self, path: tuple[Any, ...]) -> str:
        """A read of a global whose root is a local variable; unusual values take the slow path."""
        root = self.program.root_name(str(path[0]))
        steps = ", ".join(ascii(part) if isinstance(part, str) else repr(part) for part in path)
        slow = f"read(G, {steps})"
        *middle, last = path
        if not middle:
            return f"({root} if {root} is not None else {slow})"
        if not all(isinstance(part, str) for part in path):
            return slow
        tests, holder, steps = [f"type({root}) is D"], root, middle[1:]
        view, seen = self.program.views.longest(path[:-1])
        if view is not None:  # below a view there are no errors to report
            tests, holder, steps, slow = [], view, middle[seen:], "None"
        for part in steps:
            name = self.temporaries.new()
            tests.append(f"type({name} := {holder}.get({part!a})) is D")
            holder = name
        text = f"{holder}.get({last!a})"
        return f"({text} if {' and '.join(tests)} else {slow})" if tests else text

    def imported(self, operand: Operand) -> Operand:
        """Import a raw operand as a Hog value; strings, the usual case, need no import."""
        if not operand.raw:
            return operand
        first, again = self.temporaries.twice(operand)
        return Operand(f"({again} if type({first}) is S else {operand.raw.format(again)})", "A")

    def key(self, node: Any) -> Operand:
        """An expression as a key: an object of host data is the same key each time it is used."""
        operand = self.operand(node, raw=self.may_be_raw(node))
        origin = self.program.borrowing.origin(node) if operand.raw else None
        if origin is None:
            return self.imported(operand)
        operand.raw = f"R_same({{}}, {self.program.imports_of(origin)})"
        return self.imported(operand)

    def property_text(  # noqa: PLR0911 (one kind of key after the other)
        self, target: Operand, key: Operand
    ) -> str:
        """The text that reads a property; at least one of the operands is an atom."""
        if target.constant:
            return f"prop({target.text}, {key.text})"
        first, again = self.temporaries.twice(target)
        if key.kind == "S":
            if target.kind == "E" and key.constant and key.value in _ERROR_FIELDS:
                return f"{target.text}.{key.value}"
            if target.kind == "D":
                return f"{target.text}.get({key.text})"
            return f"({again}.get({key.text}) if type({first}) is D else prop({again}, {key.text}))"
        if target.kind == "D" and key.kind == "A" and target.atom:
            first, again = self.temporaries.twice(key)
            slow = f"prop({target.text}, {again})"
            return f"({target.text}.get({again}) if type({first}) is S else {slow})"
        is_list = target.kind == "L" and target.atom and not target.raw
        array = "" if is_list else f"type({first}) is L and "
        if key.constant and key.kind == "Z" and key.value > 0:
            test = f"{array}LEN({again}) >= {key.value}"
            return f"({again}[{key.value - 1}] if {test} else prop({again}, {key.text}))"
        if key.constant and key.kind == "Z" and -_MAX_FROM_END <= key.value < 0:
            test = f"{array}LEN({again}) >= {-key.value}"
            return f"({again}[{key.value}] if {test} else prop({again}, {key.text}))"
        if key.kind in {"C", "K"} and key.atom:
            test = f"{array}0 < {key.text} <= LEN({again})"
            guard = "" if key.kind == "C" else f" and type({key.text}) is I"
            return f"({again}[{key.text} - 1] if {test}{guard} else prop({again}, {key.text}))"
        if target.raw and key.kind == "A":
            test = f"type({first}) is D and type({key.text}) is S"
            return f"({again}.get({key.text}) if {test} else prop({again}, {key.text}))"
        return f"prop({target.text}, {key.text})"


def _is_scalar(node: Any) -> bool:
    """Whether an expression is a literal that importing does not change."""
    return isinstance(node, bound.Constant) and (
        node.value is None or type(node.value) in (str, bool) or constant_kind(node.value) == "Z"
    )


def item_text(operand: Operand) -> str:
    """The text of a value that goes into a container.

    Whole floats become ints: programs cannot distinguish them, and containers of ints are
    written as JSON three times as fast.
    """
    if operand.kind != "F" or operand.constant:
        return operand.text
    return f"whole({operand.text})"
