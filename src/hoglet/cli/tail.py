"""``hoglet events tail``: events as they are stored."""

import json
import time
from collections.abc import Iterator
from typing import Annotated, NamedTuple, cast

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.error_handling import print_hint
from hoglet.cli.output import AsJson, visible
from hoglet.cli.server.api_client import ApiClient
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.cli.server.connection import ServerCommand, connect
from hoglet.cli.server.responses import PrintedEvent

_POLL_SECONDS = 1.0
_LATENESS_SECONDS = 30  # an event may become readable a while after the instant it was stored at
_MAX_AT_ONCE = 1000
_COLUMNS = ("uuid", "timestamp", "event", "distinct_id", "properties")
_ANY_TIME = {"after": "all", "before": "2200-01-01"}  # clocks of clients may be ahead
_RECENT = f"created_at >= now() - toIntervalSecond({_LATENESS_SECONDS})"
_WHERE = "query__where__0"  # the error field that refers to --where


def tail(
    event: Annotated[
        list[str] | None, typer.Option("--event", help="Only events of this name; repeatable.")
    ] = None,
    where: Annotated[
        str, typer.Option(help="HogQL condition, e.g. \"properties.plan = 'pro'\".")
    ] = "",
    last: Annotated[
        int, typer.Option(min=0, max=1000, help="Number of past events to print first.")
    ] = 10,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", "-f", help="Keep printing new events.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Print events as they are stored, oldest first; Ctrl-C stops. --json prints one per line."""
    client = connect()
    chosen = _Chosen(tuple(event or ()), where)
    console = Console(highlight=False, soft_wrap=True)
    is_empty = True
    try:
        for printed in _events(client, chosen, last, follow=follow):
            is_empty = False
            print_event(console, printed, as_json=as_json)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
    if last and is_empty and not as_json:
        print_hint(
            "There are no such events yet. Without --no-follow the command waits for new ones."
        )


def add_tail(app: typer.Typer) -> None:
    """Mount the command."""
    app.command("tail", cls=ServerCommand)(tail)


class _Chosen(NamedTuple):
    """Selects events by name (all if empty) and by condition."""

    names: tuple[str, ...] = ()
    where: str = ""


def _events(
    client: ApiClient, chosen: _Chosen, last: int, *, follow: bool
) -> Iterator[PrintedEvent]:
    yield from _select(client, chosen, limit=last) if last else []
    if not follow:
        return
    seen = {event["uuid"] for event in _select_recent(client, chosen)}
    while True:
        time.sleep(_POLL_SECONDS)
        recent = _select_recent(client, chosen)
        yield from (event for event in recent if event["uuid"] not in seen)
        seen = {event["uuid"] for event in recent}


def _select_recent(client: ApiClient, chosen: _Chosen) -> list[PrintedEvent]:
    return _select(client, chosen, _RECENT, limit=_MAX_AT_ONCE)


def _select(client: ApiClient, chosen: _Chosen, *conditions: str, limit: int) -> list[PrintedEvent]:
    """The most recently stored events, oldest first.

    Raises:
        ApiRefused: the condition is not valid; positions are those of its own text.
    """
    where = [chosen.where] if chosen.where.strip() else []
    query = {
        "kind": "EventsQuery",
        "select": [*_COLUMNS],
        "where": [*where, *conditions],
        "orderBy": ["created_at DESC", "uuid DESC"],
        "limit": limit,
        **({"events": [*chosen.names]} if chosen.names else {}),
        **_ANY_TIME,
    }
    try:
        rows = client.call("POST", "/query/", {"query": query, "refresh": "force_blocking"})
    except ApiRefused as refusal:
        if not where or refusal.field is None:
            raise
        raise _about_where(refusal) from None
    events = [dict(zip(_COLUMNS, row, strict=True)) for row in rows["results"]]
    return cast("list[PrintedEvent]", events[::-1])


def _about_where(refusal: ApiRefused) -> ApiRefused:
    """The error in terms of ``--where``: for an aggregate, the server blames another clause."""
    if refusal.field == _WHERE:
        detail = refusal.detail.replace(_WHERE, "--where", 1)
    else:
        detail = (
            "400 hogql_query_error: --where: a condition on events cannot contain an aggregate."
        )
    return ApiRefused(detail, status=refusal.status)


def recent_events(client: ApiClient) -> list[PrintedEvent]:
    """Events stored within the last half minute, oldest first."""
    return _select_recent(client, _Chosen())


def print_event(console: Console, event: PrintedEvent, *, as_json: bool = False) -> None:
    """One event in a line."""
    properties = event["properties"]
    if isinstance(properties, str):
        properties = json.loads(properties)
    if as_json:
        print(json.dumps({**event, "properties": properties}, ensure_ascii=False), flush=True)
        return
    custom = {key: value for key, value in properties.items() if not key.startswith("$")}
    text = Text(f"{str(event['timestamp'])[:19]} ")
    text.append(visible(event["event"]), style="bold")
    text.append(visible(f" {event['distinct_id']} "))
    text.append(visible(json.dumps(custom, ensure_ascii=False)), style="dim")
    console.print(text)
