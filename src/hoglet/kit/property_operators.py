"""Operators of property filters: the values that they accept and the tests that they stand for.

``{"key": "plan", "operator": "exact", "value": ["pro", "team"]}`` is parsed here, for functions and
queries. Two printers turn the test into a syntax tree: ``functions/filters/operators`` for Hog,
``hogql/filters/operators`` for HogQL.

Source: docs/spec/hog-functions.md#52-property-filter-key-value-operator-type-group_type_index.
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import re2

from hoglet.kit.json import replace_surrogates
from hoglet.kit.relative_dates import (
    DateClock,
    NotADate,
    ResolvedDate,
    resolve_date,
)
from hoglet.kit.suggestions import near

type Sign = Literal["==", "!=", "<", "<=", ">", ">="]
type Scalar = str | int | float | bool | None
type Test = (
    Equals
    | Member
    | Contains
    | ContainsAny
    | Matches
    | Order
    | NumericRange
    | IsSet
    | DateOrder
    | VersionOrder
    | Every
    | Some
    | Unconditional
)
"""A condition on a property."""

WITHOUT_VALUE = frozenset({"is_set", "is_not_set"})
MAX_VALUES = 10_000


class BadOperator(ValueError):
    """An unknown operator, or a value it does not take; the message says what to change."""


class Equals(NamedTuple):
    """The property equals any of the values; negated: none of them."""

    values: tuple[Scalar, ...]
    negative: bool = False


class Member(NamedTuple):
    """The property strictly equals any of the values (negated: none); there may be no values."""

    values: tuple[Scalar, ...]
    negative: bool = False


class Contains(NamedTuple):
    """The property's text contains a pattern with wildcards ``%`` and ``_``, ignoring case."""

    part: str
    negative: bool = False


class ContainsAny(NamedTuple):
    """The property's text contains any of the parts (negated: none), ignoring case."""

    parts: tuple[str, ...]
    negative: bool = False


class Matches(NamedTuple):
    """An RE2 pattern matches somewhere in the property's text (negated: nowhere)."""

    pattern: str
    negative: bool = False


class Order(NamedTuple):
    """The property is less or greater than a number or, lexicographically, than a string."""

    sign: Sign
    value: str | float


class NumericRange(NamedTuple):
    """The property is a number between two others, inclusive (negated: outside)."""

    low: float
    high: float
    negative: bool = False


class IsSet(NamedTuple):
    """The property is set (negated: is not set)."""

    negative: bool = False


class DateOrder(NamedTuple):
    """The property is a timestamp before, at or after another; ``text`` is its original form."""

    sign: Sign
    date: ResolvedDate
    text: str


class VersionOrder(NamedTuple):
    """The property is a version that compares to another as ``sign`` says."""

    sign: Sign
    version: str


class Every(NamedTuple):
    """All tests hold."""

    tests: tuple[Any, ...]


class Some(NamedTuple):
    """Any test holds."""

    tests: tuple[Any, ...]


class Unconditional(NamedTuple):
    """No condition: an empty list of values."""


def read_operator(operator: Any, value: Any, clock: DateClock) -> Test:
    """Parse an operator and its value.

    Args:
        operator: a key of ``OPERATORS``, ``exact`` if missing.
        value: a scalar or a list of scalars.
        clock: the reference for relative dates.

    Raises:
        BadOperator: the operator is unknown, or does not accept the value.

    Example:
        >>> from datetime import UTC, datetime
        >>> read_operator("gt", "5", DateClock(datetime.now(UTC)))
        Order(sign='>', value=5)
    """
    name = "exact" if operator is None else operator
    row = OPERATORS.get(name) if isinstance(name, str) else None
    if row is None:
        hint = near(str(name), OPERATORS) or f" Use one of: {', '.join(OPERATORS)}."
        raise BadOperator(f"Unknown property operator '{str(name)[:60]}'.{hint}")
    if name not in WITHOUT_VALUE:
        _check_plain(name, value)
    return row(name, value, clock)


