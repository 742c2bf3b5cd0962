"""The names available to generated code.

Its namespace has no Python builtins: everything else is unreachable. Methods of values are never
called by attribute, so nothing of Python is exposed.
"""

import math
from collections.abc import Generator
from functools import lru_cache
from types import FunctionType, GeneratorType
from typing import Any, Final

from hoglet.hog.python.codegen.text_calls import METHODS
from hoglet.hog.runtime import budget as meter
from hoglet.hog.runtime import (
    compare,
    host_data,
    numbers,
    plain_data,
    plain_import,
    settled_data,
)
from hoglet.hog.runtime import regex as patterns
from hoglet.hog.runtime.convert import import_value
from hoglet.hog.runtime.errors import EngineError, HogThrow
from hoglet.hog.runtime.formatting import as_text, joined, printed, printed_plain
from hoglet.hog.runtime.json_text import write_host_json, write_literal_json, write_plain_json
from hoglet.hog.runtime.member_access import get_property, set_property
from hoglet.hog.runtime.text import is_intact, mend
from hoglet.hog.runtime.values import (
    HogError,
    HogTuple,
    LibraryFunction,
    display_key,
    stored_key,
)
from hoglet.hog.stdlib.callbacks import call_value, items_of
from hoglet.hog.stdlib.table import STL, LibraryEntry


def check(depth: int) -> None:
    """Called if the depth exceeds the limit, or the watchdog requests a budget check."""
    meter.current().check_in(depth)


def read(given: dict[str, Any], root: Any, *path: Any) -> Any:
    """A global and a path below it, copied."""
    try:
        value = given[root]
    except KeyError:
        return _read_function(root, path)
    for key in path:
        if type(value) is dict:
            value = value.get(key)
        else:
            value = get_property(value, key) if isinstance(value, list) else None
    kind = type(value)
    return value if kind is str or value is None or kind is bool else import_value(value)


def _read_function(name: str, path: tuple[Any, ...]) -> Any:
    if not path:
        run = meter.running.thread.run
        function = function_value(name, run.async_names if run is not None else frozenset())
        if function is not None:
            return function
    raise EngineError(f"Global variable not found: {'.'.join(map(str, (name, *path)))}")


@lru_cache(maxsize=1024)
def function_value(name: str, async_names: frozenset[str]) -> LibraryFunction | None:
    """A host or library function as a value; always the same object."""
    entry = STL.get(name)
    if name in async_names:
        arity = entry.display_arity if entry is not None else 0
        return LibraryFunction(name, "async", arity, lambda _depth, *given: _suspend(name, given))
    if entry is None or entry.call is None:
        return None
    return LibraryFunction(name, "stl", entry.display_arity, _checked(entry, entry.call))


def _checked(entry: LibraryEntry, implementation: Any) -> Any:
    """The implementation with an arity check, for calls through a value."""

    def call(depth: int, *given: Any) -> Any:
        fault = entry.arity_fault(len(given))
        if fault is not None:
            raise EngineError(fault)
        return implementation(depth, *given) if entry.form == "callback" else implementation(*given)

    return call


def _suspend(name: str, given: tuple[Any, ...]) -> Generator[Any, Any, Any]:
    return (yield name, list(given))


def call_steps(depth: int, callee: Any, *given: Any) -> Any:
    """Call any value in a program that may suspend; may return a generator."""
    if type(callee) is LibraryFunction and callee.name in _STEPS and callee.kind == "stl":
        entry = STL[callee.name]
        fault = entry.arity_fault(len(given))
        if fault is not None:
            raise EngineError(fault)
        return _STEPS[callee.name](depth, *given)
    return call_value(depth, callee, *given)


_STEPS: Final[dict[str, Any]] = {
    name: entry.steps for name, entry in STL.items() if entry.steps is not None
}


def host(name: str, given: list[Any]) -> Any:
    """Call a function of the host."""
    return meter.current().call_host(name, given)


def thrown(value: Any) -> Exception:
    """The exception for ``throw value``."""
    if type(value) is not HogError:
        return EngineError("Can not throw: value is not of type Error")
    return HogThrow(value)


def fail(message: str, *_evaluated: Any) -> Any:
    """Raise an error known at compile time, after its operands were evaluated."""
    raise EngineError(message)


def unknown_call(depth: int, name: str, *evaluated: Any) -> Any:
    """Call a name that nothing defines, or ``import``."""
    if name != "import":
        raise EngineError(f"Unsupported function call: {name}")
    if len(evaluated) != 1:
        raise EngineError("Function import requires exactly 1 arguments")
    return meter.current().import_chunk(depth, as_text(evaluated[0]))


def each(value: Any) -> list[Any]:
    """The snapshot that ``for (let v in value)`` iterates over."""
    if isinstance(value, list):
        if len(value) > meter.LARGE:
            meter.charge(8 * len(value))
        return list(value)
    return list(value.values()) if type(value) is dict else []


def each_pair(value: Any) -> list[Any]:
    """The snapshot that ``for (let k, v in value)`` iterates over."""
    if type(value) is not dict:
        return _numbered(value) if isinstance(value, list) else []
    if 8 < len(value) <= meter.LARGE and plain_data.has_text_keys(value):
        return [*value.items()]
    for key in value:
        if type(key) is not str:
            return [(display_key(key), item) for key, item in value.items()]
    return [*value.items()]


