"""The endpoint pages in Chromium: list, runs, charts, materialization, versions."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from support.console import post, wait_for
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser

PIXEL = "<img src='https://elsewhere.example/x.png'>"
PAGEVIEW = {"kind": "EventsNode", "event": "$pageview", "name": "$pageview"}
BOUGHT = {"kind": "EventsNode", "event": "bought", "name": "bought"}


@pytest.fixture(scope="module")
def variables(server: RunningServer) -> None:
    """One of each type; ``needed`` has no default."""
    for name, kind, default in (
        ("least", "Number", 8),
        ("flag", "Boolean", True),
        ("since", "Date", "2026-01-05"),
        ("words", "List", ["a", "b"]),
        ("needed", "String", None),
    ):
        body = {"name": name, "type": kind, "default_value": default}
        post(server, "insight_variables", body)


@pytest.fixture(scope="module")
def events(server: RunningServer) -> None:
    """Two people look, one of them buys; the test goes on when they can be queried."""
    batch = [
        {"event": event, "distinct_id": person}
        for event, person in (("$pageview", "one"), ("$pageview", "two"), ("bought", "one"))
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    save_sql(server, "seen", "SELECT count() FROM events WHERE distinct_id IN ('one', 'two')")
    path, body = "/api/projects/1/endpoints/seen/run", {"refresh": "force"}
    wait_for(lambda: server.client.post(path, json=body).json()["results"] == [[3]])


def save_sql(server: RunningServer, name: str, query: str) -> Any:
    return post(
        server, "endpoints", {"name": name, "query": {"kind": "HogQLQuery", "query": query}}
    )


def stored_of(server: RunningServer, name: str) -> Any:
    return server.client.get(f"/api/projects/1/endpoints/{name}").json()


def open_endpoint(page: Page, name: str, tab: str = "Run") -> None:
    page.goto(f"/project/1/endpoints/{name}")
    page.get_by_role("tab", name=tab).click()


def run(page: Page) -> None:
    page.get_by_role("button", name="Run", exact=True).click()


def choose(page: Page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()


def editor_of(page: Page) -> Locator:
    return page.locator(".cm-content").first


def write(page: Page, text: str) -> None:
    editor_of(page).click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


@pytest.mark.usefixtures("variables")
def test_variables_have_fields_of_their_type(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    save_sql(
        server,
        "typed",
        "SELECT number AS n, {variables.flag} AS flag, {variables.since} AS since, "
        "{variables.words} AS words, {variables.needed} AS needed "
        "FROM numbers(10) WHERE n >= {variables.least}",
    )
    open_endpoint(page, "typed")
    expect(page.get_by_label("least")).to_have_attribute("placeholder", "8")
    expect(page.get_by_label("needed *")).to_be_visible()
    run(page)
    expect(page.get_by_role("alert").filter(has_text="missing: needed")).to_be_visible()

    page.get_by_label("least").fill("9")
    choose(page, "flag", "false")
    page.get_by_label("since").fill("2026-02-03")
    page.get_by_label("words").fill("x\ny")
    page.get_by_label("needed *").fill(PIXEL)
    page.get_by_label("needed *").press("Enter")

    expect(page.get_by_text("1 row ·")).to_be_visible()
    for text in ("9", "false", "2026-02-03", '["x","y"]', PIXEL):
        expect(page.get_by_role("cell", name=text, exact=True)).to_be_visible()
    call = page.get_by_text("curl http").inner_text()
    assert f"curl {server.url}/api/projects/1/endpoints/typed/run" in call
    assert '"least":9' in call


def test_rows_are_paged_and_kept_as_a_file(
    signed_in: Page, server: RunningServer, tmp_path: Path
) -> None:
    page = signed_in
    save_sql(server, "many", "SELECT number AS n, if(n = 1, NULL, 'a,b') AS t FROM numbers(130)")
    open_endpoint(page, "many")
    run(page)
    expect(page.get_by_text("there are more rows")).to_be_visible()
    page.get_by_role("button", name="Further rows").click()
    expect(page.get_by_text("rows 101 to 130")).to_be_visible()
    expect(page.get_by_role("button", name="Further rows")).to_be_disabled()
    page.get_by_role("button", name="Earlier rows").click()
    expect(page.get_by_text("there are more rows")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert (len(lines), lines[:3]) == (101, ["n,t", '0,"a,b"', "1,"])


def test_a_failed_run_tells_why(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    save_sql(server, "breaks", "SELECT intDiv(1, count() - count()) FROM events")
    open_endpoint(page, "breaks")
    run(page)
    expect(page.get_by_role("alert").get_by_text("Division by zero.")).to_be_visible()


@pytest.mark.usefixtures("events")
def test_insights_are_drawn(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    series = [PAGEVIEW, BOUGHT]
    entity = {"id": "$pageview", "type": "events"}
    retention = {"period": "Day", "targetEntity": entity, "returningEntity": entity}
    for name, query, expected in (
        ("trend", {"kind": "TrendsQuery", "series": series}, "bought"),
        ("funnel", {"kind": "FunnelsQuery", "series": series}, "50%"),
        ("life", {"kind": "LifecycleQuery", "series": [PAGEVIEW]}, "resurrecting"),
        ("back", {"kind": "RetentionQuery", "retentionFilter": retention}, "100%"),
    ):
        post(server, "endpoints", {"name": name, "query": query})
        open_endpoint(page, name)
        run(page)
        expect(page.get_by_role("cell", name=expected, exact=True).first).to_be_visible()
        if name != "back":
            expect(page.locator("canvas")).to_be_visible()


def test_a_table_is_kept_and_dropped(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    save_sql(server, "kept", "SELECT event, count() AS events FROM events GROUP BY event")
    open_endpoint(page, "kept")
    page.get_by_role("switch", name="Materialized").click()
    expect(page.get_by_text("ready", exact=True)).to_be_visible()
    expect(page.get_by_text("built", exact=True)).to_be_visible()
    run(page)
    expect(page.get_by_text("read from the table of")).to_be_visible()

    page.get_by_role("switch", name="Materialized").click()
    expect(page.get_by_text("not materialized", exact=True)).to_be_visible()


def test_description_tags_and_state_are_changed(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    save_sql(server, "described", "SELECT 1")
    open_endpoint(page, "described")
    page.get_by_role("button", name="Edit description and tags").click()
    page.get_by_role("textbox", name="Description").fill(PIXEL)
    page.get_by_label("Comma-separated tags").fill("two, one")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text(PIXEL)).to_be_visible()
    page.get_by_role("switch", name="Active").click()
    wait_for(lambda: not stored_of(server, "described")["is_active"])
    assert stored_of(server, "described")["tags"] == ["one", "two"]


def test_a_key_that_may_only_read_changes_nothing(page: Page, server: RunningServer) -> None:
    save_sql(server, "read_only", "SELECT 1")
    function = {"type": "destination", "name": "Read only", "hog": "return 1", "enabled": True}
    function_id = post(server, "hog_functions", function)["id"]
    scopes = "endpoint:read,hog_function:read,project:read"
    words = ["key", "create", "--scopes", scopes]
    command = [sys.executable, "-m", "hoglet", *words]
    key = subprocess.check_output(command, env=server.environment, text=True, timeout=60).strip()
    page.context.request.post("/console/sign-in", form={"key": key}, max_redirects=0)
    open_endpoint(page, "read_only")
    for name in ("Active", "Materialized"):
        was = page.get_by_role("switch", name=name).is_checked()
        page.get_by_role("switch", name=name).click()
        expect(page.get_by_text("'endpoint:write'").last).to_be_visible()
        expect(page.get_by_role("switch", name=name, checked=was)).to_be_visible()
    for path, name in (("", "Enabled: Read only"), (f"/{function_id}", "Enabled")):
        page.goto(f"/project/1/functions{path}")
        page.get_by_role("switch", name=name).click()
        expect(page.get_by_text("'hog_function:write'").last).to_be_visible()
        expect(page.get_by_role("switch", name=name)).to_be_checked()


def test_an_endpoint_is_made_its_query_changed_and_versions_named(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/endpoints")
    page.get_by_role("button", name="New endpoint").click()
    page.get_by_label("Name", exact=True).fill("made here")
    page.get_by_role("button", name="Create", exact=True).click()
    name = page.locator(".q-field--error", has=page.get_by_label("Name", exact=True))
    expect(name).to_contain_text("letters")
    page.get_by_label("Name", exact=True).fill("made_here")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page).to_have_url(re.compile("/endpoints/made_here$"))

    page.get_by_role("tab", name="Query").click()
    write(page, "SELECT 6 * 7 AS answer\nFROM nowhere")
    page.get_by_role("button", name="Save as new version").click()
    expect(page.get_by_role("alert").get_by_text("2:6: ")).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_have_text("nowhere")
    write(page, "SELECT 6 * 7 AS answer")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("version 2", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Run").click()
    run(page)
    expect(page.get_by_role("cell", name="42")).to_be_visible()

    page.get_by_role("tab", name="Versions").click()
    page.get_by_label("Alias", exact=True).fill("prod")
    choose(page, "Points to version", "1")
    page.get_by_role("button", name="Set alias").click()
    expect(page.get_by_text("prod → version 1")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_text("+SELECT 6 * 7 AS answer")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Forget prod").click()
    expect(page.get_by_text("prod → version 1")).to_be_hidden()

    page.get_by_role("tab", name="Usage").click()
    runs = page.locator(".figures > :has-text('runs in 30 days')")
    expect(runs).to_contain_text("1")
    server.client.post("/api/projects/1/endpoints/made_here/run", json={}).raise_for_status()
    expect(runs).to_contain_text("2")
    page.get_by_role("tab", name="Logs").click()
    expect(page.get_by_role("cell", name=re.compile("Run of version 2"))).to_have_count(2)
    page.get_by_label("Search messages").fill("nothing like it")
    expect(page.get_by_text("No log lines")).to_be_visible()


def test_a_query_is_shown_as_text_alone(signed_in: Page, server: RunningServer) -> None:
    """A fence of Markdown in a comment opens nothing; ``page`` refuses other hosts' pictures."""
    page = signed_in
    picture = "![x](https://elsewhere.example/x.png)"
    save_sql(server, "fenced", f"/*\n```\n\n{picture}\n{PIXEL}\n*/\nSELECT 1")
    open_endpoint(page, "fenced", "Versions")
    page.get_by_text("version 1 ·").click()
    expect(page.get_by_text(picture)).to_be_visible()
    expect(page.get_by_text(PIXEL)).to_be_visible()


