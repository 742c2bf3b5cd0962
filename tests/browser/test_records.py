"""Cohorts, actions, variables and integrations in Chromium: create, edit, where used, delete."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.console import post
from support.server import RunningServer

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"


def listed(server: RunningServer, noun: str, name: str) -> list[dict[str, Any]]:
    results = server.client.get(f"/api/projects/1/{noun}?limit=500").json()["results"]
    return [each for each in results if name in (each.get("name"), each.get("display_name"))]


def delete(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Delete: {name}").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Deleted.")).to_be_visible()
    expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()


def test_a_cohort_is_created_edited_and_deleted(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1/cohorts")
    page.get_by_role("button", name="New cohort").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(f"Paying {HOSTILE}")
    dialog.get_by_label("Property", exact=True).fill("plan")
    dialog.get_by_label("Value", exact=True).fill("pro")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("button", name=f"Paying {HOSTILE}", exact=True)
    expect(row).to_be_visible()
    (stored,) = listed(server, "cohorts", f"Paying {HOSTILE}")
    criterion = server.client.get(f"/api/projects/1/cohorts/{stored['id']}").json()["filters"]
    (leaf,) = criterion["properties"]["values"]
    assert (leaf["key"], leaf["operator"], leaf["value"]) == ("plan", "exact", "pro")

    row.click()
    dialog.get_by_label("Name", exact=True).fill("")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").first).to_be_visible()
    dialog.get_by_label("Name", exact=True).fill("Payers")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Payers", exact=True)).to_be_visible()
    delete(page, "Payers")
    assert listed(server, "cohorts", "Payers") == []


def test_a_record_with_a_long_name_is_opened_by_the_keyboard(
    signed_in: Page, server: RunningServer
) -> None:
    name = "long " + "x" * 395
    post(server, "actions", {"name": name, "steps": [{"event": "signup"}]})
    page = signed_in
    page.goto("/project/1/actions")
    page.get_by_role("button", name=name, exact=True).press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Name", exact=True)).to_have_value(name)


def test_a_cohort_in_use_says_so_and_stays(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    leaf = {"type": "person", "key": "plan", "operator": "is_set", "value": "is_set"}
    filters = {"properties": {"type": "AND", "values": [leaf]}}
    cohort = post(server, "cohorts", {"name": "Kept", "filters": filters})
    sql = f"SELECT count() FROM events WHERE person_id IN COHORT {cohort['id']}"
    post(server, "endpoints", {"name": "of_kept", "query": {"kind": "HogQLQuery", "query": sql}})
    page.goto(f"/project/1/cohorts?open={cohort['id']}")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("link", name="of_kept")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete: Kept").click()
    expect(dialog.get_by_text("Used by endpoint of_kept.")).to_be_visible()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Kept", exact=True)).to_be_visible()
    assert listed(server, "cohorts", "Kept")


def test_an_action_is_created_and_names_its_functions(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/actions?new=1")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Bought")
    dialog.get_by_label("Event", exact=True).fill("purchase")
    dialog.get_by_label("URL text").fill("/checkout")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("button", name="Bought", exact=True)
    expect(row).to_be_visible()
    (stored,) = listed(server, "actions", "Bought")
    (step,) = stored["steps"]
    assert (step["event"], step["url"]) == ("purchase", "/checkout")

    mapping = {"name": "One", "filters": {"actions": [{"id": stored["id"], "type": "actions"}]}}
    body = {"type": "destination", "name": "To the shop", "hog": "print(1)"}
    post(server, "hog_functions", body | {"mappings": [mapping]})
    row.click()
    expect(dialog.get_by_role("link", name="To the shop")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    delete(page, "Bought")


def test_a_variable_has_a_typed_default(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1/variables")
    page.get_by_role("button", name="New variable").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Least amount")
    dialog.get_by_role("combobox", name="Type").click()
    page.get_by_role("option", name="Number").click()
    dialog.get_by_label("Default value").fill("many")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text('"many" is not a number')).to_be_visible()
    dialog.get_by_label("Default value").fill("12.5")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("cell", name="{variables.least_amount}")).to_be_visible()
    (stored,) = listed(server, "insight_variables", "Least amount")
    assert (stored["type"], stored["default_value"]) == ("Number", 12.5)
    delete(page, "Least amount")


def test_an_integrations_token_is_stored_and_never_shown(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/integrations?new=slack")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Kind")).to_have_value("slack")
    dialog.get_by_label("Name", exact=True).fill("Team chat")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("Token", exact=True).fill("xoxb-secret-value")
    dialog.get_by_role("button", name="Create").click()
    row = page.get_by_role("button", name="Team chat", exact=True)
    expect(row).to_be_visible()
    row.click()
    expect(dialog.get_by_label("Token", exact=True)).to_have_value("")
    assert "xoxb-secret-value" not in page.content()
    dialog.get_by_label("Hosts").fill("slack.com, *.slack.com")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("slack.com, *.slack.com")).to_be_visible()
    (stored,) = listed(server, "integrations", "Team chat")
    assert stored["hosts"] == ["slack.com", "*.slack.com"]
    delete(page, "Team chat")


EDITED = {
    "cohorts": {
        "name": "Edited",
        "filters": {
            "properties": {
                "type": "AND",
                "values": [{"type": "person", "key": "a", "operator": "is_set", "value": "is_set"}],
            }
        },
    },
    "actions": {"name": "Edited", "steps": [{"event": "paid"}]},
    "variables": {"name": "Edited", "type": "String", "default_value": "a"},
    "integrations": {"display_name": "Edited", "kind": "slack", "access_token": "a"},
}


@pytest.mark.parametrize("page_name", EDITED)
def test_a_change_by_somebody_else_is_not_overwritten(
    signed_in: Page, server: RunningServer, page_name: str
) -> None:
    page, noun = signed_in, page_name.replace("variables", "insight_variables")
    created = post(server, noun, EDITED[page_name])
    field = next(iter(EDITED[page_name]))  # names the record
    path = f"/api/projects/1/{noun}/{created['id']}"
    page.goto(f"/project/1/{page_name}")
    server.client.patch(path, json={field: "Shown first"}).raise_for_status()
    page.get_by_role("button", name="Edited", exact=True).press("Enter")
    dialog = page.get_by_role("dialog")
    name = dialog.get_by_label("Name", exact=True)
    expect(name).to_have_value("Shown first")

    server.client.patch(path, json={field: "Theirs"}).raise_for_status()
    name.fill("Mine")
    name.press("Enter")
    warning = f"Changed elsewhere in the meantime: {field.replace('_', ' ')}."
    expect(dialog.get_by_role("alert").first).to_contain_text(warning)
    assert server.client.get(path).json()[field] == "Theirs"
    name.press("Enter")
    expect(page.get_by_role("button", name="Mine", exact=True)).to_be_visible()
    assert server.client.get(path).json()[field] == "Mine"
    delete(page, "Mine")


def test_the_form_of_a_variable_says_how_queries_name_it(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/variables")
    page.get_by_role("button", name="New variable").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Limit to (max_rows)")
    expect(
        dialog.get_by_text("Queries refer to it as {variables.limit_to_maxrows}")
    ).to_be_visible()
