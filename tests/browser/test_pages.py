"""Every page in both themes at both widths: accessible, without console errors, not too wide.

One server and one browser serve the whole matrix. ``ADDRESSES`` lists the pages; a new page is one
line there.
"""

from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect

from support.console import post, wait_for
from support.oracle import need
from support.server import KEY, TOKEN, RunningServer

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent.parent / "clients/node_modules/axe-core/axe.min.js"
HOSTILE = "<img src=x onerror=alert(1)>{{ 7 * 7 }} \u202eعربي 🦔 null"
LONG = "W" * 10_000
ADDRESSES = (
    "/sign-in",
    "/project/1",
    "/project/1/functions",
    "/project/1/functions?search=nothing-has-this-name",
    "/project/1/functions/new",
    "/project/1/functions/new?template=template-slack",
    "/project/1/functions/new?blank=site_destination",
    "/project/1/functions/{function}",
    "/project/1/functions/{function}?version=draft",
    "/project/1/functions/{function}?tab=Logs",
    "/project/1/functions/{function}?tab=Metrics",
    "/project/1/functions/{function}?tab=Failed",
    "/project/1/functions/{function}?tab=History",
    "/project/1/functions/{webhook}",
    "/project/1/endpoints",
    "/project/1/endpoints/counted",
    "/project/1/endpoints/counted?tab=Query",
    "/project/1/endpoints/counted?tab=Versions",
    "/project/1/endpoints/counted?tab=Builds",
    "/project/1/endpoints/counted?tab=Usage",
    "/project/1/endpoints/counted?tab=Logs",
    "/project/1/events",
    "/project/1/events?event=nothing&columns=plan,long&after=all",
    "/project/1/events/{event}",
    "/project/1/persons",
    "/project/1/dead-letters",
    "/project/1/data",
    "/project/1/data?tab=Event+properties",
    "/project/1/cohorts",
    "/project/1/cohorts?new=1",
    "/project/1/actions",
    "/project/1/actions?new=1",
    "/project/1/variables",
    "/project/1/variables?new=1",
    "/project/1/integrations",
    "/project/1/integrations?new=slack",
    "/project/1/settings",
    "/project/1/settings?tab=Personal+keys",
    "/project/1/settings?tab=Tenant+tokens",
    "/project/1/settings?tab=Activity",
    "/status",
    "/project/1/person/reader",
    "/project/1/sql",
    "/project/1/sql?q=SELECT+event,+count()+FROM+events+GROUP+BY+event",
    "/project/1/sql?view=chart&q=SELECT+event,+count()+FROM+events+GROUP+BY+event",
    "/project/1/sql?q=SELECT+nothing+FROM+nowhere",
    "/project/1/no-such-page",
    "/project/99",
    "/project/99/functions",
)
HREFS = """[...document.querySelectorAll('a[href]')].map((link) => link.getAttribute('href'))
    .filter((href) => !href.startsWith('#'))"""
PERSONS = (".", "..", "a/b", "%2F", "?x=1&y#z", "<img src=x onerror=alert(1)>", "\u202eعربي", "🦔")
FIRST_PAGE_BYTES = 400_000
VARIANTS = [(theme, width) for theme in ("light", "dark") for width in (1400, 390)]


@pytest.fixture(scope="module")
def names(server: RunningServer) -> dict[str, str]:
    """Something of everything, with hostile names; the ids by the names of ``ADDRESSES``."""
    function = {
        "type": "destination",
        "name": f"Listed {HOSTILE}",
        "description": f"{HOSTILE} {LONG}",
        "hog": "print(event.event)\nthrow Error('it breaks')",
        "enabled": True,
        "inputs_schema": [{"key": "url", "type": "string", "label": "URL", "required": False}],
        "filters": {
            "events": [{"id": HOSTILE, "type": "events"}],
            "properties": [
                {"key": "plan", "value": [HOSTILE], "operator": "exact", "type": "event"},
                {"key": "name", "value": "img", "operator": "icontains", "type": "person"},
            ],
        },
    }
    function_id = post(server, "hog_functions", function)["id"]
    draft = {"draft": {"description": f"Next {HOSTILE}"}}
    server.client.patch(f"/api/projects/1/hog_functions/{function_id}", json=draft)
    sql = {"kind": "HogQLQuery", "query": "SELECT event, count() FROM events GROUP BY event"}
    tags = [HOSTILE, LONG[:100]]
    post(server, "endpoints", {"name": "counted", "query": sql, "tags": tags})
    properties = {"plan": HOSTILE, "long": LONG, "$set": {"name": HOSTILE, "bio": LONG}}
    event = {"event": HOSTILE, "distinct_id": "reader", "properties": properties}
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": [event]}).raise_for_status()
    url = f"/api/projects/1/hog_functions/{function_id}/dead_letters"
    wait_for(lambda: server.client.get(url).json()["count"])
    wait_for(lambda: events_of(server))
    webhook = {"type": "source_webhook", "name": HOSTILE, "hog": "return {}"}
    webhook_id = post(server, "hog_functions", webhook)["id"]
    return {
        "function": function_id,
        "webhook": webhook_id,
        "event": events_of(server)[0]["id"],
    }


