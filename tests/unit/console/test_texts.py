"""Texts of endpoint pages: shell calls, files, error positions."""

import ast
import shlex

import orjson
import pytest

from hoglet.console.api_client import Reply
from hoglet.console.pages.endpoints.result import csv_text
from hoglet.console.pages.functions.failed_runs import pattern_of
from hoglet.console.pages.functions.history import difference
from hoglet.console.pages.functions.logs import message_cell
from hoglet.console.snippets import call_snippets, snippets
from hoglet.console.source_excerpt import pointed


def test_a_call_survives_the_shell() -> None:
    body = {"variables": {"who": "O'Neil $HOME `ls` \n\\"}}

    words = shlex.split(call_snippets("http://h/run", body)["curl"].replace("\\\n", ""))

    assert words[:2] == ["curl", "http://h/run"]
    assert orjson.loads(words[-1]) == body


def test_posthog_js_does_not_ask_for_scripts_that_are_not_served() -> None:
    snippet = snippets("https://hoglet.example.com", "phc_a")["JavaScript"]

    options = '{ api_host: "https://hoglet.example.com", disable_surveys: true }'
    assert f'posthog.init("phc_a", {options});' in snippet


def test_a_call_in_python_sends_the_same_body() -> None:
    body = {"variables": {"who": 'O\'Neil \\ "x"', "flag": True, "none": None}}
    tree = ast.parse(call_snippets("http://h/run", body)["Python"])
    (call,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and "requests.post" in ast.unparse(node.func)
    ]
    given = {each.arg: each.value for each in call.keywords}

    assert ast.literal_eval(call.args[0]) == "http://h/run"
    assert ast.literal_eval(given["json"]) == body


def test_a_change_is_a_diff_of_its_lines() -> None:
    before, after = {"a": [1, 2], "bytecode": ["x"]}, {"a": [1, 3], "bytecode": ["y"]}
    lines = difference(before, after).splitlines()

    assert [line.split() for line in lines if line[:1] in "+-"] == [["-", "2"], ["+", "3"]]
    assert difference(None, "new").splitlines()[1:] == ["+new"]
    assert difference("same", "same") == ""


def test_a_log_line_links_its_event() -> None:
    url = "http://h/project/1/events/0190f7a0/2026-01-05T10%3A00%3A00.000Z"
    closing = message_cell(f"Function completed in 2ms. Ops: 0. Event: '{url}'", "1")
    failing = message_cell("Error executing function on event 0190f7a0: no", "1")

    assert closing["message"] == "Function completed in 2ms. Ops: 0."
    assert closing["message_href"] == "/project/1/events/0190f7a0"
    assert failing == closing | {"message": "no"}
    assert message_cell("Event: 'a/events/b/c' came", "1") == {
        "message": "Event: 'a/events/b/c' came"
    }


def test_rows_become_csv() -> None:
    rows = [[1, None, "a,b"], [True, [1], 'say "x"']]

    assert csv_text(["n", "m", "t"], rows).splitlines() == [
        "n,m,t",
        '1,,"a,b"',
        'true,[1],"say ""x"""',
    ]


def test_the_place_of_an_error() -> None:
    reply = Reply(400, {"detail": "2:5: unexpected token", "attr": "query"})

    assert reply.error_position == (2, 5)
    assert pointed("select\nfrom nowhere", (2, 6)) == "2 | from nowhere\n         ^"
    assert pointed("select", (2, 1)) == ""
    assert Reply(400, {"detail": "at 12:30: late", "attr": None}).error_position is None
    assert Reply(502, None).error_position is None


@pytest.mark.parametrize(
    ("error", "pattern"),
    [
        ("row 8 of 12.5: refused", "row … of …: refused"),
        ("status 503 after 3 attempts", "status 503 after … attempts"),
        ("HTTP 503, status: 404, code=12, 500", "HTTP 503, status: 404, code=…, …"),
        ("at 2026-01-05T12:00:00.5Z in 0x7fa4 of 00ff00ff00ff00", "at … in … of …"),
        ("no event 01A20C43-cff0-7713-9810-a31b3ac5e993", "no event …"),
        ("sha256 of v2 failed at 12:30:05", "sha256 of v2 failed at …"),
    ],
)
def test_failed_runs_are_grouped_by_their_error_without_figures(error: str, pattern: str) -> None:
    assert pattern_of(error) == pattern
