"""``hoglet functions``: functions of a project, over the API."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.functions.backfills import backfill_app
from hoglet.cli.functions.dead_letters import dead_letters_app
from hoglet.cli.functions.explain import explain
from hoglet.cli.functions.logs import logs
from hoglet.cli.functions.reference import ALL_TYPES, Draft, Function, find_id
from hoglet.cli.json_input import read_json_object
from hoglet.cli.output import AsJson, cell, print_json, print_table
from hoglet.cli.server.connection import ServerTyper, connect
from hoglet.cli.server.responses import TestRunResponse

functions_app = ServerTyper(help="Functions of a project.", no_args_is_help=True)
functions_app.add_typer(backfill_app, name="backfill")
functions_app.add_typer(dead_letters_app, name="dead-letters")
functions_app.command("logs")(logs)
functions_app.command("explain")(explain)

STATES = {
    0: "off",
    1: "healthy",
    2: "degraded",
    3: "disabled",
    11: "degraded by an administrator",
    12: "disabled by an administrator",
}
_LEVELS = {"warn": "yellow", "error": "red", "debug": "dim"}
_PRINTED_FIELDS = ("id", "type", "name", "enabled", "description", "created_at", "updated_at")


@functions_app.command("list")
def list_functions(as_json: AsJson = False) -> None:
    """List the functions of a project with their states."""
    functions = list(connect().every("/hog_functions/", types=ALL_TYPES))
    if as_json:
        print_json(functions)
        return
    rows = [
        (each["id"], each["type"], STATES[each["status"]["state"]], each["name"] or "")
        for each in functions
    ]
    print_table(("id", "type", "state", "name"), rows)


@functions_app.command("show")
def show(function: Function, as_json: AsJson = False) -> None:
    """Show a function: its settings, inputs and code."""
    client = connect()
    record = client.call("GET", f"/hog_functions/{find_id(client, function)}/")
    if as_json:
        print_json(record)
        return
    rows = [(name, cell(record.get(name))) for name in _PRINTED_FIELDS]
    rows.append(("state", STATES[record["status"]["state"]]))
    rows.append(("filters", cell(_without_code(record.get("filters")), 400)))
    rows += [(f"inputs.{name}", _input(value)) for name, value in (record["inputs"] or {}).items()]
    print_table(("field", "value"), rows)
    if record.get("hog"):
        print(f"\n{record['hog']}")


@functions_app.command("enable")
def enable(function: Function) -> None:
    """Enable a function."""
    _switch(function, enabled=True)


@functions_app.command("disable")
def disable(function: Function) -> None:
    """Disable a function; its queued runs are not executed."""
    _switch(function, enabled=False)


@functions_app.command("delete")
def delete(
    function: Function,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without confirmation.")] = False,
) -> None:
    """Delete a function."""
    from hoglet.cli.confirmation import confirm

    client = connect()
    function_id = find_id(client, function)
    name = client.call("GET", f"/hog_functions/{function_id}/")["name"] or function_id
    confirm([f"function {name}"], yes=yes)
    client.call("PATCH", f"/hog_functions/{function_id}/", {"deleted": True})
    print(f"deleted function {name}")


@functions_app.command("test")
def run_once(
    function: Function,
    event: Annotated[
        str | None, typer.Option("--event", help="The event: JSON, a file, or - for stdin.")
    ] = None,
    globals_: Annotated[
        str | None,
        typer.Option("--globals", help="All globals: JSON, a file, or - for stdin."),
    ] = None,
    real: Annotated[
        bool, typer.Option("--real", help="Send real requests instead of mocking them.")
    ] = False,
    draft: Draft = False,
    as_json: AsJson = False,
) -> None:
    """Run a function once on an event; exits with 1 if the run fails."""
    given = read_json_object("--globals", globals_) if globals_ is not None else {}
    if event is not None:
        given["event"] = read_json_object("--event", event)
    given.setdefault("event", {"event": "test", "distinct_id": "test", "properties": {}})
    client = connect()
    body = {"configuration": {}, "globals": given, "mock_async_functions": not real}
    body |= {"draft": True} if draft else {}
    path = f"/hog_functions/{find_id(client, function)}"
    client.call("GET", f"{path}/")  # the route of test runs treats an unknown id as a new function
    answer = client.call("POST", f"{path}/invocations", body)
    if as_json:
        print_json(answer)
    else:
        _print_run(answer)
    raise typer.Exit(int(answer["status"] == "error"))


@functions_app.command("publish")
def publish(function: Function) -> None:
    """Make the draft of a function its live version."""
    client = connect()
    saved = client.call("POST", f"/hog_functions/{find_id(client, function)}/publish")
    print(f"published {saved['name'] or saved['id']}, version {saved['version']}")


@functions_app.command("redrive")
def redrive(
    function: Function,
    classes: Annotated[
        str, typer.Option("--class", help="Comma-separated, e.g. fetch,timeout.")
    ] = "",
    after: Annotated[str, typer.Option(help="Failed after this ISO time.")] = "",
    before: Annotated[str, typer.Option(help="Failed before this ISO time.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be redriven.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Redrive a function's dead letters, by default all that have not been redriven yet."""
    client = connect()
    path = f"/hog_functions/{find_id(client, function)}/dead_letters"
    pairs = (("class", classes), ("after", after), ("before", before))
    chosen = {name: text for name, text in pairs if text}
    if dry_run:
        dead_letters = list(client.every(f"{path}/", redriven="false", **chosen))
        if as_json:
            print_json(dead_letters)
            return
        columns = ("id", "class", "last_failed_at", "event", "error")
        print_table(columns, [[cell(each[column]) for column in columns] for each in dead_letters])
        print(f"{len(dead_letters)} would be queued")
        return
    answer = client.call("POST", f"{path}/redrive", chosen or {"all": True})
    if as_json:
        print_json(answer)
    else:
        print(f"{answer['queued']} queued, {answer['skipped']} skipped")


def _switch(function: str, *, enabled: bool) -> None:
    client = connect()
    path = f"/hog_functions/{find_id(client, function)}/"
    saved = client.call("PATCH", path, {"enabled": enabled})
    print(f"{saved['name'] or saved['id']} is {'enabled' if saved['enabled'] else 'disabled'}.")


def _without_code(filters: Any) -> Any:
    return {key: value for key, value in (filters or {}).items() if key != "bytecode"}


def _input(value: Any) -> str:
    if isinstance(value, dict) and value.get("secret"):
        return "(secret)"
    return cell(value.get("value") if isinstance(value, dict) else value, 400)


def _print_run(answer: TestRunResponse) -> None:
    console = Console(highlight=False, soft_wrap=True)
    for line in answer["logs"]:
        text = Text(f"{line['level']:5} {line['message']}", style=_LEVELS.get(line["level"], ""))
        console.print(text)
    if answer["result"] is not None:
        print(json.dumps(answer["result"], indent=2, ensure_ascii=False))
    print(f"status: {answer['status']}")