def events_of(server: RunningServer, distinct_id: str = "reader") -> list[dict[str, Any]]:
    query = {"distinct_id": distinct_id}
    return server.client.get("/api/projects/1/events", params=query).json()["results"]


def context_of(browser: Browser, server: RunningServer, **options: Any) -> BrowserContext:
    context = browser.new_context(base_url=server.url, **options)
    context.request.post("/console/sign-in", form={"key": KEY}, max_redirects=0)
    return context


@pytest.mark.parametrize(("theme", "width"), VARIANTS, ids=str)
def test_pages_are_accessible_and_fit(
    browser: Browser, server: RunningServer, names: dict[str, str], theme: Any, width: int
) -> None:
    need(None if AXE.exists() else "npm axe-core is not installed: run `make browser`")
    viewport = {"width": width, "height": 844}
    context = context_of(browser, server, color_scheme=theme, viewport=viewport)
    page = context.new_page()
    problems: list[str] = []
    links: dict[str, str] = {}
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    page.on("console", lambda message: _note(message, page, problems))
    page.on("dialog", lambda dialog: _refuse(dialog, page, problems))
    for address in ADDRESSES:
        path = address.format(**names)
        open_page(page, path)
        problems += [f"{address}: {each}" for each in violations(page)]
        problems += [f"{address}: {each}" for each in look_of(page, theme, width)]
        links |= dict.fromkeys(page.evaluate(HREFS), address)
    if (theme, width) == VARIANTS[0]:
        problems += broken(page, links)

    assert problems == []


def test_persons_of_any_name_have_a_page(
    browser: Browser, server: RunningServer, names: dict[str, str]
) -> None:
    batch = [{"event": "seen", "distinct_id": name} for name in PERSONS]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    wait_for(lambda: events_of(server, PERSONS[-1]))
    context = context_of(browser, server)
    page = context.new_page()
    for name in PERSONS:
        page.goto(f"/project/1/events?event=seen&distinct_id={quote(name)}")
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("heading", level=1, name=name, exact=True)).to_be_visible()
    page.goto(f"/project/1/functions/{names['function']}")
    description = page.get_by_text(LONG).first  # it is in the event of the test panel as well
    page.get_by_role("button", name="Show all").press("Enter")
    expect(page.get_by_role("button", name="Show less")).to_be_focused()
    opened = description.bounding_box()
    page.keyboard.press("Enter")
    closed = description.bounding_box()

    assert opened
    assert closed
    assert closed["height"] < 100 < opened["height"]


def test_the_first_page_is_light_and_assets_are_cached(
    browser: Browser, server: RunningServer
) -> None:
    context = context_of(browser, server)
    page = context.new_page()
    requests: list[Any] = []

    def keep(request: Any) -> None:
        requests.append(request)

    page.on("requestfinished", keep)
    open_page(page, "/project/1/functions")
    page.wait_for_load_state("networkidle")
    sizes = {request.url: request.sizes()["responseBodySize"] for request in requests}
    assets = [request for request in requests if request.url.endswith((".js", ".css"))]
    policies = {request.response().headers.get("cache-control", "") for request in assets}

    assert sum(sizes.values()) < FIRST_PAGE_BYTES, sorted(sizes.items(), key=lambda item: -item[1])
    assert assets
    assert all("immutable" in policy for policy in policies), policies


def open_page(page: Page, path: str) -> None:
    page.goto(path)
    page.wait_for_selector("h1", timeout=15_000)
    if "new=" in path:
        page.wait_for_selector("[role=dialog] h2")


def broken(page: Page, links: dict[str, str]) -> Generator[str]:
    """Links that lead nowhere, by the pages they are on; those of the jump dialog as well."""
    targets = page.evaluate("fetch('/console/jump/1').then((answer) => answer.json())")
    links |= {target["href"]: "the jump dialog" for target in targets}
    assert len(links) > len(targets) > 5
    for href, address in links.items():
        if page.context.request.get(href).status >= 400:
            yield f"{address}: the link {href} is broken"


def violations(page: Page) -> list[str]:
    """Violations of axe-core, of any impact."""
    page.evaluate(AXE.read_text())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']} at {[node['target'] for node in each['nodes']][:3]}"
        for each in result["violations"]
    ]


def look_of(page: Page, theme: str, width: int) -> Generator[str]:
    if page.evaluate("document.documentElement.dataset.theme") != theme:
        yield "is not in the theme"
    if page.evaluate("document.documentElement.lang") != "en-US":
        yield "has no language"
    if page.evaluate("document.documentElement.scrollWidth") > width:
        yield f"is wider than {width}"
    if page.evaluate("document.querySelectorAll('h1').length") != 1:
        yield "has not exactly one main heading"
    if page.evaluate("document.querySelector('h1').getBoundingClientRect().top + scrollY") < 0:
        yield "begins above the top"
    if page.evaluate("document.querySelectorAll('img[src=x]').length"):
        yield "shows a text as markup"


def _refuse(dialog: Dialog, page: Page, problems: list[str]) -> None:
    problems.append(f"{page.url} ran a text")
    dialog.dismiss()


def _note(message: Any, page: Page, problems: list[str]) -> None:
    if message.type == "error":
        problems.append(f"{page.url}: {message.text}")
