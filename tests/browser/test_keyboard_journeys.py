"""From nothing to a running function and a materialized endpoint, with the keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.console import wait_for
from support.keyboard import enter, tab_to
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser


def test_a_function_is_created_tested_saved_and_its_logs_are_read(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/functions")
    enter(page)
    tab_to(page, "New function")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Blank destination")).to_be_visible()
    enter(page)
    tab_to(page, "Blank destination")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Function name")).to_be_visible()
    enter(page)
    tab_to(page, r"Function name( \*)?")
    page.keyboard.press("Control+a")
    page.keyboard.type("Journey")
    tab_to(page, "Create")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/functions/[0-9a-f-]{36}$"))
    path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"

    enter(page)
    tab_to(page, "Code")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("print('journey', event.event)")
    page.keyboard.press("Escape")
    tab_to(page, "Run test")
    page.keyboard.press("Enter")
    expect(page.get_by_text("info journey")).to_be_visible()
    expect(page.get_by_role("button", name="Run test")).to_be_focused()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert server.client.get(path).json()["hog"] == "print('journey', event.event)"

    tab_to(page, "Enabled")
    page.keyboard.press("Space")
    wait_for(lambda: server.client.get(path).json()["enabled"])
    batch = [{"event": "journeyed", "distinct_id": "keys"}]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    logs = f"{path}/logs"
    wait_for(lambda: server.client.get(logs).json()["results"])
    enter(page)
    tab_to(page, "Function")  # the tab
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_text("journeyed").first).to_be_visible()


def test_an_endpoint_is_created_run_and_materialized(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/endpoints")
    enter(page)
    tab_to(page, "New endpoint")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="New endpoint")).to_be_focused()
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert dialog.evaluate("(dialog) => dialog.contains(document.activeElement)")
    tab_to(page, r"Name( \*)?")
    page.keyboard.type("journey")
    tab_to(page, "Create")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/endpoints/journey$"))

    enter(page)
    tab_to(page, "Materialized")
    page.keyboard.press("Space")
    expect(page.get_by_text("ready", exact=True)).to_be_visible()
    expect(page.get_by_role("switch", name="Materialized")).to_be_focused()
    tab_to(page, "Row limit")  # past the tab of the same name
    tab_to(page, "Run")
    page.keyboard.press("Enter")
    expect(page.get_by_text("read from the table of")).to_be_visible()
    status = server.client.get("/api/projects/1/endpoints/journey/materialization_status")
    assert status.json()["ready"]
