"""``/docs`` in Chromium, under its content security policy and without a sign-in."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser


def test_an_operation_is_found_opened_and_shown_as_curl(page: Page) -> None:
    problems: list[str] = []
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto("/docs")
    expect(page.locator("#status")).to_have_text(re.compile(r"^(\d+) of \1 operations$"))

    page.get_by_label("Search").fill("post hog_functions publish")
    expect(page.locator("#status")).to_have_text(re.compile(r"^1 of \d+ operations$"))
    element = page.locator("main details:visible")
    element.first.locator("summary").first.click()
    page.get_by_label("Project").fill("12")

    expect(element.first.locator("pre")).to_contain_text("/api/projects/12/hog_functions/")
    expect(element.first.locator("pre")).to_contain_text("Bearer $HOGLET_API_KEY")
    expect(element.first.get_by_text("Responses")).to_be_visible()
    assert problems == []


def test_a_search_without_results_hides_every_tag(page: Page) -> None:
    page.goto("/docs")
    page.get_by_label("Search").fill("nothing-has-this-name")

    expect(page.locator("#status")).to_have_text(re.compile(r"^0 of \d+ operations$"))
    expect(page.locator("main h2:visible")).to_have_count(0)


def test_a_link_to_an_operation_opens_it(page: Page) -> None:
    page.goto("/docs#get_api_schema")

    expect(page.locator("#get_api_schema pre")).to_contain_text("/api/schema")
