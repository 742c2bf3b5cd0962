"""Library functions with callbacks, as plain functions and as generators.

The generator form is for programs whose callbacks may reach an async call: such a callback returns
a generator whose request must be propagated.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from types import FunctionType, GeneratorType
from typing import Any, Final

from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime.compare import truthy
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.json_text import write_json
from hoglet.hog.runtime.values import LibraryFunction

type Steps = Generator[Any, Any, Any]


def call_value(depth: int, callee: Any, *arguments: Any) -> Any:
    """Call any callable value; returns a generator when it may suspend.

    Source: docs/spec/hog-language.md#6-scopes-closures-calls.
    """
    if type(callee) is FunctionType:
        most = callee.__code__.co_argcount - 1
        if len(arguments) > most:
            raise too_many(len(arguments), most)
        return callee(depth, *arguments)
    if type(callee) is LibraryFunction and callee.call is not None:
        return callee.call(depth, *arguments)
    raise EngineError(f"Invalid closure: {write_json(callee)}")


def too_many(passed: int, expected: int) -> EngineError:
    """The error of a call with too many arguments."""
    return EngineError(f"Too many arguments. Passed {passed}, expected {expected}")


def items_of(value: Any) -> list[Any]:
    """A copy of the items that a callback is called with."""
    if type(value) is dict:
        return list(value.values())
    if not isinstance(value, list):
        return []
    if len(value) > meter.LARGE:
        meter.charge(8 * len(value))
    return list(value)


_ROUND: Final = 256  # results that the memory meter does not see yet


def _rounds(value: Any) -> Iterator[list[Any]]:
    """The items, with periodic budget checks: not every callee checks its own."""
    items = items_of(value)
    if len(items) <= _ROUND:
        yield items
        return
    for start in range(0, len(items), _ROUND):
        meter.poll()
        yield items[start : start + _ROUND]


def _each(value: Any) -> Iterable[Any]:
    if type(value) is list and len(value) <= _ROUND:
        return value.copy()
    return chain.from_iterable(_rounds(value))


def _caller(callee: Any) -> Callable[[int, Any], Any]:
    """The fastest way to call the callee with one item."""
    if type(callee) is FunctionType and callee.__code__.co_argcount >= 2:
        return callee
    return lambda depth, item: call_value(depth, callee, item)


def array_map(depth: int, callee: Any, value: Any) -> list[Any]:
    call = _caller(callee)
    if type(value) is list and len(value) <= _ROUND:
        return [call(depth, item) for item in value.copy()]
    result: list[Any] = []
    for items in _rounds(value):
        result += [call(depth, item) for item in items]
    return result


def array_filter(depth: int, callee: Any, value: Any) -> list[Any]:
    call = _caller(callee)
    result: list[Any] = []
    for items in _rounds(value):
        result += [
            item
            for item in items
            if (is_match := call(depth, item)) is True
            or (is_match is not False and truthy(is_match))
        ]
    return result


def array_exists(depth: int, callee: Any, value: Any) -> bool:
    call = _caller(callee)
    for item in _each(value):
        result = call(depth, item)
        if result is True or (result is not False and truthy(result)):
            return True
    return False


def array_count(depth: int, callee: Any, value: Any) -> int:
    call = _caller(callee)
    return sum([truthy(call(depth, item)) for item in _each(value)])


def array_reduce(depth: int, callee: Any, value: Any, start: Any) -> Any:
    result = start
    if type(callee) is FunctionType and callee.__code__.co_argcount >= 3:
        for item in _each(value):
            result = callee(depth, result, item)
        return result
    for item in _each(value):
        result = call_value(depth, callee, result, item)
    return result


def _steps(depth: int, callee: Any, *arguments: Any) -> Steps:
    result = call_value(depth, callee, *arguments)
    return (yield from result) if type(result) is GeneratorType else result


def array_map_steps(depth: int, callee: Any, value: Any) -> Steps:
    result: list[Any] = []
    for item in _each(value):
        result.append((yield from _steps(depth, callee, item)))  # noqa: PERF401 (it yields)
    return result


def array_filter_steps(depth: int, callee: Any, value: Any) -> Steps:
    result: list[Any] = []
    for item in _each(value):
        if truthy((yield from _steps(depth, callee, item))):
            result.append(item)  # noqa: PERF401 (it yields)
    return result


def array_exists_steps(depth: int, callee: Any, value: Any) -> Steps:
    for item in _each(value):
        if truthy((yield from _steps(depth, callee, item))):
            return True
    return False


def array_count_steps(depth: int, callee: Any, value: Any) -> Steps:
    count = 0
    for item in _each(value):
        count += truthy((yield from _steps(depth, callee, item)))
    return count


def array_reduce_steps(depth: int, callee: Any, value: Any, start: Any) -> Steps:
    result = start
    for item in _each(value):
        result = yield from _steps(depth, callee, result, item)
    return result
