"""The code editor in Chromium: completion, problems, format, keys, unsaved changes."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.console import post, wait_for
from support.server import RunningServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def function(server: RunningServer) -> dict[str, Any]:
    inputs = [{"key": "webhook_url", "type": "string", "label": "URL", "required": False}]
    body = {"type": "destination", "name": "Edited", "hog": "print(1)", "inputs_schema": inputs}
    return post(server, "hog_functions", body)


@pytest.fixture
def editor(signed_in: Page, function: dict[str, Any]) -> Locator:
    signed_in.goto(f"/project/1/functions/{function['id']}")
    return signed_in.get_by_role("textbox", name="Code")


@pytest.fixture
def write(signed_in: Page, editor: Locator) -> Callable[[str], None]:
    def replace(text: str) -> None:
        editor.click()
        signed_in.keyboard.press("Control+A")
        signed_in.keyboard.insert_text(text)

    return replace


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("print(inputs.", "webhook_url"),
        ("let x := event.", "distinct_id"),
        ("let y := base64E", "base64Encode"),
    ],
)
def test_hog_is_completed(
    signed_in: Page, write: Callable[[str], None], text: str, option: str
) -> None:
    write(text)
    signed_in.keyboard.press("Control+Space")
    expect(signed_in.get_by_role("option", name=re.compile(option)).first).to_be_visible()


def test_problems_are_underlined_while_typing(
    signed_in: Page, write: Callable[[str], None]
) -> None:
    page = signed_in
    write("let name := '🦔'\nprnt(name)")
    warning = page.locator(".cm-lintRange-warning")
    expect(warning).to_contain_text("prnt")
    expect(warning).not_to_contain_text("name := ")
    warning.hover()
    expect(page.get_by_text("Did you mean `print`?")).to_be_visible()

    write("let x := ")
    expect(page.locator(".cm-lintRange-error, .cm-lintPoint-error").first).to_be_attached()


def test_a_program_is_formatted_and_saved_by_keys(
    signed_in: Page,
    server: RunningServer,
    write: Callable[[str], None],
    function: dict[str, Any],
) -> None:
    write("if (true) {\nprint('  {  ')\n}")
    signed_in.keyboard.press("Shift+Alt+f")
    signed_in.keyboard.press("Control+s")
    path = f"/api/projects/1/hog_functions/{function['id']}"
    formatted = "if (true) {\n  print('  {  ')\n}"
    wait_for(lambda: server.client.get(path).json()["hog"] == formatted)


def test_leaving_with_changes_asks(
    signed_in: Page, write: Callable[[str], None], function: dict[str, Any]
) -> None:
    page = signed_in
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    write("print('changed')")
    page.goto("/project/1/endpoints")
    assert asked == ["beforeunload"]
    page.goto(f"/project/1/functions/{function['id']}")
    expect(page.get_by_role("textbox", name="Code")).to_be_visible()
    page.goto("/project/1/endpoints")
    assert asked == ["beforeunload"]


def test_the_editor_is_asked_only_with_a_session(page: Page) -> None:
    answer = page.context.request.post("/console/editor/1", data={"kind": "HogQLMetadata"})
    assert answer.status == 401


def test_the_editor_runs_no_queries(signed_in: Page) -> None:
    query = {"kind": "HogQLQuery", "query": "SELECT 1"}
    for body in (query, [query], "x"):
        assert signed_in.context.request.post("/console/editor/1", data=body).status == 400