def test_an_insight_is_changed_as_json(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    body = {"name": "as_json", "query": {"kind": "TrendsQuery", "series": [PAGEVIEW]}}
    post(server, "endpoints", body)
    open_endpoint(page, "as_json", "Query")
    write(page, '{"kind": "TrendsQuery",\n"series": oops}')
    page.get_by_role("button", name="Save as new version").click()
    expect(page.get_by_text("This is not valid JSON")).to_be_visible()
    expect(page.locator(".cm-lintRange-error").first).to_contain_text("oops")
    write(page, '{"kind": "\\ud800"}')  # JSON to a browser, but half a character
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    page.get_by_role("button", name="Save as new version").click()
    underlined = page.locator(".cm-lintRange-error")
    expect(underlined.first).to_contain_text("ud800")
    page.wait_for_timeout(1_000)  # longer than the delay of the editor's own check
    expect(underlined.first).to_contain_text("ud800")


def test_endpoints_are_searched(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    body = {"name": "found_by_tag", "query": {"kind": "HogQLQuery", "query": "SELECT 1"}}
    post(server, "endpoints", {**body, "tags": ["needle"]})
    post(server, "endpoints", {**body, "name": "other_one"})
    page.goto("/project/1/endpoints")
    expect(page.get_by_role("link", name="other_one")).to_be_visible()
    post(server, "endpoints", {**body, "name": "came_later"})
    expect(page.get_by_role("link", name="came_later")).to_be_visible()
    page.get_by_label("Search names").fill("NEEDLE")
    expect(page.get_by_role("link", name="other_one")).to_be_hidden()
    page.get_by_role("link", name="found_by_tag").click()
    expect(page.get_by_role("heading", name="found_by_tag")).to_be_visible()


def test_nothing_is_wider_than_a_phone(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    page.set_viewport_size({"width": 390, "height": 844})
    name = "a_" + "very_" * 20 + "long_name"
    save_sql(server, name, f"SELECT '{'wide' * 200}' AS text")
    for path in ("", f"/{name}"):
        page.goto(f"/project/1/endpoints{path}")
        if path:
            run(page)
            expect(page.get_by_text("1 row ·")).to_be_visible()
        else:
            expect(page.get_by_role("link", name=name)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_an_endpoint_is_copied_and_deleted(signed_in: Page, server: RunningServer) -> None:
    page = signed_in
    save_sql(server, "moving", "SELECT 1")
    open_endpoint(page, "moving")
    page.get_by_role("button", name="Python").click()
    expect(page.get_by_text("requests.post(")).to_be_visible()
    page.get_by_role("button", name="TypeScript").click()
    expect(page.get_by_text("await fetch(")).to_be_visible()

    page.get_by_role("button", name="Copy under another name").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("its name is part of the URL")).to_be_visible()
    dialog.get_by_label("New name").fill("moving")
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("alert").filter(has_text="already exists")).to_be_visible()
    dialog.get_by_label("New name").fill("moved")
    dialog.get_by_role("button", name="Copy").click()
    expect(page).to_have_url(re.compile("/endpoints/moved$"))
    assert stored_of(server, "moved")["query"] == stored_of(server, "moving")["query"]

    page.get_by_role("button", name="Delete", exact=True).click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/project/1/endpoints$"))
    assert server.client.get("/api/projects/1/endpoints/moved").status_code == 404


def test_of_two_tabs_the_second_hears_of_the_newer_version(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    save_sql(server, "shared", "SELECT 1")
    page.goto("/project/1/endpoints/shared?tab=Query")
    write(page, "SELECT 3")
    query = {"kind": "HogQLQuery", "query": "SELECT 2"}
    server.client.patch("/api/projects/1/endpoints/shared", json={"query": query})
    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog", name="Changed elsewhere")
    expect(dialog.get_by_text("Version 2 was saved in another tab")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_be_hidden()
    assert stored_of(server, "shared")["query"]["query"] == "SELECT 2"
    page.keyboard.press("Control+s")
    dialog.get_by_role("button", name="Save").click()
    wait_for(lambda: stored_of(server, "shared")["current_version"] == 3)


def test_what_cannot_be_materialized_has_no_builds_and_says_why(
    signed_in: Page, server: RunningServer
) -> None:
    post(server, "insight_variables", {"name": "most", "type": "Number", "default_value": 3})
    counted = "SELECT event, count() AS c FROM events GROUP BY event"
    save_sql(server, "never_built", f"{counted} HAVING c < {{variables.most}}")
    open_endpoint(signed_in, "never_built", tab="Builds")
    expect(signed_in.get_by_text("The query cannot be materialized: ")).to_be_visible()


def test_a_run_is_kept_as_a_golden_case_that_passes(
    signed_in: Page, server: RunningServer, tmp_path: Path
) -> None:
    post(server, "insight_variables", {"name": "metal", "type": "String", "default_value": "gold"})
    metals = ("gold", "gold", "tin: <b>'x'</b>\n#")
    batch = [
        {"event": "golden", "distinct_id": "g", "properties": {"metal": metal}} for metal in metals
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    sql = (
        "SELECT properties.metal AS metal, count() AS c FROM events "
        "WHERE event = 'golden' AND metal = {variables.metal} GROUP BY metal"
    )
    save_sql(server, "golden", sql)
    path, body = "/api/projects/1/endpoints/golden/run", {"refresh": "force"}
    wait_for(lambda: server.client.post(path, json=body).json()["results"] == [["gold", 2]])
    page = signed_in
    open_endpoint(page, "golden")
    page.get_by_label("metal").fill("gold")
    run(page)
    page.get_by_text("Save as a test case").click()
    text = page.get_by_text("- name: as of ").inner_text()

    (tmp_path / "endpoints").mkdir()
    (tmp_path / "hoglet.yaml").write_text("")
    (tmp_path / "endpoints/golden.tests.yaml").write_text(text)
    query = f'name: golden\nquery: "{sql}"\n'
    (tmp_path / "endpoints/golden.yaml").write_text(query)
    variables = "metal: {type: String, default: gold}\n"
    (tmp_path / "variables.yaml").write_text(variables)
    command = [sys.executable, "-m", "hoglet", "test"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert "1 passed, 0 failed" in done.stdout, done.stdout + done.stderr
