"""``hoglet logs``: the log lines of a function, as they were or as they come."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.api_client import ApiClient, ApiRefused, ApiUnreachable, Host, Key, Project

_COLOURS = {"WARN": "yellow", "ERROR": "red", "DEBUG": "dim"}
_RECONNECT_SECONDS = 2.0


def logs(
    function: Annotated[str, typer.Option("--function", help="Id of the function.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with new lines; Ctrl-C ends.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Most lines of the past.")] = 50,
    level: Annotated[str, typer.Option(help="Comma list, e.g. warn,error.")] = "",
    search: Annotated[str, typer.Option(help="Only lines with this text.")] = "",
    host: Host = "127.0.0.1",
    key: Key = "",
    project: Project = "@current",
) -> None:
    """Print log lines of a function, oldest first."""
    client, console = ApiClient(host, key, project), Console(highlight=False, soft_wrap=True)
    wanted = {name: text for name, text in (("level", level), ("search", search)) if text}
    path = f"/hog_functions/{function}/logs"
    past = client.call("GET", f"{path}?{urlencode({**wanted, 'limit': limit})}")["results"][::-1]
    for line in past:
        _print(console, line)
    if not follow:
        return
    last = past[-1]["timestamp"] if past else None
    try:
        for line in _new_lines(client, f"{path}/stream?{urlencode(wanted)}", last):
            _print(console, line)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _new_lines(client: ApiClient, path: str, last: str | None) -> Iterator[dict[str, Any]]:
    """Lines of the stream; when it ends or breaks, of the next one, from the same place on."""
    answered = False
    while True:
        headers = {} if last is None else {"Last-Event-ID": last}
        try:
            with client.open("GET", path, **headers) as stream:
                answered = True
                for line in _events(stream):
                    last = line["timestamp"]
                    yield line
        except ApiRefused:
            raise
        except (ApiUnreachable, OSError, HTTPException):
            if not answered:
                raise
        time.sleep(_RECONNECT_SECONDS)


def _events(stream: Any) -> Iterator[dict[str, Any]]:
    """The data of each ``log`` event; every one is a single line of JSON."""
    kind = ""
    for raw in stream:
        field, _, value = raw.decode().rstrip("\n").partition(": ")
        if field == "event":
            kind = value
        elif field == "data" and kind == "log":
            yield json.loads(value)


def _print(console: Console, line: dict[str, Any]) -> None:
    text = Text(f"{line['timestamp'][:23]} {line['level']:5} {line['message']}")
    text.stylize(_COLOURS.get(line["level"], ""))
    console.print(text)
