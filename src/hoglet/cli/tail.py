"""``hoglet events tail``: events as they are stored."""

import json
import time
from collections.abc import Iterator
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.output import AsJson
from hoglet.cli.refusals import BadUsage, print_hint
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.connection import ServerCommand, connect
from hoglet.cli.server.responses import PrintedEvent
from hoglet.kit.json_values import JsonObject

_POLL_SECONDS = 1.0
_LATENESS_SECONDS = 30  # an event may become readable a while after the instant it was stored at
_MOST_AT_ONCE = 1000
_COLUMNS = ("uuid", "timestamp", "event", "distinct_id", "properties")


def tail(
    event: Annotated[
        list[str] | None, typer.Option("--event", help="Only events of this name; repeatable.")
    ] = None,
    where: Annotated[
        str, typer.Option(help="HogQL condition, e.g. \"properties.plan = 'pro'\".")
    ] = "",
    last: Annotated[int, typer.Option(min=0, max=1000, help="Print so many past ones first.")] = 10,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", "-f", help="Go on with new ones.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Print events as they are stored, oldest first; Ctrl-C ends. --json prints one a line."""
    if "--" in where or "/*" in where:
        raise BadUsage("--where is a condition without comments.")
    client = connect()
    condition = _condition(event or [], where)
    console = Console(highlight=False, soft_wrap=True)
    is_empty = True
    try:
        for found in _events(client, condition, last, follow=follow):
            is_empty = False
            print_event(console, found, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
    if last and is_empty and not as_json:
        print_hint("There is no such event yet. Without --no-follow the command waits for it.")


def add_tail(app: typer.Typer) -> None:
    """Mount the command."""
    app.command("tail", cls=ServerCommand)(tail)


def _events(
    client: ApiClient, condition: str, last: int, *, follow: bool
) -> Iterator[PrintedEvent]:
    yield from _select(client, condition, "desc", last)[::-1] if last else []
    if not follow:
        return
    recent = f"({condition}) and created_at >= now() - toIntervalSecond({_LATENESS_SECONDS})"
    seen = {event["uuid"] for event in _select(client, recent, "desc", _MOST_AT_ONCE)}
    while True:
        time.sleep(_POLL_SECONDS)
        found = _select(client, recent, "desc", _MOST_AT_ONCE)[::-1]
        yield from (event for event in found if event["uuid"] not in seen)
        seen = {event["uuid"] for event in found}


def _select(client: ApiClient, condition: str, order: str, limit: int) -> list[PrintedEvent]:
    columns = ", ".join(_COLUMNS)
    text = (  # the server parses the condition as HogQL, under the caller's own rights
        f"select {columns} from events where {condition} "  # noqa: S608
        f"order by created_at {order}, uuid {order} limit {limit}"
    )
    rows = client.call("POST", "/query/", _body(text))["results"]
    return [cast("PrintedEvent", dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _body(text: str) -> JsonObject:
    return {"query": {"kind": "HogQLQuery", "query": text}, "refresh": "force_blocking"}


def _condition(names: list[str], where: str) -> str:
    parts = [f"event in ({', '.join(map(_text, names))})"] if names else []
    parts += [f"({where})"] if where.strip() else []
    return " and ".join(parts) or "1 = 1"


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def recent_events(client: ApiClient) -> list[PrintedEvent]:
    """Events stored within the last half minute, oldest first."""
    recent = f"created_at >= now() - toIntervalSecond({_LATENESS_SECONDS})"
    return _select(client, recent, "desc", _MOST_AT_ONCE)[::-1]


def print_event(console: Console, event: PrintedEvent, *, as_json: bool = False) -> None:
    """One event in a line."""
    properties = event["properties"]
    if isinstance(properties, str):
        properties = json.loads(properties)
    if as_json:
        print(json.dumps({**event, "properties": properties}, ensure_ascii=False), flush=True)
        return
    shown = {key: value for key, value in properties.items() if not key.startswith("$")}
    text = Text(f"{str(event['timestamp'])[:19]} ")
    text.append(event["event"], style="bold")
    text.append(f" {event['distinct_id']} ")
    text.append(json.dumps(shown, ensure_ascii=False), style="dim")
    console.print(text)
