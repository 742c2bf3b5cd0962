"""The console in Chromium: signing in, a function's code, logs and chart."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.console import post, sign_in, wait_for
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.browser

HOG = "print('saw', event.event)"


@pytest.fixture(scope="module")
def function(server: RunningServer) -> dict[str, Any]:
    body = {"type": "destination", "name": "Echo", "hog": HOG, "enabled": True}
    return post(server, "hog_functions", body)


def test_signing_in_and_out(page: Page) -> None:
    page.goto("/project/1/endpoints")
    sign_in(page, "phx_wrong")
    expect(page.get_by_text("This key is not valid.")).to_be_visible()

    sign_in(page, KEY)
    expect(page).to_have_url(re.compile(r"/project/1/endpoints$"))

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.goto("/project/1/functions")
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_functions_code_is_shown_saved_and_tested(
    signed_in: Page, server: RunningServer, function: dict[str, Any]
) -> None:
    page = signed_in
    path = f"/api/projects/1/hog_functions/{function['id']}"
    page.goto("/project/1/functions")
    page.get_by_role("link", name="Echo").click()
    editor = page.locator(".cm-content").first
    expect(editor).to_contain_text(HOG)

    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("let x := ")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile(r"hog: .*1:9"))).to_be_visible()

    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text("print('now', event.event)")  # typing would close the quotes itself
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert "now" in server.client.get(path).json()["hog"]

    page.get_by_role("button", name="Run test").click()
    expect(page.get_by_text(re.compile("now, ")).first).to_be_visible()


def test_a_functions_logs_and_metrics_are_shown(
    signed_in: Page, server: RunningServer, function: dict[str, Any]
) -> None:
    page = signed_in
    function_id = function["id"]
    _capture_three(server, function_id)

    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("tab", name="Logs").click()
    expect(page.get_by_role("cell", name=re.compile("checkout")).first).to_be_visible()
    page.get_by_role("tab", name="Metrics").click()
    expect(page.get_by_text("Succeeded 3")).to_be_visible()
    expect(page.locator("canvas")).to_be_visible()


def test_a_function_is_made_from_a_template_and_its_inputs_changed(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/functions")
    page.get_by_role("button", name="New function").click()
    page.get_by_label("Search templates").fill("webhook")
    page.get_by_role("link", name="HTTP Webhook", exact=True).click()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("This field is required.")).to_be_visible()

    page.get_by_label("Webhook URL").fill("https://one.example/hook")
    page.get_by_role("button", name="Create").click()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))
    page.get_by_label("Webhook URL").fill("https://two.example/hook")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()

    path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"
    stored = server.client.get(path).json()
    assert stored["inputs"]["url"]["value"] == "https://two.example/hook"
    assert stored["enabled"] is False


def test_failed_runs_beyond_the_newest_are_mentioned(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    body = {
        "type": "destination",
        "name": "Breaks often",
        "hog": "throw Error('not today')",
        "enabled": True,
        "filters": {"events": [{"id": "breaks often", "type": "events"}]},
    }
    function_id = post(server, "hog_functions", body)["id"]
    letters = f"/api/projects/1/hog_functions/{function_id}/dead_letters"
    event = {"event": "breaks often", "distinct_id": "u"}
    caption = page.get_by_text("The newest 500 are shown.")

    def fail(times: int, count: int) -> None:
        batch = {"api_key": TOKEN, "batch": [event] * times}
        server.client.post("/batch/", json=batch).raise_for_status()
        wait_for(lambda: server.client.get(letters).json()["count"] == count)

    fail(500, 500)
    page.goto(f"/project/1/functions/{function_id}?tab=Failed")
    expect(page.get_by_role("cell", name="not today").first).to_be_visible()
    expect(caption).to_be_hidden()
    fail(1, 501)
    expect(caption).to_be_visible()


def test_a_failed_run_is_tried_again_and_a_change_undone(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    body = {
        "type": "destination",
        "name": "Breaks",
        "hog": "throw Error('not today')",
        "enabled": True,
        "filters": {"events": [{"id": "breaks", "type": "events"}]},
    }
    path = f"hog_functions/{post(server, 'hog_functions', body)['id']}"
    event = {"event": "breaks", "distinct_id": "u"}
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": [event]}).raise_for_status()
    wait_for(lambda: server.client.get(f"/api/projects/1/{path}/dead_letters").json()["count"])
    server.client.patch(f"/api/projects/1/{path}", json={"hog": "print('mended')"})

    page.goto(f"/project/1/functions/{path.rsplit('/', 1)[1]}")
    page.get_by_role("tab", name="Failed").click()
    page.get_by_role("cell", name="not today").click()
    dialog = page.get_by_role("dialog", name="Failed run")
    expect(dialog.get_by_text('"globals"')).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Redrive all").click()
    expect(page.get_by_text("1 queued again.")).to_be_visible()
    expect(page.get_by_text("Nothing failed")).to_be_visible()

    page.get_by_role("tab", name="History").click()
    expect(page.get_by_text("-throw Error('not today')")).to_be_visible()
    expect(page.get_by_text("+print('mended')")).to_be_visible()
    page.get_by_text("created ·").click()
    page.get_by_role("button", name="Restore this state").click()
    wait_for(lambda: "not today" in server.client.get(f"/api/projects/1/{path}").json()["hog"])


def _capture_three(server: RunningServer, function_id: str) -> None:
    """Three events, and the wait until all are counted as succeeded."""
    batch = [{"event": "checkout", "distinct_id": f"u{number}"} for number in range(3)]
    response = server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch})
    assert response.status_code == 200, response.text
    url = f"/api/projects/1/hog_functions/{function_id}/metrics/totals/?breakdown_by=name"
    wait_for(lambda: server.client.get(url).json()["totals"].get("succeeded") == 3)
