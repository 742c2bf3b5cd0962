"""Functions that call a function, once as plain functions and once as generators.

The generator form is used by programs in which a callback may reach an async call: what such a
callback gives is a generator, and the request it yields has to travel outwards.
"""

from collections.abc import Generator
from types import FunctionType, GeneratorType
from typing import Any

from hoglet.hog.runtime import meter
from hoglet.hog.runtime.compare import truthy
from hoglet.hog.runtime.errors import EngineError
from hoglet.hog.runtime.json_text import write_json
from hoglet.hog.runtime.values import LibraryFunction

type Steps = Generator[Any, Any, Any]


def call_value(depth: int, callee: Any, *arguments: Any) -> Any:
    """Call any value with the rules of section 6; may give a generator."""
    if type(callee) is FunctionType:
        wanted = callee.__code__.co_argcount - 1
        if len(arguments) > wanted:
            raise too_many(len(arguments), wanted)
        return callee(depth, *arguments)
    if type(callee) is LibraryFunction and callee.call is not None:
        return callee.call(depth, *arguments)
    raise EngineError(f"Invalid closure: {write_json(callee)}")


def too_many(passed: int, expected: int) -> EngineError:
    """The error of a call with too many arguments."""
    return EngineError(f"Too many arguments. Passed {passed}, expected {expected}")


def _items(value: Any) -> list[Any]:
    if type(value) is dict:
        return list(value.values())
    if not isinstance(value, list):
        return []
    if len(value) > meter.LARGE:
        meter.charge(8 * len(value))
    return list(value)


def _one(callee: Any) -> bool:
    return type(callee) is FunctionType and callee.__code__.co_argcount >= 2


def array_map(depth: int, callee: Any, value: Any) -> list[Any]:
    items = _items(value)
    if _one(callee):
        return [callee(depth, item) for item in items]
    return [call_value(depth, callee, item) for item in items]


def array_filter(depth: int, callee: Any, value: Any) -> list[Any]:
    items = _items(value)
    if _one(callee):
        return [
            item
            for item in items
            if (kept := callee(depth, item)) is True or (kept is not False and truthy(kept))
        ]
    return [item for item in items if truthy(call_value(depth, callee, item))]


def array_exists(depth: int, callee: Any, value: Any) -> bool:
    return any(truthy(call_value(depth, callee, item)) for item in _items(value))


def array_count(depth: int, callee: Any, value: Any) -> int:
    return sum(truthy(call_value(depth, callee, item)) for item in _items(value))


def array_reduce(depth: int, callee: Any, value: Any, start: Any) -> Any:
    result = start
    for item in _items(value):
        result = call_value(depth, callee, result, item)
    return result


def _steps(depth: int, callee: Any, *arguments: Any) -> Steps:
    result = call_value(depth, callee, *arguments)
    return (yield from result) if type(result) is GeneratorType else result


def array_map_steps(depth: int, callee: Any, value: Any) -> Steps:
    result: list[Any] = []
    for item in _items(value):
        result.append((yield from _steps(depth, callee, item)))  # noqa: PERF401 (it yields)
    return result


def array_filter_steps(depth: int, callee: Any, value: Any) -> Steps:
    result: list[Any] = []
    for item in _items(value):
        if truthy((yield from _steps(depth, callee, item))):
            result.append(item)  # noqa: PERF401 (it yields)
    return result


def array_exists_steps(depth: int, callee: Any, value: Any) -> Steps:
    for item in _items(value):
        if truthy((yield from _steps(depth, callee, item))):
            return True
    return False


def array_count_steps(depth: int, callee: Any, value: Any) -> Steps:
    count = 0
    for item in _items(value):
        count += truthy((yield from _steps(depth, callee, item)))
    return count


def array_reduce_steps(depth: int, callee: Any, value: Any, start: Any) -> Steps:
    result = start
    for item in _items(value):
        result = yield from _steps(depth, callee, result, item)
    return result
