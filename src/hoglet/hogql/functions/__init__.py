"""The function allow-list: annotated tables, and functions with special handling."""

from hoglet.hogql.functions.registry import (
    FunctionEntry,
    find_function,
    function_names,
    functions,
    is_text_function,
)

__all__ = ["FunctionEntry", "find_function", "function_names", "functions", "is_text_function"]
