"""``hoglet functions logs``: prints and follows the log lines of a function."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from typing import Annotated, Any
from urllib.parse import urlencode

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.error_handling import BadUsage, print_hint
from hoglet.cli.functions.reference import Function, find_id
from hoglet.cli.output import AsJson, visible
from hoglet.cli.server.api_client import ApiClient, ApiUnreachable
from hoglet.cli.server.api_errors import ApiRefused
from hoglet.cli.server.connection import connect
from hoglet.cli.server.responses import FunctionLogLine

_COLOURS = {"WARN": "yellow", "ERROR": "red", "DEBUG": "dim"}
_LEVELS = ("DEBUG", "LOG", "INFO", "WARN", "ERROR")
_RECONNECT_SECONDS = 2.0
_MAX_LINES_READ = 500  # past lines in one response
_LATENESS = timedelta(seconds=30)  # the server looks this far behind the newest line, too
_MAX_KNOWN_LINES = 20_000  # beyond this, lines too old to be sent again are dropped


def logs(
    function: Function,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Follow new lines; Ctrl-C ends.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum number of past lines.")] = 50,
    level: Annotated[str, typer.Option(help="Comma-separated, e.g. warn,error.")] = "",
    search: Annotated[str, typer.Option(help="Only lines that contain this text.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print log lines of a function, oldest first; with --json one object per line."""
    show = _print_json_line if as_json else _line_printer()
    _check_levels(level)
    client = connect()
    filters = {name: text for name, text in (("level", level), ("search", search)) if text}
    path = f"/hog_functions/{find_id(client, function)}/logs"
    read = _MAX_LINES_READ if follow else limit
    past = client.call("GET", f"{path}?{urlencode({**filters, 'limit': read})}")["results"][::-1]
    for line in past[-limit:]:
        show(line)
    if not follow:
        if not past and not as_json:
            print_hint("There are no such lines yet. With -f the command waits for new ones.")
        return
    try:
        for line in _new_lines(client, f"{path}/stream?{urlencode(filters)}", _Seen(past)):
            show(line)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def _check_levels(text: str) -> None:
    unknown = [each for each in text.split(",") if text and each.strip().upper() not in _LEVELS]
    if unknown:
        raise BadUsage(f"--level {unknown[0]} is not one of {', '.join(_LEVELS).lower()}.")


class _Seen:
    """The lines that were already read.

    Lines become readable shortly after their timestamps and out of order. So each stream starts a
    little before the newest line, and lines that were already read are skipped.
    """

    def __init__(self, past: list[FunctionLogLine]) -> None:
        now = datetime.now(UTC)
        self._newest = datetime.fromisoformat(past[-1]["timestamp"]) if past else now
        self._from = self._newest - _LATENESS
        if len(past) == _MAX_LINES_READ:  # earlier lines were left out on purpose
            self._from = max(self._from, datetime.fromisoformat(past[0]["timestamp"]))
        self._keys = set(map(_key, past))

    def begin(self) -> str:
        """Where the next stream begins, as a ``Last-Event-ID``."""
        self._from = max(self._from, self._newest - _LATENESS)
        start = self._from.isoformat()
        self._keys = {key for key in self._keys if datetime.fromisoformat(key[0]) >= self._from}
        return start

    def is_new(self, line: FunctionLogLine) -> bool:
        """Whether a line is new; marks it as read."""
        key = _key(line)
        if key in self._keys:
            return False
        self._keys.add(key)
        self._newest = max(self._newest, datetime.fromisoformat(line["timestamp"]))
        if len(self._keys) > _MAX_KNOWN_LINES:
            self.begin()
        return True


def _key(line: FunctionLogLine) -> tuple[str, str, str]:
    return line["timestamp"], line["instance_id"], line["message"]


def _new_lines(client: ApiClient, path: str, seen: _Seen) -> Iterator[FunctionLogLine]:
    """New lines; reconnects where the stream ended or broke off."""
    answered = False
    while True:
        try:
            with client.open("GET", path, **{"Last-Event-ID": seen.begin()}) as stream:
                answered = True
                yield from filter(seen.is_new, _events(stream))
        except ApiRefused:
            raise
        except (ApiUnreachable, OSError, HTTPException):
            if not answered:
                raise
        time.sleep(_RECONNECT_SECONDS)


def _events(stream: Any) -> Iterator[FunctionLogLine]:
    """The data of each ``log`` event; every one is a single line of JSON."""
    kind = ""
    for raw in stream:
        field, _, value = raw.decode().rstrip("\n").partition(": ")
        if field == "event":
            kind = value
        elif field == "data" and kind == "log":
            yield json.loads(value)


def _print_json_line(line: FunctionLogLine) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)


def _line_printer() -> Callable[[FunctionLogLine], None]:
    console = Console(highlight=False, soft_wrap=True)

    def show(line: FunctionLogLine) -> None:
        text = Text(f"{line['timestamp'][:23]} {line['level']:5} {visible(line['message'])}")
        text.stylize(_COLOURS.get(line["level"], ""))
        console.print(text)

    return show
