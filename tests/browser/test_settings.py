"""Tenant tokens, their signing keys, and the activity of a project, in Chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.console import post, wait_for
from support.server import RunningServer

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
RUN = "/api/projects/1/endpoints/by_tenant/run"


def test_a_tenant_token_is_created_and_its_key_rotated(
    signed_in: Page, server: RunningServer
) -> None:
    variable = post(server, "insight_variables", {"name": "Seats", "type": "Number"})
    query = {
        "kind": "HogQLQuery",
        "query": "SELECT {variables.seats} AS seats",
        "variables": {
            variable["id"]: {"variableId": variable["id"], "code_name": "seats", "value": 1}
        },
    }
    post(server, "endpoints", {"name": "by_tenant", "query": query})
    page = signed_in
    page.goto("/project/1/settings?tab=Tenant+tokens")
    page.get_by_role("button", name="Create tenant token").click()
    dialog = page.get_by_role("dialog", name="Create tenant token")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert").filter(has_text="at least 1")).to_be_visible()
    dialog.get_by_role("combobox", name="Endpoints").click()
    page.get_by_role("option", name="by_tenant").click()
    page.keyboard.press("Escape")
    dialog.get_by_label("Fixed variable").fill("seats")
    dialog.get_by_label("Its value").fill("many")
    dialog.get_by_label("Its value").press("Enter")
    expect(dialog.get_by_role("alert").filter(has_text="not a number")).to_be_visible()
    dialog.get_by_label("Its value").fill("12")
    dialog.get_by_label("Its value").press("Enter")

    element = page.get_by_text(re.compile("^pht_"))
    expect(element).to_be_visible()
    bearer = {"Authorization": f"Bearer {element.inner_text()}"}
    assert server.client.post(RUN, json={}, headers=bearer).json()["results"] == [[12]]
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("cell", name="current")).to_be_visible()

    page.get_by_role("button", name="Rotate signing key").click()
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(page.get_by_role("dialog", name="The new signing key")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    wait_for(lambda: server.client.post(RUN, json={}, headers=bearer).status_code == 401)


def test_the_activity_says_who_changed_what(signed_in: Page, server: RunningServer) -> None:
    body = {"type": "destination", "name": HOSTILE, "hog": "print(1)"}
    function = post(server, "hog_functions", body)
    change = {"description": f"now {HOSTILE}"}
    server.client.patch(f"/api/projects/1/hog_functions/{function['id']}", json=change)
    page = signed_in
    page.goto("/project/1/settings?tab=Activity")
    row = page.get_by_role("row").filter(has_text=HOSTILE).filter(has_text="description")
    expect(row).to_contain_text("updated")
    row.get_by_role("button", name="Show").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(f"+now {HOSTILE}")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(row.get_by_role("button", name="Show")).to_be_focused()

    page.get_by_role("combobox", name="What was changed").click()
    page.get_by_role("option", name="Cohorts").click()
    expect(row).to_be_hidden()
    page.goto("/project/1/settings?tab=Activity&scope=HogFunction")
    row.get_by_role("link", name=HOSTILE).click()
    expect(page).to_have_url(re.compile(f"/functions/{function['id']}"))
