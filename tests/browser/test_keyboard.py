"""Acts done with the keyboard alone: Tab, Enter, Space, arrows and Escape; focus is visible."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.console import post, wait_for
from support.keyboard import enter, tab_to
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser


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
    page.goto("/project/1/functions?search=Toggled&type=transformation")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.goto("/project/1/functions?search=Toggled&type=destination")
    tab_to(page, "Enabled: Toggled")
    page.keyboard.press("Space")
    expect(page.get_by_text("Enabled.", exact=True)).to_be_visible()
    expect(page.get_by_role("cell", name="healthy")).to_be_visible()
    expect(page.get_by_role("switch", name="Enabled: Toggled")).to_be_focused()
    page.keyboard.press("Space")
    wait_for(lambda: not server.client.get(path).json()["enabled"])

    tab_to(page, "Select Toggled", back=True)
    server.client.patch(path, json={"deleted": True})  # by another user: the row disappears
    expect(page.get_by_text("Nothing found")).to_be_visible(timeout=30_000)
    expect(page.locator(".pane:focus")).to_contain_text("Nothing found")
    tab_to(page, "Search functions", back=True)


SLOW_RENDER = """() => {
    const pane = document.activeElement.closest('.pane');
    const fields = [...pane.childNodes];
    fields.forEach((each) => each.remove());
    pane.before(document.createElement('input'));
    globalThis.renderAgain = () => pane.append(...fields.map((each) => each.cloneNode(true)));
}"""


def test_text_typed_while_a_form_is_rendered_lands_in_no_other_field(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/variables")
    page.get_by_role("button", name="New variable").click()
    dialog = page.get_by_role("dialog")
    field = dialog.get_by_label("Name", exact=True)
    expect(field).to_be_focused()
    page.evaluate(SLOW_RENDER)
    expect(dialog.locator(".pane")).to_be_focused()
    page.keyboard.type("lost")
    expect(dialog.locator("input")).to_have_value("")
    page.evaluate("renderAgain()")
    expect(field).to_be_focused()
    page.keyboard.type("kept")
    expect(field).to_have_value("kept")


def test_the_keys_are_listed_and_lead_to_pages(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/cohorts")
    enter(page)
    tab_to(page, "New cohort")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Shortcuts")
    expect(dialog.get_by_text("Jump to a page")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="New cohort")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile("/events$"))


def test_the_jump_dialog_and_the_menu_of_phones_give_the_focus_back(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/cohorts")
    page.get_by_role("button", name="New cohort").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type("nothing has this name")
    expect(page.get_by_text("Nothing has this name.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New cohort")).to_be_focused()

    page.set_viewport_size({"width": 390, "height": 844})
    menu = page.get_by_role("button", name="Open the menu")
    menu.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    tab_to(page, "Events")
    page.keyboard.press("Escape")
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")


def test_a_function_is_made_from_a_template_filtered_and_explained(
    signed_in: Page, server: RunningServer
) -> None:
    capture(server, "keyed up", "keys", {"plan": "pro"})
    page = signed_in
    page.goto("/project/1/functions/new")
    expect(page.get_by_role("link", name="HTTP Webhook")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("http webhook")
    expect(page.get_by_role("link", name="Slack")).to_be_hidden()
    tab_to(page, "HTTP Webhook")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Create")).to_be_visible()
    enter(page)
    tab_to(page, r"Webhook URL \*")
    page.keyboard.type("https://example.com/hook")
    tab_to(page, "Create")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/functions/[0-9a-f-]{36}"))
    path = f"/api/projects/1/hog_functions/{page.url.split('/')[-1].split('?')[0]}"

    tab_to(page, "Add event")
    page.keyboard.press("Enter")
    field = page.get_by_role("combobox", name="Event", exact=True)
    expect(field).to_be_visible()
    expect(page.get_by_role("button", name="Add event")).to_be_focused()
    tab_to(page, "Event", back=True)
    page.keyboard.type("keyed")
    page.get_by_role("option", name="keyed up").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tab_to(page, "Add condition on this event")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Property", exact=True)).to_be_visible()
    tab_to(page, "Property", back=True)
    page.keyboard.type("plan")
    page.keyboard.press("Enter")
    tab_to(page, "Values")
    page.keyboard.press("ArrowDown")
    page.get_by_role("option", name="pro", exact=True).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    (entry,) = server.client.get(path).json()["filters"]["events"]
    assert (entry["id"], entry["properties"][0]["value"]) == ("keyed up", ["pro"])

    tab_to(page, "Enabled")
    page.keyboard.press("Space")
    expect(page.get_by_text("Enabled.")).to_be_visible()
    tab_to(page, "Explain match")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This event runs the function.")).to_be_visible()


def test_events_are_filtered_and_opened(signed_in: Page, server: RunningServer) -> None:
    capture(server, "chosen", "keys", {"seats": 7})
    page = signed_in
    page.goto("/project/1/events")
    enter(page)
    tab_to(page, "Event")
    page.keyboard.type("chosen")
    page.get_by_role("option", name="chosen").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("event=chosen"))
    tab_to(page, "Columns")
    page.keyboard.press("ArrowDown")
    page.get_by_role("option").first.wait_for()
    page.keyboard.type("seats")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("columnheader", name="seats")).to_be_visible()
    expect(page.get_by_role("cell", name="7", exact=True)).to_be_visible()  # rows come later
    tab_to(page, "chosen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="chosen")).to_be_visible()


def test_a_person_is_edited_and_a_key_is_made(signed_in: Page, server: RunningServer) -> None:
    capture(server, "met", "keyed-person", {"$set": {"plan": "free"}})
    page = signed_in
    page.goto("/project/1/person/keyed-person")
    enter(page)
    tab_to(page, "Edit: plan")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Value")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("team")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="team")).to_be_visible()

    page.goto("/project/1/settings?tab=Personal+keys")
    enter(page)
    tab_to(page, "Create personal key")
    page.keyboard.press("Enter")
    expect(dialog.get_by_label("Label")).to_be_focused()
    page.keyboard.type("By keyboard")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile("^phx_[A-Za-z0-9]{20,}"))).to_be_visible()
    expect(page.get_by_role("button", name="Done")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="By keyboard", exact=True)).to_be_visible()


def test_tab_stays_in_the_dialog(signed_in: Page, server: RunningServer) -> None:
    capture(server, "met", "trapped", {"$set": {"plan": "free"}})
    person = {"distinct_id": "trapped"}  # stored after the event
    wait_for(lambda: server.client.get("/api/projects/1/persons", params=person).json()["results"])
    page = signed_in
    page.goto("/project/1/person/trapped")
    page.get_by_role("button", name="Edit: plan").press("Enter")
    dialog = page.get_by_role("dialog")
    value = dialog.get_by_label("Value")  # the first field, a name, is disabled
    expect(value).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(dialog.get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Tab")
    expect(value).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Edit: plan")).to_be_focused()

    page.get_by_role("button", name="Add property").press("Enter")
    expect(dialog.get_by_label("Name")).to_be_focused()


def test_dead_letters_are_redriven(signed_in: Page, server: RunningServer) -> None:
    body = {
        "type": "destination",
        "name": "Fails",
        "hog": "throw Error('keyed no')",
        "enabled": True,
        "filters": {"events": [{"id": "keyed fails", "type": "events"}]},
    }
    path = f"/api/projects/1/hog_functions/{post(server, 'hog_functions', body)['id']}"
    capture(server, "keyed fails", "keys", {})
    count = f"{path}/metrics/totals/?breakdown_by=name"
    wait_for(lambda: server.client.get(count).json()["totals"].get("dead_lettered") == 1)
    page = signed_in
    page.goto("/project/1/dead-letters")
    expect(page.get_by_role("cell", name="keyed no")).to_be_visible()
    enter(page)
    tab_to(page, "Select Fails")
    page.keyboard.press("Space")
    tab_to(page, "Redrive selected")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    tab_to(page, "Redrive 1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 queued again.")).to_be_visible()


def capture(server: RunningServer, event: str, distinct_id: str, properties: object) -> None:
    batch = [{"event": event, "distinct_id": distinct_id, "properties": properties}]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    wait_for(
        lambda: server.client.get(
            "/api/projects/1/event_definitions", params={"search": event}
        ).json()["results"]
    )
    query = {"event": event, "after": "2020-01-01T00:00:00Z"}
    wait_for(lambda: server.client.get("/api/projects/1/events", params=query).json()["results"])
