"""Hog values as Python values.

========  ==================================================================================
Hog       Python
========  ==================================================================================
null      ``None``
boolean   ``bool``
number    ``int`` within ±2^53, else ``float``; a whole float is the same number as the int
string    ``str``
array     ``list``
tuple     :class:`HogTuple`, a list of its own class (its items can be replaced)
object    ``dict`` with *stored* keys, see :func:`stored_key`
Date      :class:`HogDate`
DateTime  :class:`HogDateTime`
Error     :class:`HogError`
function  a function of generated code, or a :class:`LibraryFunction`
========  ==================================================================================

In a Python dict ``1``, ``1.0`` and ``True`` are the same key and lists are invalid; not so in Hog.
So booleans, NaN and everything compared by identity are wrapped when used as a key, and unwrapped
by :func:`display_key`. Strings and numbers, nearly all keys in practice, are stored unchanged.

Source: docs/spec/hog-language.md#4-values.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

LARGEST_INTEGER: Final = 2**53
CONTAINERS: Final = (list, dict)
"""Classes of arrays and objects; a union would be built anew at each ``isinstance``."""


class HogTuple(list[Any]):
    """A Hog tuple, e.g. ``(1, 'a')``."""

    __slots__ = ()


class HogDate:
    """A calendar day; ``month`` and ``day`` count from 1. Immutable."""

    __slots__ = ("day", "month", "year")

    def __init__(self, year: int, month: int, day: int) -> None:
        self.year = year
        self.month = month
        self.day = day


class HogDateTime:
    """An instant with a zone for display.

    Attributes:
        seconds: seconds since 1970-01-01 UTC, with a fraction of milliseconds.
        zone: name of the IANA zone, e.g. ``"UTC"``.
    """

    __slots__ = ("seconds", "zone")

    def __init__(self, seconds: float, zone: str = "UTC") -> None:
        self.seconds = seconds
        self.zone = zone


class HogError:
    """A Hog error value; read-only for programs."""

    __slots__ = ("message", "payload", "type")

    def __init__(self, type_name: Any, message: Any = None, payload: Any = None) -> None:
        self.type = "Error" if _is_nothing(type_name) else type_name
        self.message = "An error occurred" if _is_nothing(message) else message
        self.payload = payload


def _is_nothing(value: Any) -> bool:
    """Whether a value is null, false, 0, NaN or ``''``; empty containers are not."""
    if isinstance(value, CONTAINERS):
        return False
    return not value or value != value  # noqa: PLR0124 (NaN)


class LibraryFunction:
    """A library or host function used as a value.

    Attributes:
        name: its Hog name.
        kind: ``stl``, ``host`` or ``async``.
        display_arity: the printed arity: the largest one, 0 if unbounded.
        call: ``call(depth, *arguments)``; None for ``async``, which only the engine can call.
    """

    __slots__ = ("call", "display_arity", "kind", "name")

    def __init__(
        self, name: str, kind: str, display_arity: int, call: Callable[..., Any] | None
    ) -> None:
        self.name = name
        self.kind = kind
        self.display_arity = display_arity
        self.call = call


class _Wrapped:
    """A stored key that a dict would otherwise confuse with another key."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Identity(_Wrapped):
    """A stored key compared by identity."""

    __slots__ = ()

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return type(other) is _Identity and other.value is self.value


HOLDERS: Final = (HogTuple, HogError, _Identity)
"""Classes besides ``list`` and ``dict`` whose values contain other values."""

_TRUE: Final = _Wrapped(True)
_FALSE: Final = _Wrapped(False)
_NAN: Final = _Wrapped(float("nan"))


def stored_key(key: Any) -> Any:
    """The Python dict key of a Hog key; strings and numbers are unchanged."""
    kind = type(key)
    if kind is str or kind is int or key is None:
        return key
    if kind is bool:
        return _TRUE if key else _FALSE
    if kind is float:
        return key if key == key else _NAN  # noqa: PLR0124 (only NaN differs from itself)
    return _Identity(key)


def display_key(key: Any) -> Any:
    """The Hog key of a stored key."""
    return key.value if isinstance(key, _Wrapped) else key


def is_number(value: Any) -> bool:
    """Whether a value is a number; booleans are not."""
    kind = type(value)
    return kind is int or kind is float


def is_function(value: Any) -> bool:
    """Whether a value can be called."""
    kind = type(value)
    return kind is FunctionType or kind is LibraryFunction


def function_signature(function: Any) -> tuple[str, int]:
    """Name and number of parameters of a function value, e.g. ``("lambda", 1)``."""
    if isinstance(function, LibraryFunction):
        return function.name, function.display_arity
    number = int(function.__code__.co_name[1:])
    return function.__globals__["FUNCTIONS"][number]


def type_name(value: Any) -> str:
    """The result of ``typeof``, e.g. ``integer``."""
    if value is None:
        return "null"
    known = _TYPE_NAMES.get(type(value))
    if known is not None:
        return known
    if type(value) is float:
        return "integer" if value.is_integer() else "float"
    if type(value) is dict:
        return "sql" if "__hx_ast" in value else "object"
    return "function" if is_function(value) else "unknown"


_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "boolean",
    int: "integer",
    str: "string",
    list: "array",
    HogTuple: "tuple",
    HogDate: "date",
    HogDateTime: "datetime",
    HogError: "error",
}
