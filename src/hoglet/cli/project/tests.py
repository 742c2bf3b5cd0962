"""``hoglet test``: runs the test cases of a project, without a server."""

import time
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from hoglet.cli.error_handling import BadUsage, print_error
from hoglet.cli.project.sync import Folder
from hoglet.kit.errors import HogletError

FAILED, WRONG = 1, 2
_POLL_SECONDS = 0.3
_COLOURS = {"ok": "green", "FAIL": "bold red", "-": "red", "+": "green"}


def run_tests(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of functions, or files of endpoints or tests. [default: all]"),
    ] = None,
    word: Annotated[
        str, typer.Option("-k", help="Only cases whose file or name contains this.")
    ] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Run again whenever a file changes.")] = (
        False
    ),
    update: Annotated[
        bool, typer.Option("--update", help="Write the actual results into failing cases.")
    ] = False,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Also write a JUnit XML file, for CI.")
    ] = None,
    coverage: Annotated[
        bool, typer.Option("--coverage", help="Show which lines of Hog were not executed.")
    ] = False,
    folder: Folder = Path(),
) -> None:
    """Run the tests of a project; exits with 0 if all pass, 1 if some fail, 2 for invalid files.

    No server is needed: functions run in the sandbox, endpoints on an embedded warehouse.
    """
    from hoglet.project_files.folder import find_project

    project = find_project((paths or [folder])[0] if folder == Path() and paths else folder)
    chosen = paths or []
    if watch:
        if update or junit is not None:
            raise BadUsage("--watch does not write files: omit --update and --junit.")
        _watch(project, chosen, word, coverage=coverage)
    code = _run(project, chosen, word, update=update, junit=junit, coverage=coverage)
    raise typer.Exit(code)


def _run(
    project: Path,
    paths: list[Path],
    word: str,
    *,
    update: bool = False,
    junit: Path | None = None,
    coverage: bool = False,
) -> int:
    import asyncio

    from hoglet.project_files.folder import PROJECT
    from hoglet.project_files.formats.settings_file import read_settings
    from hoglet.project_tests.cases import select_cases, select_functions
    from hoglet.project_tests.report import closing_line, coverage_lines
    from hoglet.project_tests.report import junit as junit_xml
    from hoglet.project_tests.update import update_files

    read_settings(project / PROJECT)
    cases = select_cases(project, paths, word)
    console = Console(highlight=False, soft_wrap=True)
    outcomes = asyncio.run(_outcomes(project, cases, console))
    if junit is not None:
        _write(junit, junit_xml(outcomes))
    if coverage:
        for line in coverage_lines(select_functions(project, paths), outcomes):
            print(line)
    if update:
        for path in update_files(outcomes):
            print(f"updated {path}")
    print(
        closing_line(outcomes), flush=True
    )  # with --watch the process continues, and pipes are buffered
    left = [each for each in outcomes if not each.passed and not (update and each.actual)]
    return int(bool(left))


async def _outcomes(project: Path, cases: Sequence[Any], console: Console) -> list[Any]:
    from hoglet.project_tests.suite import run_cases

    outcomes: list[Any] = []
    async with aclosing(run_cases(project, cases)) as running:  # the reader may have enough
        async for outcome in running:
            show_outcome(console, outcome)
            outcomes.append(outcome)
    return outcomes


def show_outcome(console: Console, outcome: Any) -> None:
    """Print the lines of an outcome."""
    from hoglet.project_tests.report import outcome_lines

    for line in outcome_lines(outcome):
        console.print(Text(line, style=_COLOURS.get((line.split() or [""])[0], "")))


def _watch(project: Path, paths: list[Path], word: str, *, coverage: bool) -> None:
    """Run again after each change, until Ctrl-C; invalid files are reported, not fatal."""
    seen: dict[Path, float] | None = None
    try:
        while True:
            present = snapshot(project)
            if present != seen:
                seen = present
                try:
                    _run(project, paths, word, coverage=coverage)
                except HogletError as error:
                    print_error(error.detail)
            time.sleep(_POLL_SECONDS)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None


def snapshot(project: Path) -> dict[Path, float]:
    """The files of a project with the times of their last change."""
    times: dict[Path, float] = {}
    for path in project.rglob("*"):
        try:
            if path.is_file() and ".git" not in path.parts:
                times[path] = path.stat().st_mtime
        except OSError:  # deleted since it was listed
            continue
    return times


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise BadUsage(f"{path} cannot be written: {error.strerror}.") from None
