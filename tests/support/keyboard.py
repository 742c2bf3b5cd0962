"""Walks through pages of the console with the keyboard alone."""

import re
from typing import Any

from playwright.sync_api import Page, expect

_MAX_STOPS = 120
_FOCUSED = """() => {
    const found = document.activeElement;
    return {
        name: found.getAttribute('aria-label') || found.labels?.[0]?.textContent
            || found.textContent.trim() || found.title,
        isVisible: getComputedStyle(found).outlineStyle !== 'none'
            || found.closest('.q-field--focused, .hog-editor') !== null,
        isOnPage: found.checkVisibility(),
        isBody: found === document.body,
        isEditor: found.closest('.hog-editor') !== null,
    };
}"""


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until an element of this name has the focus; the focus is visible at every stop."""
    for _ in range(_MAX_STOPS):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        stop: dict[str, Any] = page.evaluate(_FOCUSED)
        if stop["isBody"]:
            continue  # the end of the page; the next stop is the first element
        assert stop["isVisible"], f"the focus cannot be seen at {stop}"
        assert stop["isOnPage"], f"the focus is on something hidden: {stop}"
        if re.fullmatch(name, stop["name"].strip()):
            return
        if stop["isEditor"]:
            page.keyboard.press("Escape")  # Tab indents until then
    raise AssertionError(f"Tab does not reach {name}")


def enter(page: Page) -> None:
    """Skip the sidebar, as keyboard users do."""
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    tab_to(page, "Skip to content")
    page.keyboard.press("Enter")
