"""Project files: errors name the file, and unchanged parts stay as they are."""

from pathlib import Path
from typing import Any

import pytest

from hoglet.project_files.folder import find_project, read_folder, write_folder
from hoglet.project_files.formats.function_file import document_of
from hoglet.project_files.formats.references import Names, with_ids, with_names
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.model import ProjectContent, slug
from hoglet.project_files.plan import check_code, make_plan, with_secrets
from hoglet.project_files.secret_names import secret_name

NAMES = Names({3: "Docs"}, {12: "Pros"})
FILES = {
    "hoglet.yaml": "name: Shop\ntimezone: UTC\n",
    "functions/say/function.yaml": "type: destination\nname: Say\ninputs: {url: http://a}\n",
    "functions/say/code.hog": "print(inputs.url)\n",
    "endpoints/by_plan.yaml": "description: by plan\n",
    "endpoints/by_plan.sql": "select {variables.plan}\n",
    "endpoints/by_plan.tests.yaml": "- name: x\n",
    "variables.yaml": "plan: {type: String, default: pro}\n",
}


def project(folder: Path, **files: str | None) -> Path:
    given = {name.replace("__", "/"): text for name, text in files.items()}
    for name, text in (FILES | given).items():
        if text is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    return folder


def test_a_folder_is_read(tmp_path: Path) -> None:
    read = read_folder(project(tmp_path))

    assert read.settings == {"name": "Shop", "timezone": "UTC"}
    function = read.objects["function"]["Say"]
    assert (function["hog"], function["inputs"]) == (
        "print(inputs.url)",
        {"url": {"value": "http://a"}},
    )
    endpoint = read.objects["endpoint"]["by_plan"]
    assert endpoint["query"]["query"] == "select {variables.plan}"
    assert endpoint["variables"] == {"plan": {"type": "String", "default": "pro"}}


WRONG = [
    ("hoglet.yaml", "name: x\ncolour: red\n", "hoglet.yaml:2: unknown colour"),
    ("hoglet.yaml", "[1]\n", "hoglet.yaml: the project must be a mapping"),
    ("hoglet.yaml", "name: [\n", "hoglet.yaml:2"),
    ("functions/say/function.yaml", "name: a\nkind: x\n", "function.yaml:2: unknown kind"),
    ("functions/say/function.yaml", "name: a\ntype: x\n", "function.yaml:2: type must be one of"),
    ("functions/say/function.yaml", "name: a\nfilters: []\n", "function.yaml:2: filters must be a"),
    (
        "functions/say/function.yaml",
        "enabled: 1\n",
        "function.yaml:1: enabled must be true or false",
    ),
    ("functions/say/function.yaml", "mappings: [1]\n", "function.yaml:1: mappings must be a list"),
    ("functions/say/function.yaml", "name: a\ninputs:\n  t: {secret: abc}\n", "environment"),
    ("functions/say/function.yaml", "- 1\n", "function.yaml: a function must be a mapping"),
    ("variables.yaml", "plan: 1\n", "variables.yaml"),
    ("variables.yaml", "plan: {typ: String}\n", "unknown typ"),
    ("actions.yaml", "- steps: []\n", "actions.yaml:1: every item needs a name"),
    ("actions.yaml", "- name: a\n- name: a\n", "actions.yaml:2: two items have the name a"),
    ("actions.yaml", "name: a\n", "actions.yaml: must be a list"),
    ("cohorts.yaml", "- {name: a, members: []}\n", "unknown members"),
    ("endpoints/by_plan.yaml", "colour: red\n", "by_plan.yaml:1: unknown colour"),
    ("endpoints/by_plan.yaml", "name: [a]\n", "by_plan.yaml:1: name must be a string"),
    ("endpoints/by_plan.yaml", "variables: {1: {}, a: {}}\n", "the query does not use 1"),
    ("functions/say/function.yaml", "name: !!int a\n", "function.yaml:1:7: it cannot be read as"),
    ("functions/say/function.yaml", "name: !!float a\n", "it cannot be read as float"),
    (
        "functions/say/function.yaml",
        "name: a\nenabled: !!bool a\n",
        "function.yaml:2:10: it cannot",
    ),
    ("functions/say/function.yaml", "retry: 0x_\n", "function.yaml:1:8: it cannot be read as int"),
    ("functions/say/function.yaml", f"retry: {'1' * 5000}\n", "it cannot be read as int"),
    ("functions/say/function.yaml", "inputs: {a: .nan}\n", "function.yaml:1:13: JSON has no such"),
    (
        "functions/say/function.yaml",
        "inputs: {a: !!binary aGk=}\n",
        "function.yaml:1:13: could not",
    ),
    ("functions/say/function.yaml", "inputs: {a: !!set {b}}\n", "function.yaml:1:13: could not"),
    ("functions/say/function.yaml", "name: !!timestamp 2026-01-01\n", "could not determine"),
    ("functions/say/function.yaml", 'name: "\\uD800"\n', "function.yaml:1:7: it contains a lone"),
    (
        "functions/say/function.yaml",
        "filters: &a {events: [*a]}\n",
        "function.yaml:1:10: it contains",
    ),
    ("endpoints/more.yaml", "name: by_plan\nquery: select 1\n", "another file also defines"),
    ("endpoints/more.yaml", "name: more\n", "more.yaml: query is missing"),
    ("endpoints/more.yaml", "query: a\nname: 1a\n", "more.yaml:2: the name of an endpoint starts"),
    ("endpoints/so much.yaml", "query: a\n", "so much.yaml: the name of an endpoint starts"),
    (
        "endpoints/by_plan.yaml",
        "variables: {plan: {type: Number}}\n",
        "by_plan.yaml:1: plan differs from its definition in variables.yaml",
    ),
]


