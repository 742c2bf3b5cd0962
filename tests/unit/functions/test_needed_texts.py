"""The literal prefilter skips only functions that do not match."""

from datetime import UTC, datetime
from itertools import count
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoglet.functions.compile.hog import template_tree
from hoglet.functions.executable import matching
from hoglet.functions.executable.literal_prefilter import required_literals
from hoglet.functions.executable.matching import FunctionIndex, match_function
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.filters.build import build_filter, event_names
from hoglet.functions.filters.context import FilterContext
from hoglet.functions.runtime.filter_globals import filter_globals

TEXTS = ("pro", "free", "", "true", "1", "1.0", " 7 ", "nan", "inf", "None", "PRO", "é")
VALUES = (*TEXTS, None, True, False, 0, 1, 1.5, 7, [], ["pro"], {"pro": 1})
OPERATORS = ("exact", "is_not", "icontains", "in", "not_in", "is_set", "gt")
CONTEXT = FilterContext(now=datetime(2026, 5, 1, tzinfo=UTC))


def _property(key: str, value: Any, operator: str, kind: str) -> dict[str, Any]:
    listed = operator in {"in", "not_in"} and not isinstance(value, list)
    value = [value, "pro"] if listed else value
    return {"key": key, "value": value, "operator": operator, "type": kind}


properties = st.builds(
    _property,
    st.sampled_from(["plan", "tier"]),
    st.sampled_from(TEXTS) | st.just(["pro", "free"]) | st.sampled_from([1, 7]),
    st.sampled_from(OPERATORS),
    st.sampled_from(["event", "person"]),
)
_ids = count()  # conditions are remembered by id and version
names = st.sampled_from(["order", "visit", None])


@st.composite
def functions(draw: st.DrawFn) -> list[ExecutableFunction]:
    made: list[ExecutableFunction] = []
    for _ in range(draw(st.integers(1, 6))):
        filters = {
            "events": [{"id": draw(names), "type": "events"}],
            "properties": draw(st.lists(properties, max_size=3)),
        }
        made.append(
            ExecutableFunction(
                id=f"needed {next(_ids)}",
                project_id=1,
                type="destination",
                filter=msgspec.to_builtins(build_filter(filters, CONTEXT)),
                events=event_names(filters, CONTEXT),
            )
        )
    return made


@given(
    functions(),
    st.sampled_from(["order", "visit"]),
    st.dictionaries(st.sampled_from(["plan", "tier"]), st.sampled_from(VALUES)),
    st.none() | st.dictionaries(st.sampled_from(["plan", "tier"]), st.sampled_from(VALUES)),
)
def test_the_index_finds_what_asking_all_finds(
    made: list[ExecutableFunction], name: str, given: dict[str, Any], of_person: Any
):
    person = None if of_person is None else {"id": "1", "properties": of_person}
    asked = {"event": {"event": name, "properties": given}, "person": person, "groups": {}}
    values = filter_globals(asked)

    everything = [match_function(one, values) for one in made]
    wanted = [one.function_id for one in everything if one.outcome != "filtered"]
    index = FunctionIndex(made)
    found = [one.function_id for one in index.match(asked) if one.outcome != "filtered"]

    assert found == wanted


@pytest.mark.parametrize(
    ("condition", "texts"),
    [
        ("{properties.plan = 'pro'}", {"pro"}),
        ("{event = 'order' and properties.plan in ('pro', '7')}", {"pro", "7"}),
        ("{event = 'order'}", None),
        ("{properties.plan = '7'}", None),
        ("{properties.plan = 'true'}", None),
        ("{properties.plan != 'pro'}", None),
        ("{properties.plan = 'pro' or event = 'order'}", None),
        ("{properties.plan = 'pro' and properties.name =~ '('}", None),
        ("{properties.plan = 'pro' and jsonParse(properties.text)}", None),
        ("{properties.plan = 'pro' and missing.root = 1}", None),
    ],
)
def test_a_needed_text_is_told_only_where_passing_over_is_not_noticed(
    condition: str, texts: set[str] | None
):
    needed = required_literals(msgspec.to_builtins(template_tree(condition)))

    assert (None if needed is None else set(needed.texts)) == texts


@pytest.mark.parametrize(
    ("kind", "event", "asked"),
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
def test_functions_that_need_another_text_are_not_asked(
    kind: str, event: dict[str, Any], asked: int, monkeypatch: pytest.MonkeyPatch
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

    assert len(compiled) == asked  # a condition is compiled when it is first asked
