"""Pages call the API while they are built; the three seconds of NiceGUI are too few."""

import ast
from pathlib import Path

from hoglet.console import pages


def test_pages_that_call_the_api_may_take_long() -> None:
    hasty = [
        f"{path.name}: {function.name}"
        for path in sorted(Path(pages.__file__).parent.rglob("*.py"))
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.AsyncFunctionDef) and _awaits(function)
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "ui.page"
        if "response_timeout" not in {keyword.arg for keyword in decorator.keywords}
    ]

    assert hasty == []


def _awaits(function: ast.AsyncFunctionDef) -> bool:
    return any(isinstance(node, ast.Await) for node in ast.walk(function))
