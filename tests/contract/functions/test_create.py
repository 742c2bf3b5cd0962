"""Creating functions: docs/spec/hog-functions.md#2-the-function-object,
docs/spec/hog-functions.md#3-writing-rows-2-and-4 and docs/spec/hog-functions.md#16-concrete-cases
(case 1)."""

import pytest

FULL_KEYS = {
    "id", "type", "name", "description", "created_at", "created_by", "updated_at", "enabled",
    "deleted", "hog", "bytecode", "transpiled", "inputs_schema", "inputs", "filters", "masking",
    "mappings", "icon_url", "template", "template_id", "status", "execution_order",
    "_create_in_folder", "batch_export_id",
}  # fmt: skip


async def test_a_bare_destination_has_24_keys_and_the_defaults(hoglet):
    body = {"type": "destination", "name": "Fetch URL", "description": "Test", "inputs": {}}
    response = await hoglet.call("POST", "/", json={**body, "hog": "fetch(inputs.url);"})

    created = response.json()
    assert response.status_code == 201
    assert set(created) == FULL_KEYS
    assert created["bytecode"] == ["_H", 1, 32, "url", 32, "inputs", 1, 2, 2, "fetch", 1, 35]
    assert created["filters"] == {"source": "events", "bytecode": ["_H", 1, 29]}
    assert created["inputs_schema"] == []
    assert created["inputs"] == {}
    assert created["status"] == {"state": 0, "tokens": 0}
    assert created["deleted"] is False
    assert created["created_by"]["id"] == 1
    unset = FULL_KEYS & {
        "masking", "mappings", "template", "template_id", "icon_url", "transpiled",
        "execution_order", "_create_in_folder", "batch_export_id",
    }  # fmt: skip
    assert {key: created[key] for key in unset} == dict.fromkeys(unset)


async def test_hog_is_stripped_and_unknown_keys_are_ignored(hoglet):
    function = await hoglet.create(hog="  return 1\n", code_language="hog", bytecode=[1])

    assert function["hog"] == "return 1"
    assert function["bytecode"][:2] == ["_H", 1]


async def test_the_read_object_equals_the_created_one(hoglet):
    function = await hoglet.create(enabled=True)
    response = await hoglet.client.get(
        f"/api/environments/@current/hog_functions/{function['id']}/"
    )

    assert response.json() == function
    assert function["status"] == {"state": 1, "tokens": 10000}


@pytest.mark.parametrize(
    ("fields", "code", "attr"),
    [
        ({"type": "email"}, "invalid_choice", "type"),
        ({"type": "warehouse_source_webhook"}, "invalid_input", "type"),
        ({"name": "x" * 401}, "max_length", "name"),
        ({"description": None}, "null", "description"),
        ({"enabled": "maybe"}, "invalid_input", "enabled"),
        ({"hog": ""}, "blank", "hog"),
        ({"hog": "let x := "}, "invalid_input", "hog"),
        ({"hog": "return event.utm-source"}, "invalid_input", "hog"),
        ({"hog": "'" + "x" * 102_401 + "'"}, "invalid_input", "hog"),
        ({"inputs_schema": [{"type": "nope", "key": "a"}]}, "invalid_choice",
         "inputs_schema__0__type"),
        ({"inputs_schema": [{"type": "string"}]}, "required", "inputs_schema__0__key"),
        ({"inputs": []}, "not_a_dict", "inputs"),
        ({"filters": []}, "not_a_dict", "filters"),
        ({"filters": {"source": "x"}}, "invalid_choice", "filters__source"),
        ({"filters": {"events": "x"}}, "not_a_list", "filters__events"),
        ({"masking": {"ttl": 59, "hash": "x"}}, "min_value", "masking__ttl"),
        ({"masking": {"ttl": 86401, "hash": "x"}}, "max_value", "masking__ttl"),
        ({"masking": {"ttl": 60}}, "required", "masking__hash"),
        ({"masking": {"ttl": 60, "hash": "{a.}"}}, "invalid_input", "masking__hash"),
        ({"mappings": "x"}, "not_a_list", "mappings"),
        ({"type": "transformation", "mappings": [{}]}, "invalid_input", "mappings"),
        ({"template_id": "template-nope"}, "invalid_input", "template_id"),
        ({"execution_order": 32768}, "max_value", "execution_order"),
        ({"retry": {"max_attempts": 101}}, "max_value", "retry__max_attempts"),
        ({"retry": {"nope": 1}}, "invalid_input", "retry__nope"),
    ],
)  # fmt: skip
async def test_what_a_field_refuses(hoglet, attr_of, fields, code, attr):
    response = await hoglet.call("POST", json={"type": "destination", "hog": "return 1", **fields})

    assert attr_of(response) == (400, code, attr)


async def test_code_is_required_without_a_template(hoglet, attr_of):
    response = await hoglet.call("POST", json={"type": "destination"})

    assert attr_of(response) == (400, "invalid_input", "hog")


async def test_delete_is_405_with_an_empty_body_and_changes_nothing(hoglet):
    function = await hoglet.create()
    response = await hoglet.call("DELETE", f"/{function['id']}/")

    assert (response.status_code, response.content) == (405, b"")
    assert (await hoglet.call("GET", f"/{function['id']}")).json() == function
    assert (await hoglet.call("DELETE", "/nothing")).status_code == 405
