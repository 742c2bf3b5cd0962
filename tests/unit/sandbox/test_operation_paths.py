"""Operations are named by paths, which nothing else checks."""

import ast
import re
from importlib import import_module
from pathlib import Path

import hoglet

PATH = re.compile(r"hoglet(?:\.\w+)+:\w+")


def _paths() -> set[str]:
    trees = (ast.parse(each.read_text()) for each in Path(hoglet.__file__).parent.rglob("*.py"))
    texts = (node.value for tree in trees for node in ast.walk(tree) if _is_text(node))
    return {text for text in texts if PATH.fullmatch(text)}


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_every_path_leads_to_a_function() -> None:
    paths = _paths()

    assert len(paths) > 15
    for path in paths:
        module, _, name = path.partition(":")
        assert callable(getattr(import_module(module), name)), path
