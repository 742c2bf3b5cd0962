"""Prints expressions as conditions: ``and``, ``or``, ``not`` and the truth of values.

Source: docs/spec/hog-language.md#5-semantics-of-operators.
"""

from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.python.codegen.comparisons import COMPARISONS
from hoglet.hog.python.codegen.emitter import Emitter
from hoglet.hog.python.codegen.operands import Operand, whole_value


class Conditions(Emitter):
    """The printer of conditions."""

    def raw(self, node: Any) -> Operand:
        """An expression whose value may be plain host data that was not imported yet."""
        raise NotImplementedError

    def test(self, node: Any) -> str:
        """An expression as a condition: its Python truth is its Hog truth."""
        if isinstance(node, bound.Not):
            inner, odd = _without_nots(node)
            return f"(not {self.test(inner)})" if odd else self.test(inner)
        if isinstance(node, bound.And | bound.Or):
            return self._chain(node, strict=False)
        return self.truth(self.raw(node))

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
        operand = self.raw(node)
        return operand.text if operand.kind == "B" else f"truthy({operand.text})"

    def _chain(self, node: bound.And | bound.Or, *, strict: bool) -> str:
        """Join operands with ``and``/``or``; with ``&``/``|`` up to the last that must run."""
        word, sign = ("and", "&") if isinstance(node, bound.And) else ("or", "|")
        needed = [
            index for index, item in enumerate(node.operands) if not self.effects.may_skip(item)
        ]
        last = needed[-1] if needed and needed[-1] > 0 else 0
        texts: list[str] = []
        index = 0
        while index < len(node.operands):
            item, size, mark = node.operands[index], 1, self.mark()
            if index > last or last == 0:
                size = self._same_text(node.operands, index)
            if size > 1:
                text = self._text_tests(node.operands[index : index + size], word)
            else:
                text = self.strict(item) if strict or index <= last else self.test(item)
            if self.mark() > mark:
                self._spill_tests(texts, mark)
            texts.append(text)
            index += size
        if len(texts) == 1:
            return texts[0]
        head = f"({f' {sign} '.join(texts[: last + 1])})" if last else texts[0]
        return f"({f' {word} '.join([head, *texts[last + 1 :]])})"

    def _spill_tests(self, texts: list[str], mark: int) -> None:
        for index, text in enumerate(texts):
            if not text.isidentifier():
                name = self.temporaries.new()
                self.insert(mark, f"{name} = {text}")
                mark += 1
                texts[index] = name

    def _same_text(self, operands: tuple[Any, ...], first: int) -> int:
        """How many operands from the first on compare one variable with literal texts."""
        variable, size = _compared(operands[first]), 0
        if variable is None or self.facts.variables.get(variable) != "A":
            return 1
        for item in operands[first:]:
            if _compared(item) is not variable or not self.effects.may_skip(item):
                break
            size += 1
        return size

    def _text_tests(self, comparisons: tuple[Any, ...], word: str) -> str:
        """Comparisons of one variable, whose type is tested once."""
        operand = self.raw(comparisons[0].left)
        name, fast, slow = operand.text, list[str](), list[str]()
        for item in comparisons:
            text = ascii(item.right.value)
            fast.append(f"{name} {item.operator} {text}")
            slow.append(f"{COMPARISONS[item.operator]}({whole_value(operand)}, {text})")
        texts = f" {word} ".join(fast), f" {word} ".join(slow)
        return f"(({texts[0]}) if type({name}) is S else ({texts[1]}))"


def _compared(node: Any) -> bound.Variable | None:
    """The variable that an expression compares with a literal ASCII text, if it does."""
    match node:
        case bound.Compare(
            operator=operator,
            left=bound.ReadVariable(variable=variable),
            right=bound.Constant(value=str() as text),
        ) if operator in COMPARISONS and text.isascii():
            return None if variable.captured and variable.assigned else variable
        case _:
            return None


def _without_nots(node: Any) -> tuple[Any, bool]:
    """The operand below a chain of ``not``, and whether the chain negates it."""
    odd = False
    while isinstance(node, bound.Not):
        node, odd = node.operand, not odd
    return node, odd
