"""Inputs of functions: validation of values, templates and generated keys.

Source: docs/spec/hog-functions.md#42-value-validation and
docs/spec/hog-functions.md#43-templating-and-generated-keys.
"""

import pytest

from hoglet.functions.inputs.compiled import InputRules, compile_inputs
from hoglet.kit.errors import Invalid

DESTINATION = InputRules(function_type="destination")


def compile_one(type_="string", value=None, rules=DESTINATION, **item):
    schema = [{"type": type_, "key": "a", **item}]
    return compile_inputs(schema, {} if value is None else {"a": {"value": value}}, rules)


@pytest.mark.parametrize(
    ("value", "bytecode"),
    [
        ("https://x", ["_H", 1, 32, "https://x"]),
        ("{event}", ["_H", 1, 32, "event", 1, 1]),
        (
            "v={event.properties.$lib_version}",
            ["_H", 1, 32, "v=", 32, "$lib_version", 32, "properties", 32, "event", 1, 3, 2,
             "concat", 2],
        ),
    ],
)  # fmt: skip
def test_text_is_compiled(value, bytecode):
    assert compile_one(value=value) == {"a": {"value": value, "bytecode": bytecode, "order": 0}}


def test_bytecode_mirrors_the_value():
    value = {"x": ["{event}", 1, True], "y": None}

    assert compile_one("json", value)["a"]["bytecode"] == {
        "x": [["_H", 1, 32, "event", 1, 1], 1, True],
        "y": None,
    }
    assert compile_one("boolean", True)["a"]["bytecode"] is True


@pytest.mark.parametrize(
    ("type_", "value"),
    [("number", 5), ("choice", "{a"), ("integration", 1), ("integration_field", "{x")],
)
def test_some_types_are_not_compiled(type_, value):
    assert compile_one(type_, value) == {"a": {"value": value, "order": 0}}


@pytest.mark.parametrize(
    ("templating", "own", "stored", "has_bytecode"),
    [
        (True, None, "hog", True),
        ("hog", "liquid", "hog", True),
        ("liquid", None, "liquid", False),
        (False, None, None, False),
        (None, "liquid", "liquid", False),
        (None, "hog", "hog", True),
        (None, None, None, True),
    ],
)
def test_who_decides_on_templating(templating, own, stored, has_bytecode):
    item = {"type": "string", "key": "a"}
    item |= {} if templating is None else {"templating": templating}
    entry = {"value": "x"} | ({} if own is None else {"templating": own})
    created = compile_inputs([item], {"a": entry}, DESTINATION)["a"]

    assert created.get("templating") == stored
    assert ("bytecode" in created) is has_bytecode


@pytest.mark.parametrize(
    ("type_", "value", "item", "detail"),
    [
        ("string", None, {"required": True}, "This field is required."),
        ("string", "", {"required": True}, "This field is required."),
        ("string", 5, {}, "string"),
        ("number", "5", {}, "number"),
        ("dictionary", [1], {}, "dictionary"),
        ("boolean", 5, {}, "template"),
        ("boolean", "x", {"templating": False}, "boolean"),
        ("boolean", "x", {"templating": "liquid"}, "Liquid"),
        ("integration", "1", {}, "integration"),
        ("integration_multi", [True], {}, "integration ids"),
        ("email", "x", {}, "email object"),
        ("email", {"to": "a"}, {}, "from, subject, text or html"),
        ("non_failure_status_codes", "4xx", {}, "list"),
        ("non_failure_status_codes", ["3xx"], {}, "wildcards"),
        ("non_failure_status_codes", [399], {}, "400 and 599"),
        ("string", "{event.", {}, "compile"),
        ("string", "{{event}", {}, "not double ones. The template does not compile"),
    ],
)
def test_a_value_is_refused(type_, value, item, detail):
    with pytest.raises(Invalid) as caught:
        compile_one(type_, value, **item)

    assert caught.value.attr == "inputs__a"
    assert detail in caught.value.detail


@pytest.mark.parametrize("value", [False, 0, {}])
def test_falsy_values_satisfy_required(value):
    assert compile_one("string", value, required=True)["a"]["value"] == value


def test_a_default_is_stored_when_a_required_key_is_omitted():
    assert compile_one(required=True, default="d")["a"]["value"] == "d"
    assert compile_one(default="d") == {}


def test_transformations_may_not_read_other_globals():
    rules = InputRules(function_type="transformation")

    assert compile_one(value="{lower(event.event)} {project.id}", rules=rules)
    with pytest.raises(Invalid, match="groups, person"):
        compile_one(value="{person.id} {groups} {geoipLookup('x')}", rules=rules)


def test_inputs_are_ordered_by_reference():
    schema = [{"type": "string", "key": key} for key in ("a", "b", "c")]
    values = {"a": "{inputs.c}", "b": "x", "c": "{inputs['b']}"}
    created = compile_inputs(schema, {k: {"value": v} for k, v in values.items()}, DESTINATION)

    assert [(key, entry["order"]) for key, entry in created.items()] == [
        ("b", 0),
        ("c", 1),
        ("a", 2),
    ]
    with pytest.raises(Invalid, match="Circular") as caught:
        compile_inputs(schema, {"a": {"value": "{inputs.a}"}}, DESTINATION)
    assert caught.value.attr == "inputs"


def test_record_is_another_name_of_event_properties_for_warehouse_sources():
    rules = InputRules(function_type="destination", source="data-warehouse-table")

    assert compile_one(value="{record.x}", rules=rules)["a"]["bytecode"] == [
        "_H", 1, 32, "x", 32, "properties", 32, "event", 1, 3,
    ]  # fmt: skip


def test_an_unknown_templating_is_no_choice():
    with pytest.raises(Invalid) as caught:
        compile_inputs(
            [{"type": "string", "key": "a"}],
            {"a": {"value": "x", "templating": "jinja"}},
            DESTINATION,
        )

    assert (caught.value.attr, caught.value.error_code) == (
        "inputs__a__templating",
        "invalid_choice",
    )
