"""The console in Chromium: sign in, a function's code, logs and chart, an endpoint's run."""

import re
import shutil
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.browser

CHROMIUM_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOG = "print('saw', event.event)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("console") / "data").start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def things(server: RunningServer) -> dict[str, Any]:
    """A function that ran three times, and an endpoint with a variable."""
    function = _post(
        server,
        "hog_functions",
        {"type": "destination", "name": "Echo", "hog": HOG, "enabled": True},
    )
    variable = _post(
        server, "insight_variables", {"name": "least", "type": "Number", "default_value": 8}
    )
    query = {
        "kind": "HogQLQuery",
        "query": "SELECT number AS n, n * 2 AS twice FROM numbers(10) WHERE n >= {variables.least}",
        "variables": {
            variable["id"]: {"variableId": variable["id"], "code_name": "least", "value": 8}
        },
    }
    _post(server, "endpoints", {"name": "numbers_up", "query": query})
    return {"function": function}


@pytest.fixture
def page(server: RunningServer) -> Generator[Page]:
    """A page that fails the test when it asks any other host for anything."""
    foreign: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS
        )
        page = browser.new_page(base_url=server.url)
        page.set_default_timeout(15_000)
        expect.set_options(timeout=15_000)
        page.on("request", lambda request: _note_foreign(request.url, server.url, foreign))
        yield page
        browser.close()
    assert foreign == []


@pytest.fixture
def signed_in(page: Page) -> Page:
    page.goto("/")
    _sign_in(page, KEY)
    expect(page.get_by_text("Destinations, transformations")).to_be_visible()
    return page


def _note_foreign(url: str, own: str, foreign: list[str]) -> None:
    if not url.startswith((own, own.replace("http", "ws", 1), "data:", "blob:")):
        foreign.append(url)


def _post(server: RunningServer, noun: str, body: Any) -> Any:
    response = server.client.post(f"/api/projects/1/{noun}/", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def _sign_in(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_signing_in_and_out(page: Page) -> None:
    page.goto("/project/1/endpoints")
    _sign_in(page, "phx_wrong")
    expect(page.get_by_text("This key is not valid.")).to_be_visible()

    _sign_in(page, KEY)
    expect(page).to_have_url(re.compile(r"/project/1/endpoints$"))

    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("API key")).to_be_visible()
    page.goto("/project/1/functions")
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_functions_code_is_shown_saved_and_tested(
    signed_in: Page, server: RunningServer, things: dict[str, Any]
) -> None:
    page = signed_in
    path = f"/api/projects/1/hog_functions/{things['function']['id']}"
    page.reload()
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

    page.get_by_role("tab", name="Test").click()
    page.get_by_role("button", name="Run test").click()
    expect(page.get_by_text("now, $pageview")).to_be_visible()


def test_a_functions_logs_and_metrics_are_shown(
    signed_in: Page, server: RunningServer, things: dict[str, Any]
) -> None:
    page = signed_in
    function_id = things["function"]["id"]
    _capture_three(server, function_id)

    page.goto(f"/project/1/functions/{function_id}")
    page.get_by_role("tab", name="Logs").click()
    expect(page.get_by_role("cell", name=re.compile("checkout")).first).to_be_visible()
    page.get_by_role("tab", name="Metrics").click()
    expect(page.get_by_text("succeeded: 3")).to_be_visible()
    expect(page.locator("canvas")).to_be_visible()


def test_a_function_is_made_from_a_template_and_its_inputs_changed(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.get_by_role("button", name="New function").click()
    page.get_by_label("Begin with").fill("HTTP Webhook")
    page.get_by_role("option", name="HTTP Webhook (destination)").click()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("inputs__url: This field is required.")).to_be_visible()

    page.get_by_label("Webhook URL").fill("https://one.example/hook")
    page.get_by_role("button", name="Create").click()
    expect(page).to_have_url(re.compile(r"/functions/[0-9a-f-]{36}$"))
    page.get_by_role("tab", name="Inputs").click()
    page.get_by_label("Webhook URL").fill("https://two.example/hook")
    page.get_by_role("button", name="Save inputs").click()
    expect(page.get_by_text("Saved.")).to_be_visible()

    path = f"/api/projects/1/hog_functions/{page.url.rsplit('/', 1)[1]}"
    stored = server.client.get(path).json()
    assert stored["inputs"]["url"]["value"] == "https://two.example/hook"
    assert stored["enabled"] is False


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
    path = f"hog_functions/{_post(server, 'hog_functions', body)['id']}"
    event = {"event": "breaks", "distinct_id": "u"}
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": [event]}).raise_for_status()
    _wait_for(lambda: server.client.get(f"/api/projects/1/{path}/dead_letters").json()["count"])
    server.client.patch(f"/api/projects/1/{path}", json={"hog": "print('mended')"})

    page.goto(f"/project/1/functions/{path.rsplit('/', 1)[1]}")
    page.get_by_role("tab", name="Failed").click()
    page.get_by_role("cell", name="not today").click()
    expect(page.get_by_text('"globals"')).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Try all again").click()
    expect(page.get_by_text("1 queued again.")).to_be_visible()
    expect(page.get_by_text("Nothing failed")).to_be_visible()

    page.get_by_role("tab", name="History").click()
    page.get_by_text("created ·").click()
    page.get_by_role("button", name="Back to this state").click()
    _wait_for(lambda: "not today" in server.client.get(f"/api/projects/1/{path}").json()["hog"])


def test_an_endpoint_is_run_with_a_variable(signed_in: Page, things: dict[str, Any]) -> None:
    page = signed_in
    page.get_by_role("link", name="Endpoints").click()
    page.get_by_role("link", name="numbers_up").click()

    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("2 rows")).to_be_visible()

    page.get_by_label("least").fill("5")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("5 rows")).to_be_visible()
    expect(page.get_by_role("columnheader", name="twice")).to_be_visible()
    expect(page.get_by_role("cell", name="18")).to_be_visible()

    page.get_by_label("least").fill("many")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile("variables: "))).to_be_visible()


def test_a_new_endpoint_is_made_and_its_query_changed(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/endpoints")
    page.get_by_placeholder("name_of_a_new_one").fill("made_here")
    page.get_by_role("button", name="New endpoint").click()
    page.get_by_role("tab", name="Query").click()
    editor = page.locator(".cm-content").first
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.type("SELECT 6 * 7 AS answer")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("version 2")).to_be_visible()

    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("cell", name="42")).to_be_visible()

    page.get_by_role("tab", name="Usage").click()
    expect(page.get_by_text("runs in 30 days")).to_be_visible()
    page.get_by_role("tab", name="Versions").click()
    page.get_by_text("version 2 ·").click()
    expect(page.get_by_text("+SELECT 6 * 7 AS answer")).to_be_visible()


def _wait_for(condition: Callable[[], Any]) -> None:
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come true within 30 s")


def _capture_three(server: RunningServer, function_id: str) -> None:
    """Three events, and the wait until all are counted as succeeded."""
    batch = [{"event": "checkout", "distinct_id": f"u{number}"} for number in range(3)]
    response = server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch})
    assert response.status_code == 200, response.text
    url = f"/api/projects/1/hog_functions/{function_id}/metrics/totals/?breakdown_by=name"
    for _ in range(300):
        totals = server.client.get(url).json()["totals"]
        if totals.get("succeeded") == 3:
            return
        time.sleep(0.1)
    raise AssertionError(f"the runs were not counted: {totals}\n{server.log()}")
