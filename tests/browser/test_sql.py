"""The SQL page in Chromium: run, share, draw, download, save as endpoint."""

import io
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import Dialog, Page, expect
from pyarrow import parquet

from support.console import post, wait_for
from support.server import TOKEN, RunningServer

pytestmark = pytest.mark.browser

SQL = "SELECT number AS n, concat('<b>', toString(number), ',') AS t FROM numbers(3) ORDER BY n"


def write(page: Page, text: str) -> None:
    page.get_by_role("textbox", name="Query").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def test_a_query_is_run_shared_and_saved_as_an_endpoint(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    page.goto("/project/1/sql")
    write(page, SQL)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="<b>2,")).to_be_visible()
    expect(page.get_by_text(re.compile("^3 rows · .* s · read ")).first).to_be_visible()

    page.reload()  # the URL has the query
    expect(page.get_by_role("cell", name="<b>2,")).to_be_visible()

    page.get_by_role("button", name="Save as endpoint").click()
    name_field = page.get_by_label("Name", exact=True)
    expect(name_field).to_be_focused()
    placeholder = "field => getComputedStyle(field, '::placeholder').opacity"
    assert name_field.evaluate(placeholder) == "1"
    page.get_by_label("Description", exact=True).focus()
    expect(page.locator(".q-field--float", has=name_field)).to_have_count(0)
    assert name_field.evaluate(placeholder) == "0"  # the label covers it
    page.get_by_label("Name", exact=True).fill("not a name")
    page.get_by_role("button", name="Save", exact=True).click()
    name = page.locator(".q-field--error", has=page.get_by_label("Name", exact=True))
    expect(name).to_contain_text("letters")
    page.get_by_label("Name", exact=True).fill("from_sql")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page).to_have_url(re.compile("/endpoints/from_sql$"))
    stored = server.client.get("/api/projects/1/endpoints/from_sql").json()
    assert stored["query"]["query"] == SQL


def test_results_are_downloaded(signed_in: Page) -> None:
    page = signed_in
    page.goto(f"/project/1/sql?q={quote(SQL)}")
    contents = {}
    for name in ("CSV", "JSON", "Parquet"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        contents[name] = download.value.path().read_bytes()
    assert contents["CSV"].splitlines()[:2] == [b"n,t", b'0,"<b>0,"']
    table = parquet.read_table(io.BytesIO(contents["Parquet"]))
    assert table.to_pylist()[2] == {"n": 2, "t": "<b>2,"}


def test_a_chart_is_drawn_and_the_history_kept(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/sql?q=" + quote("SELECT 'a' AS name, 7 AS events"))
    page.get_by_role("button", name="Chart").click()
    expect(page.locator("canvas")).to_be_visible()
    expect(page).to_have_url(re.compile("view=chart"))
    write(page, "SELECT 'text' AS name")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Nothing to chart")).to_be_visible()

    page.get_by_role("button", name="History").click()
    page.get_by_role("button", name=re.compile("7 AS events")).first.click()
    expect(page.get_by_role("textbox", name="Query")).to_contain_text("7 AS events")


def test_the_place_of_an_error_is_shown(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/sql?q=" + quote("SELECT 1,\n  nothing_like_it FROM events"))
    expect(page.get_by_role("alert").get_by_text("nothing_like_it").first).to_be_visible()
    expect(page.locator(".cm-lintRange-error").first).to_contain_text("nothing_like_it")


def test_leaving_with_a_query_that_never_ran_asks(signed_in: Page) -> None:
    page = signed_in
    dialogs: list[str] = []

    def stay(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.goto("/project/1/sql")
    write(page, "SELECT 6 * 7 AS answer")
    expect(page.locator(".hog-editor[data-dirty]")).to_be_visible()
    page.get_by_role("link", name="Persons").click()
    wait_for(lambda: dialogs == ["beforeunload"])
    page.get_by_role("textbox", name="Query").press("Control+Enter")
    expect(page.get_by_role("cell", name="42")).to_be_visible()
    page.get_by_role("link", name="Persons").click()
    expect(page).to_have_url(re.compile("/persons$"))


def test_queries_are_completed(signed_in: Page, server: RunningServer) -> None:
    batch = [
        {"event": "sold", "distinct_id": "u", "properties": {"shelf": "A", "$set": {"vip": 1}}}
    ]
    server.client.post("/batch/", json={"api_key": TOKEN, "batch": batch}).raise_for_status()
    seen = "/api/projects/1/property_definitions?type=person&search=vip"
    wait_for(lambda: server.client.get(seen).json()["results"])
    post(server, "insight_variables", {"name": "shelf", "type": "String", "default_value": "A"})
    page = signed_in
    page.goto("/project/1/sql")
    for before, typed, after, offered in (
        ("SELECT event FROM ", "eve", "", "events"),
        ("SELECT ", "distin", " FROM events", "distinct_id"),
        ("SELECT ", "e.times", " FROM events AS e", "timestamp"),
        ("SELECT ", "nam", " FROM (SELECT event AS name FROM events)", "name"),
        ("SELECT properties.", "she", " FROM events", "shelf"),
        ("SELECT person.properties.", "vi", " FROM events", "vip"),
        ("SELECT ", "toStartOfH", "", "toStartOfHour"),
        ("SELECT 1 FROM events WHERE event = ", "{", "", "variables.shelf"),
    ):
        write(page, before + after)
        for _ in after:
            page.keyboard.press("ArrowLeft")
        page.keyboard.type(typed)
        option = page.get_by_role("option", name=re.compile("^" + re.escape(offered)))
        expect(option.first).to_be_visible()
        page.keyboard.press("Escape")


def test_columns_are_found_and_inserted(signed_in: Page) -> None:
    page = signed_in
    page.goto("/project/1/sql")
    write(page, "SELECT ")
    page.get_by_label("Find a column").fill("person_id")
    page.get_by_role("button", name=re.compile("^person_id ?String|^person_id")).first.click()
    expect(page.get_by_role("textbox", name="Query")).to_contain_text("SELECT person_id")


def test_variables_have_fields_while_a_query_is_written(
    signed_in: Page, server: RunningServer
) -> None:
    page = signed_in
    post(server, "insight_variables", {"name": "atleast", "type": "Number", "default_value": 2})
    page.goto("/project/1/sql")
    write(page, "SELECT number AS n FROM numbers(9) WHERE n >= {variables.atleast}")
    expect(page.get_by_label("atleast")).to_have_attribute("placeholder", "2")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text(re.compile("^7 rows · "))).to_be_visible()
    page.get_by_label("atleast").fill("8")
    page.get_by_label("atleast").press("Control+Enter")
    expect(page.get_by_text(re.compile("^1 row · "))).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
