"""Prints ``return`` of an object or array literal so that its result need not be checked again.

A result must be plain data of bounded size. The values in a literal are tested one by one, where
they are known: if all of them are short strings, numbers, booleans, null or small plain parts, the
program returns a tuple of one, which :func:`hoglet.hog.runtime.host_data.exported` unpacks.
Host data among them is then not imported either, because these values are their own imports.

Source: docs/spec/hog-language.md#4-values and docs/spec/hog-language.md#10-limits.
"""

from collections.abc import Iterator
from typing import Any, Final

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.codegen.evaluation import item_text
from hoglet.hog.python.codegen.growth import GrowthPrinter
from hoglet.hog.python.codegen.operands import Operand, coerced, literal, whole_value
from hoglet.hog.runtime.plain_data import SHORT

_MOST_PARTS: Final = 64  # each may be as large as a small plain part
_DEEPEST: Final = 16


class ResultPrinter(GrowthPrinter):
    """The printer of ``return``."""

    @property
    def bound_function(self) -> bound.BoundFunction:
        """The function being printed."""
        raise NotImplementedError

    def result(self, node: bound.Return) -> None:
        """Print a ``return``."""
        is_result = self.bound_function.number == 0 and not self.program.trace
        if is_result and self.is_raw(node.value):
            value = self.bind(self.raw(node.value)).text
            self.line(f"return {value} if type({value}) is S else host_value({value})")
        elif is_result and _is_small_literal(node.value):
            self._plain_result(node.value)
        else:
            self._any_result(node)

    def _any_result(self, node: bound.Return) -> None:
        operand = literal(None) if node.value is None else self.value(node.value)
        kind = self.facts.results.get(self.bound_function.number) or "A"
        text = coerced(operand, kind)
        if self.program.trace:
            text = f"note({self.source_line}, 'return', {text})"
        self.line(f"return {text}")

    def _plain_result(self, node: Any) -> None:
        parts = [self._part(part) for part in _parts_of(node)]
        tests = [test for test in map(_test, parts) if test]
        if not tests:
            self.line(f"return ({_text(node, iter(parts))},)")
            return
        plain = [Operand(part.text, part.kind, atom=True) for part in parts]
        self.line(f"if {' and '.join(tests)}: return ({_text(node, iter(plain))},)")
        self.line(f"return {_text(node, iter(parts))}")

    def _part(self, node: Any) -> Operand:
        operand = self.raw(node) if self.may_be_raw(node) else self.value(node)
        if operand.kind == "F" and not operand.constant:
            operand = Operand(item_text(operand), "F")
        return self.hold(operand, node)


def _parts_of(node: Any) -> Iterator[Any]:
    """The values in a literal and in the literals within it, in their order."""
    if isinstance(node, bound.MakeObject):
        for _, item in node.items:
            yield from _parts_of(item)
    elif isinstance(node, bound.MakeArray):
        for item in node.items:
            yield from _parts_of(item)
    else:
        yield node


def _is_small_literal(node: Any, deepest: int = _DEEPEST) -> bool:
    """Whether an expression is a literal of strings as keys, with few parts."""
    if not isinstance(node, bound.MakeObject | bound.MakeArray):
        return False
    return _is_shallow(node, deepest) and sum(1 for _ in _parts_of(node)) <= _MOST_PARTS


def _is_shallow(node: Any, deepest: int) -> bool:
    if isinstance(node, bound.MakeArray):
        return deepest > 0 and all(_is_shallow(item, deepest - 1) for item in node.items)
    if not isinstance(node, bound.MakeObject):
        return True
    keys = [key.value if isinstance(key, bound.Constant) else None for key, _ in node.items]
    if deepest == 0 or not all(type(key) is str for key in keys):
        return False
    return all(_is_shallow(item, deepest - 1) for _, item in node.items)


def _text(node: Any, parts: Iterator[Operand]) -> str:
    """The text of a literal with these parts."""
    if isinstance(node, bound.MakeObject):
        keys = [ascii(key.value) for key, _ in node.items if isinstance(key, bound.Constant)]
        items = [_text(item, parts) for _, item in node.items]
        pairs = [f"{key}: {item}" for key, item in zip(keys, items, strict=True)]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(node, bound.MakeArray):
        return f"[{', '.join([_text(item, parts) for item in node.items])}]"
    return whole_value(next(parts))


def _test(part: Operand) -> str:
    """The condition under which a value is plain data; empty if it always is."""
    name = part.text
    if part.constant:
        return "" if _is_plain_constant(part.value) else "False"
    if part.kind in "BNCZF":
        return ""
    if part.kind == "K":
        return f"(type({name}) is I or plain_leaf({name}))"
    if part.kind == "S":
        return f"LEN({name}) <= {SHORT}"
    if part.kind in "LD":
        return f"plain_part({name})"
    test = "plain_leaf" if part.raw else "plain_part"
    return f"(LEN({name}) <= {SHORT} if type({name}) is S else {test}({name}))"


def _is_plain_constant(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT
    return not isinstance(value, float) or not value.is_integer()