def _check_plain(name: str, value: Any) -> None:
    values = value if isinstance(value, list) else [value]
    if len(values) > MAX_VALUES:
        raise BadOperator(f"Operator '{name}' takes at most {MAX_VALUES} values")
    for each in values:
        if isinstance(each, float) and not math.isfinite(each):
            raise BadOperator(f"Operator '{name}' does not accept NaN or infinite numbers")
        if not isinstance(each, str | int | float | None):
            raise BadOperator(
                f"Operator '{name}' accepts strings, numbers and booleans, not lists "
                "or objects in them"
            )


# --- rows


type Reader = Callable[[str, Any, DateClock], Test]


def _equals(*, negative: bool) -> Reader:
    def read(_name: str, value: Any, _clock: DateClock) -> Test:
        values = value if isinstance(value, list) else [value]
        return Equals(tuple(values), negative) if values else Unconditional()

    return read


def _member(*, negative: bool) -> Reader:
    def read(name: str, value: Any, _clock: DateClock) -> Test:
        if not isinstance(value, list):
            raise BadOperator(f"Operator '{name}' needs a list of values")
        return Member(tuple(value), negative)

    return read


def _contains(*, negative: bool, several: bool = False) -> Reader:
    def read(_name: str, value: Any, _clock: DateClock) -> Test:
        parts = [_as_text(each) for each in (value if isinstance(value, list) else [value])]
        if not parts:
            return Unconditional()
        if len(parts) == 1 and not several:
            return Contains(parts[0], negative)
        return ContainsAny(tuple(parts), negative)

    return read


def _matches(*, negative: bool) -> Callable[[str, Any, DateClock], Test]:
    def read(_name: str, value: Any, _clock: DateClock) -> Test:
        pattern = _as_text(value)
        options = re2.Options()
        options.log_errors = False
        try:
            re2.compile(replace_surrogates(pattern), options)
        except re2.error as error:
            reason = error.args[0] if error.args else "syntax"
            visible = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
            raise BadOperator(f"Invalid regular expression: {visible}") from None
        return Matches(pattern, negative)

    return _each(read, every=negative)


def _order(sign: Sign) -> Reader:
    def read(name: str, value: Any, _clock: DateClock) -> Test:
        if value is None or isinstance(value, bool):
            raise BadOperator(
                f"Operator '{name}' needs a number or a string, not {_as_text(value)}"
            )
        return Order(sign, _as_number(value))

    return _each(read)


def _between(*, negative: bool) -> Reader:
    def read(name: str, value: Any, _clock: DateClock) -> Test:
        if not isinstance(value, list) or len(value) != 2:
            raise BadOperator(f"Operator '{name}' needs a list of two numbers")
        low, high = (_as_number(each) for each in value)
        for number in (low, high):
            if isinstance(number, str | bool | None):
                raise BadOperator(f"Operator '{name}' needs two numbers, not '{number}'")
        if low > high:
            raise BadOperator(f"Operator '{name}' needs the lower number first")
        return NumericRange(low, high, negative)

    return read


def _is_set(*, negative: bool) -> Reader:
    def read(_name: str, _value: Any, _clock: DateClock) -> Test:
        return IsSet(negative)

    return read


def _date(sign: Sign) -> Reader:
    def read(_name: str, value: Any, clock: DateClock) -> Test:
        try:
            return DateOrder(sign, resolve_date(_as_text(value), clock), _as_text(value))
        except NotADate as error:
            raise BadOperator(str(error)) from None

    return _each(read)


def _each(read: Reader, *, every: bool = False) -> Reader:
    """The test for a value; the tests of several values are combined with "any" or "all"."""

    def spread(name: str, value: Any, clock: DateClock) -> Test:
        if not isinstance(value, list):
            return read(name, value, clock)
        tests = tuple(read(name, each, clock) for each in value)
        if len(tests) < 2:
            return tests[0] if tests else Unconditional()
        return Every(tests) if every else Some(tests)

    return spread


# --- versions

_VERSION = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)(?:[-+].*)?", re.IGNORECASE)
_WILDCARD = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)(?:\.[*x])*", re.IGNORECASE)


