"""Text to bound tree: the entry points that everything else uses.

``compile_program(source)``, ``compile_expression(source)`` and ``compile_template(text)`` parse and
bind; ``bind_expression(tree)`` binds an expression that was built rather than written, as filters
are. All raise :class:`~hoglet.kit.errors.SourceError` (a ``CompileError`` with every error found)
with line, column, span and, where a name is near, a hint.

Compiling is pure and bounded by the caps of the parser; text from outside still belongs in a
worker process with a deadline (docs/spec/hog-language.md#13-parser).
"""

from collections.abc import Collection

from hoglet.hog.bind import tree as bound
from hoglet.hog.bind.binder import Binder
from hoglet.hog.bind.expressions import EXPRESSIONS
from hoglet.hog.bind.statements import STATEMENTS, bind_root
from hoglet.hog.nesting_guard import guarded
from hoglet.hog.stdlib.table import STL
from hoglet.syntax import parse, tree

DEFAULT_GLOBALS = frozenset(
    [
        *("event", "events", "person", "groups", "inputs", "project", "source", "variables"),
        *("request", "record"),
        *("fetch", "sendEmail", "postHogCapture"),
        *("geoipLookup", "cleanNullValues", "isKnownBotUserAgent", "isKnownBotIp"),
        "parseUserAgent",
    ]
)
"""Names that the server provides to functions; reading them is not a warning."""


def compile_program(
    source: str, *, known_globals: Collection[str] = DEFAULT_GLOBALS
) -> bound.BoundProgram:
    """Parse and bind a program.

    Args:
        source: the text.
        known_globals: names (values and functions) provided by the host; others cause warnings.

    Raises:
        SourceError: it does not parse, exceeds a limit, or does not compile.
    """
    return bind_program(parse.parse_program(source), known_globals=known_globals)


def compile_expression(
    source: str, *, known_globals: Collection[str] = DEFAULT_GLOBALS
) -> bound.BoundExpression:
    """Parse and bind one expression.

    Raises:
        SourceError: it does not parse, exceeds a limit, or does not compile.
    """
    return bind_expression(parse.parse_expression(source), known_globals=known_globals)


def compile_template(
    text: str, *, known_globals: Collection[str] = DEFAULT_GLOBALS
) -> bound.BoundExpression:
    """Parse and bind a template, e.g. ``Hello {person.name}``.

    A text that is one ``{expr}`` is that expression and keeps its type; a text without braces is
    a string constant; mixed text is a call of ``concat``.

    Raises:
        SourceError: it does not parse, exceeds a limit, or does not compile. Positions are those of
            ``text`` itself.
    """
    return bind_expression(parse.parse_template(text), known_globals=known_globals)


def bind_program(
    program: tree.Program, *, known_globals: Collection[str] = DEFAULT_GLOBALS
) -> bound.BoundProgram:
    """Bind a parsed program.

    Raises:
        SourceError: it does not compile.
    """
    binder = _binder(known_globals)
    root = guarded(lambda: bind_root(binder, program))
    return bound.BoundProgram(
        root=root,
        functions=_in_order((root, *binder.functions)),
        global_reads=frozenset(binder.global_reads),
        global_calls=frozenset(binder.global_calls),
        warnings=binder.diagnostics.finish(),
    )


def bind_expression(
    expression: tree.Expression, *, known_globals: Collection[str] = DEFAULT_GLOBALS
) -> bound.BoundExpression:
    """Bind an expression tree, parsed or built.

    Raises:
        SourceError: it does not compile.
    """
    binder = _binder(known_globals)
    result = guarded(lambda: binder.expression(expression))
    return bound.BoundExpression(
        expression=result,
        functions=_in_order(tuple(binder.functions)),
        global_reads=frozenset(binder.global_reads),
        global_calls=frozenset(binder.global_calls),
        warnings=binder.diagnostics.finish(),
    )


def _binder(known_globals: Collection[str]) -> Binder:
    return Binder(
        expressions=EXPRESSIONS,
        statements=STATEMENTS,
        library=STL,
        known_globals=known_globals,
    )


def _in_order(functions: tuple[bound.BoundFunction, ...]) -> tuple[bound.BoundFunction, ...]:
    return tuple(sorted(functions, key=lambda function: function.number))
