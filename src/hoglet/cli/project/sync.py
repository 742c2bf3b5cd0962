"""``hoglet diff`` and ``hoglet push``: from a project's files to its server."""

import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from hoglet.cli.confirmation import confirm
from hoglet.cli.endpoints.versions import COLOURS
from hoglet.cli.error_handling import FAILED, exit_with_two, print_hint
from hoglet.cli.output import AsJson, print_json, visible, wide_console
from hoglet.cli.server.connection import connect

Folder = Annotated[
    Path, typer.Option("--folder", "-C", help="The project's folder, or a folder below it.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan without changing anything.")]
Prune = Annotated[
    bool, typer.Option("--prune", help="Also delete what the other side does not have.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Delete without confirmation; for scripts.")]
_HERE = Path()


def diff(
    folder: Folder = _HERE,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also show what push --prune would delete.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what push would change; exits with 1 if anything differs, 2 for errors."""
    from hoglet.project_files.folder import find_project, read_folder
    from hoglet.project_files.formats.difference import difference
    from hoglet.project_files.journal import PushJournal
    from hoglet.project_files.plan import make_plan
    from hoglet.project_files.server_project import ServerProject

    with exit_with_two():
        project = find_project(folder)
        files, client = read_folder(project), connect()
        plan = make_plan(ServerProject(client).project, files, prune=prune)
    _report_killed_push(PushJournal(project, client.target), "hoglet push applies the rest.")
    if as_json:
        print_json([_as_json(change) for change in plan.changes])
        raise typer.Exit(FAILED if plan.changes else 0)
    console = wide_console()
    for change in plan.changes:
        before, after = change.before, change.result
        if change.kind == "project":
            before = {key: (before or {}).get(key) for key in change.fields}
            after = {key: (after or {}).get(key) for key in change.fields}
        for line in difference(change.kind, change.name, before, after):
            console.print(Text(visible(line), style=COLOURS.get(line[:1], "")), soft_wrap=True)
    raise typer.Exit(FAILED if plan.changes else 0)


def push(
    folder: Folder = _HERE,
    prune: Prune = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Apply the files to the server: first a plan, then all changes or none.

    Nothing is deleted without --prune. Secrets are taken from the environment variables in the
    files.
    """
    from hoglet.project_files.error_locations import located
    from hoglet.project_files.folder import find_project, read_folder
    from hoglet.project_files.journal import PushJournal
    from hoglet.project_files.plan import check_code, check_secrets, make_plan
    from hoglet.project_files.push import PushFailed
    from hoglet.project_files.server_project import ServerProject

    project = find_project(folder)
    files = read_folder(project)
    check_code(files)
    client = connect()
    server, journal = ServerProject(client), PushJournal(project, client.target)
    plan = make_plan(server.project, files, prune=prune)
    _report_killed_push(journal, "This push applies the rest.")
    if dry_run:
        print_plan(plan.changes)
        return
    check_secrets(plan, server.project)
    gone = [change for change in plan.changes if change.verb == "delete"]
    confirm([f"{change.kind} {change.name}{change.loss}" for change in gone], yes=yes)
    print_plan(plan.changes)
    try:
        _apply(plan, server, journal)
    except PushFailed as failed:
        raise located(failed, project, files) from None
    _report_pushed(plan, server)


def _report_pushed(plan: Any, server: Any) -> None:
    for warning in server.warnings:
        print_hint(f"warning: {warning}")
    if plan.changes:
        counts = ((verb, sum(c.verb == verb for c in plan.changes)) for verb in _VERBS)
        print("pushed: " + ", ".join(f"{count} {_VERBS[verb]}" for verb, count in counts))


def _apply(plan: Any, server: Any, journal: Any) -> None:
    from hoglet.project_files.push import push as push_plan

    journal.begin(plan)
    with _stopped_by_signals() as should_stop:
        try:
            push_plan(server, plan, should_stop, journal.reached)
        finally:
            journal.end()


def _report_killed_push(journal: Any, then: str) -> None:
    if sentence := journal.killed_push():
        print_hint(f"{sentence} {then}")


@contextlib.contextmanager
def _stopped_by_signals() -> Generator[Callable[[], bool]]:
    """Whether SIGINT or SIGTERM arrived: a push finishes its request and rolls back."""
    arrived: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGINT, signal.SIGTERM) if is_main else ()
    before = [signal.signal(each, lambda number, _: arrived.append(number)) for each in signals]
    try:
        yield lambda: bool(arrived)
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


_VERBS = {"create": "created", "update": "updated", "delete": "deleted"}


def print_plan(changes: list[Any]) -> None:
    """Print a line for each change."""
    for change in changes:
        print(visible(str(change)))
    if not changes:
        print("nothing to do")


def _as_json(change: Any) -> dict[str, str | list[str]]:
    return {
        "action": str(change.verb),
        "kind": change.kind,
        "name": change.name,
        "fields": list(change.fields),
    }
