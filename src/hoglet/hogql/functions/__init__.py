"""The allow-list of functions: annotated data, and the few that need more than a name."""

from hoglet.hogql.functions.registry import (
    Function,
    find_function,
    function_names,
    functions,
    is_text_function,
)

__all__ = ["Function", "find_function", "function_names", "functions", "is_text_function"]
