"""Prints calls as Python: of the library, of the host, and of functions of the program."""

from collections.abc import Callable
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.analysis.library import LAMBDA_PARAMETER
from hoglet.hog.python.analysis.paths import is_same_read
from hoglet.hog.python.analysis.purity import EFFECTS, STABLE
from hoglet.hog.python.codegen.comparisons import one_of
from hoglet.hog.python.codegen.evaluation import Handlers
from hoglet.hog.python.codegen.inlining import InlinePrinter
from hoglet.hog.python.codegen.operands import IMPORT, Operand, coerced, whole_value
from hoglet.hog.python.codegen.text_calls import SAME_FOR_RAW, method_call, rest_of_text
from hoglet.hog.runtime.formatting import printed
from hoglet.hog.stdlib.table import STL

_HAS_RAW_FORM: Final = frozenset({"typeof", "keys", "has", "jsonStringify", "toString"})
"""Library functions with a form ``R_name`` for host data that was not imported."""

_TAKES_RAW: Final = {
    "typeof", "keys", "has", "length", "empty", "notEmpty", "isNull", "isNotNull", "lower", "upper",
    "trim", "toString", "round", "replaceAll", "replaceOne", "substring", "position", "startsWith",
}  # fmt: skip
"""Library functions whose first argument may be host data that was not imported."""

_TAKES_ONLY_RAW: Final = frozenset({"print", "concat"})
"""Library functions whose arguments all may be."""

_MAX_PARTS: Final = 16
"""Arguments that are formatted in place, without a call of the library function."""

_MUTABLE: Final = frozenset({"L", "D", "E", "A", None})
"""Kinds of values that another part of an expression may change."""


