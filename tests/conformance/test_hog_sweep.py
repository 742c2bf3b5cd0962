"""Library functions and operators with arguments of every type answer like the official machine.

Exceptions are listed in docs/hog-differences.yaml.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import pytest

from hoglet.hog.javascript.library import helpers
from hoglet.hog.javascript.names import safe_name
from hoglet.hog.stdlib.table import STL
from support.hog_differences import Difference, read_differences
from support.hog_engines import run_javascript, run_machine, run_python
from support.hog_sweep import OPERATIONS, VARYING, Call, calls, case, is_endless, outcome

DIFFERENCES = read_differences()
SAMPLE = 53  # a prime, so that every function and every place of an argument has its turn


class Compared(NamedTuple):
    """Calls that no entry covers, and the number of calls that each entry covers."""

    unlisted: list[str]
    covered: Counter[int]


def _compare(sweep: Iterable[Call]) -> Compared:
    result = Compared([], Counter())
    for call in sweep:
        if is_endless(call):
            continue
        ours, theirs = outcome(run_python(case(call))), outcome(run_machine(case(call)))
        if ours == theirs:
            continue
        index = _covering(call, ours, theirs)
        if index is None:
            result.unlisted.append(f"{call} {call.types}: {ours!r}, the machine {theirs!r}")
        else:
            result.covered[index] += 1
    return result


def _covering(call: Call, ours: str, theirs: str) -> int | None:
    return next(
        (n for n, entry in enumerate(DIFFERENCES) if entry.covers(call, ours, theirs)), None
    )


def _title(entry: Difference) -> str:
    return f"{', '.join(entry.functions)} ({', '.join(entry.arguments)}): {entry.reason}"


def test_a_sample_of_calls_differs_only_where_it_is_listed() -> None:
    assert _compare(islice(calls(), 0, None, SAMPLE)).unlisted == []


@pytest.mark.long
def test_all_calls_differ_only_where_it_is_listed_and_exactly_there() -> None:
    compared = _compare(calls())

    assert compared.unlisted == []
    assert [
        f"{_title(entry)}: {compared.covered[index]} calls, listed are {entry.calls}"
        for index, entry in enumerate(DIFFERENCES)
        if compared.covered[index] != entry.calls
    ] == []


@pytest.mark.parametrize("step", [4 * SAMPLE - 1, pytest.param(1, marks=pytest.mark.long)])
def test_printed_javascript_calls_the_library_as_the_server_does(step: int) -> None:
    differing = [
        f"{call}: {ours!r}, JavaScript {theirs!r}"
        for call in islice(calls(), 0, None, step)
        if _is_in_javascript(call)
        for ours, theirs in [(outcome(run_python(case(call))), outcome(run_javascript(case(call))))]
        if ours != theirs
    ]

    assert differing == []


# JavaScript's own rules, see docs/hog.md: messages of errors are text, `+` joins, null and objects
# have no `includes`, objects and functions are ordered by their text, a lambda may be given more
# arguments than it names.
_OF_JAVASCRIPT = {
    "Error", "RetryError", "NotImplementedError", "HogError", "arrayReduce", "in", "inCohort",
    "notInCohort",
}  # fmt: skip
_WITHOUT_PARAMETERS = "(() -> 1)"
_ORDERING = {"min2", "max2", "less", "lessOrEquals", "greater", "greaterOrEquals"}


def _is_in_javascript(call: Call) -> bool:
    entry = STL.get(call.function)
    if entry is None or safe_name(entry.name) not in helpers() or is_endless(call):
        return False
    if entry.arity_fault(len(call.types)) or entry.name in _OF_JAVASCRIPT:
        return False
    if _WITHOUT_PARAMETERS in call.source and entry.name.startswith("array"):
        return False
    return entry.name not in _ORDERING or not {"object", "datetime", "function"} & set(call.types)


def test_every_listed_difference_names_what_there_is() -> None:
    known = STL.keys() | set(OPERATIONS)

    assert [name for entry in DIFFERENCES for name in entry.functions if name not in known] == []
    assert [_title(entry) for entry in DIFFERENCES if entry.calls < 1] == []
    assert [_title(entry) for entry in DIFFERENCES if not entry.reason.endswith(".")] == []


def test_the_sweep_calls_every_function_with_every_number_of_arguments() -> None:
    counts = Counter((call.function, len(call.types)) for call in calls())

    for entry in STL.values():
        if entry.form != "async" and entry.name not in VARYING:
            most = min(3, 3 if entry.most is None else entry.most)
            expected = range(max(entry.least - 1, 0), most + (entry.most is not None) + 1)
            assert [n for n in expected if not counts[entry.name, n]] == [], entry.name


def test_an_entry_covers_its_types_and_outcomes_only() -> None:
    entry = Difference(["f"], ["null | text", "number", "..."], "a*c", "error", "Why.", 1)
    fits = Call("f", ("half", "nan"), "print(f())")

    assert entry.covers(fits, "a[b]c", "error")
    assert entry.covers(fits._replace(types=("null", "integer", "date")), "ac", "error")
    assert not entry.covers(fits, "abcd", "error")
    assert not entry.covers(fits, "abc", "a")
    assert not entry.covers(fits._replace(function="g"), "abc", "error")
    assert not entry.covers(fits._replace(types=("half",)), "abc", "error")
    assert not entry.covers(fits._replace(types=("array", "nan")), "abc", "error")
