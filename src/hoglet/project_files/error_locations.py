"""The line of a project's file that a refusal of the server is about."""

import re
from collections.abc import Mapping
from pathlib import Path

from hoglet.project_files.documents import Document
from hoglet.project_files.folder import PROJECT, VARIABLES, endpoint_files, name_of
from hoglet.project_files.formats import draft_file, function_file
from hoglet.project_files.formats.list_file import LISTS, place_in_list
from hoglet.project_files.formats.yaml_files import place_of
from hoglet.project_files.model import ProjectContent
from hoglet.project_files.plan import PlannedChange
from hoglet.project_files.push import PushFailed

_LINE_OF_QUERY = re.compile(r"query: (\d+):\d+: ")


def located(failed: PushFailed, folder: Path, files: ProjectContent) -> PushFailed:
    """The error with the file and line that the refused change comes from."""
    if failed.change is None:
        return failed
    position = place_of_change(folder, files, failed.change, failed.field, failed.reason)
    return PushFailed(f"{position}: {failed.detail}") if position else failed


def place_of_change(
    folder: Path, files: ProjectContent, change: PlannedChange, field: str = "", detail: str = ""
) -> str:
    """The file of a change with the line, ``functions/a/function.yaml:7``; "" for a deletion.

    Args:
        folder: the folder of the project.
        files: the project in it.
        change: the refused change.
        field: the path of the refused field, ``inputs__url``.
        detail: the message of the server; its line numbers are relative to the query.
    """
    if change.after is None:
        return ""
    if change.kind == "project":
        return place_of(folder / PROJECT, field)
    if change.kind in LISTS:
        return place_in_list(folder, change.kind, change.name)
    if change.kind == "variable":
        path = folder / VARIABLES
        return place_of(path, change.name) if path.exists() else ""
    if change.kind == "endpoint":
        return _place_in_endpoint(folder, change.name, field, detail)
    path = files.folders[_name_in(files.of_kind(change.kind), change)]
    settings = path / (function_file if change.kind == "function" else draft_file).SETTINGS
    return place_of(settings, field.removeprefix("draft__")) if settings.exists() else str(path)


def _name_in(here: Mapping[str, Document], change: PlannedChange) -> str:
    """The name of an object in the files; a renamed one has its earlier name in the change."""
    return next((name for name, each in here.items() if each is change.after), change.name)


def _place_in_endpoint(folder: Path, name: str, field: str, detail: str) -> str:
    path = next(path for path in endpoint_files(folder) if name_of(path) == name)
    beside, line = path.with_suffix(".sql"), _LINE_OF_QUERY.search(detail)
    if field.startswith("query") and beside.exists():
        return f"{beside}:{line[1]}" if line else str(beside)
    return place_of(path, field, detail)
