"""From an empty project to a first event, delivery and endpoint, in the browser."""

import re
import subprocess
from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from support.console import wait_for
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """A server without events."""
    server = RunningServer(tmp_path_factory.mktemp("empty") / "data").start()
    yield server
    assert server.stop() == 0


def test_an_empty_project_leads_to_the_first_event_and_on(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/")
    expect(page).to_have_url(re.compile("/project/1$"))
    expect(page.get_by_text(TOKEN, exact=True)).to_be_visible()
    expect(page.get_by_text("Waiting for your first event")).to_be_visible()
    page.get_by_role("tab", name="Python").click()
    expect(page.get_by_text(f'host="{server.url}"')).to_be_visible()

    page.get_by_role("tab", name="curl").click()
    command = page.get_by_text("curl http").inner_text()
    subprocess.run(["bash", "-c", command], check=True, timeout=60, capture_output=True)
    expect(page.get_by_text("Your first event arrived:")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="signup").click()
    expect(page.get_by_role("heading", name="signup")).to_be_visible()


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

    functions = server.client.get("/api/projects/1/hog_functions/").json()["results"]
    assert {each["type"]: each["enabled"] for each in functions} == {
        "destination": False,
        "transformation": False,
    }


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