def _version(sign: Sign) -> Reader:
    def read(_name: str, value: Any, _clock: DateClock) -> Test:
        return VersionOrder(sign, _dotted(_numbers(value, _VERSION)))

    return _each(read, every=sign == "!=")


def _version_range(below: Callable[[list[int]], list[int]], form: re.Pattern[str]) -> Reader:
    def read(_name: str, value: Any, _clock: DateClock) -> Test:
        numbers = _numbers(value, form)
        low = VersionOrder(">=", _dotted(numbers))
        return Every((low, VersionOrder("<", _dotted(below(numbers)))))

    return _each(read)


def _numbers(value: Any, form: re.Pattern[str]) -> list[int]:
    text = _as_text(value).strip()
    match = form.fullmatch(text)
    if match is None:
        example = "1.2.*" if form is _WILDCARD else "1.2.3"
        raise BadOperator(f"'{text[:60]}' is not a version such as {example}")
    return [int(part) for part in match[1].split(".") if len(part) <= 15] or [0]


def _dotted(numbers: Sequence[int]) -> str:
    """``1.2``; a single number gets a second component, since versions are dotted."""
    return ".".join(map(str, numbers if len(numbers) > 1 else (*numbers, 0)))


def _below_tilde(numbers: list[int]) -> list[int]:
    """Upper bound of ``~1.2.3`` (1.3) and ``~1`` (2.0)."""
    return [numbers[0] + 1] if len(numbers) == 1 else [numbers[0], numbers[1] + 1]


def _below_caret(numbers: list[int]) -> list[int]:
    """Upper bound of ``^1.2.3`` (2.0), ``^0.2.3`` (0.3) and ``^0.0.3`` (0.0.4)."""
    padded = numbers[:3]
    index = next((position for position, number in enumerate(padded) if number), len(padded) - 1)
    return [*padded[:index], padded[index] + 1]


def _below_wildcard(numbers: list[int]) -> list[int]:
    """Upper bound of ``1.2.*`` (1.3)."""
    return [*numbers[:-1], numbers[-1] + 1]


# --- values


def _as_text(value: Any) -> str:
    """A value as JSON text: ``true``, ``5`` for 5.0; strings as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return "null" if value is None else str(value)


_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")


def _as_number(value: Any) -> Any:
    """A number if the string is numeric, else the value itself."""
    if not isinstance(value, str) or not _NUMBER.fullmatch(value) or len(value) > 300:
        return value
    number = float(value)
    if not math.isfinite(number):
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


OPERATORS: dict[str, Reader] = {
    "exact": _equals(negative=False),
    "is_not": _equals(negative=True),
    "in": _member(negative=False),
    "not_in": _member(negative=True),
    "icontains": _contains(negative=False),
    "not_icontains": _contains(negative=True),
    "icontains_multi": _contains(negative=False, several=True),
    "not_icontains_multi": _contains(negative=True, several=True),
    "regex": _matches(negative=False),
    "not_regex": _matches(negative=True),
    "gt": _order(">"),
    "lt": _order("<"),
    "gte": _order(">="),
    "lte": _order("<="),
    "min": _order(">="),
    "max": _order("<="),
    "between": _between(negative=False),
    "not_between": _between(negative=True),
    "is_set": _is_set(negative=False),
    "is_not_set": _is_set(negative=True),
    "is_date_exact": _date("=="),
    "is_date_before": _date("<"),
    "is_date_after": _date(">"),
    "is_cleaned_path_exact": _equals(negative=False),  # projects have no path-cleaning rules
    "semver_eq": _version("=="),
    "semver_neq": _version("!="),
    "semver_gt": _version(">"),
    "semver_gte": _version(">="),
    "semver_lt": _version("<"),
    "semver_lte": _version("<="),
    "semver_tilde": _version_range(_below_tilde, _VERSION),
    "semver_caret": _version_range(_below_caret, _VERSION),
    "semver_wildcard": _version_range(_below_wildcard, _WILDCARD),
}
"""Every operator, with the parser of its value."""
