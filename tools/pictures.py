"""Takes the screenshots in docs/pictures, with its own server and sample data.

Needs Chromium, as the browser tests do. Look at the pictures before committing them.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser.conftest import CHROMIUM_FLAGS  # noqa: E402
from support.console import wait_for  # noqa: E402
from support.server import KEY, TOKEN, RunningServer  # noqa: E402

FOLDER = ROOT / "docs/pictures"
SIZE = {"width": 1280, "height": 800}
TALL = {"width": 1280, "height": 1160}  # code, inputs and filters, beside a test and its steps
PHONE = {"width": 390, "height": 844}
SQL = (
    "SELECT properties.plan AS plan, count() AS signups, round(avg(properties.seats), 1) AS seats\n"
    "FROM events\nWHERE event = 'signup'\nGROUP BY plan\nORDER BY signups DESC"
)
HOG = """let who := person.properties.email ?? event.distinct_id
let answer := fetch(inputs.url, {
  'method': 'POST',
  'body': {'text': f'{who} chose {event.properties.plan}'}
})
if (answer.status >= 300) {
  throw Error(f'The webhook answered {answer.status}')
}
"""


def main() -> None:
    """Start a server, add sample data and take every screenshot."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(Path(folder) / "data").start()
        try:
            function_id = _fill(server)
            _take(server, function_id)
        finally:
            server.stop()


def _fill(server: RunningServer) -> str:
    plans = ["free", "free", "team", "pro", "free", "team", "free"]
    now = time.time()
    batch = [
        {
            "event": ["signup", "$pageview", "$pageview", "invited"][index % 4],
            "distinct_id": f"user-{index % 23}",
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - index * 21)),
            "properties": {
                "plan": plans[index % 7],
                "seats": index % 9 + 1,
                "$set": {"email": f"user-{index % 23}@example.com"},
            },
        }
        for index in range(160)
    ]
    _send(server, "hog_functions", _function("Announce sign-ups", HOG))
    failing = _function("Sync to the warehouse", "throw Error('connection refused')")
    _send(server, "hog_functions", failing)
    cleaner = {"type": "transformation", "template_id": "template-ip-anonymization"}
    _send(server, "hog_functions", cleaner | {"name": "Anonymize IP addresses", "enabled": True})
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    functions = server.client.get("/api/projects/1/hog_functions/").json()["results"]
    ids = {each["name"]: each["id"] for each in functions}
    url = f"/api/projects/1/hog_functions/{ids['Sync to the warehouse']}/metrics/totals/"
    wait_for(lambda: server.client.get(f"{url}?breakdown_by=name").json()["totals"].get("failed"))
    seen = "/api/projects/1/property_definitions?type=event&search=seats"
    wait_for(lambda: server.client.get(seen).json()["results"])
    query = {"kind": "HogQLQuery", "query": SQL}
    _send(server, "endpoints", {"name": "signups_by_plan", "query": query})
    path = "/api/projects/1/endpoints/signups_by_plan/run"
    wait_for(lambda: server.client.post(path, json={"refresh": "force"}).status_code == 200)
    return str(ids["Announce sign-ups"])


def _function(name: str, hog: str) -> dict[str, Any]:
    return {
        "type": "destination",
        "name": name,
        "hog": hog,
        "enabled": name != "Announce sign-ups",
        "inputs_schema": [{"key": "url", "type": "string", "label": "URL", "required": True}],
        "inputs": {"url": {"value": "https://hooks.example.com/signups"}},
        "filters": {"events": [{"id": "signup", "type": "events"}]},
    }


def _send(server: RunningServer, noun: str, body: dict[str, Any]) -> None:
    server.client.post(f"/api/projects/1/{noun}/", json=body).raise_for_status()


def _take(server: RunningServer, function_id: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS
        )
        for name, path, theme, size, sign in (
            ("home", "", "light", SIZE, "canvas"),
            ("home-phone", "", "dark", PHONE, "canvas"),
            ("events", "/events?columns=plan,seats", "light", SIZE, "td"),
            ("functions", "/functions", "light", SIZE, "td"),
            ("function", f"/functions/{function_id}", "dark", TALL, ".cm-content"),
            ("endpoint", "/endpoints/signups_by_plan?tab=Query", "light", SIZE, ".cm-content"),
            ("sql", f"/sql?view=chart&q={quote(SQL)}", "light", SIZE, "canvas"),
            ("dead-letters", "/dead-letters", "dark", SIZE, "td"),
        ):
            context = browser.new_context(base_url=server.url, color_scheme=theme, viewport=size)
            context.request.post("/console/sign-in", form={"key": KEY}, max_redirects=0)
            page = context.new_page()
            page.goto(f"/project/1{path}")
            page.locator(sign).first.wait_for()
            if name == "function":
                _test(page)
            if name == "endpoint":
                page.get_by_role("button", name="Run", exact=True).click()
                page.get_by_role("cell").first.wait_for()
            (FOLDER / f"{name}.png").write_bytes(_still(page))
            context.close()
        browser.close()


def _still(page: Page) -> bytes:
    """Wait until the page is stable: charts are drawn, editors have checked their text."""
    page.wait_for_load_state("networkidle")
    before, picture = b"", page.screenshot()
    while picture != before:
        page.wait_for_timeout(500)  # longer than a frame of an animation, and an editor's delay
        before, picture = picture, page.screenshot()
    return picture


def _test(page: Page) -> None:
    choice = page.get_by_role("combobox", name="Recent event")
    choice.click()
    choice.fill("signup")
    page.get_by_role("option", name="signup").first.click()
    page.locator(".badge", has_text="This event").wait_for()
    page.get_by_role("button", name="Run test").click()
    page.get_by_role("cell").first.wait_for()
    page.mouse.wheel(0, -10_000)  # choosing an event scrolled to it


if __name__ == "__main__":
    main()
