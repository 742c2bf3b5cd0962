"""Drafts of functions as files."""

from pathlib import Path
from typing import Any

import pytest

from hoglet.project_files.folder import read_folder
from hoglet.project_files.formats.draft_file import draft_of, read_draft
from hoglet.project_files.formats.function_file import document_of, read_function
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.from_posthog import prepare
from hoglet.project_files.model import ProjectContent

RECORD = {
    "type": "destination",
    "name": "A",
    "hog": "return 1",
    "filters": {"source": "events", "events": [{"id": "a", "type": "events"}]},
    "inputs_schema": [{"key": "token", "type": "string", "secret": True}],
    "inputs": {"token": {"secret": True}},
    "mappings": None,
}


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {
        "function_yaml": "name: A\ninputs: {token: {secret: env:T}}\n",
        "code_hog": "return 1\n",
        **files,
    }.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("changes", "sparse"),
    [
        ({}, {}),
        ({"hog": "return 2"}, {"hog": "return 2"}),
        ({"description": "", "name": "A"}, {}),
        ({"filters": {"source": "events"}}, {"filters": {}}),
        ({"inputs": {"token": {"secret": True}}, "mappings": []}, {}),
        ({"retry": {"max_attempts": 3}, "enabled": True}, {"retry": {"max_attempts": 3}}),
    ],
)
def test_a_draft_of_the_api_is_what_it_changes(changes: Any, sparse: Any) -> None:
    live = document_of(RECORD)
    assert draft_of({**RECORD, "draft": {**RECORD, **changes}}, live) == sparse
    assert draft_of({**RECORD, "draft": None}, live) is None
    assert draft_of(RECORD, live) is None


def test_a_draft_is_read_from_its_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "a")
    assert read_draft(folder, read_function(folder)) is None
    write(folder, draft_yaml="name: B\ninputs: {token: {secret: env:OTHER}}\n")
    assert read_draft(folder, read_function(folder)) == {"name": "B"}
    write(folder, draft_yaml="{}\n", draft_hog="return 2\n")
    assert read_draft(folder, read_function(folder)) == {"hog": "return 2"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "a draft must be a mapping"),
        ("name: B\nenabled: true\n", "draft.yaml:2: unknown enabled. Known: name, "),
        ("name: B\nmappings: {a: 1}\n", "draft.yaml:2: mappings must be a list."),
        ("inputs: {token: {secret: hunter2}}\n", "secret must name an environment variable"),
    ],
)
def test_a_wrong_draft_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "hoglet.yaml").write_text("name: a\n")
    write(tmp_path / "functions/a", draft_yaml=text)
    with pytest.raises(BadFile) as caught:
        read_folder(tmp_path)
    assert says in str(caught.value)


def test_drafts_of_another_server_are_left_out_by_name() -> None:
    project = ProjectContent()
    key = project.add_function(document_of(RECORD))
    project.objects["draft"][key] = {"hog": "return 2"}
    prepare(project, frozenset())
    assert project.objects["draft"] == {}
    assert [(each.kind, each.name) for each in project.left_out] == [("draft", "A")]
