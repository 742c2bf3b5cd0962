"""The gallery of templates, and functions created from it, in Chromium."""

import re

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from support.server import RunningServer

pytestmark = pytest.mark.browser

NEW = "/project/1/functions/new"


def test_templates_are_searched_and_filtered_by_type(signed_in: Page) -> None:
    page = signed_in
    page.goto(NEW)
    slack = page.get_by_role("link", name="Slack", exact=True)
    expect(slack).to_be_visible()
    card = page.get_by_role("listitem").filter(has=slack)
    expect(card).to_contain_text("Needs: Slack workspace, Channel to post to")
    assert card.locator("img").evaluate("(image) => image.decode().then(() => true)")

    page.get_by_label("Search templates").fill("bot")
    expect(slack).to_be_hidden()
    expect(page).to_have_url(re.compile("search=bot"))
    page.reload()
    expect(page.get_by_label("Search templates")).to_have_value("bot")
    expect(slack).to_be_hidden()

    page.goto(f"{NEW}?type=transformation")
    expect(page.get_by_role("link", name="Blank transformation")).to_be_visible()
    expect(slack).to_be_hidden()
    expect(page.get_by_role("link", name="Blank destination")).to_be_hidden()

    page.goto(f"{NEW}?search=nothing-has-this-name")
    expect(page.get_by_text("No template matches the search.")).to_be_visible()


@pytest.mark.parametrize(
    "kind",
    [
        "destination",
        "transformation",
        "source_webhook",
        "internal_destination",
        "site_destination",
        "site_app",
    ],
)
def test_a_blank_function_of_each_type_is_created(
    signed_in: Page, server: RunningServer, kind: str
) -> None:
    page = signed_in
    page.goto(NEW)
    page.get_by_role("link", name=f"Blank {kind.replace('_', ' ')}", exact=True).click()
    page.get_by_label("Function name").fill(f"My {kind}")
    page.get_by_role("button", name="Create").click()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))
    path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"
    stored = server.client.get(path).json()
    assert (stored["type"], stored["name"], stored["enabled"]) == (kind, f"My {kind}", False)
    assert stored["hog"]


def test_a_double_click_creates_one_function(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto(f"{NEW}?blank=destination")
    page.get_by_label("Function name").fill("Created once")
    page.get_by_role("button", name="Create").dblclick()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))

    listed = server.client.get("/api/projects/1/hog_functions/?search=Created once").json()
    assert listed["count"] == 1


def test_an_error_stands_at_its_input(signed_in: Page) -> None:
    page = signed_in
    page.goto(f"{NEW}?template=template-slack")
    expect(page.get_by_text("No slack integration is stored yet.")).to_be_visible()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("This field is required.")).to_be_visible()
    expect(page).to_have_url(re.compile("template=template-slack"))


def test_the_mappings_of_a_template_are_chosen(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    for is_chosen, names in ((True, ["All events"]), (False, [])):
        page.goto(f"{NEW}?blank=site_destination")
        mapping = page.get_by_role("switch", name="All events")
        expect(mapping).to_be_checked()
        if not is_chosen:
            mapping.click()
            expect(mapping).not_to_be_checked()
        page.get_by_label("Function name").press("Enter")
        expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))
        path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"
        stored = server.client.get(path).json()["mappings"] or []
        assert [each["name"] for each in stored] == names


# Timers of 10 ms, with which NiceGUI waits for its connection, fire late and in reverse order.
LATE_TIMERS = """
let delay = 1000;
const start = window.setTimeout;
window.setTimeout = (act, ms, ...rest) =>
  start(act, ms === 10 ? (delay = Math.max(10, delay - 20)) : ms, ...rest);
"""


def test_what_is_typed_before_the_connection_is_open_arrives_in_order(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    sockets: list[WebSocketRoute] = []

    def hold(socket: WebSocketRoute) -> None:
        sockets.append(socket)

    page.route_web_socket(re.compile("_nicegui_ws"), hold)
    page.add_init_script(LATE_TIMERS)
    page.goto(f"{NEW}?blank=destination")
    page.get_by_label("Function name").press_sequentially("Typed at once")
    page.get_by_role("button", name="Create").click()
    sockets[0].connect_to_server()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))
    path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"
    assert server.client.get(path).json()["name"] == "Typed at once"
