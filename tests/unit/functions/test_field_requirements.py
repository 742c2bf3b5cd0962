"""The function index skips only functions that do not match."""

from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable import matching
from hoglet.functions.executable.field_requirements import requirements
from hoglet.functions.executable.matching import FunctionIndex, match_function
from hoglet.functions.executable.messages import Match
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.filters.build import build_filter, event_names
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.runtime.filter_globals import filter_globals

TEXTS = (
    *("pro", "free", "", "true", "false", "1", "1.0", " 7 ", "0x7", "1e0", "nan", "inf", "-0"),
    *("None", "null", "PRO", "pro user", "é", "É pro", "a_b", "100%", "9007199254740993"),
)
DATE = {"__hogDate__": True, "year": 2026, "month": 5, "day": 1}
NUMBERS = (0, 1, -1, 1.5, 7, 7.0, -0.0, 1e300, 2**53 + 1, -(2**60))
LONG = ("pro " * 200, "é" * 200, "x" * 260_000)
VALUES = (*TEXTS, *NUMBERS, *LONG, None, True, False, [], ["pro"], [7], {"pro": 1}, DATE)
OPERATORS = (
    *("exact", "is_not", "icontains", "not_icontains", "regex", "not_regex", "in", "not_in"),
    *("is_set", "is_not_set", "gt", "gte", "lt", "lte", "between", "not_between"),
)
EXPRESSIONS = (
    "properties.plan like '%ro%'",
    "properties.plan ilike 'PRO'",
    "toString(properties.plan) like '%ul%'",
    "properties.plan like '%r_%'",
    "properties.plan = true",
    "properties.plan = false",
    "properties.plan != true",
    "properties.plan in (1, 'pro', true)",
    "properties.plan = null",
    "properties.plan >= '7'",
    "properties.plan < 'q'",
    "properties.plan.name = 'pro'",
    "properties.plan.name ilike '%ul%'",
    "'pro' = properties.plan",
    "not (properties.plan = 'pro')",
    "properties.plan = 'pro' or properties.tier > 1",
    "(properties.plan = 'pro' and event = 'visit') or properties.tier = 7",
    "event = 'order' or properties.plan = 'pro'",
    "event in ('visit', 'x') and properties.plan != null",
    "person.properties.plan = 'pro'",
    "pdi.person.properties.tier <= 7",
    "properties.plan = 'pro' and jsonParse(properties.tier) = 7",
    "multiSearchAnyCaseInsensitive(toString(properties.plan), ['RO', '7']) > 0",
    "multiSearchAnyCaseInsensitive(toString(properties.plan), ['é']) > 0",
    "distinct_id = 'd' and properties.tier > 0",
    "properties.plan =~ '^pro'",
    "properties.plan =~* 'PRO'",
    "properties.plan !~ 'pr+o?'",
    "match(properties.plan, 'f?r[aeo]e{0,2}')",
    "match(toString(properties.plan), 'u+l')",
    "match(toString(properties.plan), 'pro|fr')",
    "match(toString(properties.plan), '(?i)PRO')",
    "match(toString(properties.plan), '1.0$')",
    "properties.tier = 8 and match(properties.plan, '(')",
    "properties.tier = 8 and match(properties.plan, '([a-z][0-9]?){900}$')",
)
CONTEXT = FilterContext(now=datetime(2026, 5, 1, tzinfo=UTC))


def _property(key: str, value: Any, operator: str, kind: str) -> dict[str, Any]:
    if operator in {"between", "not_between"}:
        value = [0, 7]
    elif operator in {"gt", "gte", "lt", "lte"}:
        value = 7 if value == 7 else value if value in ("pro", "0x7", "q") else "1.5"
    elif operator in {"in", "not_in"} and not isinstance(value, list):
        value = [value, "pro"]
    return {"key": key, "value": value, "operator": operator, "type": kind}


