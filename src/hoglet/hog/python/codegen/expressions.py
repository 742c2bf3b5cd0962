"""Prints expressions of the bound tree as Python.

Most expressions become one Python expression. If evaluation order or a guard needs a value twice,
it is bound to a temporary by a preceding statement; the statements of a conditional branch are put
under an ``if``.

Source: docs/spec/hog-language.md#3-operators-loosest-first and
docs/spec/hog-language.md#5-semantics-of-operators.
"""

from collections.abc import Callable, Collection
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.codegen.borrowing import LAMBDA_PARAMETER
from hoglet.hog.python.codegen.emitter import Emitter
from hoglet.hog.python.codegen.operands import (
    Operand,
    arithmetic,
    coerced,
    comparison,
    literal,
    one_of,
)
from hoglet.hog.python.codegen.purity import EFFECTS, READS, STABLE
from hoglet.hog.python.codegen.text_calls import method_call
from hoglet.hog.stdlib.table import STL

_EQUAL: Final = frozenset({"==", "!="})
_PLAIN: Final = frozenset({"==", "!=", "<", "<=", ">", ">="})
_HAS_RAW_FORM: Final = frozenset({"typeof", "keys", "has", "jsonStringify"})
"""Library functions with a form ``R_name`` for host data that was not imported."""

_TAKES_RAW: Final = {
    "typeof", "keys", "has", "length", "empty", "notEmpty", "isNull", "isNotNull", "lower", "upper",
    "trim",
}  # fmt: skip
"""Library functions whose first argument may be host data that was not imported."""
_RAW_MEMBERSHIP: Final = {"in": "R_in", "not in": "R_not_in"}
_ERROR_FIELDS: Final = frozenset({"type", "message", "payload"})
_LONGEST_CHAIN: Final = 8
_LONGEST_TEXT: Final = 400  # longer texts are bound, so that parentheses do not nest too deeply


