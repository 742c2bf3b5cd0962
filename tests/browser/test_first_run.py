"""From an empty project to a first event, delivery and endpoint, in the browser."""

import re
import subprocess
from collections.abc import Generator
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from support.console import wait_for
from support.recorder import Recorder
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server without events."""
    server = RunningServer(tmp_path_factory.mktemp("empty") / "data").start()
    yield server
    assert server.stop() == 0


def test_from_nothing_to_an_event_a_delivery_and_an_endpoint(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/events")
    page.get_by_role("link", name="Send an event").click()
    expect(page).to_have_url(re.compile("/project/1$"))
    page.goto("/")
    expect(page).to_have_url(re.compile("/project/1$"))
    expect(page.get_by_text(TOKEN, exact=True)).to_be_visible()
    expect(page.get_by_text("Waiting for your first event")).to_be_visible()
    command = page.get_by_text("curl http").inner_text()
    page.get_by_role("tab", name="Python").click()
    expect(page.get_by_text(f'host="{server.url}"')).to_be_visible()
    page.get_by_role("button", name="Send a test event").click()
    expect(page.get_by_text("Your first event arrived:")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="signup").click()
    expect(page.get_by_role("heading", name="signup")).to_be_visible()
    page.go_back()

    with closing(Recorder()) as receiver:
        page.get_by_role("button", name="Create: Send sign-ups to a webhook").click()
        page.get_by_label("Webhook URL").fill(f"{receiver.url}/hook")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        page.get_by_role("switch", name="Enabled").click()
        expect(page.get_by_text("Enabled.")).to_be_visible()
        function = page.url
        page.get_by_role("link", name="Home").click()
        page.get_by_role("button", name="Send a test event").click()
        wait_for(lambda: receiver.requests)
        page.goto(f"{function}?tab=Metrics")
        expect(page.get_by_text("Succeeded 1")).to_be_visible()
    assert receiver.requests[0].json["event"]["event"] == "signup"

    page.get_by_role("link", name="Home").click()
    page.get_by_role("button", name="Create: Daily active users").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("1 row ·")).to_be_visible()

    subprocess.run(["bash", "-c", command], check=True, timeout=60, capture_output=True)
    query = {"event": "signup"}
    path = "/api/projects/1/events"
    wait_for(lambda: len(server.client.get(path, params=query).json()["results"]) == 3)


def test_starters_create_what_they_say(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1")
    page.get_by_role("button", name="Create: Send sign-ups to a webhook").click()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}"))
    expect(page.get_by_label("Webhook URL")).to_have_value("https://example.com/webhook")
    page.goto("/project/1")
    page.get_by_role("button", name="Create: Drop bot traffic").click()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}"))
    expect(page.get_by_role("heading", name="Drop bot traffic")).to_be_visible()
    page.goto("/project/1")
    page.get_by_role("button", name="Create: Daily active users").click()
    expect(page).to_have_url(re.compile("/endpoints/daily_active_users$"))

    functions = server.client.get("/api/projects/1/hog_functions/?enabled=false").json()
    assert {each["type"] for each in functions["results"]} == {"destination", "transformation"}


def test_the_overview_counts_events_and_lists_failing_functions(
    signed_in: Page, server: RunningServer
) -> None:
    body = {
        "type": "destination",
        "name": "Fails <i>always</i>",
        "hog": "throw Error('no')",
        "enabled": True,
    }
    created = server.client.post("/api/projects/1/hog_functions/", json=body).json()
    batch = [{"event": "counted", "distinct_id": "u"}]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    url = f"/api/projects/1/hog_functions/{created['id']}/metrics/totals/?breakdown_by=name"
    wait_for(lambda: server.client.get(url).json()["totals"].get("failed"))

    page = signed_in
    page.goto("/project/1")
    expect(page.get_by_text("events in the last hour")).to_be_visible()
    expect(page.get_by_text("dead letters", exact=True)).to_be_visible()
    page.get_by_role("link", name="Fails <i>always</i>").click()
    expect(page).to_have_url(re.compile(f"{created['id']}.*tab=Failed"))
    expect(page.get_by_role("cell", name="no", exact=True)).to_be_visible()