properties = st.builds(
    _property,
    st.sampled_from(["plan", "tier"]),
    st.sampled_from(TEXTS) | st.just(["pro", "free"]) | st.sampled_from([1, 7, True, False]),
    st.sampled_from(OPERATORS),
    st.sampled_from(["event", "person"]),
) | st.builds(lambda key: {"type": "hogql", "key": key}, st.sampled_from(EXPRESSIONS))
groups = st.builds(
    lambda kind, values: {"type": kind, "values": values},
    st.sampled_from(["AND", "OR"]),
    st.lists(properties, min_size=1, max_size=3),
)
_ids = count()  # conditions are remembered by id and version
names = st.sampled_from(["order", "visit", None])
own = st.lists(properties, max_size=2)


@st.composite
def functions(draw: st.DrawFn) -> list[ExecutableFunction]:
    created: list[ExecutableFunction] = []
    for _ in range(draw(st.integers(1, 6))):
        filters = {
            "events": [
                {"id": draw(names), "type": "events", "properties": draw(own)}
                for _ in range(draw(st.integers(1, 2)))
            ],
            "properties": draw(st.lists(properties | groups, max_size=3)),
        }
        created.append(
            ExecutableFunction(
                id=f"needed {next(_ids)}",
                project_id=1,
                type="destination",
                filter=msgspec.to_builtins(build_filter(filters, CONTEXT)),
                events=event_names(filters, CONTEXT),
            )
        )
    return created


@given(
    functions(),
    st.sampled_from(["order", "visit"]),
    st.dictionaries(st.sampled_from(["plan", "tier"]), st.sampled_from(VALUES)),
    st.none() | st.dictionaries(st.sampled_from(["plan", "tier"]), st.sampled_from(VALUES)),
)
def test_the_index_finds_what_asking_all_finds(
    functions: list[ExecutableFunction], name: str, given: dict[str, Any], of_person: Any
):
    person = None if of_person is None else {"id": "1", "properties": of_person}
    event = {"event": {"event": name, "properties": given}, "person": person, "groups": {}}
    values = filter_globals(event)

    index = FunctionIndex(functions)
    everything = [match_function(function, values) for function in index.waiting_for(name)]
    expected = [each.function_id for each in everything if each.outcome != "filtered"]
    matches = [each.function_id for each in index.match(event) if each.outcome != "filtered"]

    assert matches == expected


def _everything() -> list[ExecutableFunction]:
    """One function for each operator and operand, and for each expression."""
    operands = (*TEXTS, ["pro", "free"], ["é", "7"], 1, 7, -1)
    filters = [_property("plan", value, op, "event") for value in operands for op in OPERATORS]
    filters += [{"type": "hogql", "key": key} for key in EXPRESSIONS]
    created: list[ExecutableFunction] = []
    for number, item in enumerate(filters):
        condition = build_filter(
            {"events": [{"id": "order", "type": "events"}], "properties": [item]}, CONTEXT
        )
        created.append(
            ExecutableFunction(
                id=f"every {number}",
                project_id=1,
                type="destination",
                filter=msgspec.to_builtins(condition),
                events=["order"],
            )
        )
    return created


def test_every_test_finds_every_value_that_passes_it():
    functions = _everything()
    index = FunctionIndex(functions)

    for value in VALUES:
        run = {"event": {"event": "order", "properties": {"plan": value, "tier": 7}}}
        values = filter_globals(run)
        everything = [match_function(function, values) for function in functions]

        assert _unfiltered(index.match(run)) == _unfiltered(everything)


def _unfiltered(matches: list[Match]) -> dict[str, str]:
    """Outcomes by function; the index also returns ``filtered`` ones that took long."""
    return {match.function_id: match.outcome for match in matches if match.outcome != "filtered"}


PLAN = ("properties", "plan")


