"""The workbench of a function: filters, inputs, tests of unsaved changes, why not, duplicates."""

import re
from contextlib import closing
from threading import Event
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.console import post, wait_for
from support.local_http import Handler, LocalHttp
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def events(server: RunningServer) -> None:
    batch = [
        {"event": "bought", "distinct_id": f"b{plan}", "properties": {"plan": plan}}
        for plan in ("pro", "free", HOSTILE)
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    path = "/api/projects/1/event_definitions"
    wait_for(
        lambda: "bought" in [each["name"] for each in server.client.get(path).json()["results"]]
    )
    query = {"event": "bought", "after": "2020-01-01T00:00:00Z"}
    wait_for(
        lambda: len(server.client.get("/api/projects/1/events", params=query).json()["results"]) > 2
    )


def create(server: RunningServer, **fields: Any) -> str:
    body = {"type": "destination", "name": "Worked on", "hog": "print('ran', event.event)"}
    return str(post(server, "hog_functions", body | fields)["id"])


def stored(server: RunningServer, function_id: str) -> dict[str, Any]:
    return server.client.get(f"/api/projects/1/hog_functions/{function_id}").json()


def fill(page: Page, label: str, text: str) -> None:
    """Choose a suggestion, or enter a text that is none."""
    field = page.get_by_role("combobox", name=label, exact=True)
    field.click()
    field.fill(text)
    expect(page.get_by_role("option", name=text, exact=True).first).to_be_visible()
    page.get_by_role("option", name=text, exact=True).first.click()


@pytest.mark.usefixtures("events")
def test_filters_are_made_from_what_was_seen(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    function_id = create(server)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("button", name="Add event").click()
    fill(page, "Event", "bought")
    page.get_by_role("button", name="Add condition on this event").click()
    fill(page, "Property", "plan")
    fill(page, "Values", HOSTILE)
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("^Matches 1 of the last [0-9]+ events"))).to_be_visible()
    page.get_by_text("Newest matching events").click()
    expect(page.get_by_role("link", name="bought", exact=True)).to_have_count(1)

    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    filters = stored(server, function_id)["filters"]
    assert [(each["id"], each["properties"][0]["value"]) for each in filters["events"]] == [
        ("bought", [HOSTILE])
    ]
    page.get_by_role("button", name="Remove event bought").click()
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(lambda: not stored(server, function_id)["filters"].get("events"))


