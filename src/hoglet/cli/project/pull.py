"""``hoglet pull``: reads a project from a server, hoglet's or PostHog's, into files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.confirmation import confirm
from hoglet.cli.error_handling import FAILED, BadUsage
from hoglet.cli.output import print_json, visible
from hoglet.cli.project.sync import DryRun, Prune, Yes, print_plan
from hoglet.cli.server.connection import connect

_HERE = Path()


def pull(
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder of the project. [default: this one]")
    ] = None,
    prune: Prune = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 if something could not be written.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was done and left out as JSON.")
    ] = False,
) -> None:
    """Write the server's functions, endpoints, actions, variables and cohorts to files.

    Comments are preserved. Secrets are never written: files refer to environment variables. The
    server may be PostHog; whatever hoglet does not support is listed at the end.
    """
    target = to if to is not None else _project_or(_HERE)
    server = _read_server()
    here, plan = _planned(target, server, prune=prune)
    if dry_run:
        if not as_json:
            print_plan(plan.changes)
        _report(server, [], [], [], as_json=as_json, changes=plan.changes)
        return
    gone = [change for change in plan.changes if change.verb == "delete"]
    confirm([f"file of {change.kind} {change.name}" for change in gone], yes=yes)
    written = _write(target, server, here, prune=prune)
    deleted = [path for change in gone for path in _delete_files(target, here, change)]
    extra = [] if prune else [f"{change.kind} {change.name}" for change in plan.extra]
    _report(server, written, deleted, extra, as_json=as_json)
    if strict and (server.left_out or server.changed):
        raise typer.Exit(FAILED)


def _planned(target: Path, server: Any, *, prune: bool) -> tuple[Any, Any]:
    """The project in a folder, which may have none yet, and what a pull changes there."""
    from hoglet.project_files import folder as files
    from hoglet.project_files.model import ProjectContent
    from hoglet.project_files.plan import make_plan, renamed_functions

    here = files.read_folder(target) if (target / files.PROJECT).exists() else ProjectContent()
    renamed = renamed_functions(here.objects["function"], server.objects["function"])
    files.place_functions(target, server, renamed)
    return here, make_plan(here, server, prune=prune)


def _write(target: Path, server: Any, here: Any, *, prune: bool) -> list[Path]:
    from hoglet.project_files.folder import write_folder

    try:
        return write_folder(target, server, here, prune=prune)
    except OSError as error:
        raise BadUsage(f"{error.filename or target} cannot be written: {error.strerror}.") from None


def _read_server() -> Any:
    """The project of the server, reduced to what hoglet supports if the server is not hoglet."""
    from hoglet.project_files.server_project import ServerProject

    client = connect()
    is_hoglet = client.is_hoglet()
    project = ServerProject(client).project
    if not is_hoglet:
        from hoglet.functions.templates.registry import Templates
        from hoglet.project_files.from_posthog import prepare
        from hoglet.project_tests.push_check import drop_rejected_parts

        prepare(project, frozenset(Templates().all))
        drop_rejected_parts(project)
    return project


def _project_or(start: Path) -> Path:
    from hoglet.project_files.folder import find_project
    from hoglet.project_files.formats.yaml_files import BadFile

    try:
        return find_project(start)
    except BadFile:
        return start


def _delete_files(target: Path, here: Any, change: Any) -> list[Path]:
    """Delete an object's own files; files that list several objects were already rewritten."""
    from hoglet.project_files.folder import endpoint_files, name_of, remove_draft, remove_function

    if change.kind == "function":
        path: Path = here.folders[change.name]
        remove_function(path)
        return [path]
    if change.kind == "draft":
        return remove_draft(here.folders[change.name])
    if change.kind == "endpoint":
        files = [path for path in endpoint_files(target) if name_of(path) == change.name]
        for path in files:
            path.unlink()
            path.with_suffix(".sql").unlink(missing_ok=True)
        return files
    return []


def _report(
    server: Any,
    written: list[Path],
    deleted: list[Path],
    extra: list[str],
    *,
    as_json: bool,
    changes: Sequence[Any] = (),
) -> None:
    from hoglet.project_files.secret_names import named_secrets

    secrets = named_secrets(server)
    if as_json:
        remarks = {"left_out": server.left_out, "changed": server.changed}
        print_json(
            {
                "planned": [str(change) for change in changes],
                "written": [str(path) for path in written],
                "deleted": [str(path) for path in deleted],
                "only_in_files": extra,
                **{key: [each._asdict() for each in entries] for key, entries in remarks.items()},
                "secrets": [each._asdict() for each in secrets],
            }
        )
        return
    for path in written:
        print(f"wrote {path}")
    for path in deleted:
        print(f"deleted {path}")
    for name in extra:
        _note(f"only in files: {name} (--prune deletes it)")
    for remark in server.changed:
        _note(f"changed: {remark}")
    for remark in server.left_out:
        _note(f"not included: {remark}")
    for secret in secrets:
        _note(f"secret, not written: {secret}")


def _note(text: str) -> None:
    Console(stderr=True).print(Text(visible(text), style="yellow"), soft_wrap=True)