class CallPrinter(InlinePrinter):
    """The printer of calls."""

    def _call_global(self, node: bound.CallGlobal) -> Operand:
        return self.imported(self.called(node))

    def called(self, node: bound.CallGlobal | bound.CallValue) -> Operand:
        """A call; what it returns of host data was not imported."""
        if isinstance(node, bound.CallGlobal):
            return self._called_library(node)
        operand = self._called_value(node)
        return Operand(operand.text, "A", raw=self.importer(node)) if self.is_raw(node) else operand

    def _called_library(self, node: bound.CallGlobal) -> Operand:
        inlined = self._host_call(node) or self.inlined(node) or self._without_keys(node)
        inlined = inlined or self._is_listed(node)
        if inlined is not None:
            return inlined
        entry = STL.get(node.name)
        operands = self._arguments(node)
        if entry is None:
            missing = f"unknown_call({self.depth()}, {node.name!a}, {_after(operands)})"
            return Operand(missing, "A")
        fault = entry.arity_fault(len(operands))
        if fault is None and len(operands) > 300:
            fault = "Too many arguments"
        if fault is not None:
            return Operand(f"fail({fault!a}, {_after(operands)})", "A")
        if node.name == "concat" and self._changes_within(node):
            text = _called_at_end("concat", operands)
        elif node.name == "print":
            text = self._print_call(node, operands)
        elif node.name in {"substring", "position", "startsWith"} and len(operands) > 1:
            text = self._cut_or_search(node, operands)
        else:
            text = self._library_call(node.name, operands)
        text = self.noted(node, node.name, text)
        if node.name == "arrayFilter" and operands[1].text.startswith("R_items("):
            return Operand(text, "A", raw=self.importer(node))
        return Operand(text, self.facts.kind(node) or "A")

    def _is_listed(self, node: bound.CallGlobal) -> Operand | None:
        """``has(['a', 'b'], x)``; None for other calls, and for other arrays."""
        if node.name != "has" or len(node.arguments) != 2 or self.program.trace:
            return None
        texts, item = self.facts.texts(node.arguments[0]), node.arguments[1]
        if texts is None:
            return None
        return one_of("in", self.operand(item, raw=self.may_be_raw(item)), texts, self.temporaries)

    def _host_call(self, node: bound.CallGlobal) -> Operand | None:
        if node.name not in self.program.host_names:
            return None
        given = f"{node.name!a}, [{self.listed(node.arguments)}]"
        is_async = node.name in self.program.async_names
        text = f"(yield ({given}))" if is_async else f"host({given})"
        return Operand(self.noted(node, node.name, text), "A")

    def _without_keys(self, node: bound.CallGlobal) -> Operand | None:
        """``length(keys(x))`` and ``has(keys(x), key)``, without the array."""
        if node.name == "has" and len(node.arguments) == 2:
            holder, key = node.arguments
            return self.has_key(key, holder) or self._has_text(holder, key)
        counted = self.argument_of("keys", self.argument_of("length", node))
        if counted is None:
            return None
        operand = self.operand(counted, raw=self.may_be_raw(counted))
        if operand.raw:
            return Operand(f"LEN(R_keys({operand.text}))", "C")
        first, again = self.temporaries.twice(operand)
        return Operand(f"(LEN({again}) if type({first}) is D else LEN(L_keys({again})))", "C")

    def _has_text(self, items: Any, sought: Any) -> Operand | None:
        """``has(items, sought)`` of host data: texts are sought in place."""
        if self.program.trace or not self.may_be_raw(items):
            return None
        if not isinstance(sought, bound.ReadVariable | bound.Constant):
            return None
        array, key = self.operand(items, raw=True), self.value(sought)
        if not array.raw or not key.atom:
            return None
        first, again = self.temporaries.twice(array)
        tests = [f"type({first}) is L"]
        tests += [] if key.kind == "S" else [f"type({key.text}) is S"]
        slow = f"R_has({again}, {key.text})"
        return Operand(f"({key.text} in {again} if {' and '.join(tests)} else {slow})", "B")

    def _changes_within(self, node: bound.CallGlobal) -> bool:
        """Whether a later argument may change the object of an earlier one.

        Such arguments are formatted only when all have been evaluated.
        """
        mutable = False
        for item in node.arguments:
            if mutable and self.effects.level(item) == EFFECTS:
                return True
            is_fixed = self.is_raw(item) and not self.program.borrowing.edited
            mutable = mutable or (self.facts.kind(item) in _MUTABLE and not is_fixed)
        return False

    def _arguments(self, node: bound.CallGlobal) -> list[Operand]:
        if node.name in _TAKES_RAW or (node.name, len(node.arguments)) == ("jsonStringify", 1):
            return self.sequence(node.arguments, raw=(0,))
        if node.name in _TAKES_ONLY_RAW:
            return self.sequence(node.arguments, raw=range(len(node.arguments)))
        function = self.program.borrowing.lambda_of(node)
        if function is None or not self._borrows(function, LAMBDA_PARAMETER[node.name]):
            return self.sequence(node.arguments)
        callee, items, *more = self.sequence(node.arguments, raw=(1,))
        return [callee, Operand(f"R_items({items.text})", "L"), *more]

    def _borrows(self, function: bound.BoundFunction, index: int) -> bool:
        """Whether a parameter of a function borrows."""
        parameters = function.parameters
        return index < len(parameters) and parameters[index] in self.program.borrowing.variables

    def formatted(self, operand: Operand, function: str) -> str:
        """The text of a container, by the variant of a function that suits it best.

        ``P_`` takes plain data. ``M_`` takes literals with host data that was not imported; it
        returns None if the text would differ.
        """
        text = f"L_{function}({operand.general or operand.text})"
        if operand.general:
            name = self.temporaries.new()
            short = f"({name} := M_{function}({operand.text}))"
            text = f"({name} if {short} is not None else {text})"
        condition = self.plain_condition(operand)
        if not condition:
            return text
        plain = f"P_{function}({operand.text})"
        return plain if condition == "True" else f"({plain} if {condition} else {text})"

    def _library_call(self, name: str, operands: list[Operand]) -> str:
        if name == "jsonStringify" and len(operands) == 1 and not operands[0].raw:
            return self.formatted(operands[0], name)
        special = self._SPECIAL.get(name)
        short = self.program.short_texts
        text = (
            special(self, operands)
            if special
            else method_call(name, operands, self.temporaries, short)
        )
        if text is not None:
            return text
        has_raw_form = name in _HAS_RAW_FORM and (name != "has" or operands[0].raw in {"", IMPORT})
        as_is = has_raw_form or name in SAME_FOR_RAW
        given = ", ".join([item.text if as_is else whole_value(item) for item in operands])
        if STL[name].form != "callback":
            is_raw = has_raw_form and operands[0].raw
            return f"{'R' if is_raw else 'L'}_{name}({given})"
        if self.program.dynamic_async:
            return f"(yield from S_{name}({self.depth(1)}, {given}))"
        return f"L_{name}({self.depth(1)}, {given})"

    def _cut_or_search(self, node: bound.CallGlobal, operands: list[Operand]) -> str:
        """``substring``, ``position``: what is cut at or sought is bound, so that it is tested."""
        is_pure = all(self.effects.level(argument) < EFFECTS for argument in node.arguments)
        if is_pure:
            operands[1] = self.bind(operands[1])
        is_substring = node.name == "substring"
        if is_substring and is_pure and len(operands) == 3 and self._reaches_end(*node.arguments):
            text = rest_of_text(operands, self.temporaries, self.program.short_texts)
            if text is not None:
                return text
        return self._library_call(node.name, operands)

    def _reaches_end(self, subject: Any, start: Any, count: Any) -> bool:
        """Whether a text ends before as many characters: ``substring(s, 2, length(s) - 1)``."""
        cut = 0
        if isinstance(count, bound.Arithmetic) and isinstance(count.right, bound.Constant):
            cut, count = count.right.value if count.operator == "-" else None, count.left
        is_rest = cut == 0 or (type(cut) is int and 0 < cut < _first(start))
        length = self.argument_of("length", count)
        return is_rest and is_same_read(subject, length, items=True)

    def _call_length(self, operands: list[Operand]) -> str | None:
        operand = operands[0]
        if operand.kind == "L":
            return f"LEN({operand.text})"
        first, again = self.temporaries.twice(operand)
        if again in self.program.short_texts:
            return f"(LEN({again}) if s{again[1:]} else L_length({again}))"
        if operand.kind == "A":
            is_text = f"type({again}) is S and {again}.isascii()"
            return f"(LEN({again}) if type({first}) is L or {is_text} else L_length({again}))"
        if operand.kind == "S" and not operand.constant:
            return f"(LEN({again}) if {first}.isascii() else L_length({again}))"
        return None

    def _call_has(self, operands: list[Operand]) -> str | None:
        holder, item = operands
        if holder.raw not in {"", IMPORT} or holder.kind not in "AL":
            return None
        if not (holder.atom and item.atom) or item.raw:
            return None
        test = " and ".join(
            [f"type({holder.text}) is L"] * (holder.kind == "A")
            + [f"type({item.text}) is S"] * (item.kind != "S")
        )
        inside = f"{item.text} in {holder.text}"
        function = "R_has" if holder.raw else "L_has"
        slow = f"{function}({holder.text}, {item.text})"
        return f"({inside} if {test} else {slow})" if test else inside

    def _call_to_string(self, operands: list[Operand]) -> str | None:
        operand = operands[0]
        if len(operands) == 1 and operand.kind == "C":
            return f"STR({operand.text})"
        if len(operands) == 1 and operand.kind == "K":
            first, again = self.temporaries.twice(operand)
            return f"(STR({again}) if type({first}) is I else L_toString({again}))"
        return method_call("toString", operands, self.temporaries, self.program.short_texts)

    def _call_is_null(self, operands: list[Operand]) -> str | None:
        return f"({operands[0].text} is None)" if not operands[0].constant else None

    def _call_is_not_null(self, operands: list[Operand]) -> str | None:
        return f"({operands[0].text} is not None)" if not operands[0].constant else None

    def _call_concat(self, operands: list[Operand]) -> str | None:
        if len(operands) > _MAX_PARTS:
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
            part = "R_part" if operand.raw else "part"
            return f"({again} if type({first}) is S else {part}({again}))"
        return f"part({operand.text})"

    @staticmethod
    def _constant_part(operand: Operand) -> str:
        if operand.kind == "S":
            return operand.text
        return f"part({operand.text})"

    def _call_value(self, node: bound.CallValue) -> Operand:
        return self.imported(self.called(node))

    def _called_value(self, node: bound.CallValue) -> Operand:
        function = self.facts.callee(node)
        borrowed = [
            index
            for index in range(len(node.arguments))
            if function is not None and self._borrows(function, index)
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
        if id(node) in self.program.inlined.calls:
            return self.inlined_call(function, operands)
        given = [self.depth(1)]
        for index, parameter in enumerate(function.parameters):
            kind = self.facts.variables.get(parameter) or "A"
            given.append(coerced(operands[index], kind) if index < len(operands) else "None")
        text = f"{self.variable(node.callee.variable)}({', '.join(given)})"
        if function.number in self.program.suspending:
            text = f"(yield from {text})"
        kind = self.facts.results.get(function.number) or "A"
        return Operand(self.noted(node, node.callee.variable.name, text), kind)

    def _call_unknown(self, node: bound.CallValue, operands: list[Operand]) -> Operand:
        mark = self.mark()
        callee = self.value(node.callee)
        if self.effects.level(node.callee) > STABLE and operands:
            self.spill(operands, node.arguments, mark)
        given = ", ".join([self.depth(1), callee.text, *(operand.text for operand in operands)])
        name = _callee_name(node.callee)
        if not self.program.dynamic_async:
            return Operand(self.noted(node, name, f"call({given})"), "A")
        result = self.temporaries.new()
        text = (
            f"((yield from {result}) if type({result} := call_steps({given})) is GEN else {result})"
        )
        return Operand(self.noted(node, name, text), "A")

    def _print_call(self, node: bound.CallGlobal, operands: list[Operand]) -> str:
        """``print``: values are formatted where they are evaluated, if none can change later."""
        is_long = not 0 < len(operands) <= _MAX_PARTS
        if is_long or self.program.trace or self._changes_within(node):
            return _called_at_end("print", operands)
        parts = [self._printed_part(operand) for operand in operands]
        return f"write({parts[0] if len(parts) == 1 else f'SPACED(({", ".join(parts)}))'})"

    def _printed_part(self, operand: Operand) -> str:
        """The Python text of a value as ``print`` shows it."""
        if operand.kind == "S":
            return operand.text
        if operand.constant:
            return ascii(printed(operand.value))
        if operand.kind == "C":
            return f"STR({operand.text})"
        if operand.kind not in "AK":
            return self.formatted(operand, "printed")
        first, again = self.temporaries.twice(operand)
        if operand.kind == "K":
            return f"(STR({again}) if type({first}) is I else L_printed({again}))"
        function = "R_printed" if operand.raw else "L_printed"
        return f"({again} if type({first}) is S else {function}({again}))"

    _SPECIAL: Final[dict[str, Callable[[Any, list[Operand]], str | None]]] = {
        "length": _call_length,
        "has": _call_has,
        "toString": _call_to_string,
        "isNull": _call_is_null,
        "isNotNull": _call_is_not_null,
        "concat": _call_concat,
    }
    CALLS: Final[Handlers] = {
        bound.CallGlobal: _call_global,
        bound.CallValue: _call_value,
    }


def _after(operands: list[Operand]) -> str:
    """Operands that are evaluated before a call that fails."""
    return ", ".join([operand.text for operand in operands])


def _first(start: Any) -> int:
    """A literal position, else 0."""
    match start:
        case bound.Constant(value=int(value)):
            return value
        case _:
            return 0


def _called_at_end(name: str, operands: list[Operand]) -> str:
    """A call that formats its arguments only when all have been evaluated."""
    listed = ", ".join([operand.general or operand.text for operand in operands])
    if not any(operand.raw for operand in operands):
        return f"L_{name}({listed})"
    flags = "".join(f"{operand.raw != ''}, " for operand in operands)
    return f"R_{name}(({flags}), {listed})"


def _callee_name(node: Any) -> str:
    """The name of a called value in traces."""
    if isinstance(node, bound.ReadVariable):
        return node.variable.name
    if isinstance(node, bound.ReadGlobal):
        return str(node.path[-1])
    return "call"
