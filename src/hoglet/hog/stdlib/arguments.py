"""Checking what library functions are given.

A null subject is handled by the functions themselves (the result is null); this is about values
of a wrong kind, which end the run with a message that names the function and the argument.
"""

from typing import Any, Never

from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.numbers import to_number, whole
from hoglet.hog.runtime.values import type_name


def wrong(function: str, argument: str, expected: str, value: Any) -> Never:
    """Refuse a value: ``lower: the argument text must be a string, not integer``."""
    raise EngineError(
        f"{function}: the argument {argument} must be {expected}, not {type_name(value)}"
    )


def text(function: str, argument: str, value: Any) -> str:
    """The value, which has to be text."""
    if type(value) is not str:
        wrong(function, argument, "a string", value)
    return value


def integer(value: Any, otherwise: int = 0) -> int:
    """The value as a whole number, cut towards zero; ``otherwise`` for what is none."""
    number = whole(to_number(value))
    if type(number) is int:
        return number
    return int(number) if abs(number) < 2**53 else otherwise
