"""A server and a signed-in page for the tests of the console."""

import shutil
from collections.abc import Generator
from contextlib import suppress

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    Playwright,
    expect,
    sync_playwright,
)

from support.server import KEY, RunningServer

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


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    server = RunningServer(tmp_path_factory.mktemp("console") / "data").start()
    yield server
    assert server.stop() == 0


@pytest.fixture(scope="module")
def playwright() -> Generator[Playwright]:
    """The driver, one for each module: starting it takes longer than starting Chromium."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Generator[Browser]:
    """One for each module, closed as a whole: closing contexts sometimes took for ever."""
    browser = launch(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def context(browser: Browser, server: RunningServer) -> BrowserContext:
    """One for each module: loading the scripts anew takes five times as long as a page."""
    expect.set_options(timeout=15_000)
    context = browser.new_context(base_url=server.url)
    context.set_default_timeout(15_000)
    return context


def launch(playwright: Playwright) -> Browser:
    """Start the installed Chromium."""
    return playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_FLAGS)


@pytest.fixture
def page(context: BrowserContext, server: RunningServer) -> Generator[Page]:
    """A page that fails the test when it asks any other host for anything.

    Nothing but the cache of scripts is left of the test before.
    """
    foreign: list[str] = []
    page = context.new_page()
    page.on("request", lambda request: _note_foreign(request.url, server.url, foreign))
    yield page
    storage = {"origin": server.url, "storageTypes": "cookies,local_storage,indexeddb"}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", storage)
    for each in context.pages:
        _close(each)
    assert foreign == []


@pytest.fixture
def signed_in(page: Page) -> Page:
    """Signed in without the form; the page is still empty."""
    answer = page.context.request.post("/console/sign-in", form={"key": KEY}, max_redirects=0)
    assert answer.headers["location"] == "/"
    return page


def _close(page: Page) -> None:
    """Close a page, or go on without: on a busy machine Chromium once never said it had closed."""
    session = page.context.new_cdp_session(page)
    target = session.send("Target.getTargetInfo")["targetInfo"]["targetId"]
    with suppress(Error), page.expect_event("close", timeout=5_000):
        session.send("Target.closeTarget", {"targetId": target})


def _note_foreign(url: str, own: str, foreign: list[str]) -> None:
    if not url.startswith((own, own.replace("http", "ws", 1), "data:", "blob:")):
        foreign.append(url)