@pytest.mark.parametrize(
    ("condition", "required"),
    [
        ("{properties.plan = 'pro'}", [(PLAN, "equal", "pro")]),
        ("{properties.plan = '7'}", [(PLAN, "equal", "7")]),
        ("{properties.plan = true}", [(PLAN, "equal", True)]),
        (
            "{event = 'order' and properties.plan in ('pro', 7)}",
            [(PLAN, "equal", "pro"), (PLAN, "equal", 7)],
        ),
        ("{properties.plan > '7'}", [(PLAN, "greater", 7)]),
        ("{properties.plan != null}", [(PLAN, "present", None)]),
        ("{properties.plan != null and properties.plan <= 7}", [(PLAN, "less_equal", 7)]),
        ("{properties.plan ilike '%Pro%'}", [(PLAN, "ilike", "pro")]),
        ("{event = 'order'}", None),
        ("{event = 'visit'}", []),
        ("{event = 'visit' or properties.plan = 'pro'}", [(PLAN, "equal", "pro")]),
        ("{event = 'visit' and properties.plan != 'pro'}", []),
        (
            "{properties.plan =~ 'a.*bcd+e?'}",
            [(PLAN, "like", "bcd"), (PLAN, "long", None)],
        ),
        (
            "{match(toString(properties.plan), 'a.*bcd+e?')}",
            [(PLAN, "like", "bcd"), (PLAN, "long", None)],
        ),
        (
            "{properties.tier = 'pro' and not match(properties.plan, 'x')}",
            [(("properties", "tier"), "equal", "pro"), (PLAN, "long", None)],
        ),
        ("{properties.plan = 'pro' and match(properties.tier, '(')}", None),
        ("{match(properties.plan, 'ab|c')}", None),
        ("{match(properties.plan, '(ab)?')}", None),
        ("{match(properties.plan, 'a?')}", None),
        ("{properties.plan != 'pro'}", None),
        ("{properties.plan = null}", None),
        ("{properties.plan > 'x'}", None),
        ("{properties.plan ilike '%p_o%'}", None),
        ("{properties.plan ilike '%é%'}", None),
        ("{not (properties.plan = 'pro')}", None),
        ("{properties.plan = 'pro' or event = 'order'}", None),
        ("{properties.plan = 'pro' and properties.name =~ '('}", None),
        ("{properties.plan = 'pro' and jsonParse(properties.text)}", None),
        ("{properties.plan = 'pro' and missing.root = 1}", None),
        ("{properties.plan = 9007199254740993}", None),
    ],
)
def test_requirements_of_a_condition(condition: str, required: list[Any] | None):
    actual = requirements(msgspec.to_builtins(template_tree(condition)), "order")

    assert (None if actual is None else [item[:3] for item in actual]) == required


@pytest.mark.parametrize(
    ("kind", "event", "evaluations"),
    [
        ("event", {"properties": {"plan": "plan 3"}}, 1),
        ("event", {"properties": {"plan": "other"}}, 0),
        ("event", {"properties": {}}, 0),
        ("event", {"properties": {"plan": None}}, 0),
        ("event", {"properties": {"plan": 3}}, 0),
        ("event", {"properties": {"plan": ["plan 3"]}}, 50),
        ("person", {"properties": {"plan": "plan 3"}}, 0),
    ],
)
def test_functions_that_require_another_text_are_not_evaluated(
    kind: str, event: dict[str, Any], evaluations: int, monkeypatch: pytest.MonkeyPatch
):
    filters = {
        "events": [{"id": "order", "type": "events"}],
        "properties": [{"key": "plan", "value": "plan 0", "type": kind}],
    }
    functions = []
    for number in range(50):
        filters["properties"][0]["value"] = f"plan {number}"
        functions.append(
            ExecutableFunction(
                id=f"asked {next(_ids)}",
                project_id=1,
                type="destination",
                filter=msgspec.to_builtins(build_filter(filters, CONTEXT)),
                events=["order"],
            )
        )
    compiled: list[Any] = []
    compile_filter = matching.engine.compile_filter
    monkeypatch.setattr(
        matching.engine,
        "compile_filter",
        lambda condition: compiled.append(condition) or compile_filter(condition),
    )

    FunctionIndex(functions).match({"event": {"event": "order", **event}, "person": None})

    assert len(compiled) == evaluations  # a condition is compiled when it is first asked