@pytest.mark.parametrize(("name", "text", "says"), WRONG)
def test_a_wrong_file_is_named_with_its_line(
    tmp_path: Path, name: str, text: str, says: str
) -> None:
    project(tmp_path)
    (tmp_path / name).write_text(text)

    with pytest.raises(BadFile) as raised:
        read_folder(tmp_path)

    assert raised.value.detail.startswith(str(tmp_path))
    assert says in raised.value.detail


STRAY = [
    (
        "functions/say/test.yaml",
        "test.yaml: hoglet does not read files of this name. Known: function",
    ),
    ("functions/say/function.yml", "function.yml: hoglet does not read"),
    ("functions/new/code.hog", "new/function.yaml is missing"),
    ("functions/new/tests.yaml", "new/function.yaml is missing"),
    ("endpoints/by_plans.tests.yaml", "there is no endpoint by_plans.yaml to which this file"),
    ("endpoints/by_plan.tests.yml", "by_plan.tests.yml: hoglet does not read files of this name"),
    ("endpoints/by_plans.sql", "there is no endpoint by_plans.yaml"),
    (
        "endpoints/eu/by_plan.yaml",
        "hoglet does not read files here; files of endpoints are in endp",
    ),
    ("functions/eu/say/function.yaml", "files of functions are in functions/NAME/"),
    ("functions/say.hog", "say.hog: hoglet does not read files here"),
    (
        "action.yaml",
        "action.yaml: hoglet does not read files of this name; rename it to actions.yaml",
    ),
    (
        "variables.yml",
        "variables.yml: hoglet does not read files of this name; rename it to variables.y",
    ),
]


@pytest.mark.parametrize(("name", "says"), STRAY)
def test_a_file_that_nothing_reads_is_an_error(tmp_path: Path, name: str, says: str) -> None:
    project(tmp_path, **{name: ""})

    with pytest.raises(BadFile) as raised:
        read_folder(tmp_path)

    assert raised.value.detail.startswith(str(tmp_path))
    assert says in raised.value.detail


@pytest.mark.parametrize("name", ["../../.profile", "a/b", "/etc/passwd", "..", ""])
def test_a_server_cannot_write_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    server = ProjectContent()
    server.objects["endpoint"][name] = {"query": {"kind": "HogQLQuery", "query": "select 1"}}

    with pytest.raises(BadFile, match="there is no file of such a name"):
        write_folder(tmp_path / "a/b/c", server)

    assert [path.name for path in tmp_path.rglob("*.yaml")] == ["hoglet.yaml"]


def test_files_of_other_kinds_may_be_anywhere(tmp_path: Path) -> None:
    names = ("README.md", "compose.yaml", "functions/README.md", "functions/say/notes.txt",
             "functions/none/notes.txt", "endpoints/README.md", "endpoints/x/a.json",
             "functions/say/._code.hog", "functions/.old/code.hog", "functions/.old/function.yaml",
             "endpoints/._by_plan.yaml", "endpoints/.a.sql", "endpoints/.a.yml")  # fmt: skip
    project(tmp_path, **dict.fromkeys(names, "a"))
    (tmp_path / "functions/say/.#code.hog").symlink_to("ada@host.17")  # as Emacs locks a file
    (tmp_path / "endpoints/.#by_plan.yaml").symlink_to("ada@host.17")

    read = read_folder(tmp_path)

    assert set(read.objects["function"]) == {"Say"}
    assert set(read.objects["endpoint"]) == {"by_plan"}


def test_code_is_needed_and_compiled(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "functions/say/code.hog").write_text("let x := \n")
    with pytest.raises(BadFile, match=r"code.hog:1:\d+"):
        check_code(read_folder(folder))
    (folder / "functions/say/code.hog").unlink()
    with pytest.raises(BadFile, match=r"code.hog is missing"):
        read_folder(folder)


def test_the_project_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project(tmp_path)
    assert find_project(folder / "functions" / "say").resolve() == folder.resolve()
    monkeypatch.chdir(folder / "functions")
    assert find_project(Path("say")) == Path("..")
    (folder / "hoglet.yaml").unlink()
    with pytest.raises(BadFile, match="hoglet init"):
        find_project(folder)


