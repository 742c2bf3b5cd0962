"""Shared steps of console tests."""

import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from support.server import RunningServer


def sign_in(page: Page, key: str) -> None:
    """Fill in the form that is open."""
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def post(server: RunningServer, noun: str, body: Any) -> Any:
    """Create something in the first project, e.g. ``post(server, "endpoints", {...})``."""
    response = server.client.post(f"/api/projects/1/{noun}/", json=body)
    assert response.status_code == 201, response.text
    return response.json()


def wait_for(condition: Callable[[], Any]) -> None:
    """Wait until a condition holds that the page does not show."""
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come true within 30 s")
