"""``true`` and ``1`` are different values in files, although Python's ``True == 1``."""

from pathlib import Path
from typing import Any

import pytest

from hoglet.project_files.folder import place_functions, read_folder, write_folder
from hoglet.project_files.formats import endpoint_file
from hoglet.project_files.formats.draft_file import draft_of
from hoglet.project_files.formats.function_file import document_of
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.model import ProjectContent
from hoglet.project_files.plan import make_plan

PAIRS = [(True, 1), (1, True), (False, 0), (0, False)]
both_ways = pytest.mark.parametrize(("before", "after"), PAIRS, ids=str)


def record(value: Any) -> dict[str, Any]:
    return {
        "type": "destination",
        "name": "A",
        "hog": "return 1",
        "filters": {"properties": [{"key": "paid", "value": [value], "type": "event"}]},
        "inputs_schema": [{"key": "body", "type": "json"}],
        "inputs": {"body": {"value": {"deep": [value]}}},
        "mappings": [],
    }


def project_with(value: Any, draft: Any = None) -> ProjectContent:
    project = ProjectContent(
        settings={"name": "Shop", "test_account_filters": [{"value": [value]}]}
    )
    live = document_of(record(value))
    name = project.add_function(live)
    if draft is not None:
        saved = draft_of({**record(value), "draft": record(draft)}, live)
        assert saved is not None
        project.objects["draft"][name] = saved
    project.objects["variable"]["paid"] = {"type": "Boolean", "default": value}
    project.objects["action"]["Paid"] = {"name": "Paid", "steps": [{"properties": [value]}]}
    project.objects["cohort"]["Paid"] = {"name": "Paid", "filters": {"values": [value]}}
    query = {"kind": "HogQLQuery", "query": "select {variables.paid}"}
    project.objects["endpoint"]["paid"] = {
        "name": "paid",
        **endpoint_file.DEFAULTS,
        "query": query,
        "variables": {"paid": {"type": "Boolean", "default": 0.5, "value": value}},
    }
    return project


@both_ways
def test_a_push_sends_the_other_value(before: Any, after: Any) -> None:
    plan = make_plan(project_with(before), project_with(after), prune=False)

    assert {(each.kind, each.fields) for each in plan.changes} == {
        ("project", ("test_account_filters",)),
        ("variable", ("default",)),
        ("action", ("steps",)),
        ("cohort", ("filters",)),
        ("function", ("filters", "inputs")),
        ("endpoint", ("variables",)),
    }


@both_ways
def test_a_draft_that_changes_only_the_type_is_one(before: Any, after: Any) -> None:
    draft = project_with(before, draft=after).objects["draft"]["A"]
    assert set(draft) == {"filters", "inputs"}
    assert draft["inputs"]["body"]["value"]["deep"][0] is after


@both_ways
def test_a_pull_writes_the_other_value(tmp_path: Path, before: Any, after: Any) -> None:
    def pulled(value: Any, draft: Any) -> dict[str, str]:
        project = project_with(value, draft)
        project.objects["endpoint"].clear()
        place_functions(tmp_path, project)
        write_folder(tmp_path, project)
        read_folder(tmp_path)
        return {path.name: path.read_text() for path in tmp_path.rglob("*.yaml")}

    first, second = pulled(before, 7), pulled(after, 7)
    assert {name for name in first if first[name] != second[name]} == set(first) - {"draft.yaml"}
    drafts = pulled(5, before)["draft.yaml"], pulled(5, after)["draft.yaml"]
    assert drafts[0] != drafts[1]
    assert pulled(before, 7) == first


@both_ways
def test_a_variable_keeps_a_value_of_another_type(before: Any, after: Any) -> None:
    stored = {"code_name": "paid", "type": "Boolean", "name": "paid", "default_value": before}
    entry = {"variableId": "1", "code_name": "paid", "value": after}
    query = {"kind": "HogQLQuery", "query": "select {variables.paid}", "variables": {"1": entry}}
    document = endpoint_file.document_of({"name": "paid", "query": query}, {"1": stored})
    assert document["variables"]["paid"]["value"] is after


@both_ways
def test_definitions_of_different_types_differ(tmp_path: Path, before: Any, after: Any) -> None:
    path = tmp_path / "paid.yaml"
    own = f"variables: {{paid: {{type: Boolean, default: {str(after).lower()}}}}}"
    path.write_text(f"query: select {{variables.paid}}\n{own}\n")
    with pytest.raises(BadFile, match=r"differs from its definition in variables\.yaml"):
        endpoint_file.read_file(path, {"paid": {"type": "Boolean", "default": before}})
