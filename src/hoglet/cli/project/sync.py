"""``hoglet pull``, ``hoglet diff`` and ``hoglet push``: a project's files and its server."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.confirmation import confirm
from hoglet.cli.endpoints.versions import COLOURS
from hoglet.cli.output import AsJson, print_json, wide_console
from hoglet.cli.refusals import FAILED, exit_with_two
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


def pull(
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder of the project. [default: this one]")
    ] = None,
    prune: Prune = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Write the server's functions, endpoints, actions, variables and cohorts to files.

    Comments are preserved. Secrets are never written: files refer to environment variables.
    """
    from hoglet.project_files import folder as files
    from hoglet.project_files.model import Project
    from hoglet.project_files.plan import make_plan
    from hoglet.project_files.server_project import ServerProject

    target = to if to is not None else _project_or(_HERE)
    server = ServerProject(connect()).project
    files.place_functions(target, server)
    here = files.read_folder(target) if (target / files.PROJECT).exists() else Project()
    plan = make_plan(here, server, prune=prune)
    if dry_run:
        _print_plan(plan.changes)
        return
    gone = [change for change in plan.changes if change.verb == "delete"]
    confirm([f"file of {change.kind} {change.name}" for change in gone], yes=yes)
    for path in files.write_folder(target, server, None if prune else here):
        print(f"wrote {path}")
    for change in gone:
        for path in _files_of(target, here, change):
            print(f"deleted {path}")
    if not prune:
        for change in plan.extra:
            _note(f"only in files: {change.kind} {change.name} (--prune deletes it)")
    _note_left_out(server)


def diff(
    folder: Folder = _HERE,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also show what push --prune would delete.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what push would change; exits with 1 if anything differs, 2 for errors."""
    from hoglet.project_files.folder import find_project, read_folder
    from hoglet.project_files.model import difference
    from hoglet.project_files.plan import make_plan
    from hoglet.project_files.server_project import ServerProject

    with exit_with_two():
        files = read_folder(find_project(folder))
        plan = make_plan(ServerProject(connect()).project, files, prune=prune)
    if as_json:
        print_json([_as_json(change) for change in plan.changes])
        raise typer.Exit(FAILED if plan.changes else 0)
    console = wide_console()
    for change in plan.changes:
        before, after = change.before, change.after
        if change.kind == "project":
            before = {key: (before or {}).get(key) for key in change.fields}
            after = {key: (after or {}).get(key) for key in change.fields}
        for line in difference(change.kind, change.name, before, after):
            console.print(Text(line, style=COLOURS.get(line[:1], "")), soft_wrap=True)
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
    from hoglet.project_files.folder import find_project, read_folder
    from hoglet.project_files.plan import check_code, check_secrets, make_plan
    from hoglet.project_files.push import push as push_plan
    from hoglet.project_files.server_project import ServerProject

    files = read_folder(find_project(folder))
    check_code(files)
    server = ServerProject(connect())
    plan = make_plan(server.project, files, prune=prune)
    if dry_run:
        _print_plan(plan.changes)
        return
    check_secrets(plan)
    gone = [change for change in plan.changes if change.verb == "delete"]
    confirm([f"{change.kind} {change.name}" for change in gone], yes=yes)
    _print_plan(plan.changes)
    push_plan(server, plan)
    if plan.changes:
        counts = ((verb, sum(c.verb == verb for c in plan.changes)) for verb in _VERBS)
        print("pushed: " + ", ".join(f"{count} {_VERBS[verb]}" for verb, count in counts))


_VERBS = {"create": "created", "update": "updated", "delete": "deleted"}


def _project_or(start: Path) -> Path:
    from hoglet.project_files.folder import find_project
    from hoglet.project_files.yaml_files import BadFile

    try:
        return find_project(start)
    except BadFile:
        return start


def _files_of(target: Path, here: Any, change: Any) -> list[Path]:
    """Delete the files of an object that stand alone; lists were written without it."""
    from hoglet.project_files.folder import endpoint_files, name_of, remove_function

    if change.kind == "function":
        path: Path = here.folders[change.name]
        remove_function(path)
        return [path]
    if change.kind == "endpoint":
        found = [path for path in endpoint_files(target) if name_of(path) == change.name]
        for path in found:
            path.unlink()
            path.with_suffix(".sql").unlink(missing_ok=True)
        return found
    return []


def _print_plan(changes: list[Any]) -> None:
    for change in changes:
        print(change)
    if not changes:
        print("nothing to do")


def _as_json(change: Any) -> dict[str, Any]:
    return {
        "action": str(change.verb),
        "kind": change.kind,
        "name": change.name,
        "fields": list(change.fields),
    }


def _note(text: str) -> None:
    Console(stderr=True).print(Text(text, style="yellow"), soft_wrap=True)


def _note_left_out(server: Any) -> None:
    from hoglet.project_files.folder import named_secrets

    for line in server.left_out:
        _note(f"not included: {line}")
    for line in named_secrets(server):
        _note(f"secret, not written: {line}")
