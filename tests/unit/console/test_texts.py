"""Texts of endpoint pages: shell calls, files, error positions."""

import shlex

import orjson

from hoglet.console.api_client import Reply
from hoglet.console.pages.endpoints.result import csv_text
from hoglet.console.pages.endpoints.run import curl
from hoglet.console.source_excerpt import pointed


def test_a_call_survives_the_shell() -> None:
    body = {"variables": {"who": "O'Neil $HOME `ls` \n\\"}}

    words = shlex.split(curl("http://h/run", body).replace("\\\n", ""))

    assert words[:2] == ["curl", "http://h/run"]
    assert orjson.loads(words[-1]) == body


def test_rows_become_csv() -> None:
    rows = [[1, None, "a,b"], [True, [1], 'say "x"']]

    assert csv_text(["n", "m", "t"], rows).splitlines() == [
        "n,m,t",
        '1,,"a,b"',
        'true,[1],"say ""x"""',
    ]


def test_the_place_of_an_error() -> None:
    reply = Reply(400, {"detail": "2:5: unexpected token", "attr": "query"})

    assert reply.place == (2, 5)
    assert pointed("select\nfrom nowhere", (2, 6)) == "2 | from nowhere\n         ^"
    assert pointed("select", (2, 1)) == ""
    assert Reply(400, {"detail": "at 12:30: late", "attr": None}).place is None
    assert Reply(502, None).place is None