def _numbered(items: list[Any]) -> list[tuple[int, Any]]:
    if len(items) > meter.LARGE:
        meter.charge(16 * len(items))
    return list(enumerate(items))


def part(value: Any) -> str:
    """A value inside a string: null is empty."""
    return "" if value is None else as_text(value)


def long(text: str) -> str:
    """A long or non-ASCII concatenation: charged, with surrogate halves joined."""
    if len(text) > meter.LARGE:
        meter.charge(len(text))
    return mend(text)


def glue(text: str, added: str) -> str:
    """Append a text that is long or contains surrogate halves."""
    if len(added) > meter.LARGE:
        meter.charge(len(added))
    return text + added if is_intact(added) else mend(text + added)


def write(line: str) -> None:
    """``print`` of a line."""
    meter.running.thread.run.write_line(line)  # type: ignore[union-attr]


def full(text: str) -> None:
    """Charge a growing text that exceeds the default memory limit."""
    meter.charge(len(text))


def grown() -> None:
    """Charge the last 1024 items that were appended to an array."""
    meter.charge(8 * 1024)


def note(line: int, name: str, value: Any) -> Any:
    """Record a value or the result of a call, in traced runs."""
    meter.current().log_trace((line, name, value))
    return value


def mark(line: int) -> None:
    """Record that a statement begins, in traced runs."""
    meter.current().log_line(line)


_NOTHING: Final = object()  # the result of a block that did not return


def _namespace() -> dict[str, Any]:
    names: dict[str, Any] = {
        "__builtins__": {},
        "LIMIT": 1000,
        "CAP": 64 * 1024 * 1024,
        "NOTHING": _NOTHING,
        "INF": math.inf,
        "NAN": math.nan,
        "I": int, "F": float, "S": str, "B": bool, "L": list, "D": dict, "GEN": GeneratorType,
        "FN": FunctionType,
        "type": type, "LEN": len, "STR": str, "JOIN": "".join, "THROW": HogThrow,
        "ANY": Exception, "imp": import_value,
        "RANGE": range, "ITEMS": dict.items, **METHODS,
        "check": check, "read": read, "NO_FIELDS": {},
        "host": host, "thrown": thrown, "fail": fail,
        "unknown_call": unknown_call, "each": each, "each_pair": each_pair, "items": items_of,
        "part": part, "write": write, "SPACED": " ".join,
        "long": long, "glue": glue, "intact": is_intact, "full": full, "grown": grown,
        "note": note, "mark": mark,
        "call": call_value, "call_steps": call_steps,
        "add": numbers.add, "sub": numbers.subtract, "mul": numbers.multiply,
        "div": numbers.divide, "mod": numbers.remainder, "settle": numbers.settle,
        "whole": numbers.whole,
        "eq": compare.equal, "ne": compare.not_equal, "lt": compare.less,
        "le": compare.less_equal, "gt": compare.greater, "ge": compare.greater_equal,
        "truthy": compare.truthy, "contains": compare.contains,
        "not_contains": compare.not_contains,
        "like": patterns.like, "ilike": patterns.ilike, "not_like": patterns.not_like,
        "not_ilike": patterns.not_ilike, "regex": patterns.regex,
        "not_regex": patterns.not_regex, "regex_ignore_case": patterns.regex_ignore_case,
        "not_regex_ignore_case": patterns.not_regex_ignore_case,
        "R_each": host_data.each, "R_each_pair": host_data.each_pair, "R_items": host_data.items,
        "R_keys": host_data.keys, "R_typeof": host_data.type_of, "R_has": host_data.has,
        "R_has_key": host_data.has_key,
        "R_eq": host_data.equals_text, "R_ne": host_data.differs_from_text,
        "R_in": host_data.is_in, "R_not_in": host_data.is_not_in,
        "R_jsonStringify": write_host_json, "R_print": host_data.print_line,
        "R_concat": host_data.concat,
        "R_printed": host_data.printed_host,
        "M_jsonStringify": write_literal_json, "P_jsonStringify": write_plain_json,
        "L_printed": printed, "M_printed": host_data.printed_literal, "P_printed": printed_plain,
        "R_edited": host_data.edited, "R_edited_repeatedly": host_data.edited_repeatedly,
        "R_part": host_data.part, "R_toString": host_data.to_string,
        "R_same": host_data.same_import,
        "host_value": host_data.HostValue,
        "settled_leaf": settled_data.is_settled_leaf, "settled_key": settled_data.is_settled_key,
        "unsettle": settled_data.unsettle,
        "MANY": plain_import.MANY,
        "plain_leaf": plain_data.is_plain_leaf, "plain_part": plain_data.is_plain_part,
        "plain_host": plain_data.is_plain_host,
        "plain_import": plain_import.plain_import,
        "prop": get_property, "set_prop": set_property, "key": stored_key, "tuple_of": HogTuple,
    }  # fmt: skip
    for name, entry in STL.items():
        if entry.call is not None:
            names[f"L_{name}"] = entry.call
        if entry.steps is not None:
            names[f"S_{name}"] = entry.steps
    return names


VOCABULARY: Final = _namespace()

__all__ = ["VOCABULARY", "function_value", "joined", "printed"]
