"""The JavaScript back end: programs, expressions and templates as text.

Source: docs/spec/hog-language.md#14-javascript.
"""

import msgspec

from hoglet.hog.bind import tree as bound
from hoglet.hog.compile import compile_template
from hoglet.hog.javascript.expressions import EXPRESSIONS
from hoglet.hog.javascript.library import helpers, library_source
from hoglet.hog.javascript.printer import Handlers, JavaScriptPrinter
from hoglet.hog.javascript.statements import STATEMENTS
from hoglet.hog.nesting_guard import guarded

_HANDLERS: Handlers = EXPRESSIONS | STATEMENTS


class JavaScript(msgspec.Struct, frozen=True):
    """Printed code and the helpers that it calls by name.

    ``JavaScript('concat("a ", x)', ("concat",))``; :func:`library_source` returns the source of the
    helpers and of those they call.
    """

    code: str
    helpers: tuple[str, ...]


def program_javascript(program: bound.BoundProgram) -> str:
    """A whole program: the helpers it uses, then its statements.

    Raises:
        SourceError: the program is nested too deeply.
    """
    printer = JavaScriptPrinter(_HANDLERS)
    code = guarded(lambda: printer.statements(program.root.body))
    return "\n".join(part for part in (library_source(printer.used), code) if part) + "\n"


def expression_javascript(expression: bound.BoundExpression) -> JavaScript:
    """One expression, without its helpers.

    Raises:
        SourceError: the expression is nested too deeply.
    """
    printer = JavaScriptPrinter(_HANDLERS)
    code = guarded(lambda: printer.expression(expression.expression))
    return JavaScript(code, tuple(sorted(printer.used & helpers().keys())))


def template_javascript(text: str) -> JavaScript:
    """A template text, e.g. ``concat("Hello ", __getGlobal("event"))`` for ``Hello {event}``.

    Raises:
        SourceError: the template does not parse or compile.
    """
    return expression_javascript(compile_template(text))
