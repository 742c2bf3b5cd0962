"""Property filters match the same events in functions, in browsers and in queries."""

from datetime import UTC, datetime

import pytest

from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter
from hoglet.functions.filters.context import FilterContext
from hoglet.hogql import QueryContext, property_condition
from hoglet.kit.errors import SourceError
from hoglet.kit.property_operators import OPERATORS
from support.filter_cases import (
    FilterCase,
    FilterWorld,
    filter_cases,
    found_by_javascript,
    found_by_python,
)

CASES = filter_cases()
NOW = datetime(2026, 1, 10, tzinfo=UTC)

REFUSED = [
    ("exact", {"a": 1}, "not lists or objects"),
    ("exact", [["a"]], "not lists or objects"),
    ("in", "a", "needs a list"),
    ("not_in", 5, "needs a list"),
    ("between", 5, "list of two numbers"),
    ("between", [1], "list of two numbers"),
    ("between", [1, 2, 3], "list of two numbers"),
    ("between", [2, 1], "lower number first"),
    ("between", ["a", "b"], "two numbers"),
    ("between", [True, False], "two numbers"),
    ("between", ["nan", "nan"], "two numbers"),
    ("not_between", [2, 1], "lower number first"),
    ("not_between", [None, 1], "two numbers"),
    ("gt", True, "needs a number or a string"),
    ("lt", [1, None], "needs a number or a string"),
    ("gt", float("nan"), "NaN"),
    ("lte", float("inf"), "infinite"),
    ("regex", "a(", "Invalid regular expression"),
    ("regex", ["a", "(?<=b)c"], "Invalid regular expression"),
    ("not_regex", "[z-a]", "Invalid regular expression"),
    ("is_date_exact", "soon", "not a date"),
    ("is_date_before", "all", "not a date"),
    ("is_date_after", "-1D", "Did you mean '-1d'"),
    ("is_date_after", 5, "not a date"),
    ("semver_eq", "x", "not a version"),
    ("semver_gt", "1.", "not a version"),
    ("semver_tilde", "1.x", "not a version"),
    ("semver_wildcard", "*", "not a version"),
    ("semver_wildcard", "1.*.2", "not a version"),
    ("exakt", "a", "Did you mean 'exact'"),
    ("is_nt", "a", "Did you mean 'is_not'"),
    ("contains", "a", "Did you mean 'icontains'"),
    ("EXACT", "a", "Did you mean 'exact'"),
    ("semver_gteq", "1.2", "Did you mean 'semver_gte'"),
    ("frobnicate", "a", "Use one of: exact, is_not"),
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_functions(case: FilterCase) -> None:
    assert found_by_python(case) == case.functions


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_browsers(case: FilterCase) -> None:
    assert found_by_javascript(case) == case.browsers


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_queries(case: FilterCase, filter_world: FilterWorld) -> None:
    assert filter_world.matching(case) == case.queries


def test_every_operator_has_a_case() -> None:
    assert {case.operator for case in CASES} == set(OPERATORS)


@pytest.mark.parametrize(("operator", "value", "reason"), REFUSED)
def test_what_is_refused_is_refused_everywhere(operator: str, value: object, reason: str) -> None:
    item = {"key": "k", "type": "event", "operator": operator, "value": value}

    with pytest.raises(SourceError, match="must be|" + reason):
        property_condition(item, QueryContext(project_id=1, now=NOW))
    with pytest.raises(FilterRefused, match="must be|" + reason):
        build_filter({"properties": [item]}, FilterContext(now=NOW))


def test_many_parts_are_searched_for(filter_world: FilterWorld) -> None:
    parts = [f"part {number}" for number in range(1000)]
    expected = frozenset({"pro"})
    case = FilterCase("icontains_multi", [*parts, "PR"], expected, expected, expected, None, None)

    assert filter_world.matching(case) == found_by_python(case) == expected
