"""``hoglet functions explain``: why an event does or does not run a function."""

from collections.abc import Iterator
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.functions.reference import Draft, Function, find_id
from hoglet.cli.json_input import read_json_object
from hoglet.cli.output import AsJson, print_json
from hoglet.cli.server.connection import connect
from hoglet.cli.server.responses import ConditionResponse, MatchResponse
from hoglet.kit.json import JsonObject

_MARKS = {True: ("✓", "green"), False: ("✗", "red")}


def explain(
    function: Function,
    event: Annotated[
        str,
        typer.Option(
            "--event", help="UUID of a stored event, or an event: JSON, a file, or - for stdin."
        ),
    ],
    configuration: Annotated[
        str | None,
        typer.Option(
            "--configuration",
            help='Unsaved changes to explain instead, e.g. {"filters": {…}}: JSON, a file, or -.',
        ),
    ] = None,
    draft: Draft = False,
    as_json: AsJson = False,
) -> None:
    """Show each condition of a function and whether an event meets it."""
    body: JsonObject = {}
    if _is_uuid(event):
        body["event_uuid"] = event
    else:
        body["event"] = read_json_object("--event", event)
    if configuration is not None:
        body["configuration"] = read_json_object("--configuration", configuration)
    if draft:
        body["draft"] = True
    client = connect()
    answer = client.call("POST", f"/hog_functions/{find_id(client, function)}/explain_match", body)
    if as_json:
        print_json(answer)
        return
    console = Console(highlight=False, soft_wrap=True)
    for line in _lines(answer):
        console.print(line)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _lines(answer: MatchResponse) -> Iterator[Text]:
    for condition in answer["conditions"]:
        yield from _condition(condition, 0)
    for mapping in answer["mappings"] or []:
        yield _marked(mapping["matched"], 0, f"mappings[{mapping['index']}]", mapping["name"])
        for condition in mapping["conditions"]:
            yield from _condition(condition, 1)
    for failure in answer["failed"]:
        if failure["kind"] in {"inputs", "masking", "enabled", "status"}:
            yield _marked(False, 0, failure["path"], failure["reason"])
    for note in answer["notes"]:
        yield Text(note, style="dim")
    yield Text(_summary(answer))


def _condition(condition: ConditionResponse, depth: int) -> Iterator[Text]:
    text = condition["condition"] if condition["matched"] else condition["reason"]
    if condition["operator"] is not None:
        text = "one of" if condition["operator"] == "any" else "all of"
    yield _marked(condition["matched"], depth, condition["path"], text)
    for part in condition["parts"]:
        yield from _condition(part, depth + 1)


def _marked(matched: bool, depth: int, path: str, text: str | None) -> Text:
    mark, colour = _MARKS[matched]
    return Text.assemble(
        "  " * depth, (mark, colour), f" {path}", (f"  {text}" if text else "", "dim")
    )


def _summary(answer: MatchResponse) -> str:
    name = answer["event"]["event"]
    if not answer["matched"]:
        return f"{name} does not match the function."
    if not answer["would_run"]:
        return f"{name} matches, but the function would not run now."
    return f"{name} matches, and the function would run."
