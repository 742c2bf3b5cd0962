"""Links in logs and globals lead to the event, the person, or "not found"."""

import re
import time
from collections.abc import Generator
from html import unescape
from typing import Any

import httpx
import pytest

from support.accepted import SECONDS
from support.server import KEY, TOKEN, RunningServer

UUID = "0190f7a0-0000-7000-8000-00000000000a"
DISTINCT_ID = "ada/ß?#%2F&/"
GROUP_KEY = "Acme/ß?#%2F&/"
HOG = "print('links', event.url, person.url, source.url, groups.company.url)"


@pytest.fixture(scope="module")
def server(shared_server: RunningServer) -> RunningServer:
    """The shared one, in its first project: addresses and messages name it."""
    return shared_server


@pytest.fixture(scope="module")
def browser(server: RunningServer) -> Generator[httpx.Client]:
    """Signed in by its cookie; nothing runs scripts."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        client.post("/console/sign-in", data={"key": KEY})
        yield client


@pytest.fixture(scope="module")
def links(server: RunningServer) -> list[str]:
    """The URLs of event, person, source and group as a function printed them."""
    function = {"type": "destination", "name": "Echo", "enabled": True, "hog": HOG}
    response = server.client.post("/api/projects/1/hog_functions/", json=function)
    response.raise_for_status()
    element = {"tag_name": "button", "$el_text": "Buy now", "attr__class": "primary"}
    properties: dict[str, Any] = {
        "price": 12.5, "nested": {"a": [1]}, "html": "<b>&lt;", "$elements": [element],
        "$set": {"email": "ada@example.com"}, "$groups": {"company": GROUP_KEY},
    }  # fmt: skip
    named = {"$group_type": "company", "$group_key": GROUP_KEY, "$group_set": {"size": 5}}
    group = {"api_key": TOKEN, "event": "$groupidentify", "distinct_id": "g", "properties": named}
    server.client.post("/i/v0/e/", json=group).raise_for_status()
    event = {"api_key": TOKEN, "event": "$autocapture", "distinct_id": DISTINCT_ID,
             "uuid": UUID, "properties": properties}  # fmt: skip
    server.client.post("/i/v0/e/", json=event).raise_for_status()
    logs = f"/api/projects/1/hog_functions/{response.json()['id']}/logs"
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for line in server.client.get(logs).json()["results"]:
            if UUID in line["message"] and "links, " in line["message"]:
                return [path_of(url) for url in re.findall(r"http:[^\s,]+", line["message"])]
        time.sleep(0.2)
    raise AssertionError("the function never ran")


def path_of(url: str) -> str:
    """Without the host: the cookie is of 127.0.0.1, the links of localhost."""
    return url[url.index("/project/") :]


def text_of(browser: httpx.Client, address: str) -> str:
    """The text of a page as it is sent."""
    page = browser.get(address)
    assert page.status_code == 200, page.text[:500]
    return unescape(page.text).replace('\\"', '"')


def test_the_link_of_an_event_leads_to_its_page(browser: httpx.Client, links: list[str]) -> None:
    event_url, person_url, *_ = links
    assert f"/project/1/events/{UUID}/" in event_url
    for address in (event_url, event_url.rsplit("/", 1)[0]):
        page = text_of(browser, address)
        assert "$autocapture" in page
        assert "12.5" in page
        assert '{"a":["1"]}' in page.replace("\\", "")
        assert "Buy now" in page
        assert "ada@example.com" in page or "ada/" in page
        assert "links, http" in page  # the line of the function it ran through
        assert "Echo" in page
    assert person_url == "/project/1/person/ada%2F%C3%9F%3F%23%252F%26%2F"


def test_the_link_of_a_person_leads_to_their_page(
    server: RunningServer, browser: httpx.Client, links: list[str]
) -> None:
    person_url = links[1]
    response = server.client.get("/api/projects/1/persons", params={"distinct_id": DISTINCT_ID})
    uuid = response.json()["results"][0]["uuid"]
    for address in (person_url, f"/project/1/persons/{uuid}"):
        page = text_of(browser, address)
        assert "ada@example.com" in page
        assert "ada/ß?#%2F&/" in page
        assert "$autocapture" in page


def test_the_links_of_the_function_and_the_group_lead_to_their_pages(
    browser: httpx.Client, links: list[str]
) -> None:
    source, group = links[2:]
    redirected = browser.get(source)
    assert redirected.status_code == 303
    assert "Echo" in text_of(browser, redirected.headers["location"])
    assert group == "/project/1/groups/0/Acme%2F%C3%9F%3F%23%252F%26%2F"
    page = text_of(browser, group)
    assert GROUP_KEY in page
    assert "size" in page
    assert "Not found" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/project/1/events/0190f7a0-0000-7000-8000-0000000000ff/2026-01-01T00%3A00%3A00Z",
        "/project/1/events/0190f7a0-0000-7000-8000-0000000000ff",
        "/project/1/events/nonsense/x",
        "/project/1/events/%00/%ff",
        "/project/1/person/nobody",
        "/project/1/person/no%2Fbody%3F",
        "/project/1/person/%F0%9F%98%80",
        "/project/1/persons/0190f7a0-0000-7000-8000-0000000000ff",
        "/project/1/persons/nonsense",
        "/project/1/groups/0/acme",
        "/project/1/nothing/at/all",
    ],
)
def test_what_is_missing_says_so_with_a_search(browser: httpx.Client, path: str) -> None:
    page = text_of(browser, path)
    assert "Not found" in page
    assert "UUID of an event or person, or a distinct id" in page


def test_a_strangers_project_shows_nothing(browser: httpx.Client, links: list[str]) -> None:
    page = text_of(browser, links[0].replace("/project/1/", "/project/99/"))
    assert "$autocapture" not in page
    assert "Not found" in page


def test_signing_in_leads_back_to_the_page(server: RunningServer, links: list[str]) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as stranger:
        asked = stranger.get(links[1])
        assert asked.status_code == 303
        target = httpx.URL(asked.headers["location"]).params["next"]
        signed_in = stranger.post("/console/sign-in", data={"key": KEY, "next": target})
        assert "ada@example.com" in text_of(stranger, signed_in.headers["location"])