class ExpressionPrinter(Emitter):
    """The printer of expressions."""

    # --- entry points

    def value(self, node: Any) -> Operand:
        """An expression as an operand."""
        operand = self._EXPRESSIONS[type(node)](self, node)
        if len(operand.text) > _LONGEST_TEXT and not operand.constant:
            return self.bind(operand)
        return operand

    def test(self, node: Any) -> str:
        """An expression as a condition: its Python truth is its Hog truth."""
        if isinstance(node, bound.Not):
            inner, odd = _without_nots(node)
            return f"(not {self.test(inner)})" if odd else self.test(inner)
        if isinstance(node, bound.And | bound.Or):
            return self._chain(node, strict=False)
        return self.truth(self.value(node))

    def truth(self, operand: Operand) -> str:
        """The text of a condition on an operand."""
        if operand.kind in "BSNZC":
            return operand.text
        if operand.kind in "LD":
            return f"({operand.text}, True)[1]" if not operand.atom else "True"
        if operand.kind in "KF":
            first, again = self.temporaries.twice(operand)
            return f"({first} and {again} == {again})"
        first, again = self.temporaries.twice(operand)
        return f"({again} if type({first}) is B else truthy({again}))"

    def strict(self, node: Any) -> str:
        """A condition as a real bool."""
        if isinstance(node, bound.And | bound.Or):
            return self._chain(node, strict=True)
        if isinstance(node, bound.Not):
            inner, odd = _without_nots(node)
            return f"(not {self.test(inner)})" if odd else self.strict(inner)
        operand = self.value(node)
        return operand.text if operand.kind == "B" else f"truthy({operand.text})"

    def bind(self, operand: Operand) -> Operand:
        """Bind the operand to a name, which evaluates it here."""
        if operand.atom:
            return operand
        name = self.temporaries.new()
        self.line(f"{name} = {operand.text}")
        return Operand(name, operand.kind, atom=True, raw=operand.raw)

    def sequence(self, nodes: tuple[Any, ...], raw: Collection[int] = frozenset()) -> list[Operand]:
        """Operands evaluated in this order, even if some of them need statements.

        Those at the positions ``raw`` may be host data that was not imported.
        """
        operands: list[Operand] = []
        for place, node in enumerate(nodes):
            mark = self.mark()
            operand = self.raw(node) if place in raw else self.value(node)
            if self.mark() > mark:
                self._spill(operands, nodes[:place], mark)
            operands.append(operand)
        return operands

    def _spill(self, operands: list[Operand], nodes: tuple[Any, ...], mark: int) -> None:
        """Bind earlier operands before the statements from ``mark`` on."""
        for place, node in enumerate(nodes):
            if self.effects.level(node) > STABLE and not operands[place].constant:
                name = self.temporaries.new()
                self.insert(mark, f"{name} = {operands[place].text}")
                mark += 1
                kind, raw = operands[place].kind, operands[place].raw
                operands[place] = Operand(name, kind, atom=True, raw=raw)

    def both(self, left: Any, right: Any) -> tuple[Operand, Operand]:
        """Operands of a binary operator, the right one evaluated first; at least one is an atom."""
        levels = self.effects.level(left), self.effects.level(right)
        if EFFECTS in levels and min(levels) >= READS:
            second = self.bind(self.value(right))
            return self.value(left), second
        second = self.value(right)
        between = self.mark()
        first = self.value(left)
        if self.mark() > between and not second.atom:
            name = self.temporaries.new()
            self.insert(between, f"{name} = {second.text}")
            second = Operand(name, second.kind, atom=True)
        if not first.atom and not second.atom and not self._may_stay(first, second):
            second = self.bind(second)
        return first, second

    @staticmethod
    def _may_stay(first: Operand, second: Operand) -> bool:
        """Whether both operands may be non-atoms, because no guard will repeat their text."""
        return first.kind in "CZF" and second.kind in "CZF"

    # --- leaves

    def _constant(self, node: bound.Constant) -> Operand:
        return literal(node.value)

    def is_raw(self, node: Any) -> bool:
        """Whether an expression reads the host's data and nothing else."""
        return self.program.borrowing.is_raw(node)

    def _read_variable(self, node: bound.ReadVariable) -> Operand:
        if self.is_raw(node):
            return self._brought_in(self.raw(node))
        kind = self.facts.variables.get(node.variable) or "A"
        return Operand(self.variable(node.variable), "C" if kind == "Z" else kind, atom=True)

    def raw(self, node: Any) -> Operand:
        """An expression whose value may be plain host data that was not imported yet."""
        if isinstance(node, bound.ReadGlobal) and not node.library:
            text = self._raw_in_batch(node) if self.program.batch else self._raw_global(node)
            return Operand(text, "A", raw=True)
        if isinstance(node, bound.ReadVariable) and self.is_raw(node):
            return Operand(self.variable(node.variable), "A", atom=True, raw=True)
        if isinstance(node, bound.GetProperty) and self.is_raw(node.target):
            key = self.bind(self.value(node.key))
            return Operand(self._property_text(self.raw(node.target), key), "A", raw=True)
        return self.value(node)

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

    def _raw_global(self, node: bound.ReadGlobal) -> str:
        """A read of a global whose root is a local variable; unusual values take the slow path."""
        path = ", ".join(ascii(part) if isinstance(part, str) else repr(part) for part in node.path)
        slow = f"read(G, {path})"
        root = self.program.root_name(str(node.path[0]))
        *middle, last = node.path
        if not middle:
            return f"({root} if {root} is not None else {slow})"
        if not all(isinstance(part, str) for part in node.path):
            return slow
        tests, holder = [f"type({root}) is D"], root
        for part in middle[1:]:
            name = self.temporaries.new()
            tests.append(f"type({name} := {holder}.get({part!a})) is D")
            holder = name
        return f"({holder}.get({last!a}) if {' and '.join(tests)} else {slow})"

    def _brought_in(self, operand: Operand) -> Operand:
        """Import a raw operand as a Hog value; strings, the usual case, need no import."""
        if not operand.raw:
            return operand
        first, again = self.temporaries.twice(operand)
        return Operand(f"({again} if type({first}) is S else imp({again}))", "A")

    def _read_global(self, node: bound.ReadGlobal) -> Operand:
        if node.library:
            return Operand(f"read(G, {node.path[0]!a})", "A")
        return self._brought_in(self.raw(node))

    # --- operators

    def _arithmetic(self, node: bound.Arithmetic) -> Operand:
        left, right = self.both(node.left, node.right)
        kind = self.facts.kind(node) or "K"
        if not (left.atom and right.atom) and kind == "K" and node.operator in "*/%":
            left, right = self._both_atoms(left, right)
        return arithmetic(node.operator, left, right, kind, self.temporaries)

    def _both_atoms(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        right = self.bind(right)
        return self.bind(left), right

    def _type_test(self, node: bound.Compare) -> Operand | None:
        """``typeof(x) = 'string'``: strings, the usual value, are recognized without a call."""
        call, name = node.left, node.right
        if isinstance(call, bound.Constant):
            call, name = name, call
        if node.operator not in _EQUAL or not isinstance(name, bound.Constant):
            return None
        if not isinstance(name.value, str):
            return None
        if not isinstance(call, bound.CallGlobal) or call.name != "typeof":
            return None
        if "typeof" in self.program.host_names or len(call.arguments) != 1 or self.program.trace:
            return None
        operand = self.raw(call.arguments[0])
        first, again = self.temporaries.twice(operand)
        function = "R_typeof" if operand.raw else "L_typeof"
        is_text = (name.value == "string") == (node.operator == "==")
        text = f"type({first}) is S or" if is_text else f"type({first}) is not S and"
        return Operand(
            f"({text} {function}({again}) {node.operator} {literal(name.value).text})", "B"
        )

    def _compare(self, node: bound.Compare) -> Operand:
        tested = self._type_test(node)
        if tested is not None:
            return tested
        if node.operator in _PLAIN:
            raw = self._raw_comparison(node)
            if raw is not None:
                return raw
        texts = _listed_texts(node)
        if texts:
            return one_of(node.operator, self.raw(node.left), texts, self.temporaries)
        if node.operator in _RAW_MEMBERSHIP and self.is_raw(node.right):
            left, right = self.value(node.left), self.raw(node.right)
            return Operand(f"{_RAW_MEMBERSHIP[node.operator]}({left.text}, {right.text})", "B")
        if "like" in node.operator and isinstance(node.right, bound.Constant):
            left, right = self.raw(node.left), self.value(node.right)
        else:
            left, right = self.both(node.left, node.right)
        return comparison(node.operator, left, right, self.temporaries)

    def _raw_comparison(self, node: bound.Compare) -> Operand | None:
        """A comparison of a raw value with a literal; the value need not be imported."""
        pair = node.left, node.right
        if not any(isinstance(item, bound.Constant) and _is_small(item.value) for item in pair):
            return None
        if not any(self.is_raw(item) for item in pair):
            return None
        left, right = self.raw(node.left), self.raw(node.right)
        return comparison(node.operator, left, right, self.temporaries)

    def _between(self, node: bound.Between) -> Operand:
        if self.effects.level(node.value) < EFFECTS:
            low, value, high = (
                self.bind(item) for item in self.sequence((node.low, node.value, node.high))
            )
            again = value
        else:
            order = (node.low, node.value, node.high, node.value)
            low, value, high, again = [self.bind(self.value(item)) for item in order]
        first, second = ("<", ">") if node.negated else (">=", "<=")
        one = comparison(first, value, low, self.temporaries).text
        two = comparison(second, again, high, self.temporaries).text
        return Operand(f"({one} {'or' if node.negated else 'and'} {two})", "B")

    def _logic(self, node: Any) -> Operand:
        return Operand(self.strict(node), "B")

    def _chain(self, node: bound.And | bound.Or, *, strict: bool) -> str:
        """Join operands with ``and``/``or``; with ``&``/``|`` up to the last that must run."""
        word, sign = ("and", "&") if isinstance(node, bound.And) else ("or", "|")
        needed = [
            place for place, item in enumerate(node.operands) if not self.effects.may_skip(item)
        ]
        last = needed[-1] if needed and needed[-1] > 0 else 0
        texts: list[str] = []
        for place, item in enumerate(node.operands):
            mark = self.mark()
            text = self.strict(item) if strict or place <= last else self.test(item)
            if self.mark() > mark:
                self._spill_tests(texts, mark)
            texts.append(text)
        if len(texts) == 1:
            return texts[0]
        head = f"({f' {sign} '.join(texts[: last + 1])})" if last else texts[0]
        return f"({f' {word} '.join([head, *texts[last + 1 :]])})"

    def _spill_tests(self, texts: list[str], mark: int) -> None:
        for place, text in enumerate(texts):
            if not text.isidentifier():
                name = self.temporaries.new()
                self.insert(mark, f"{name} = {text}")
                mark += 1
                texts[place] = name

    def _conditional(self, node: bound.Conditional) -> Operand:
        kind = self.facts.kind(node) or "A"
        if _chained(node) > _LONGEST_CHAIN:
            return self._long_conditional(node, kind)
        test = self.test(node.condition)
        then, otherwise = self._branch(node.then, kind), self._branch(node.otherwise, kind)
        if not then[0] and not otherwise[0]:
            return Operand(f"({then[1]} if {test} else {otherwise[1]})", kind)
        name = self.temporaries.new()
        self._guard(f"if {test}:", then, name)
        self._guard("else:", otherwise, name)
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

    def _branch(self, node: Any, kind: str) -> tuple[list[Any], str]:
        """The statements a branch needs, removed from the output, and its value."""
        mark = self.mark()
        self.indent += 1
        text = coerced(self.value(node), kind)
        self.indent -= 1
        return self.take(mark), text

    def _guard(self, head: str, branch: tuple[list[Any], str], name: str) -> None:
        self.line(head)
        self.put(branch[0])
        self.indent += 1
        self.line(f"{name} = {branch[1]}")
        self.indent -= 1

    def _if_null(self, node: bound.IfNull) -> Operand:
        kind = self.facts.kind(node) or "A"
        value = self.value(node.value)
        if value.kind not in "AN":
            return Operand(coerced(value, kind), kind) if kind == "F" else value
        if value.kind == "N" and value.constant:
            return self.value(node.fallback)
        fallback = self._branch(node.fallback, kind)
        if not fallback[0]:
            first, again = self.temporaries.twice(value)
            return Operand(f"({again} if {first} is not None else {fallback[1]})", kind)
        name = self.temporaries.new()
        self.line(f"{name} = {value.text}")
        self._guard(f"if {name} is None:", fallback, name)
        return Operand(name, kind, atom=True)

    # --- parts of values

    def _property(self, node: bound.GetProperty) -> Operand:
        if self.is_raw(node.target):
            return self._brought_in(self.raw(node))
        target, key = self.sequence((node.target, node.key))
        if not target.atom and not key.atom:
            target = self.bind(target)
        return Operand(self._property_text(target, key), "A")

    def _property_text(  # noqa: PLR0911 (one kind of key after the other)
        self, target: Operand, key: Operand
    ) -> str:
        if target.constant:
            return f"prop({target.text}, {key.text})"
        first, again = self.temporaries.twice(target)
        if key.kind == "S":
            if target.kind == "E" and key.constant and key.value in _ERROR_FIELDS:
                return f"{target.text}.{key.value}"
            if target.kind == "D":
                return f"{target.text}.get({key.text})"
            return f"({again}.get({key.text}) if type({first}) is D else prop({again}, {key.text}))"
        if key.constant and key.kind == "Z" and key.value > 0:
            test = f"type({first}) is L and LEN({again}) >= {key.value}"
            return f"({again}[{key.value - 1}] if {test} else prop({again}, {key.text}))"
        if key.kind in {"C", "K"} and key.atom:
            test = f"type({first}) is L and 0 < {key.text} <= LEN({again})"
            guard = "" if key.kind == "C" else f" and type({key.text}) is I"
            return f"({again}[{key.text} - 1] if {test}{guard} else prop({again}, {key.text}))"
        if target.raw and key.kind == "A":
            test = f"type({first}) is D and type({key.text}) is S"
            return f"({again}.get({key.text}) if {test} else prop({again}, {key.text}))"
        return f"prop({target.text}, {key.text})"

    def _array(self, node: bound.MakeArray) -> Operand:
        return Operand(f"[{self._listed(node.items)}]", "L")

    def _tuple(self, node: bound.MakeTuple) -> Operand:
        return Operand(f"tuple_of([{self._listed(node.items)}])", "A")

    def _listed(self, nodes: tuple[Any, ...]) -> str:
        return ", ".join([item_text(operand) for operand in self.sequence(nodes)])

    def _object(self, node: bound.MakeObject) -> Operand:
        flat = tuple(part for pair in node.items for part in pair)
        operands = self.sequence(flat)
        pairs = list(zip(operands[::2], operands[1::2], strict=True))
        text = ", ".join([f"{self._key(key)}: {item_text(value)}" for key, value in pairs])
        return Operand(f"{{{text}}}", "D")

    @staticmethod
    def _key(key: Operand) -> str:
        return key.text if key.kind in {"S", "Z", "C"} else f"key({key.text})"

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

    # --- calls

    def _call_global(self, node: bound.CallGlobal) -> Operand:
        if node.name in self.program.async_names:
            text = f"(yield ({node.name!a}, [{self._listed(node.arguments)}]))"
            return Operand(self.noted(node, node.name, text), "A")
        if node.name in self.program.functions:
            text = f"host({node.name!a}, [{self._listed(node.arguments)}])"
            return Operand(self.noted(node, node.name, text), "A")
        entry = STL.get(node.name)
        operands = self._arguments(node)
        if entry is None:
            missing = f"unknown_call(d, {node.name!a}, {_after(operands)})"
            return Operand(missing, "A")
        fault = entry.arity_fault(len(operands))
        if fault is None and len(operands) > 300:
            fault = "Too many arguments"
        if fault is not None:
            return Operand(f"fail({fault!a}, {_after(operands)})", "A")
        text = self._library_call(node.name, operands)
        if node.name == "arrayFilter" and operands[1].text.startswith("R_items("):
            text = f"imp({text})"
        return Operand(self.noted(node, node.name, text), self.facts.kind(node) or "A")

    def _arguments(self, node: bound.CallGlobal) -> list[Operand]:
        if node.name in _TAKES_RAW or (node.name, len(node.arguments)) == ("jsonStringify", 1):
            return self.sequence(node.arguments, raw=(0,))
        function = self.program.borrowing.lambda_of(node)
        if function is None or not self._borrows(function, LAMBDA_PARAMETER[node.name]):
            return self.sequence(node.arguments)
        callee, items, *more = self.sequence(node.arguments, raw=(1,))
        return [callee, Operand(f"R_items({items.text})", "L"), *more]

    def _borrows(self, function: bound.BoundFunction, place: int) -> bool:
        """Whether a parameter of a function borrows."""
        parameters = function.parameters
        return place < len(parameters) and parameters[place] in self.program.borrowing.variables

    def _library_call(self, name: str, operands: list[Operand]) -> str:
        special = self._SPECIAL.get(name)
        text = special(self, operands) if special else method_call(name, operands, self.temporaries)
        if text is not None:
            return text
        given = ", ".join([operand.text for operand in operands])
        if STL[name].form != "callback":
            is_raw = name in _HAS_RAW_FORM and operands[0].raw
            return f"{'R' if is_raw else 'L'}_{name}({given})"
        if self.program.dynamic_async:
            return f"(yield from S_{name}(d + 1, {given}))"
        return f"L_{name}(d + 1, {given})"

    def _call_length(self, operands: list[Operand]) -> str | None:
        operand = operands[0]
        if operand.kind == "L":
            return f"LEN({operand.text})"
        first, again = self.temporaries.twice(operand)
        if operand.kind == "A":
            return f"(LEN({again}) if type({first}) is L else L_length({again}))"
        return None

    def _call_is_null(self, operands: list[Operand]) -> str | None:
        return f"({operands[0].text} is None)" if not operands[0].constant else None

    def _call_is_not_null(self, operands: list[Operand]) -> str | None:
        return f"({operands[0].text} is not None)" if not operands[0].constant else None

    def _call_concat(self, operands: list[Operand]) -> str | None:
        if len(operands) > 8:
            return None
        parts = [self.text_part(operand) for operand in operands]
        name = self.temporaries.new()
        joined = (
            " + ".join(parts) if len(parts) < 4 else "".join(["JOIN((", ", ".join(parts), "))"])
        )
        if len(parts) == 1:
            return parts[0]
        return f"({name} if LEN({name} := {joined}) <= 256 and {name}.isascii() else long({name}))"

    def text_part(self, operand: Operand) -> str:
        """The Python text of a value that is formatted as part of a string."""
        if operand.constant:
            return self._constant_part(operand)
        if operand.kind == "S":
            return operand.text
        if operand.kind == "C":
            return f"STR({operand.text})"
        first, again = self.temporaries.twice(operand)
        if operand.kind == "K":
            return f"(STR({again}) if type({first}) is I else part({again}))"
        if operand.kind == "A":
            return f"({again} if type({first}) is S else part({again}))"
        return f"part({operand.text})"

    @staticmethod
    def _constant_part(operand: Operand) -> str:
        if operand.kind == "S":
            return operand.text
        return f"part({operand.text})"

    def _call_value(self, node: bound.CallValue) -> Operand:
        function = self.facts.callee(node)
        borrowed = [
            place
            for place in range(len(node.arguments))
            if function is not None and self._borrows(function, place)
        ]
        operands = self.sequence(node.arguments, raw=borrowed)
        if len(operands) > 300:
            return Operand(f"fail('Too many arguments', {_after(operands)})", "A")
        if function is None or not isinstance(node.callee, bound.ReadVariable):
            return self._call_unknown(node, operands)
        if len(operands) > len(function.parameters):
            fault = (
                f"Too many arguments. Passed {len(operands)}, expected {len(function.parameters)}"
            )
            return Operand(f"fail({fault!a}, {_after(operands)})", "A")
        given = ["d + 1"]
        for place, parameter in enumerate(function.parameters):
            kind = self.facts.variables.get(parameter) or "A"
            given.append(coerced(operands[place], kind) if place < len(operands) else "None")
        text = f"{self.variable(node.callee.variable)}({', '.join(given)})"
        if function.number in self.program.suspending:
            text = f"(yield from {text})"
        kind = self.facts.results.get(function.number) or "A"
        return Operand(self.noted(node, node.callee.variable.name, text), kind)

    def _call_unknown(self, node: bound.CallValue, operands: list[Operand]) -> Operand:
        mark = self.mark()
        callee = self.value(node.callee)
        if self.effects.level(node.callee) > STABLE and operands:
            self._spill(operands, node.arguments, mark)
        given = ", ".join(["d + 1", callee.text, *(operand.text for operand in operands)])
        name = callee_name(node.callee)
        if not self.program.dynamic_async:
            return Operand(self.noted(node, name, f"call({given})"), "A")
        result = self.temporaries.new()
        text = (
            f"((yield from {result}) if type({result} := call_steps({given})) is GEN else {result})"
        )
        return Operand(self.noted(node, name, text), "A")

    _SPECIAL: Final[dict[str, Callable[[Any, list[Operand]], str | None]]] = {
        "length": _call_length,
        "isNull": _call_is_null,
        "isNotNull": _call_is_not_null,
        "concat": _call_concat,
    }
    _EXPRESSIONS: Final[dict[type, Callable[[Any, Any], Operand]]] = {
        bound.Constant: _constant,
        bound.ReadVariable: _read_variable,
        bound.ReadGlobal: _read_global,
        bound.GetProperty: _property,
        bound.CallGlobal: _call_global,
        bound.CallValue: _call_value,
        bound.And: _logic,
        bound.Or: _logic,
        bound.Not: _logic,
        bound.Compare: _compare,
        bound.Between: _between,
        bound.Arithmetic: _arithmetic,
        bound.Conditional: _conditional,
        bound.IfNull: _if_null,
        bound.MakeArray: _array,
        bound.MakeTuple: _tuple,
        bound.MakeObject: _object,
        bound.MakeFunction: _make_function,
        bound.SqlNode: _sql,
    }


def _chained(node: Any) -> int:
    """The number of conditionals that are chained by their ``otherwise`` branches."""
    count = 0
    while isinstance(node, bound.Conditional):
        node, count = node.otherwise, count + 1
    return count


def _without_nots(node: Any) -> tuple[Any, bool]:
    """The operand below a chain of ``not``, and whether their number is odd."""
    odd = False
    while isinstance(node, bound.Not):
        node, odd = node.operand, not odd
    return node, odd


def _listed_texts(node: bound.Compare) -> list[str]:
    """The strings on the right of ``in``; empty unless all items are string literals."""
    if node.operator not in {"in", "not in"}:
        return []
    if not isinstance(node.right, bound.MakeArray | bound.MakeTuple):
        return []
    values = [item.value for item in node.right.items if isinstance(item, bound.Constant)]
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(node.right.items) else []


def _is_small(value: Any) -> bool:
    return value is None or isinstance(value, str) or (type(value) is int and abs(value) < 2**31)


def item_text(operand: Operand) -> str:
    """The text of a value that goes into a container.

    Whole floats become ints: programs cannot distinguish them, and containers of ints are
    written as JSON three times as fast.
    """
    if operand.kind != "F" or operand.constant:
        return operand.text
    return f"whole({operand.text})"


def _after(operands: list[Operand]) -> str:
    """Operands that are evaluated before a call that fails."""
    return ", ".join([operand.text for operand in operands])


def callee_name(node: Any) -> str:
    """The name of a called value in traces."""
    if isinstance(node, bound.ReadVariable):
        return node.variable.name
    if isinstance(node, bound.ReadGlobal):
        return str(node.path[-1])
    return "call"
