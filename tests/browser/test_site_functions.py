"""Site functions and generated JavaScript in Chromium, loaded by the public posthog-js."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from hoglet.hog.compile import compile_program
from hoglet.hog.javascript import program_javascript
from support.hog_cases import Case, read_cases
from support.oracle import need
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser

LIBRARY = Path(__file__).parent.parent / "clients/node_modules/posthog-js/dist/array.full.js"
# posthog-js waits with site apps until the page asks for them (opt_in_site_apps).
PAGE = """<!doctype html><html><head><script>
window.seen = [];
window.posthog = Object.assign([], { _i: [], __SV: 1, people: [] });
posthog._i.push([%s, {
    api_host: location.origin, opt_in_site_apps: true, autocapture: false,
    capture_pageview: false, disable_session_recording: true, opt_out_useragent_filter: true,
}, 'posthog']);
</script><script src="/library.js"></script></head><body></body></html>"""
SOURCE = """
interface Given { inputs: { name: string; who?: string }; posthog: any }
enum Kind { Load = 'load', Event = 'event' }
export async function onLoad({ inputs, posthog }: Given): Promise<void> {
    (window as any).seen.push([Kind.Load, inputs.name, typeof posthog.capture])
}
export function onEvent<T extends Given>({ inputs }: T): void {
    (window as any).seen.push([Kind.Event, inputs.name, inputs.who!])
}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("site") / "data").start()
    yield server
    assert server.stop() == 0


@pytest.fixture
def page(browser: Browser) -> Page:
    page = browser.new_context().new_page()
    page.set_default_timeout(15_000)
    return page


def test_posthog_js_loads_a_site_destination(server: RunningServer, page: Page) -> None:
    need(None if LIBRARY.exists() else "npm posthog-js is not installed: run `make browser`")
    _create(server, _destination())
    problems = _open(page, server)

    page.wait_for_function("window.seen.length >= 1")
    page.evaluate("posthog.capture('bought', { amount: 25 })")
    page.evaluate("posthog.capture('bought', { amount: 5 })")
    page.evaluate("posthog.capture('left', { amount: 25 })")
    page.wait_for_function("window.seen.length >= 2")
    page.wait_for_timeout(300)

    assert page.evaluate("window.seen") == [["load", "Shop", "function"], ["event", "Shop", "25!"]]
    assert problems == []


def test_printed_programs_run_in_chromium(page: Page) -> None:
    page.goto("about:blank")
    for case in _cases():
        lines, failed = page.evaluate(_RUN, [program_javascript(compile_program(case.source))])

        assert (case.name, lines, failed) == (case.name, case.lines, bool(case.runtime_error))


_RUN = """([code]) => {
    const lines = [];
    const console = { log: (text) => lines.push(...text.split('\\n')) };
    try {
        new Function('console', '__getGlobal', code)(console, () => null);
        return [lines, false];
    } catch { return [lines, true] }
}"""


def _cases() -> list[Case]:
    return [
        case
        for case in read_cases()
        if "javascript" in case.engines and not case.globals and not case.compile_error
    ]


def _destination() -> dict[str, Any]:
    condition = {"key": "amount", "value": 20, "operator": "gt", "type": "event"}
    return {
        "type": "site_destination",
        "name": "Shop",
        "enabled": True,
        "hog": SOURCE,
        "inputs_schema": [{"key": "name", "type": "string", "label": "Name"}],
        "inputs": {"name": {"value": "{upper('s')}hop"}},
        "mappings": [
            {
                "name": "bought",
                "inputs_schema": [{"key": "who", "type": "string", "label": "Who"}],
                "inputs": {"who": {"value": "{event.properties.amount}!"}},
                "filters": {
                    "events": [{"id": "bought", "type": "events", "properties": [condition]}]
                },
            }
        ],
    }


def _create(server: RunningServer, body: dict[str, Any]) -> None:
    response = server.client.post("/api/projects/1/hog_functions/", json=body)
    assert response.status_code == 201, response.text


def _open(page: Page, server: RunningServer) -> list[str]:
    """Open the page; returns the list in which its errors appear."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.route("**/site.html", lambda route: _answer(route, PAGE % json.dumps(TOKEN), "text/html"))
    page.route(
        "**/library.js", lambda route: _answer(route, LIBRARY.read_text(), "text/javascript")
    )
    page.goto(f"{server.url}/site.html")
    return problems


def _answer(route: Route, body: str, kind: str) -> None:
    route.fulfill(body=body, content_type=kind)