REFERENCES: list[tuple[Any, Any]] = [
    ({"type": "actions", "id": "3", "name": "Docs"}, {"type": "actions", "action": "Docs"}),
    ({"kind": "ActionsNode", "id": 3}, {"kind": "ActionsNode", "action": "Docs"}),
    (
        {"kind": "ActionsNode", "id": 3, "name": "My docs"},
        {"kind": "ActionsNode", "name": "My docs", "action": "Docs"},
    ),
    (
        {"type": "behavioral", "event_type": "actions", "key": 3},
        {"type": "behavioral", "event_type": "actions", "action": "Docs"},
    ),
    (
        {"type": "cohort", "key": "id", "value": 12},
        {"type": "cohort", "key": "id", "cohort": "Pros"},
    ),
    (
        {"type": "dynamic-cohort", "key": "id", "value": 12},
        {"type": "dynamic-cohort", "key": "id", "cohort": "Pros"},
    ),
    ({"type": "actions", "id": "99"}, {"type": "actions", "id": "99"}),
    ({"inputs": {"type": "actions", "id": "3"}}, {"inputs": {"type": "actions", "id": "3"}}),
    ([{"a": [{"type": "actions", "id": "3"}]}], [{"a": [{"type": "actions", "action": "Docs"}]}]),
]


@pytest.mark.parametrize(("api", "file"), REFERENCES)
def test_references_are_names_in_files(api: Any, file: Any) -> None:
    assert with_names(api, NAMES) == file
    back = with_ids(file, NAMES)
    assert with_names(back, NAMES) == file


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(BadFile, match="action Nope, which does not exist"):
        with_ids({"type": "actions", "action": "Nope"}, NAMES)


def test_endpoints_that_differ_in_case_have_two_files_on_every_system(tmp_path: Path) -> None:
    stored = read_folder(project(tmp_path / "a"))
    stored.objects["endpoint"]["BY_PLAN"] = {**stored.objects["endpoint"]["by_plan"]}
    stored.objects["endpoint"]["BY_PLAN"]["name"] = "BY_PLAN"
    for _ in range(2):
        write_folder(tmp_path / "b", ProjectContent(objects={**stored.objects, "function": {}}))
        files = sorted(path.name for path in (tmp_path / "b/endpoints").iterdir())
        assert files == ["BY_PLAN.yaml", "by_plan-2.yaml"]
    assert sorted(read_folder(tmp_path / "b").objects["endpoint"]) == ["BY_PLAN", "by_plan"]


@pytest.mark.parametrize(
    ("name", "taken", "expected"),
    [
        ("Welcome: webhook!", [], "welcome-webhook"),
        ("Welcome", ["welcome", "welcome-2"], "welcome-3"),
        ("日本", [], "function"),
        ("Größe: Åsa", [], "grosse-asa"),
        ("../../etc", [], "etc"),
    ],
)
def test_folder_names(name: str, taken: list[str], expected: str) -> None:
    assert slug(name, taken) == expected


def test_names_of_secrets() -> None:
    assert secret_name("welcome-webhook", "token") == "env:WELCOME_WEBHOOK_TOKEN"
    assert secret_name("2fa", "käse") == "env:_2FA_K_SE"


def test_secrets_come_from_variables_or_stay(tmp_path: Path) -> None:
    document = {"inputs": {"token": {"secret": "env:T"}}, "mappings": []}
    stored = {"inputs": {"token": {"secret": True}}, "mappings": []}

    assert with_secrets(document, None, {"T": "x"})["inputs"] == {"token": {"value": "x"}}
    assert with_secrets(document, stored, {})["inputs"] == {"token": {"secret": True}}
    with pytest.raises(BadFile, match="taken from T, which is not set"):
        with_secrets(document, None, {})


def test_what_is_named_by_others_comes_first() -> None:
    files = ProjectContent()
    part = {"type": "cohort", "key": "id", "cohort": "B"}
    files.objects["cohort"] = {
        "A": {"name": "A", "filters": {"properties": {"values": [part]}}},
        "B": {"name": "B", "filters": {}},
    }
    names = [change.name for change in make_plan(ProjectContent(), files, prune=False).changes]
    assert names == ["B", "A"]


def test_settings_of_the_project_come_after_the_cohorts_that_they_name() -> None:
    cohort = {"type": "cohort", "key": "id", "cohort": "Insiders"}
    files = ProjectContent(settings={"name": "Shop", "test_account_filters": [cohort]})
    files.objects["cohort"]["Insiders"] = {"name": "Insiders"}
    plan = make_plan(ProjectContent(settings={"name": "Other"}), files, prune=False)
    assert list(map(str, plan.changes)) == [
        "create cohort Insiders",
        "update project: name, test_account_filters",
    ]


def test_schemas_have_their_keys_in_one_order() -> None:
    """A template gives another order than a push of its function."""
    items = [{"required": True, "integration": "x", "key": "a", "type": "string"}]
    record = {"type": "destination", "inputs_schema": items, "mappings": [{"inputs_schema": items}]}
    document = document_of(record)
    for schema in (document["inputs_schema"], document["mappings"][0]["inputs_schema"]):
        assert list(schema[0]) == ["key", "type", "required", "integration"]
