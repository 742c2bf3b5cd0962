"""Filters at full speed."""

from typing import Any


def compile_predicate(expression: Any) -> Any:
    raise NotImplementedError


def compile_batch_predicate(expression: Any) -> Any:
    raise NotImplementedError