@pytest.mark.usefixtures("events")
def test_why_not_and_a_trace_of_unsaved_code(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    condition = {"key": "plan", "value": ["pro"], "operator": "exact", "type": "event"}
    entry = {"id": "bought", "type": "events", "properties": [condition]}
    function_id = create(server, filters={"events": [entry]}, enabled=True)
    page.goto(f"/project/1/functions/{function_id}")
    choice = page.get_by_role("combobox", name="Recent event")
    choice.click()
    choice.fill("bfree")
    page.get_by_role("option", name=re.compile("bought · bfree")).click()
    expect(page.get_by_text("This event does not run the function.")).to_be_visible()
    expect(page.get_by_text("properties.plan is 'free'").first).to_be_visible()

    page.get_by_role("textbox", name="Code").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("let total := 6 * 7\nprint('unsaved', total)")
    choice.click()
    choice.fill("bpro")
    page.get_by_role("option", name=re.compile("bought · bpro")).click()
    expect(page.get_by_text("This event runs the function.")).to_be_visible()
    page.get_by_role("button", name="Run test").click()
    expect(page.get_by_role("cell", name="total = 42")).to_be_visible()
    expect(page.get_by_text("unsaved, 42")).to_be_visible()
    assert "unsaved" not in stored(server, function_id)["hog"]


def test_what_takes_long_says_so(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    is_released = Event()

    class Slow(Handler):
        def handle_any(self) -> None:
            self.body()
            is_released.wait(60)
            self.answer(202)

    with closing(LocalHttp(Slow)) as receiver:
        code = f"print('status', fetch('{receiver.url}').status)"
        page.goto(f"/project/1/functions/{create(server, hog=code)}")
        page.get_by_role("switch", name="Mock requests").click()
        page.get_by_role("button", name="Run test").click()
        expect(page.get_by_role("progressbar", name="Working")).to_be_visible()
        is_released.set()
        expect(page.get_by_text("status, 202")).to_be_visible()
        expect(page.get_by_role("progressbar", name="Working")).to_be_hidden()


def test_errors_stand_at_their_fields(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    schema = [{"key": "url", "type": "string", "label": "Address", "required": True}]
    inputs = {"url": {"value": "https://one.example"}}
    function_id = create(server, inputs_schema=schema, inputs=inputs)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_label("Address").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    field = page.locator(".q-field", has=page.get_by_label("Address"))
    expect(field.get_by_role("alert")).to_contain_text("required")
    page.get_by_label("Address").fill("https://two.example")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert stored(server, function_id)["inputs"]["url"]["value"] == "https://two.example"


def test_a_save_shows_its_warnings_until_they_are_mended(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    schema = [{"key": "url", "type": "string", "label": "Address"}]
    filters = {"properties": [{"key": "plan", "type": "event", "operator": "exact"}]}
    function_id = create(
        server,
        hog=f"print('{HOSTILE}')\nprint(inputs.urll)",
        inputs_schema=schema,
        inputs={"url": {"value": "https://one.example"}},
        filters=filters,
    )
    page.goto(f"/project/1/functions/{function_id}")
    warnings = page.get_by_role("status").filter(has=page.get_by_role("listitem"))
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_visible()
    expect(warnings).to_be_hidden()

    save.click()
    expect(warnings.get_by_role("listitem")).to_have_text(
        [
            re.compile("^Code, line 2: Unknown input `urll`. Did you mean"),
            re.compile("^Filters, properties, 0: Property filter without `value`. "),
        ]
    )

    page.get_by_role("textbox", name="Code").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print(inputs.url)")
    save.click()
    expect(warnings.get_by_role("listitem")).to_have_count(1)
    expect(warnings).to_contain_text("Property filter without")


def test_warnings_of_a_save_are_shown_on_the_page_it_opens(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    function_id = create(server, hog="prnt('a')")
    warnings = page.get_by_role("status").filter(has=page.get_by_role("listitem"))
    unknown = re.compile("^Code, line 1: Unknown function `prnt`")

    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("button", name="Duplicate").click()
    page.wait_for_url(lambda url: not url.endswith(function_id))
    expect(warnings.get_by_role("listitem")).to_have_text(unknown)

    page.get_by_role("button", name="Start a draft").click()
    page.wait_for_url("**/*?version=draft")
    expect(warnings.get_by_role("listitem")).to_have_text(unknown)

    page.get_by_role("button", name="Publish").click()
    page.wait_for_url(lambda url: "version=draft" not in url)
    expect(warnings.get_by_role("listitem")).to_have_text(unknown)

    page.reload()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
    expect(warnings).to_be_hidden()


def test_inputs_masking_and_mappings_have_forms(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    function_id = create(server)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_text("Input schema", exact=True).click()
    page.get_by_role("button", name="Add input").click()
    page.get_by_label("Key", exact=True).fill("color")
    page.get_by_label("Label shown in the form").fill(f"Color {HOSTILE}")
    page.get_by_label(f"Color {HOSTILE}").fill("red")

    page.get_by_text("Masking", exact=True).click()
    page.get_by_role("switch", name="Limit repeated runs").click()
    page.get_by_label("Start over after").fill("2")
    page.get_by_text("Mappings", exact=True).click()
    page.get_by_role("button", name="Add mapping").click()
    page.get_by_label("Name of mapping 1").fill(HOSTILE)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(lambda: stored(server, function_id)["mappings"])
    function = stored(server, function_id)
    assert function["inputs_schema"][0]["label"] == f"Color {HOSTILE}"
    assert function["inputs"]["color"]["value"] == "red"
    assert (function["masking"]["ttl"], function["masking"]["hash"]) == (
        7200,
        "{event.distinct_id}",
    )
    assert function["mappings"][0]["name"] == HOSTILE


def test_forms_show_their_json_and_errors(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    function_id = create(server)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_text("Masking", exact=True).click()
    page.get_by_role("button", name="Edit Masking as JSON").click()
    page.get_by_role("textbox", name="Masking").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text('{"hash": "{event.distinct_id}", "ttl": 5, "threshold": null}')
    page.keyboard.press("Control+s")
    expect(page.get_by_role("alert").filter(has_text="ttl")).to_be_visible()
    page.get_by_role("textbox", name="Masking").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text('{"hash": "{event.distinct_id}", "ttl": 60, "threshold": 3}')
    page.get_by_role("button", name="Edit Masking as JSON").click()
    expect(page.get_by_label("n", exact=True)).to_have_value("3")
    page.get_by_role("button", name="Save", exact=True).click()
    wait_for(lambda: (stored(server, function_id)["masking"] or {}).get("threshold") == 3)


def test_a_draft_is_saved_published_and_discarded(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    function_id = create(server)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("textbox", name="Code").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('next')")
    page.get_by_role("button", name="Start a draft").click()
    expect(page.get_by_text("This is the draft.")).to_be_visible()
    assert "next" not in stored(server, function_id)["hog"]

    page.get_by_role("button", name="Run test").click()
    expect(page.get_by_text("info  next", exact=False).first).to_be_visible()
    page.get_by_role("link", name="Show the live function").click()
    page.get_by_role("link", name="Open the draft").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("button", name="Start a draft")).to_be_visible()
    assert stored(server, function_id)["hog"] == "print('next')"

    page.get_by_role("textbox", name="Code").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('dropped')")
    page.get_by_role("button", name="Start a draft").click()
    page.get_by_role("button", name="Discard draft").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard").click()
    expect(page.get_by_role("button", name="Start a draft")).to_be_visible()
    assert stored(server, function_id)["draft"] is None


def test_a_function_is_renamed_duplicated_and_deleted(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    function_id = create(server, enabled=True)
    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("button", name="Rename or describe").click()
    page.get_by_label("Name", exact=True).fill(f"Renamed {HOSTILE}")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name=f"Renamed {HOSTILE}")).to_be_visible()

    page.get_by_role("button", name="Duplicate").click()
    expect(page.get_by_role("heading", name=f"Renamed {HOSTILE} (copy)")).to_be_visible()
    copy_id = page.url.rsplit("/", 1)[1]
    assert stored(server, copy_id)["enabled"] is False

    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_hidden()
    assert stored(server, copy_id)["deleted"] is False
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/functions$"))
    names = [
        each["id"] for each in server.client.get("/api/projects/1/hog_functions/").json()["results"]
    ]
    assert copy_id not in names


def test_the_code_is_not_covered_and_saving_stays_in_reach(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    function_id = create(server, hog="\n".join(f"print({number})" for number in range(80)))
    save = page.get_by_role("button", name="Save", exact=True)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"/project/1/functions/{function_id}")
        line = page.locator(".cm-line").first
        expect(line).to_be_visible()
        box = line.bounding_box()
        bar = save.bounding_box()
        assert box
        assert bar
        assert bar["y"] + bar["height"] <= box["y"]
        page.get_by_text("Masking", exact=True).scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        expect(save).to_be_in_viewport()


def test_leaving_with_changed_forms_asks(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    schema = [{"key": "url", "type": "string", "label": "Address"}]
    function_id = create(server, inputs_schema=schema)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    address = f"/project/1/functions/{function_id}"
    page.goto(address)
    page.get_by_label("Address").fill("https://one.example")
    page.wait_for_function("!dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    page.get_by_role("link", name="Endpoints").click()
    expect(page).to_have_url(re.compile(function_id))
    assert asked == ["beforeunload"]

    page.get_by_label("Address").press("Control+s")  # from any field, not only the editor
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert stored(server, function_id)["inputs"]["url"]["value"] == "https://one.example"
    page.get_by_role("button", name="Add event").click()
    page.wait_for_function("!dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    page.get_by_role("button", name=re.compile("Remove event")).click()
    page.wait_for_function("dispatchEvent(new Event('beforeunload', {cancelable: true}))")
    page.get_by_role("link", name="Functions").click()
    expect(page).to_have_url(re.compile("/functions$"))
    page.go_back()
    expect(page.get_by_label("Address")).to_have_value("https://one.example")
    assert asked == ["beforeunload"]


def test_of_two_tabs_the_second_save_is_refused_until_it_overwrites(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    function_id = create(server)
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"/project/1/functions/{function_id}")
        tab.get_by_role("textbox", name="Code").click()
        tab.keyboard.press("Control+A")
        tab.keyboard.insert_text("print('first')" if tab is page else "print('second')")
    page.get_by_role("switch", name="Enabled").click()  # does not change the saved version
    expect(page.get_by_text("Enabled.")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()

    other.get_by_role("button", name="Save", exact=True).click()
    dialog = other.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog.get_by_text("in another tab or by another user")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert stored(server, function_id)["hog"] == "print('first')"
    other.get_by_role("button", name="Save", exact=True).click()
    dialog.get_by_role("button", name="Overwrite").click()
    expect(other.get_by_text("Saved.")).to_be_visible()
    assert stored(server, function_id)["hog"] == "print('second')"
