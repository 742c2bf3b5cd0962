"""Renders inputs whose ``templating`` is ``liquid``, under limits of size, depth and rounds.

Source: docs/spec/hog-functions.md#132-globals-and-inputs.
"""

from functools import lru_cache

from liquid import BoundTemplate, Environment
from liquid.exceptions import LiquidError

from hoglet.functions.json_types import Globals
from hoglet.functions.runtime.engine import EvaluationFailed

MAX_TEMPLATE_CHARACTERS = 100 * 1024
MAX_OUTPUT_BYTES = 1024 * 1024
MAX_LOOP_ROUNDS = 100_000


class _Environment(Environment):
    context_depth_limit = 20
    loop_iteration_limit = MAX_LOOP_ROUNDS
    output_stream_limit = MAX_OUTPUT_BYTES
    local_namespace_limit = MAX_OUTPUT_BYTES


_environment = _Environment()


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
