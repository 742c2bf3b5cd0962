"""Renders inputs whose ``templating`` is ``liquid``, under limits of size, depth and rounds.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TextIO, override

from liquid import BoundTemplate, Environment, RenderContext, Undefined
from liquid.builtin.output import Output, OutputNode
from liquid.builtin.tags.echo_tag import EchoNode, EchoTag
from liquid.exceptions import LiquidError
from liquid.filter import int_arg, math_filter, sequence_filter
from liquid.stringify import to_liquid_string

from hoglet.functions.json_types import Globals
from hoglet.functions.runtime.engine import EvaluationFailed
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.json_text import write_json
from hoglet.kit.json import is_list_like

MAX_TEMPLATE_CHARACTERS = 100 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_LOOP_ROUNDS = 100_000
_MOST_DIGITS = 15
_LARGEST_WHOLE_FLOAT = 1e21  # larger ones have an exponent


class _Environment(Environment):
    context_depth_limit = 20
    loop_iteration_limit = MAX_LOOP_ROUNDS
    output_stream_limit = MAX_OUTPUT_BYTES
    local_namespace_limit = MAX_OUTPUT_BYTES


def _as_json(value: Any, space: Any = None) -> str:
    if isinstance(value, Undefined):
        return ""
    indented = isinstance(space, int) and space > 0
    return write_json(value, min(space, 10)) if indented else write_json(value)


def _unchanged(value: Any) -> Any:
    return value


@math_filter
def _rounded(number: float, digits: Any = None) -> float:
    """Halves are rounded up, not to the even neighbor as in Python."""
    places = 0 if digits is None or isinstance(digits, Undefined) else int_arg(digits, 0)
    factor = 10.0 ** max(-_MOST_DIGITS, min(places, _MOST_DIGITS))
    try:
        return math.floor(number * factor + 0.5) / factor
    except (OverflowError, ValueError):  # too large to have decimal places, or no number
        return number


def _printed(value: Any) -> str:
    """A value as text: objects as JSON, arrays item by item, whole numbers without a point."""
    if is_list_like(value):
        return "".join(map(_printed, value))
    if isinstance(value, dict):
        return write_json(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST_WHOLE_FLOAT:
        return str(int(value))
    return to_liquid_string(value, autoescape=False)


@sequence_filter
def _joined(items: Iterable[Any], separator: Any = " ") -> str:
    return _printed(separator).join(map(_printed, items))


class _OutputNode(OutputNode):
    @override
    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        return buffer.write(_printed(self.expression.evaluate(context)))


class _EchoNode(_OutputNode, EchoNode):
    pass


class _Output(Output):
    node_class = _OutputNode


class _EchoTag(EchoTag):
    node_class = _EchoNode


_environment = _Environment()
_environment.add_tag(_Output)
_environment.add_tag(_EchoTag)
_environment.add_filter("round", _rounded)
_environment.add_filter("join", _joined)
# Filters of LiquidJS, which renders the templates of PostHog's library.
for _name in ("json", "jsonify", "inspect"):
    _environment.add_filter(_name, _as_json)
_environment.add_filter("raw", _unchanged)


def render_liquid(text: str, values: Globals) -> str:
    """Render a template.

    Args:
        text: ``Hello {{ person.name }}``.
        values: the globals, with ``now``.

    Raises:
        EvaluationFailed: a syntax error, an unknown filter, or an exceeded limit.
    """
    if len(text) > MAX_TEMPLATE_CHARACTERS:
        raise EvaluationFailed("The Liquid template is too long")
    try:
        return _parse(text).render(**values)
    except LiquidError as error:
        line, column, *_ = error.context() or (1, 0)
        at = f"line {line}, column {column + 1}"
        raise EvaluationFailed(f"Liquid: {error.message} ({at})") from None
    except EngineError as error:
        raise EvaluationFailed(f"Liquid: {error}") from None
    except RecursionError:
        raise EvaluationFailed("Liquid: the template is nested too deeply") from None


def liquid_problem(text: str) -> tuple[str, int, int] | None:
    """Why a template can never render, with the line and column (from 1), or None."""
    if len(text) > MAX_TEMPLATE_CHARACTERS:
        return "The Liquid template is too long", 1, 1
    try:
        used = _environment.from_string(text).analyze().filters
    except LiquidError as error:
        line, column, *_ = error.context() or (1, 0)
        return f"The Liquid template does not parse: {error.message}", line, column + 1
    except RecursionError:
        return "The Liquid template is nested too deeply", 1, 1
    unknown = [(spans[0].index, name) for name, spans in used.items() if not _has_filter(name)]
    if not unknown:
        return None
    index, name = min(unknown)
    line = text.count("\n", 0, index) + 1
    return f"Unknown Liquid filter `{name}`", line, index - text.rfind("\n", 0, index)


def _has_filter(name: str) -> bool:
    return name in _environment.filters


@lru_cache(maxsize=512)
def _parse(text: str) -> BoundTemplate:
    return _environment.from_string(text)
