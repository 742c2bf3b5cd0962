"""How an SQL tree prints: ``sql(...)``, with operators as function calls.

Source: spec/hog-language.md sections 5 and 8.
"""

from collections.abc import Callable
from typing import Any


def sql_text(tree: dict[Any, Any], show: Callable[[Any], str]) -> str:
    """An object with ``__hx_ast`` as text; ``show`` prints values spliced into it."""
    return f"sql({tree.get('__hx_ast')})"
