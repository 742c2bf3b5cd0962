"""The shell of the console: theme, sidebar, keyboard, jump dialog."""

import re

import pytest
from playwright.sync_api import Page, expect

from support.console import post
from support.server import RunningServer

pytestmark = pytest.mark.browser


def test_the_theme_is_switched_and_remembered(signed_in: Page) -> None:
    page = signed_in
    page.emulate_media(color_scheme="light")
    page.goto("/project/1/functions")
    root = page.locator("html")
    expect(root).to_have_attribute("data-theme", "light")

    page.get_by_role("button", name="Theme").click()
    expect(root).to_have_attribute("data-theme", "dark")
    page.goto("/project/1/endpoints")
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.locator("body")).to_have_class(re.compile("body--dark"))

    page.get_by_role("button", name="Theme").click()  # back to the theme of the system
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")


def test_the_sidebar_folds_and_is_a_menu_on_phones(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/functions")
    page.get_by_role("button", name="Collapse").click()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-sidebar", "folded")
    expect(page.get_by_role("link", name="Endpoints")).to_be_visible()
    page.get_by_role("button", name="Collapse").click()

    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.get_by_role("button", name="Open the menu").click()
    page.get_by_role("link", name="Endpoints").click()
    expect(page).to_have_url(re.compile("/endpoints$"))


def test_keys_lead_to_pages_and_to_anything_by_name(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    body = {"type": "destination", "name": "Jump <b>here</b>", "hog": "print(1)"}
    function = post(server, "hog_functions", body)
    page.goto("/project/1/endpoints")
    expect(page.get_by_role("heading", name="Endpoints")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile("/functions$"))
    expect(page.get_by_role("link", name="Jump <b>here</b>")).to_be_visible()

    page.keyboard.press("/")
    expect(page.get_by_label("Search functions")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("JUMP <b>")
    expect(page.get_by_role("option", name="Jump <b>here</b>")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(function["id"]))


def test_the_first_tab_stop_skips_the_sidebar(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/functions")
    expect(page.get_by_role("heading", name="Functions")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search functions")).to_be_focused()
