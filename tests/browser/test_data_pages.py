"""Events, persons, dead letters, data, settings and status in Chromium."""

import re
from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from support.console import post, wait_for
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
SEEN = """(isSeen) => {
    Object.defineProperty(document, "hidden", { value: !isSeen, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunningServer]:
    """Its own server: these tests count what is there and rename the project."""
    server = RunningServer(tmp_path_factory.mktemp("pages") / "data").start()
    yield server
    assert server.stop() == 0


def capture(server: RunningServer, event: str, distinct_id: str, **properties: object) -> None:
    batch = [{"event": event, "distinct_id": distinct_id, "properties": properties}]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    query = {"event": event, "distinct_id": distinct_id, "after": "2020-01-01T00:00:00Z"}
    path = "/api/projects/1/events"
    wait_for(lambda: server.client.get(path, params=query).json()["results"])
    if "$set" in properties:  # stored apart from the event
        person = {"distinct_id": distinct_id}
        persons = "/api/projects/1/persons"
        wait_for(lambda: properties_of(server.client.get(persons, params=person).json()))


def count_of(server: RunningServer, event: str) -> int:
    query = {"kind": "HogQLQuery", "query": "SELECT count() FROM events WHERE event = {event}"}
    body = {"query": query | {"values": {"event": event}}, "refresh": "force_blocking"}
    return server.client.post("/api/projects/1/query", json=body).json()["results"][0][0]


def properties_of(persons: dict[str, Any]) -> Any:
    return [person["properties"] for person in persons["results"] if person["properties"]]


def test_events_appear_by_themselves_and_are_filtered(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    capture(server, "looked", "ada", plan="pro")
    page.goto("/project/1/events?columns=plan")
    expect(page.get_by_role("cell", name="pro", exact=True)).to_be_visible()
    capture(server, HOSTILE, "bob", plan="free")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()

    page.evaluate(SEEN, arg=False)
    capture(server, "unseen", "carol", plan="free")
    page.wait_for_timeout(3000)  # longer than a page waits that is seen
    expect(page.get_by_role("link", name="unseen")).to_be_hidden()
    page.evaluate(SEEN, arg=True)
    expect(page.get_by_role("link", name="unseen")).to_be_visible()

    page.get_by_label("Distinct id").fill("ada")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_hidden()
    expect(page).to_have_url(re.compile("distinct_id=ada"))
    page.reload()
    expect(page.get_by_role("link", name="looked")).to_be_visible()
    expect(page.get_by_role("link", name=HOSTILE)).to_be_hidden()
    page.goto("/project/1/events?key=plan&value=free")
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    expect(page.get_by_role("link", name="looked")).to_be_hidden()
    page.goto("/project/1/events?event=looked&distinct_id=nobody")
    page.get_by_role("link", name="Remove the filters").click()
    expect(page.get_by_role("link", name="looked")).to_be_visible()


def test_an_event_says_which_functions_it_runs_and_why_not(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    capture(server, "explained", "carl", plan="free")
    condition = {"key": "plan", "value": ["pro"], "operator": "exact", "type": "event"}
    entry = {"id": "explained", "type": "events"}
    for name, properties in (("Runs for it", []), ("Wants pro", [condition])):
        filters = {"events": [entry | {"properties": properties}]}
        body = {"type": "destination", "name": name, "hog": "print(1)", "enabled": True}
        post(server, "hog_functions", body | {"filters": filters})
    page.goto("/project/1/events?event=explained")
    page.get_by_role("link", name="explained").click()
    runs = page.get_by_role("row").filter(has_text="Runs for it")
    expect(runs.get_by_text("runs", exact=True)).to_be_visible()
    refused = page.get_by_role("row").filter(has_text="Wants pro")
    expect(refused).to_contain_text("properties.plan is 'free'")

    refused.get_by_role("link", name="Wants pro").click()
    expect(page.get_by_role("textbox", name="Globals")).to_contain_text("carl")


def test_an_event_explains_every_function_a_page_at_a_time(
    signed_in: Page, server: RunningServer
) -> None:
    first = {"type": "destination", "name": "The oldest", "hog": "print(1)"}
    post(server, "hog_functions", first)
    for index in range(50):
        body = {"type": "destination", "name": f"Of many {index}", "hog": "print(1)"}
        post(server, "hog_functions", body)
    capture(server, "of many", "paul")
    page = signed_in
    page.goto("/project/1/events?event=of+many")
    page.get_by_role("link", name="of many").click()
    expect(page.get_by_role("link", name="Of many 49")).to_be_visible()
    expect(page.get_by_role("link", name="The oldest")).to_be_hidden()
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("link", name="The oldest")).to_be_visible()


def test_older_events_and_persons_are_loaded(signed_in: Page, server: RunningServer) -> None:
    batch = [
        {
            "event": "paged",
            "distinct_id": f"paged-{index}",
            "properties": {"number": index, "$set": {"email": f"paged-{index}@example.com"}},
        }
        for index in range(260)
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    wait_for(lambda: count_of(server, "paged") == 260)
    page = signed_in
    page.goto("/project/1/events?event=paged&columns=number")
    rows = page.get_by_role("region", name="Events").get_by_role("row")
    expect(rows).to_have_count(51)  # with the header
    more = page.get_by_role("button", name="Show more")
    for count in (100, 150, 200, 250):
        more.click()
        expect(rows).to_have_count(count + 1)
    page.get_by_role("button", name="Show all").click()
    expect(rows).to_have_count(261)
    capture(server, "paged", "paged-newest", number=260)  # leaves the older ones
    page.get_by_role("button", name="1 new, show").click()
    expect(rows).to_have_count(262)

    page.goto("/project/1/persons?search=paged-")
    persons = page.get_by_role("region", name="Persons").get_by_role("row")
    expect(persons).to_have_count(101)
    more.click()
    expect(persons).to_have_count(201)
    more.click()
    expect(persons).to_have_count(261)
    expect(more).to_be_hidden()


def test_nested_properties_are_a_tree(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    lines = [{"sku": HOSTILE, "tags": {"deep": {"deeper": 12345678901234567890}}}, {}]
    order = {"lines": lines, "paid": True, "many": list(range(60))}
    capture(server, "ordered", "dora", order=order, plan="pro", empty={})
    page.goto("/project/1/events?event=ordered")
    page.get_by_role("link", name="ordered").click()

    tree = page.get_by_role("row").filter(has_text="order").first
    expect(tree.get_by_text("paid: true")).to_be_visible()
    expect(tree.get_by_text(f"sku: {HOSTILE}")).to_be_visible()
    expect(tree.get_by_text("2: {}")).to_be_visible()
    expect(tree.get_by_text("deeper")).to_be_hidden()
    tree.get_by_text("tags {1}").focus()
    page.keyboard.press("Enter")
    tree.get_by_text("deep {1}").focus()
    page.keyboard.press("Enter")
    expect(tree.get_by_text("deeper: 12345678901234567890")).to_be_visible()
    expect(tree.get_by_text("60: 59")).to_be_hidden()
    tree.get_by_role("button", name="Show all 60").press("Enter")
    expect(tree.get_by_text("60: 59")).to_be_visible()
    expect(page.get_by_role("cell", name="{}", exact=True)).to_be_visible()


def test_an_event_leads_to_its_groups(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    key = "a b/ü"
    group = {"$group_type": "company", "$group_key": key, "$group_set": {"seats": 7}}
    capture(server, "$groupidentify", "edda", **group)
    groups = {"$groups": {"company": key, "unknown": "x"}}
    capture(server, "grouped", "edda", **groups)
    page.goto("/project/1/events?event=grouped")
    page.get_by_role("link", name="grouped").click()
    page.get_by_role("link", name=f"company {key}").press("Enter")
    expect(page.get_by_role("heading", name=key)).to_be_visible()
    expect(page.get_by_role("cell", name="seats")).to_be_visible()


def test_dead_letters_are_redriven_by_error(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    body = {
        "type": "destination",
        "name": "Broken",
        "hog": "throw Error(f'no {event.properties.why} after {event.properties.ms} ms')",
        "enabled": True,
        "filters": {"events": [{"id": "fails", "type": "events"}]},
    }
    function = f"/api/projects/1/hog_functions/{post(server, 'hog_functions', body)['id']}"
    for ms, why in enumerate(("disk", "disk", "network")):
        capture(server, "fails", f"u-{why}", why=why, ms=ms)
    wait_for(lambda: server.client.get(f"{function}/dead_letters").json()["count"] == 3)
    count = f"{function}/metrics/totals/?breakdown_by=name"
    wait_for(lambda: server.client.get(count).json()["totals"].get("dead_lettered") == 3)
    server.client.patch(function, json={"hog": "print('mended')"}).raise_for_status()

    page.goto("/project/1/dead-letters")
    row = page.get_by_role("row").filter(has_text="no disk after … ms")
    expect(row.get_by_role("cell", name="2", exact=True)).to_be_visible()
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Redrive selected").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive 2").click()
    expect(page.get_by_text("2 queued again.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="no disk")).to_be_hidden()
    expect(page.get_by_role("row").filter(has_text="no network")).to_be_visible()


def test_persons_are_searched(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    for name in ("dora", "emil"):
        properties = {"email": f"{name}@example.com"}
        capture(server, "met", name, **{"$set": properties})
    page.goto("/project/1/persons")
    expect(page.get_by_role("link", name="emil@example.com")).to_be_visible()
    page.get_by_label("Search persons").fill("dora@example.com")
    expect(page.get_by_role("link", name="emil@example.com")).to_be_hidden()
    page.get_by_role("link", name="dora@example.com").click()
    expect(page.get_by_role("heading", name="dora@example.com")).to_be_visible()


def test_a_persons_properties_are_edited(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    capture(server, "met", "fay", **{"$set": {"plan": "free", "code": "12"}})
    page.goto("/project/1/person/fay")
    page.get_by_role("button", name="Edit: code").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Value")).to_have_value('"12"')
    dialog.get_by_label("Value").fill(HOSTILE)
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name=HOSTILE)).to_be_visible()

    page.get_by_role("button", name="Add property").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert").filter(has_text=re.compile("field|blank"))).to_be_visible()
    dialog.get_by_label("Name").fill("age")
    dialog.get_by_label("Value").fill("41")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name="age", exact=True)).to_be_visible()

    page.get_by_role("button", name="Delete: plan").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("cell", name="plan", exact=True)).to_be_hidden()
    path = "/api/projects/1/persons?distinct_id=fay"
    expected = {"code": HOSTILE, "age": 41}
    wait_for(lambda: server.client.get(path).json()["results"][0]["properties"] == expected)


def test_a_person_is_deleted_with_the_events(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    capture(server, "left", "gil", **{"$set": {"email": "gil@example.com"}})
    page.goto("/project/1/person/gil")
    expect(page.get_by_text("In no cohort")).to_be_visible()
    page.get_by_role("button", name="Delete person").click()
    page.get_by_role("switch", name="Also delete the events").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/project/1/persons$"))
    persons = "/api/projects/1/persons?distinct_id=gil"
    wait_for(lambda: server.client.get(persons).json()["results"] == [])
    query = {"event": "left", "after": "2020-01-01T00:00:00Z"}
    wait_for(
        lambda: server.client.get("/api/projects/1/events", params=query).json()["results"] == []
    )


def test_the_type_of_a_property_is_changed(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    capture(server, "sized", "f", size_text="12")
    path, query = "/api/projects/1/property_definitions", {"type": "event", "search": "size_text"}
    wait_for(lambda: server.client.get(path, params=query).json()["results"])
    page.goto("/project/1/data?tab=Event+properties")
    page.get_by_label("Search properties").fill("nothing like it")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.get_by_label("Search properties").fill("size_t")
    expect(page.get_by_role("row").nth(1).get_by_role("cell")).to_have_text(
        ["size_text", "String", "", "1", re.compile("now|ago"), re.compile("now|ago"), ""]
    )
    page.get_by_role("button", name="size_text").click()
    page.get_by_label("Description").fill(HOSTILE)
    page.get_by_role("combobox", name="Type").click()
    page.get_by_role("option", name="Numeric").click()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name=HOSTILE)).to_be_visible()
    stored = server.client.get(path, params=query).json()["results"][0]
    assert (stored["property_type"], stored["description"]) == ("Numeric", HOSTILE)


def test_a_key_is_shown_once_and_deleted(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.goto("/project/1/settings?tab=Personal+keys")
    page.get_by_role("button", name="Create personal key").click()
    page.get_by_label("Label").fill("From the browser")
    page.get_by_label("Scopes").fill("query:read")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    element = page.get_by_text(re.compile("^phx_[A-Za-z0-9]{20,}"))
    expect(element).to_be_visible()
    headers = {"Authorization": f"Bearer {element.inner_text()}"}
    assert server.client.get("/api/personal_api_keys/@current", headers=headers).status_code == 200
    page.get_by_role("button", name="Done").click()
    expect(element).to_be_hidden()

    page.get_by_role("button", name="Delete: From the browser").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("cell", name="From the browser", exact=True)).to_be_hidden()
    assert server.client.get("/api/personal_api_keys/@current", headers=headers).status_code == 401


def test_the_project_is_renamed_and_errors_are_shown(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/settings")
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("This field may not be blank.")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.get_by_label("Name", exact=True).fill(f"Shop {HOSTILE}")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("navigation", name="Main")).to_contain_text(f"Shop {HOSTILE}")
    assert server.client.get("/api/projects/1").json()["name"] == f"Shop {HOSTILE}"


def test_conditions_of_real_accounts_are_saved(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    capture(server, "joined", "hal", team="red")
    path, query = "/api/projects/1/property_definitions", {"type": "event", "search": "team"}
    wait_for(lambda: server.client.get(path, params=query).json()["results"])
    page.goto("/project/1/settings")
    page.get_by_role("button", name="Add condition for real accounts").click()
    page.get_by_role("combobox", name="Operator").click()
    page.get_by_role("option", name="does not contain", exact=True).click()
    key = page.get_by_role("combobox", name="Property", exact=True)
    key.click()
    key.fill("team")
    page.get_by_role("option", name="team", exact=True).click()
    page.get_by_label("Value", exact=True).fill(HOSTILE)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Update test accounts").click()
    stored = {"key": "team", "value": HOSTILE, "operator": "not_icontains", "type": "event"}
    wait_for(
        lambda: server.client.get("/api/projects/1").json()["test_account_filters"] == [stored]
    )


def test_the_status_names_parts_and_versions(signed_in: Page) -> None:
    page = signed_in
    page.goto("/status")
    for part in ("storage", "warehouse", "queue", "disk"):
        expect(page.get_by_text(part, exact=True)).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="functions.invoke").first).to_be_visible()
    compile_workers = page.get_by_role("region", name="Workers").get_by_role("row", name="compile")
    expect(compile_workers.get_by_role("cell")).to_have_text(
        ["compile", re.compile("[0-9]"), re.compile("[0-9]"), "0"]
    )
    expect(page.get_by_role("row").filter(has_text="chdb")).to_be_visible()
    expect(page.get_by_role("link", name="Status")).to_have_attribute("href", "/status?project=1")
