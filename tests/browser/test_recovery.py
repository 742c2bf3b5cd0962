"""What pages do when the server restarts or the session ends."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Dialog, Page, expect

from support.console import post
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.browser

RESTART_MS = 90_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("recovery") / "data").start()
    yield server
    assert server.stop() == 0


def test_pages_recover_when_the_server_restarts(signed_in: Page, server: RunningServer) -> None:
    body = {"type": "destination", "name": "Edited", "hog": "print(1)"}
    function = post(server, "hog_functions", body)
    edited = signed_in
    edited.goto(f"/project/1/functions/{function['id']}")
    edited.get_by_role("textbox", name="Code").click()
    edited.keyboard.insert_text("print(2)\n")
    dialogs: list[str] = []

    def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    edited.on("dialog", stay)
    live = edited.context.new_page()
    live.goto("/project/1/events")
    expect(live.get_by_text(re.compile("^No events"))).to_be_visible()
    server.kill()
    for page in (live, edited):
        expect(page.get_by_text("Connection lost.")).to_be_visible(timeout=RESTART_MS)
    server.start()
    expect(live.get_by_text("Connected again.")).to_be_visible(timeout=RESTART_MS)
    expect(live.get_by_text("Connection lost.")).to_be_hidden()
    batch = [{"event": "after the restart", "distinct_id": "u"}]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    expect(live.get_by_role("link", name="after the restart")).to_be_visible(timeout=30_000)

    for _ in range(RESTART_MS // 100):  # a page in the background notices later
        if dialogs:
            break
        edited.wait_for_timeout(100)
    assert dialogs == ["beforeunload"]
    expect(edited.locator(".cm-content").first).to_contain_text("print(2)")

    edited.remove_listener("dialog", stay)
    edited.on("dialog", accept)
    edited.reload()
    assert_restored_and_saved(edited, server, function["id"])


def test_what_cannot_be_saved_or_run_during_an_outage_is_said(
    signed_in: Page, server: RunningServer
) -> None:
    body = {"type": "destination", "name": "Offline", "hog": "print(1)"}
    function = post(server, "hog_functions", body)
    page = signed_in
    page.goto(f"/project/1/functions/{function['id']}")
    page.get_by_role("textbox", name="Code").click()
    page.keyboard.insert_text("print(2)\n")
    server.kill()
    expect(page.get_by_text("Connection lost.")).to_be_visible(timeout=RESTART_MS)
    said = page.get_by_role("status")
    page.keyboard.press("Control+s")
    expect(said.filter(has_text="Not saved: the connection to the server is lost.")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(said.filter(has_text="Not run: the connection to the server is lost.")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(said.filter(has_text="Not saved: the connection to the server is lost.")).to_be_visible()
    page.on("dialog", accept)
    server.start()


def accept(dialog: Dialog) -> None:
    dialog.accept()


def assert_restored_and_saved(page: Page, server: RunningServer, function_id: str) -> None:
    expect(page.get_by_role("status").filter(has_text="Your unsaved text is back.")).to_be_visible()
    page.get_by_role("textbox", name="Code").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved.")).to_be_visible()
    path = f"/api/projects/1/hog_functions/{function_id}/"
    assert server.client.get(path).json()["hog"] == "print(1)print(2)"
    page.reload()
    expect(page.locator(".cm-content").first).to_contain_text("print(2)")
    expect(page.get_by_text("Your unsaved text is back.")).to_be_hidden()


def test_code_typed_in_an_ended_session_is_there_after_signing_in(
    signed_in: Page, server: RunningServer
) -> None:
    program = {"type": "destination", "name": "Typed on", "hog": "print(1)"}
    function = post(server, "hog_functions", program)
    body = {"label": "Short-lived", "scopes": ["*"]}
    key = server.client.post("/api/personal_api_keys", json=body).json()
    page = signed_in
    page.context.request.post("/console/sign-in", form={"key": key["value"]}, max_redirects=0)
    page.goto(f"/project/1/functions/{function['id']}")
    page.get_by_role("textbox", name="Code").click()
    page.keyboard.insert_text("print(2)\n")
    server.client.delete(f"/api/personal_api_keys/{key['id']}")
    page.keyboard.press("Control+s")
    page.on("dialog", accept)
    page.get_by_role("alert").get_by_role("link", name="Sign in").click()
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    assert_restored_and_saved(page, server, function["id"])


def test_signing_out_in_one_tab_ends_the_others(signed_in: Page, server: RunningServer) -> None:
    program = {"type": "destination", "name": "In another tab", "hog": "print(1)"}
    function = post(server, "hog_functions", program)
    other = signed_in.context.new_page()
    other.goto(f"/project/1/functions/{function['id']}")
    other.get_by_role("textbox", name="Code").click()
    other.keyboard.insert_text("print(2)\n")
    signed_in.goto("/project/1/events")
    signed_in.get_by_role("button", name="Sign out").click()
    expect(signed_in).to_have_url(re.compile("/sign-in"))

    expect(other.get_by_role("alert").filter(has_text="You are signed out")).to_be_visible()
    other.keyboard.press("Control+s")
    expect(other.get_by_text("You are signed out.", exact=True).first).to_be_visible()
    assert (
        server.client.get(f"/api/projects/1/hog_functions/{function['id']}").json()["hog"]
        == program["hog"]
    )


def test_a_session_that_ended_says_so_and_leads_back(
    signed_in: Page, server: RunningServer
) -> None:
    body = {"label": "Short-lived", "scopes": ["*"]}
    key = server.client.post("/api/personal_api_keys", json=body).json()
    page = signed_in
    page.context.request.post("/console/sign-in", form={"key": key["value"]}, max_redirects=0)
    page.goto("/project/1/events?after=-24h")
    server.client.delete(f"/api/personal_api_keys/{key['id']}")
    banner = page.get_by_role("alert").filter(has_text="You are signed out")
    expect(banner).to_be_visible()
    banner.get_by_role("link", name="Sign in").click()
    page.get_by_label("API key").fill(KEY)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/project/1/events\?after=-24h$"))
