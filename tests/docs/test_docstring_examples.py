"""The examples in the docstrings of hoglet's modules return what they show."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import hoglet

PACKAGE = Path(hoglet.__file__).parent


def _modules_with_examples() -> list[str]:
    """Names such as ``hoglet.kit.clock``."""
    paths = [path for path in PACKAGE.rglob("*.py") if ">>>" in path.read_text(encoding="utf-8")]
    parts = (path.relative_to(PACKAGE.parent).with_suffix("").parts for path in sorted(paths))
    return [".".join(part for part in names if part != "__init__") for names in parts]


@pytest.mark.parametrize("name", _modules_with_examples())
def test_examples_return_what_they_show(name: str) -> None:
    failed, attempted = doctest.testmod(import_module(name))

    assert attempted > 0, "no example is in a docstring that doctest finds"
    assert failed == 0
