"""Prints nodes as text: blocks, helpers, names of variables and literals."""

import json
import math
from collections.abc import Callable
from typing import Any

from hoglet.hog.bind import tree as bound
from hoglet.hog.javascript.library import helpers
from hoglet.hog.javascript.names import VariableNames

type Handlers = dict[type, Callable[[JavaScriptPrinter, Any], str]]
"""Functions that print the nodes of a type."""


class JavaScriptPrinter:
    """Prints nodes as text and records the helpers that it calls.

    Args:
        handlers: what prints the nodes of each type.
    """

    def __init__(self, handlers: "Handlers") -> None:
        self._handlers = handlers
        self.used: set[str] = set()
        self.names = VariableNames(helpers())
        self._temporaries = 0

    def expression(self, node: bound.Expression) -> str:
        """Text of an expression, parenthesised where necessary."""
        return self._handlers[type(node)](self, node)

    def all(self, nodes: tuple[bound.Expression, ...]) -> str:
        """Texts of expressions, joined with commas."""
        return ", ".join([self.expression(node) for node in nodes])

    def statement(self, node: bound.Statement) -> str:
        """Text of a statement, lines joined with line breaks."""
        return self._handlers[type(node)](self, node)

    def statements(self, block: bound.Block) -> str:
        """The statements of a block without its braces."""
        return "\n".join([self.statement(statement) for statement in block.statements])

    def braced(self, node: bound.Statement) -> str:
        """A statement as a block; its variables end with it."""
        count = self.names.count()
        inner = self.statements(node) if isinstance(node, bound.Block) else self.statement(node)
        self.names.end(count)
        return "{\n" + indent(inner) + "}" if inner else "{}"

    def function_body(self, body: bound.Block) -> str:
        """The body of a function in braces; without a return at its end, it returns null."""
        inner = self.statements(body)
        if not body.statements or not isinstance(body.statements[-1], bound.Return):
            inner = f"{inner}\nreturn null;" if inner else "return null;"
        return "{\n" + indent(inner) + "}"

    def use(self, helper: str) -> str:
        """Record that the program calls ``helper``."""
        self.used.add(helper)
        return helper

    def call(self, helper: str, *arguments: str) -> str:
        """Text of a call of a helper."""
        return f"{self.use(helper)}({', '.join(arguments)})"

    def temporary(self, what: str) -> str:
        """A name that Hog programs cannot contain."""
        self._temporaries += 1
        return f"__{what}_{self._temporaries}"


def indent(text: str) -> str:
    """Indent every line; ends with a line break. Literals never contain line breaks."""
    return "".join(f"    {line}\n" for line in text.split("\n"))


def literal(value: bound.Scalar) -> str:
    """A JavaScript literal."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("</", "<\\/")
