"""Acts done with the keyboard alone: Tab, Enter, Space, arrows and Escape; focus is visible."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.console import post, wait_for
from support.server import RunningServer

pytestmark = pytest.mark.browser

MOST_STOPS = 120
FOCUSED = """() => {
    const found = document.activeElement;
    return {
        name: found.getAttribute('aria-label') || found.labels?.[0]?.textContent
            || found.textContent.trim() || found.title,
        isVisible: getComputedStyle(found).outlineStyle !== 'none'
            || found.closest('.q-field--focused, .hog-editor') !== null,
        isOnPage: found.checkVisibility(),
        isBody: found === document.body,
        isEditor: found.closest('.hog-editor') !== null,
    };
}"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until something of this name has the focus, which is visible at every stop."""
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop: dict[str, Any] = page.evaluate(FOCUSED)
        if stop["isBody"]:
            continue  # the end of the page; the next stop is its first
        assert stop["isVisible"], f"the focus cannot be seen at {stop}"
        assert stop["isOnPage"], f"the focus is on something hidden: {stop}"
        if re.fullmatch(name, stop["name"].strip()):
            return
        if stop["isEditor"]:
            page.keyboard.press("Escape")  # Tab indents until then
    raise AssertionError(f"Tab does not reach {name}")


def test_a_cohort_is_created_edited_and_deleted(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1/cohorts")
    expect(page.get_by_role("heading", name="Cohorts", exact=True)).to_be_visible()
    tab_to(page, "New cohort")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="New cohort")).to_be_focused()

    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type("By keyboard")
    tab_to(page, "Property")
    page.keyboard.type("plan")
    tab_to(page, "Value")
    page.keyboard.type("pro")
    page.keyboard.press("Enter")  # sends the form
    expect(dialog).to_be_hidden()
    path = "/api/projects/1/cohorts"
    (cohort,) = server.client.get(path, params={"search": "By keyboard"}).json()["results"]
    assert cohort["name"] == "By keyboard"

    tab_to(page, "By keyboard")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type(" alone")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    wait_for(lambda: "alone" in server.client.get(f"{path}/{cohort['id']}").json()["name"])
    tab_to(page, "Delete: .*")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Deleted.")).to_be_visible()


def test_a_query_runs_and_becomes_an_endpoint(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1/sql?q=SELECT+41+%2B+1+AS+answer")
    expect(page.get_by_role("cell", name="42")).to_be_visible()
    tab_to(page, "Save as endpoint")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    tab_to(page, "Name")
    page.keyboard.type("by_keyboard")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/endpoints/by_keyboard"))
    assert server.client.get("/api/projects/1/endpoints/by_keyboard").status_code == 200


def test_a_function_is_switched_edited_and_tested(signed_in: Page, server: RunningServer) -> None:
    body = {"type": "destination", "name": "Typed", "hog": "print('old')"}
    function = post(server, "hog_functions", body)
    path = f"/api/projects/1/hog_functions/{function['id']}"
    page = signed_in
    page.goto("/project/1/functions?search=Typed")
    tab_to(page, "Enabled: Typed")
    page.keyboard.press("Space")
    wait_for(lambda: server.client.get(path).json()["enabled"])
    page.goto(f"/project/1/functions/{function['id']}")
    tab_to(page, "Code")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("print('new')")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert server.client.get(path).json()["hog"] == "print('new')"
    page.keyboard.press("Escape")  # then Tab leaves the editor
    tab_to(page, "Run test")
    page.keyboard.press("Enter")
    expect(page.get_by_text("info new")).to_be_visible()


def test_an_endpoint_is_run_tried_and_saved(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    post(server, "insight_variables", {"name": "floor", "type": "Number", "default_value": 3})
    sql = "SELECT number FROM numbers(10) WHERE number > {variables.floor}"
    query = {"kind": "HogQLQuery", "query": sql}
    post(server, "endpoints", {"name": "keyed", "query": query})
    page.goto("/project/1/endpoints/keyed")
    tab_to(page, "floor")
    page.keyboard.type("8")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="9", exact=True)).to_be_visible()
    expect(page.get_by_label("floor")).to_be_focused()
    tab_to(page, "Run")  # the button
    tab_to(page, "Run")  # the tab, after the end of the page
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("tab=Query"))
    tab_to(page, "Query")
    editor = page.get_by_role("textbox", name="Query")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(" AND number < 9")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("5 rows ·")).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)  # the variable is known
    page.keyboard.press("Escape")  # closes the completions, if there are any
    page.keyboard.press("Escape")
    tab_to(page, "floor")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 row ·")).to_be_visible()
    page.keyboard.press("Control+s")
    path = "/api/projects/1/endpoints/keyed"
    wait_for(lambda: server.client.get(path).json()["current_version"] == 2)
    assert server.client.get(path).json()["query"]["query"] == f"{sql} AND number < 9"


def test_a_row_keeps_the_focus_when_the_list_changes(
    signed_in: Page, server: RunningServer
) -> None:
    body = {"type": "destination", "name": "Toggled", "hog": "print(1)"}
    path = f"/api/projects/1/hog_functions/{post(server, 'hog_functions', body)['id']}"
    page = signed_in
    page.goto("/project/1/functions?search=Toggled")
    tab_to(page, "Enabled: Toggled")
    page.keyboard.press("Space")
    expect(page.get_by_text("Enabled.", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="healthy")).to_be_visible()
    expect(page.get_by_role("switch", name="Enabled: Toggled")).to_be_focused()
    page.keyboard.press("Space")
    wait_for(lambda: not server.client.get(path).json()["enabled"])
