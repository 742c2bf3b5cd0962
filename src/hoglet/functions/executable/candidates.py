"""Finds the functions whose required test an event passes. Pure.

A table holds the requirements of many functions on one field and checks them together: equality by
a hash lookup, order by a binary search. The functions it finds may match; all others cannot.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, Final, Protocol

from hoglet.functions.executable.field_requirements import SHORT_BYTES, Requirement
from hoglet.functions.runtime.filter_globals import FilterGlobals, parts_read
from hoglet.hog.runtime.numbers import LARGEST_INTEGER, text_to_number
from hoglet.kit.json import is_object

_UNKNOWN: Final = object()


class CandidateIndex:
    """Positions of functions in a list, by the test that each function requires."""

    def __init__(self) -> None:
        self.everything: list[int] = []
        self._always: list[int] = []
        self._fields: dict[tuple[str, ...], _Field] = {}

    def add(self, position: int, needed: Sequence[Requirement] | None) -> None:
        """Add a function.

        Args:
            position: the function's position.
            needed: at least one has to pass; None if the function can always match.
        """
        self.everything.append(position)
        if needed is None:
            self._always.append(position)
        for requirement in needed or ():
            field = self._fields.get(requirement.chain)
            if field is None:
                field = self._fields[requirement.chain] = _Field(requirement.chain)
            field.add(position, requirement)

    def candidates(self, values: FilterGlobals) -> list[int]:
        """Positions of the functions that can match, in order, each once."""
        if not self._fields:
            return self._always
        passing: set[int] = set()
        for field in self._fields.values():
            field.find(values, passing)
        return sorted([*self._always, *passing]) if passing else self._always


class _Field:
    """The tests of one field."""

    def __init__(self, chain: tuple[str, ...]) -> None:
        self._root, self._rest = chain[0], chain[1:]
        self._parts = parts_read(chain[:1])
        self._tables: dict[tuple[str, bool], _Table] = {}

    def add(self, position: int, requirement: Requirement) -> None:
        kind = (requirement.test, requirement.as_text)
        table = self._tables.get(kind)
        if table is None:
            table = self._tables[kind] = _TABLES[requirement.test](requirement)
        table.add(position, requirement.operand)

    def find(self, values: FilterGlobals, passing: set[int]) -> None:
        if self._parts:
            values.provide(self._parts)
        value: Any = values.get(self._root)
        for name in self._rest:
            if is_object(value):
                value = value.get(name)
            elif value is not None:
                value = _UNKNOWN
        for table in self._tables.values():
            passing.update(table.passing(value))


class _Table(Protocol):
    def add(self, position: int, operand: Any) -> None:
        """Add the requirement of a function."""
        ...

    def passing(self, value: Any) -> Iterable[int]:
        """The functions that this value can satisfy; all of them if that cannot be decided."""
        ...


class _Equality:
    """``field = operand`` with type unification; may find too many for strict membership."""

    def __init__(self, _: Requirement) -> None:
        self._everything: list[int] = []
        self._not_true: list[int] = []  # texts other than "true", which all equal false
        self._texts: dict[str, list[int]] = {}
        self._numeric_texts: dict[float, list[int]] = {}
        self._numbers: dict[float, list[int]] = {}
        self._booleans: dict[float, list[int]] = {}

    def add(self, position: int, operand: Any) -> None:
        self._everything.append(position)
        if type(operand) is bool:
            self._booleans.setdefault(operand, []).append(position)
        elif type(operand) is not str:
            self._numbers.setdefault(operand, []).append(position)
        else:
            self._texts.setdefault(operand, []).append(position)
            if operand != "true":
                self._not_true.append(position)
            number = text_to_number(operand)
            if number == number:  # noqa: PLR0124 (NaN)
                self._numeric_texts.setdefault(number, []).append(position)

    def passing(self, value: Any) -> Iterable[int]:
        kind = value.__class__
        if kind is str:
            return self._equal_text(value)
        if value is None:
            return ()
        if kind is bool:
            texts = self._texts.get("true", ()) if value else self._not_true
            return [*texts, *self._numbers.get(value, ()), *self._booleans.get(value, ())]
        if (kind is int or kind is float) and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            by_value = (self._numbers, self._numeric_texts, self._booleans)
            return [position for index in by_value for position in index.get(value, ())]
        return self._everything

    def _equal_text(self, value: str) -> Iterable[int]:
        same = self._texts.get(value, ())
        if not self._numbers and not self._booleans:
            return same
        numbers = self._numbers.get(text_to_number(value), ())
        return [*same, *numbers, *self._booleans.get(value == "true", ())]


class _Order:
    """``field < operand`` and the other order comparisons, for numbers."""

    def __init__(self, requirement: Requirement) -> None:
        self._pairs: list[tuple[float, int]] | None = []
        self._operands: list[float] = []
        self._positions: list[int] = []
        self._slice = _SLICES[requirement.test]

    def add(self, position: int, operand: Any) -> None:
        if self._pairs is None:
            self._pairs = list(zip(self._operands, self._positions, strict=True))
        self._pairs.append((operand, position))

    def passing(self, value: Any) -> Iterable[int]:
        if value is None:
            return ()
        if self._pairs is not None:
            self._sort(self._pairs)
        kind = value.__class__
        if (kind is int or kind is float) and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:
            return self._positions[self._slice(self._operands, value)]
        return self._positions

    def _sort(self, pairs: list[tuple[float, int]]) -> None:
        pairs.sort(key=itemgetter(0))
        self._operands = [operand for operand, _ in pairs]
        self._positions = [position for _, position in pairs]
        self._pairs = None


_SLICES: Final[dict[str, Callable[[list[float], float], slice]]] = {
    "greater": lambda operands, value: slice(0, bisect_left(operands, value)),
    "greater_equal": lambda operands, value: slice(0, bisect_right(operands, value)),
    "less": lambda operands, value: slice(bisect_right(operands, value), None),
    "less_equal": lambda operands, value: slice(bisect_left(operands, value), None),
}


class _Search:
    """``field like '%operand%'``, for ASCII text."""

    def __init__(self, requirement: Requirement) -> None:
        self._ignore_case = requirement.test == "ilike"
        self._null = "null" if requirement.as_text else None
        self._needles: list[tuple[str, int]] = []

    def add(self, position: int, operand: Any) -> None:
        self._needles.append((operand, position))

    def passing(self, value: Any) -> Iterable[int]:
        text = self._null if value is None else value
        if text is None:
            return ()
        if type(text) is not str or not text.isascii():
            return [position for _, position in self._needles]
        if self._ignore_case:
            text = text.lower()
        return [position for needle, position in self._needles if needle in text]


class _Presence:
    """``field != null``."""

    def __init__(self, _: Requirement) -> None:
        self._positions: list[int] = []

    def add(self, position: int, operand: Any) -> None:  # noqa: ARG002 (as in other tables)
        self._positions.append(position)

    def passing(self, value: Any) -> Iterable[int]:
        return () if value is None else self._positions


class _Long:
    """The field is neither null nor a short ASCII text."""

    def __init__(self, _: Requirement) -> None:
        self._positions: list[int] = []

    def add(self, position: int, operand: Any) -> None:  # noqa: ARG002 (as in other tables)
        self._positions.append(position)

    def passing(self, value: Any) -> Iterable[int]:
        if value is None:
            return ()
        is_short = type(value) is str and len(value) <= SHORT_BYTES and value.isascii()
        return () if is_short else self._positions


_TABLES: Final[dict[str, Callable[[Requirement], _Table]]] = {
    "equal": _Equality,
    "like": _Search,
    "ilike": _Search,
    "present": _Presence,
    "long": _Long,
    **dict.fromkeys(_SLICES, _Order),
}
