"""Runs the test cases of a project."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from hoglet.project_files.error_locations import place_of_change
from hoglet.project_files.folder import PROJECT, read_folder
from hoglet.project_files.formats.references import Names
from hoglet.project_files.formats.yaml_files import BadFile
from hoglet.project_files.model import ProjectContent
from hoglet.project_files.plan import check_code, make_plan
from hoglet.project_files.push import PushFailed, push
from hoglet.project_files.server_project import ServerProject
from hoglet.project_tests.cases import Case
from hoglet.project_tests.embedded import Embedded, ProjectApi, open_embedded
from hoglet.project_tests.endpoint_cases import EndpointCases
from hoglet.project_tests.function_cases import FunctionCases
from hoglet.project_tests.outcome import CaseOutcome


async def run_cases(folder: Path, cases: Sequence[Case]) -> AsyncGenerator[CaseOutcome]:
    """Run cases one after the other and yield each outcome.

    Raises:
        BadFile: a file of the project is invalid, its Hog does not compile, or hoglet refuses its
            settings, an action or a cohort.
    """
    files = read_folder(folder)
    check_code(files)
    if not cases:
        return
    async with open_embedded(with_warehouse=_needs_warehouse(files, cases)) as embedded:
        functions = await _functions(embedded, files, folder)
        endpoints = EndpointCases(embedded, files)
        for case in cases:
            began = time.perf_counter()
            outcome = await (functions if case.kind == "function" else endpoints).run(case)
            outcome.seconds = time.perf_counter() - began
            yield outcome


def _needs_warehouse(files: ProjectContent, cases: Sequence[Case]) -> bool:
    """Whether any case reads the warehouse; opening it dominates a short run."""
    return bool(files.objects["cohort"]) or any(case.kind == "endpoint" for case in cases)


async def _functions(embedded: Embedded, files: ProjectContent, folder: Path) -> FunctionCases:
    """Create the actions, cohorts and settings that filters of functions can refer to."""
    project_id, _ = await embedded.new_project(files.settings.get("timezone") or "UTC")
    names = await asyncio.to_thread(_push_named, embedded.api(project_id), files, folder)
    return FunctionCases(embedded, await embedded.scope(project_id), names)


def _push_named(api: ProjectApi, files: ProjectContent, folder: Path) -> Names:
    desired = ProjectContent(settings=files.settings.copy())
    desired.settings.pop("name", None)
    for kind in ("action", "cohort"):
        desired.of_kind(kind).update(files.of_kind(kind))
    server = ServerProject(api)
    try:
        push(server, make_plan(server.project, desired, prune=False))
    except PushFailed as refused:
        position = str(folder / PROJECT)
        if refused.change is not None:
            field = refused.field or refused.reason.partition(": ")[0]
            position = place_of_change(folder, files, refused.change, field)
        raise BadFile(f"{position}: {refused.reason}") from None
    return server.names
